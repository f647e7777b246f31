// Between policy and victim search: selects the provisional verdicts that are push-outs, and gives the arriving packet
// its verdict.
//
//   provisional verdict  the verdict of the policy for the arriving packet (decide.h)
//   verdict              the final result for it; counters and traces use this one
//
// In a queue with victim = nearest, an early drop, a forced drop and an early mark are push-outs (victims.h).
// A push-out drops or marks exactly one packet: a queued one or the arriving one. An arriving packet that exceeds the
// queue's limit is dropped itself.
// `last` selects the tail-drop form. There a tail drop is a push-out among the last packets of the queue, and the curve
// drops or marks only the arriving packet. If the arriving packet exceeds the queue's byte limit, or the pool is full,
// a victim must be at least as long. So the queue never exceeds its limit.
//
//   push-out     another packet is dropped  the arriving one is dropped
//   verdict      enqueue                    mark if it may be marked, else the provisional verdict
//
// The victim is marked instead of dropped if the queue has ecn, the packet is ECT or CE, and the provisional verdict is
// not `forced`.
// PolicyPipeline.scala, "settled".
#pragma once

#include "decide.h"
#include "victims.h"

namespace vermilion {

inline bool pushesOut(const VmQueue& queue, u32 provisionalVerdict) {
  if (!queue.victim) return false;
  return queue.victim_window != 0
             ? provisionalVerdict == VM_TAIL
             : provisionalVerdict == VM_EARLY || provisionalVerdict == VM_FORCED || provisionalVerdict == VM_MARK;
}

inline bool admits(u32 verdict) {
  return verdict == VM_ENQUEUE || verdict == VM_MARK;
}

// The arriving packet as the queues see it. `cell` identifies the packet until it departs.
inline VictimArrival atQueues(const VmQueue& queue, const Arrival& seen, u32 provisionalVerdict, u32 cell, u32 cells) {
  const u32 action = pushesOut(queue, provisionalVerdict) ? VictimArrival::PushOut
                     : admits(provisionalVerdict)         ? VictimArrival::Admit
                                                          : VictimArrival::Refuse;
  VictimArrival a{seen.queue,    cell,          cells,  seen.len_bytes, seen.colour,
                  seen.distance, seen.ecn != 0, action, false,          false};
  a.byColour = queue.victim_by_colour != 0;
  a.mayMark = queue.ecn != 0 && provisionalVerdict != VM_FORCED;
  a.last = queue.victim ? queue.victim_window : 0;
  a.asLong = u64{seen.queued_bytes} + seen.len_bytes > queue.limit || seen.pool_full != 0;
  return a;
}

inline u32 verdictOf(u32 provisionalVerdict, bool pushOut, const VictimOutcome& outcome) {
  if (!pushOut || !outcome.enqueued) return provisionalVerdict;
  return outcome.marked ? VM_MARK : VM_ENQUEUE;
}

// What the trace contains of a push-out, in addition to the verdict.
struct PushOut {
  u32 provisionalVerdict = VM_ENQUEUE;
  bool held = false;  // if false, the other fields are invalid
  VictimOutcome outcome{};
};

}  // namespace vermilion
