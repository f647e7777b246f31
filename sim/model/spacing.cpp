#include "spacing.h"

#include "config.h"

namespace vermilion {

void spacingRestart(SpacingState& s, u32 draw) { s = {0, draw, true}; }

bool spacingStep(SpacingState& s, u32 mode, u64 p, u32 draw) {
  if (p == 0) {
    s.sum = 0;
    return false;
  }
  if (p >= ProbOne) {
    spacingRestart(s, draw);
    return true;
  }
  if (mode == VM_GEOMETRIC) return draw < p;
  if (!s.rValid) {
    s.r = draw;
    s.rValid = true;
  }
  s.sum = saturate(u128{s.sum} + p, SpaceBits);
  const bool early = s.sum >= s.r + (mode == VM_WAIT ? ProbOne : 0);
  if (early) spacingRestart(s, draw);
  return early;
}

}  // namespace vermilion
