// Drop and ECN curves: RED, gentle RED, ExRED, steps (docs/architecture.md, "Curve record").
//
//   a < min          p = 0
//   min <= a < max   p = slope1 y                      y = (a - min) inv1 r
//   max <= a < end   p = base2 r + (slope2 + z) y      y = (a - max) inv2 r, z = (a - max) square2
//   end <= a         p = 1 and `over`, for a packet of any size
//
//   RED: end = max. Gentle: end = 2 max, base2 = maxP, slope2 = 1 - maxP. ExRED: end = K,
//   slope2 = s (K-k_h), square2 = a2 (K-k_h). A step: min = max = end.
//   r weights by size (Floyd and Jacobson 1993, section 4): (L m) >> s, U8.12 saturating, or 1.
//
// Formats: a U27.16, thresholds U27, compared with all fraction bits.
//   y = ((a - th) (m r)) >> 12 >> s      U8.24, saturating
//   z = ((a - th) m) >> s                U1.32, saturating at 1.0
//   t = b1 + z                           U1.32, saturating at 1.0
//   p = ((base r) >> 12) + ((y t) >> 24) U1.32, saturating at 1.0
// Every shift truncates. With exact register values and r = 1, p is below the real curve by less than 3 2^-24. The host
// determines the error of the register values.
#pragma once

#include "config.h"
#include "formats.h"

namespace vermilion {

struct CurveValue {
  u64 p;      // U1.32
  bool over;  // a >= end
};

CurveValue curveProbability(const VmCurve& curve, u64 avg, u32 ratio);

// r of a packet of `lenBytes` bytes. RatioOne if the queue does not weight by size.
u32 sizeRatio(u32 lenBytes, VmScaled size);

}  // namespace vermilion
