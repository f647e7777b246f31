// Drop and ECN curves: RED, gentle RED, ExRED, steps (docs/architecture.md, "Curve record").
//
//   a < minTh            p = 0
//   minTh <= a < maxTh   y = (a - minTh) inv1, p = y b1_1
//   maxTh <= a < endTh   y = (a - maxTh) inv2, p = base2 + y (b1_2 + b2_2 y)
//   endTh <= a           p = 1 and `over`
//
//   RED: endTh = maxTh. Gentle: endTh = 2 maxTh, base2 = maxP, b1_2 = 1 - maxP. ExRED: endTh = K and
//   b1_2 = s (K-k_h), b2_2 = a2 (K-k_h)^2. A step: minTh = maxTh = endTh.
//
// Formats: a U27.16, thresholds U27, compared with all fraction bits.
//   y = ((a - th) m) >> s                U1.24, saturating at 1.0
//   t = b1 + ((b2 y) >> 24)              U1.32, saturating at 1.0
//   p = base + ((y t) >> 24)             U1.32, saturating at 1.0
// Every shift truncates. With exact tables p is below the real curve by less than 3 2^-24; the tables' own error is the
// host's.
//
// Size weighting: r = (L m) >> s, U8.12 saturating; p' = (p r) >> 12, saturating at 1.0. It scales p from the two
// segments; the p of an average over the end is 1 for a packet of any length.
#pragma once

#include "config.h"
#include "formats.h"

namespace vermilion {

struct CurveValue {
  u64 p;      // U1.32
  bool over;  // a >= endTh
};

CurveValue curveProbability(const VmCurve& curve, u64 avg);

// p' of a packet of `lenBytes` bytes.
u64 sizeWeighted(u64 p, u32 lenBytes, VmScaled size);

}  // namespace vermilion
