// Average queue lengths: Floyd's EWMA looked ahead by n, and ageing over idle time.
//
//   step   avg <- base + W[n] (q - base)             W[n] = 1 - (1-w)^n
//   age    avg <- base 2^-x, x = t lambda            lambda = -log2(1-w)/s per ns, so 2^-x = (1-w)^(t/s)
//
// Source: Floyd, Jacobson, RED (1993), sections 4 and 11; the look-ahead is docs/architecture.md, "Average".
// `base` is the average as it stood after the n-th last decision that updated this estimator: n - 1 younger ones were
// still under way in the RTL when this one read. n = 1 is Floyd's average exactly.
//
// Formats
//   q              U27, bytes or packets as they are (a packet counts 1), saturating
//   avg            U27.16
//   step           d = q 2^16 - base, signed; avg = base + ((d m) >> (8+e)), shifted to minus infinity; saturating
//                  (a weight above 1.0 can be written in U9 and overshoots)
//   x              (t m) >> s, U6.10, saturating at 63.999
//   age            ((base ROM[x mod 1024]) >> 17) >> (x div 1024), both shifts truncate
//   ROM[i]         round(2^17 2^(-i/1024)), U1.17, ROM[0] = 2^17
// Error of ageing against 2^-x with x as programmed: the exponent's last place and ROM's, together under
// 2^-10 ln 2 + 2^-17 < 0.07 % of the average (too large by the first, either way by the second), and 2 2^-16 lost by
// truncation.
//
// When (decided here, the same in the RTL)
//   - An arrival of colour c updates exactly the estimators whose mask holds c; bad and nobuf frames update none.
//   - Masked backlog before the arrival 0: age, no step; t is the time since the last departure of a masked colour or
//     the update that gave `base`, whichever is shorter, each modulo 2^48 ns. Else step. A clock set back makes t long:
//     an average of an empty queue starts from 0, and nothing else happens. So the spells of updates under way lie within
//     t, and an update with a backlog has none to take over: the packet that made the backlog came long enough before it
//     to be in `base`.
//   - A departure of colour c, where the queue has update_depart, steps the estimators whose mask holds c with the
//     backlog after it, also where that is 0; no draw.
#pragma once

#include <array>

#include "config.h"
#include "formats.h"

namespace vermilion {

// round(2^17 2^(-i/1024)), i = 0..1023.
const std::array<u32, 1 << IdleFrac>& ageRom();

u64 averageStep(u64 avg, u32 q, VmScaled weight);

// x of an idle time, U6.10.
u32 idleExponent(u64 idleNs, VmScaled lambda);

u64 averageAge(u64 avg, u32 exponent);

// One estimator: its latest averages and their times.
class Estimator {
 public:
  u64 value(int n = 1) const { return back(n).avg; }
  // `idleNs`: since the last departure of a colour that counts, modulo 2^48.
  void arrive(const VmQueue& queue, u32 q, int n, u64 now, u64 idleNs);
  void depart(const VmQueue& queue, u32 q, int n, u64 now);
  bool operator==(const Estimator&) const = default;

 private:
  static constexpr int Depth = 8;  // at least EwmaStages
  struct Update {
    u64 avg = 0, time = 0;
    bool operator==(const Update&) const = default;
  };
  const Update& back(int n) const { return ring_[(head_ + Depth + 1 - n) % Depth]; }
  void push(u64 avg, u64 now);
  std::array<Update, Depth> ring_{};
  int head_ = 0;
};

}  // namespace vermilion
