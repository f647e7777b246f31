// DualPI2 (RFC 9332, appendix A), with the rules and defaults of Linux 6.17's sch_dualpi2: a pair of queues, L for scalable
// and C for classic congestion control, with one base probability p'. The scheduler of the lane shares between them (decision 35).
//
//   update     every T_update, by the greater of the sojourn times of both heads:
//              p' += alpha (delay - target) + beta (delay - delay before)
//   departure  C: with the chance p' p', by two draws, a packet that is ECT is marked and another is dropped.
//              L: with the chance k p' a packet is marked. It is marked, too, if its sojourn time is above the step. A packet of
//              L that is not ECT is dropped where another is marked.
//
// Overload, k p' > 1: C drops what it would mark. L first drops by the chance p' p', if it may (`dropOverload`), and marks what is
// ECT of the rest; if it may not drop, p' is at most 1 / k. Nothing is marked or dropped by chance while fewer than 2 mtu are queued in both.
//
// Formats: p' and draws U0.32; a draw that is not greater than the chance hits. Times in units of 64 ns. Gains: p' for 64 ns,
// unit 2^-40. A change of p' is truncated towards 0.
#pragma once

#include "codel.h"
#include "formats.h"

namespace vermilion {

constexpr u64 DualProbMax = maxOf(32);
constexpr int DualGainFrac = 8;  // bits of a gain below those of p'

struct DualPi2Settings {
  u64 target = 0, step = 0;  // unit: 64 ns
  u32 alpha = 0, beta = 0;   // p' for 64 ns of delay, unit 2^-40
  u32 most = DualProbMax;    // of p'; 2^32 - 1 by k, rounded down, where L must not be dropped in overload
  u32 coupling = 2;          // k, 1 and more
  u32 mtu = 1;               // bytes
  bool dropOverload = true;
};

struct DualPi2State {
  u32 prob = 0;         // p'
  u64 delayBefore = 0;  // at the last update
  bool operator==(const DualPi2State&) const = default;
};

// What is known of a packet at the head of its queue.
struct DualPi2Packet {
  bool isL = false;
  u8 ecn = 0;       // 0: not ECT
  u64 sojourn = 0;  // unit: 64 ns
};

// The update of every T_update: `delay` is the greater of both heads' sojourn times, 0 without packets.
void dualPi2Update(DualPi2State& state, const DualPi2Settings& settings, u64 delay);

// The verdict on a packet that leaves. `backlog`: bytes in both queues, this packet excluded. Two draws of 32 bits.
HeadVerdict dualPi2Head(const DualPi2State& state, const DualPi2Settings& settings, const DualPi2Packet& packet,
                        u32 backlog, u32 drawA, u32 drawB);

}  // namespace vermilion
