#include "curve.h"

namespace vermilion {

static u64 position(u64 avg, u32 th, VmScaled inv) {
  return saturateAt(scale(avg - (u64{th} << AvgFrac), inv.m, inv.s), PosOne);
}

static u64 polynomial(u64 y, u64 base, u64 b1, u64 b2) {
  const u64 t = saturateAt(b1 + ((u128{b2} * y) >> PosFrac), ProbOne);
  return saturateAt(base + ((u128{t} * y) >> PosFrac), ProbOne);
}

CurveValue curveProbability(const VmCurve& c, u64 avg) {
  const auto below = [avg](u32 th) { return avg < (u64{th} << AvgFrac); };
  if (!c.on || below(c.min_th)) return {0, false};
  if (!below(c.end_th)) return {ProbOne, true};
  if (below(c.max_th)) return {polynomial(position(avg, c.min_th, c.inv1), 0, c.b1_1, 0), false};
  return {polynomial(position(avg, c.max_th, c.inv2), c.base2, c.b1_2, c.b2_2), false};
}

u64 sizeWeighted(u64 p, u32 lenBytes, VmScaled size) {
  const u64 ratio = saturate(scale(lenBytes, size.m, size.s), RatioBits);
  return saturateAt((u128{p} * ratio) >> RatioFrac, ProbOne);
}

}  // namespace vermilion
