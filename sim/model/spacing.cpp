#include "spacing.h"

#include "config.h"

namespace vermilion {

void spacingRestart(SpacingState& s, u32 draw) {
  s = {0, draw, true};
}

bool spacingStep(SpacingState& s, u32 mode, u64 p, u32 draw) {
  if (mode == VM_GEOMETRIC) return draw < p;  // p = 1.0 is above every draw
  if (!s.rValid) {
    s.r = draw;
    s.rValid = true;
  }
  if (p == 0) {
    s.sum = 0;
    return false;
  }
  s.sum = saturate(u128{s.sum} + p, SpaceBits);
  const bool early = p >= ProbOne || s.sum >= s.r + (mode == VM_WAIT ? ProbOne : 0);
  if (early) spacingRestart(s, draw);
  return early;
}

}  // namespace vermilion
