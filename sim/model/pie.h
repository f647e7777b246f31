// PIE (RFC 8033), as Linux has it without its estimator of the departure rate (net/sched/sch_pie.c):
//
//   departure   the queue's delay is the sojourn time of the packet that departs, 0 if nothing is queued behind it;
//               the burst allowance shrinks by the time since the last departure
//   update      every T_update: p += alpha (delay - target) + beta (delay - delay before), scaled down where p is small
//   arrival     early, by chance p. The chance is taken only between an accumulated probability of 0.85 and 8.5
//
// Formats: p U0.56, 1.0 is PieProbMax = 2^56 - 1; the accumulated probability in the same unit; times in units of 64 ns.
// State and verdicts are those of Linux, but for these differences:
//   RFC 8033 limits p to 1. In Linux only the width of p does, so that p can rise beyond 1.
//   An early drop or mark sets the accumulated probability to 0 (RFC 8033). Linux forgets that where the accumulated
//   probability reaches 8.5 and the packet is marked. Until p is 0 or a packet is dropped, it then marks every packet that
//   passes the conditions before.
//   A sojourn time of more than 2^26 - 1 units (4.29 s) counts as that, and a negative one as 0.
//   In byte mode p is divided by the mtu at the update. Linux divides at the arrival. `mtu` must be 1 or more.
#pragma once

#include "formats.h"

namespace vermilion {

constexpr int PieProbBits = 56;
constexpr u64 PieProbMax = maxOf(PieProbBits);
constexpr int PieTimeShift = 6;          // from ns to the unit of PIE's times
constexpr int PieDelayBits = 26;         // of a delay
constexpr u64 PieSecond = 15'625'000;    // units
constexpr u64 PieSteep = PieSecond / 4;  // 250 ms: with a longer delay p rises by 2 % more

struct PieSettings {
  u64 target = 0;           // unit: 64 ns
  u64 burst = 0;            // the burst allowance, unit: 64 ns
  u64 alpha = 0, beta = 0;  // p for 64 ns of delay, unit 2^-56
  u32 mtu = 1;              // bytes. Nothing is early while fewer than 2 mtu are queued
  bool ecn = false;         // mark while p is 0.1 or less
  bool byteMode = false;    // p is for packets of `mtu` bytes, and less for shorter ones
};

struct PieState {
  u64 prob = 0, accumulated = 0;
  u64 probPerByte = 0;  // prob / mtu of the last update, for byte mode; a larger mtu since then counts at the next
  u64 delay = 0, delayBefore = 0;  // of the last departure, and at the last update
  u64 burstLeft = 0;
  u32 departed = 0;       // time of the last departure; after 274 s it has wrapped, as Linux's difference
  bool restarts = false;  // the next departure begins with the burst allowance of its settings
  bool operator==(const PieState&) const = default;
};

enum class ArrivalVerdict { Pass, Mark, Drop };

// The state of a queue after a reset.
PieState pieBegin();

// A packet arrives. `backlog`: bytes queued before it. `draw`: 56 random bits.
ArrivalVerdict pieArrives(PieState& state, const PieSettings& settings, u32 backlog, u32 lenBytes, bool ect, u64 draw);

// A packet is lost at the queue's limit.
void pieLost(PieState& state);

// A packet departs. Times in units of 64 ns; `backlog`: bytes that are queued after it.
void pieDeparts(PieState& state, const PieSettings& settings, u64 now, u64 enqueued, u32 backlog);

// The state of a queue whose PIE is turned on while it has this delay.
void pieRestarts(PieState& state, u64 delay);

// What is left of the burst allowance.
u64 pieBurstLeft(const PieState& state, const PieSettings& settings);

// The update of every T_update, with the delay that it has read. `isEmpty`: no byte is in the queue.
void pieUpdate(PieState& state, const PieSettings& settings, u64 delay, bool isEmpty);

}  // namespace vermilion
