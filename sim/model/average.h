// Average queue lengths: Floyd's EWMA looked ahead by n, and its decay at an empty queue.
//
//   step   avg <- base + W[n] (q - base)             W[n] = 1 - (1-w)^n
//   age    avg <- base 2^-x, x = t lambda + k        lambda = -log2(1-w)/s per ns, k = -log2(1-w): 2^-x = (1-w)^(t/s + 1)
//
// Source: Floyd, Jacobson, RED (1993), sections 4 and 11. The 1 in t/s + 1 is the arriving packet itself: it samples q = 0
// as any arrival samples its q, as in ns-2 and ns-3 (docs/decisions/0016-ageing-keeps-its-remainder.md). The look-ahead is
// docs/architecture.md, "Average".
// `base` is the average as it stood after the n-th last decision that updated this estimator: n - 1 younger ones were
// still under way in the RTL when this one read. n = 1 is Floyd's average exactly.
//
// Formats
//   q              U27, bytes or packets as they are (a packet counts 1), saturating
//   avg            U27.16
//   step           d = q 2^16 - base, signed; avg = base + ((d m) >> (8+e)), shifted to minus infinity; saturating
//                  (a weight above 1.0 can be written in U9 and overshoots)
//   P              t m + residue + k (1 + pending), in 2^-(10+s) halvings; k is idle_step, U48; t is U48, m U16
//   x              P >> s, U6.10, saturating at 63.999
//   residue        P mod 2^s: what x leaves out, kept for the next ageing; U48, so s is at most 48
//   pending        n - 1, U3: k of each decision under way, which `base` does not hold; kept for the next ageing
//   age            ((base ROM[x mod 1024]) >> 17) >> (x div 1024), both shifts truncate
//   ROM[i]         round(2^17 2^(-i/1024)), U1.17, ROM[0] = 2^17
//
// Error. The sum of all x is the sum of all t m and k, exactly, less at most one unit of 2^-10 that is still to come: N
// ageings of t/N take away what one of t does, for any N. Against 2^-x with x as programmed, an ageing errs by ROM's last
// place, 2^-18, at most 0.35 % of the x that it applies, and loses 2 2^-16 by truncation; an x of 0 changes nothing. So after
// any number of ageings by X in all: avg is base 2^-X' with X' from X (1 - 0.35 %) - 2^-10 to X (1 + 0.35 %), less at most
// 1478 2^-16 = 0.023 units: a loss shrinks with all that comes after it, and none comes without 2^-10 of x.
//
// When (decided here, the same in the RTL)
//   - An arrival of colour c updates exactly the estimators whose mask holds c; bad and nobuf frames update none.
//   - Masked backlog before the arrival 0: age, no step; t is the time since the last departure of a masked colour or
//     the update that gave `base`, whichever is shorter, each modulo 2^48 ns. Else step. A clock set back makes t long:
//     an average of an empty queue starts from 0, and nothing else happens. So the spells of updates under way lie within
//     t, and an update with a backlog has none to take over: the packet that made the backlog came long enough before it
//     to be in `base`.
//   - A departure of colour c, where the queue has update, steps the estimators whose mask holds c with the
//     backlog after it, also where that is 0; no draw.
//   - residue and pending change with an ageing alone, and a step leaves them as they are.
//   - A host's read ages without k of its own, and changes nothing.
#pragma once

#include <array>

#include "config.h"
#include "formats.h"

// For the ablation of docs/results/ageing.md alone: 0 drops each residue and k, as this project did before; 1 drops k, which
// is Floyd's paper to the letter; 2 is the lane.
#ifndef VERMILION_AGEING
#define VERMILION_AGEING 2
#endif

namespace vermilion {

// round(2^17 2^(-i/1024)), i = 0..1023.
const std::array<u32, 1 << IdleFrac>& ageRom();

u64 averageStep(u64 avg, u32 q, VmScaled weight);

u64 averageAge(u64 avg, u32 x);

// What an ageing left over: see P above.
struct Remainder {
  u64 residue = 0;
  u32 pending = 0;
  bool operator==(const Remainder&) const = default;
};

// P of `idleNs` and `steps` times idle_step.
u128 idleProduct(const VmQueue& queue, u64 idleNs, u64 residue, u32 steps);

// x of P.
u32 idleExponent(u128 product, VmScaled lambda);

// One estimator: its latest averages and their times.
class Estimator {
 public:
  u64 value(int n = 1) const { return back(n).avg; }
  // `idleNs`: since the last departure of a colour that counts, modulo 2^48.
  void arrive(const VmQueue& queue, u32 q, int n, u64 now, u64 idleNs);
  void depart(const VmQueue& queue, u32 q, int n, u64 now);
  // What a host reads of an empty queue, `idleNs` after the later of departure and update.
  u64 aged(const VmQueue& queue, int n, u64 idleNs) const;
  bool operator==(const Estimator&) const = default;

 private:
  static constexpr int Depth = 8;  // at least EwmaStages
  struct Update {
    u64 avg = 0, time = 0;
    Remainder remainder;  // of the newest ageing up to here
    bool operator==(const Update&) const = default;
  };
  const Update& back(int n) const { return ring_[(head_ + Depth + 1 - n) % Depth]; }
  void push(const Update& update);
  std::array<Update, Depth> ring_{};
  int head_ = 0;
};

}  // namespace vermilion
