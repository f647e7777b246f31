#include "spacing.h"

#include "config.h"

namespace vermilion {

void spacingRestart(SpacingState& s, u32 draw) {
  s = {0, draw, true};
}

bool spacingStep(SpacingState& s, u32 mode, u64 p, u32 draw) {
  if (mode == VM_SPACING_GEOMETRIC) return draw < p;  // p = 1.0 is above every draw
  if (p == 0) {
    s = {};
    return false;
  }
  const bool first = !s.rValid;
  if (first) {
    s.r = draw;
    s.rValid = true;
  }
  s.sum = saturate(u128{s.sum} + p, SpaceBits);
  const bool early = p >= ProbOne || s.sum >= s.r + (mode == VM_SPACING_WAIT ? ProbOne : 0);
  if (early) s = {0, draw, !first};  // a draw that served as R is not used twice
  return early;
}

}  // namespace vermilion
