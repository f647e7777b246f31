// CoDel (RFC 8289), one decision for each packet that comes to the head of its queue and may leave.
//
// The arithmetic is that of Linux, include/net/codel_impl.h: times in units of 1,024 ns with 32 bits, compared as serial
// numbers; the inverse square root of `count` with 16 bits, one Newton step for each drop or mark:
//   y <- y (3 - count y^2) / 2;  next drop = t + interval y
//
// Linux drops in a loop until a packet may leave. Here each packet of this loop is a decision of its own, with the time
// at which it is made. `phase` holds the place in the loop. If all times of a loop are equal, verdicts and state are those
// of Linux (sim/vermilion/oracle/departure.py compares them).
//
// Linux resets first_above_time and leaves the dropping state where it finds the queue empty. That needs no rule here: the
// last packet of a queue has no backlog, which has the same effect. A packet that is flushed is a decision with a backlog of 0.
// Linux takes a first_above_time of 0 as "not set", also when the clock is 0 there. Here a flag says that it is set.
//
// Linux marks a packet that seems to come from the future (a clock that was set back) where its ce_threshold is "never".
// Here a sojourn time of 2^31 or more is above no ce_threshold.
//
// In hardware the new count, its inverse square root and the next drop need CodelSettles cycles from the decision. Until
// then the queue is not settled: it drops and marks nothing by its count. Everything else continues.
#pragma once

#include "formats.h"

namespace vermilion {

constexpr int CodelShift = 10;  // from ns to the unit of CoDel's times
constexpr int CodelSettles = 14;

enum class HeadVerdict { Pass, Mark, Drop };

struct CodelSettings {
  u32 target = 0, interval = 0;   // unit: 1,024 ns
  u32 ceThreshold = 0x7fffffff;   // sojourn time above which a packet is marked; the default is never reached
  u32 mtu = 0;                    // bytes: nothing happens while the backlog is not greater
  bool ecn = false;               // mark instead of drop
  u8 ceMask = 0, ceSelector = 0;  // ceThreshold applies if (DS field & ceMask) == ceSelector
};

enum class CodelPhase : u8 {
  Below,     // not dropping
  Entered,   // the packet that began the dropping state was dropped; the next one leaves
  Dropping,  // a packet that comes at dropNext or later is dropped
  Dropped,   // a packet was dropped, and dropNext is still the time at which it was due
};

struct CodelState {
  CodelPhase phase = CodelPhase::Below;
  bool isAbove = false;  // the sojourn time has been at `target` or above since the packet that set `mayDropAt`
  u32 mayDropAt = 0;     // interval after that packet
  u32 dropNext = 0;
  u32 count = 0, lastCount = 0;  // drops and marks of this dropping state, with those it began with; that beginning
  u16 invSqrt = 0;               // 2^16 / sqrt(count), 2^16 - 1 at count 1
  u32 step = 0;                  // interval / sqrt(count), with the interval at the last change of `count`
  bool changes = false;          // flips with each drop or mark by `count`
  bool operator==(const CodelState&) const = default;
};

struct HeadPacket {
  u32 enqueued = 0;  // time, unit: 1,024 ns
  u8 dsField = 0;    // DSCP and ECN; ECN 0 is not ECT
  bool hasDsField = true;
};

// The verdict on the packet at the head of a queue at the time `now`. `backlog`: bytes in the queue behind it. `settled`:
// CodelSettles cycles have passed since the last change of `count`.
HeadVerdict codelHead(CodelState& state, const CodelSettings& settings, u32 now, const HeadPacket& packet, u32 backlog,
                      bool settled = true);

// Whether another drop may be due at once, after a drop at `now` of a queue with this state before it: the drop was due
// half of the present step before. The drop with which a dropping state begins is followed by a packet that leaves.
bool codelDueAgain(const CodelState& before, u32 now);

}  // namespace vermilion
