#include "curve.h"

namespace vermilion {

// p in a segment that starts at `th`: base r + (b1 + z) y.
static u64 segment(u64 avg, u32 th, VmScaled inv, u32 ratio, u64 base, u64 b1, VmScaled b2) {
  const u64 distance = avg - (u64{th} << AvgFrac);
  const u64 y =
      saturate((u128{distance} * static_cast<u128>(u64{inv.mant} * ratio)) >> RatioFrac >> inv.shift, WayBits);
  const u64 t = saturateAt(b1 + saturateAt(scale(distance, b2.mant, b2.shift), ProbOne), ProbOne);
  return saturateAt(((u128{base} * ratio) >> RatioFrac) + ((u128{t} * y) >> PosFrac), ProbOne);
}

CurveValue curveProbability(const VmCurve& c, u64 avg, u32 ratio) {
  const auto below = [avg](u32 th) { return avg < (u64{th} << AvgFrac); };
  if (!c.on || below(c.min)) return {0, false};
  if (!below(c.end)) return {ProbOne, true};
  if (below(c.max)) return {segment(avg, c.min, c.inv1, ratio, 0, c.slope1, {0, 0}), false};
  return {segment(avg, c.max, c.inv2, ratio, c.base2, c.slope2, c.square2), false};
}

u32 sizeRatio(u32 lenBytes, VmScaled size) {
  return static_cast<u32>(saturate(scale(lenBytes, size.mant, size.shift), RatioBits));
}

}  // namespace vermilion
