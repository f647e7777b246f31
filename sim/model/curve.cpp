#include "curve.h"

namespace vermilion {

// Over a segment from `th` on: base r + (b1 + z) y.
static u64 segment(u64 avg, u32 th, VmScaled inv, u32 ratio, u64 base, u64 b1, VmScaled b2) {
  const u64 distance = avg - (u64{th} << AvgFrac);
  const u64 y = saturate((u128{distance} * (u64{inv.m} * ratio)) >> RatioFrac >> inv.s, WayBits);
  const u64 t = saturateAt(b1 + saturateAt(scale(distance, b2.m, b2.s), ProbOne), ProbOne);
  return saturateAt(((u128{base} * ratio) >> RatioFrac) + ((u128{t} * y) >> PosFrac), ProbOne);
}

CurveValue curveProbability(const VmCurve& c, u64 avg, u32 ratio) {
  const auto below = [avg](u32 th) { return avg < (u64{th} << AvgFrac); };
  if (!c.on || below(c.min_th)) return {0, false};
  if (!below(c.end_th)) return {ProbOne, true};
  if (below(c.max_th)) return {segment(avg, c.min_th, c.inv1, ratio, 0, c.b1_1, {0, 0}), false};
  return {segment(avg, c.max_th, c.inv2, ratio, c.base2, c.b1_2, c.b2_2), false};
}

u32 sizeRatio(u32 lenBytes, VmScaled size) {
  return static_cast<u32>(saturate(scale(lenBytes, size.m, size.s), RatioBits));
}

}  // namespace vermilion
