// Between policy and victim search: which provisional verdicts push out the nearest packet, and what becomes of the arriving one.
//
//   provisional verdict  what policy says of the arriving packet (decide.h)
//   verdict              what became of it; counters and traces have this one
//
// In a queue with victim = nearest, an early or forced drop and an early mark are a push-out (victims.h) that costs exactly one packet: one of
// the queue, or the arriving one. A packet over the queue's limit is lost itself. With `last` it is the other way round (the tail-drop form): a tail
// drop is a push-out among the last packets of the queue, and what the curve drops or marks is the arriving packet. Where its bytes do not
// fit, a victim must be at least as long, so that the queue is never over its limit.
//
//   push-out     another packet is dropped  the arriving one is dropped
//   verdict      enqueue                    mark, where it may be marked, else the provisional verdict
//
// The victim is marked instead of dropped where the queue has ecn, the packet is ECT or CE, and the provisional verdict is not `forced`.
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

// The packet as it goes to the queues. `cell` names it until it has gone.
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

// What the trace says of a decision beside its verdict.
struct PushOut {
  u32 provisionalVerdict = VM_ENQUEUE;
  bool held = false;  // else the rest means nothing
  VictimOutcome outcome{};
};

}  // namespace vermilion
