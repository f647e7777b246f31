// Average queue lengths: Floyd's EWMA with look-ahead by n steps, and its ageing while the queue is empty.
//
//   step   avg <- base + W[n] (q - base)             W[n] = 1 - (1-w)^n
//   age    avg <- base 2^-x, x = t lambda + k        lambda = -log2(1-w)/s per ns, k = -log2(1-w): 2^-x = (1-w)^(t/s + 1)
//
// Source: Floyd, Jacobson, RED (1993), sections 4 and 11. The 1 in t/s + 1 is the arriving packet: it samples q = 0, as
// any arrival samples its q. ns-2 and ns-3 do the same (docs/decisions/0016-ageing-keeps-its-remainder.md).
// docs/architecture.md, "Average", describes the look-ahead.
// `base` is the average after the n-th last update of this estimator. When this update read it, the n - 1 younger ones
// were still in the RTL's pipeline. With n = 1 the result is Floyd's average exactly.
//
// Formats
//   q              U27, bytes or packets (a packet counts 1), saturating
//   avg            U27.16
//   step           d = q 2^16 - base, signed; avg = base + ((d m) >> (8+e)), rounding to minus infinity; saturating
//                  (U9 can hold a weight above 1.0, which overshoots)
//   P              t m + residue + k (1 + pending), in 2^-(10+s) halvings; k is idle_step, U48; t is U48, m U16
//   x              P >> s, U6.10, saturating at 63.999
//   residue        P mod 2^s: what x leaves out, kept for the next ageing; U48, so s is at most 48
//   pending        n - 1, U3: the updates in the pipeline, whose k is not in `base`; kept for the next ageing
//   age            ((base ROM[x mod 1024]) >> 17) >> (x div 1024), both shifts truncate
//   ROM[i]         round(2^17 2^(-i/1024)), U1.17, ROM[0] = 2^17
//
// Error
//   - The sum of all x is the exact sum of all t m and k, less at most one unit of 2^-10 that is still to come. N
//     ageings of t/N have the same effect as one of t, for any N.
//   - Against 2^-x with x as programmed, an ageing errs by ROM's last place, 2^-18. That is at most 0.35 % of the x
//     that it applies. It also loses 2 2^-16 by truncation. An x of 0 changes nothing.
//   - After any number of ageings by X in total, avg is base 2^-X' less at most 1478 2^-16 = 0.023 units. X' lies
//     between X (1 - 0.35 %) - 2^-10 and X (1 + 0.35 %). Later ageings shrink each loss, and no loss occurs without
//     2^-10 of x.
//
// Rules (defined here, the same in the RTL)
//   - An arrival of colour c updates exactly the estimators whose mask holds c. bad and nobuf frames update none.
//   - If the masked backlog before the arrival is 0, the estimator ages and does not step. t is the time since the last
//     departure of a masked colour or since the update that gave `base`, whichever is shorter, each modulo 2^48 ns.
//   - Otherwise the estimator steps.
//   - A clock that is set back makes t long: the average of an empty queue starts from 0. It has no other effect.
//   - The idle times of updates in the pipeline lie within t. An update with a backlog has no such idle time: the
//     packet that made the backlog arrived early enough to be in `base`.
//   - If the queue has `update`, a departure of colour c steps the estimators whose mask holds c. It uses the backlog
//     after the departure, also if that is 0, and takes no draw.
//   - Only an ageing changes residue and pending; a step leaves them as they are.
//   - A host read ages without a k of its own, and changes nothing.
#pragma once

#include <array>

#include "config.h"
#include "formats.h"

// Only the ablation of docs/results/ageing.md changes this. 0: drops each residue and k. 1: drops k, as Floyd's paper
// has it. 2: the lane.
#ifndef VERMILION_AGEING
#define VERMILION_AGEING 2
#endif

namespace vermilion {

// round(2^17 2^(-i/1024)), i = 0..1023.
const std::array<u32, 1 << IdleFrac>& ageRom();

u64 averageStep(u64 avg, u32 q, VmScaled weight);

u64 averageAge(u64 avg, u32 x);

// What an ageing keeps for the next one: see P above.
struct Remainder {
  u64 residue = 0;
  u32 pending = 0;
  bool operator==(const Remainder&) const = default;
};

// P for `idleNs` and `steps` times idle_step.
u128 idleProduct(const VmQueue& queue, u64 idleNs, u64 residue, u32 steps);

// x of P.
u32 idleExponent(u128 product, VmScaled lambda);

// One estimator: its latest averages, each with the time of its update.
class Estimator {
 public:
  u64 value(int n = 1) const { return back(n).avg; }
  // `idleNs`: time since the last departure of a masked colour, modulo 2^48.
  void arrive(const VmQueue& queue, u32 q, int n, u64 now, u64 idleNs);
  void depart(const VmQueue& queue, u32 q, int n, u64 now);
  // What a host read returns for an empty queue. `idleNs`: time since the last departure or update, the later of them.
  u64 aged(const VmQueue& queue, int n, u64 idleNs) const;
  bool operator==(const Estimator&) const = default;

 private:
  static constexpr int Depth = 8;  // at least EwmaStages
  struct Update {
    u64 avg = 0, time = 0;
    Remainder remainder;  // of the newest ageing up to this update
    bool operator==(const Update&) const = default;
  };
  const Update& back(int n) const { return ring_[(head_ + Depth + 1 - n) % Depth]; }
  void push(const Update& update);
  std::array<Update, Depth> ring_{};
  int head_ = 0;
};

}  // namespace vermilion
