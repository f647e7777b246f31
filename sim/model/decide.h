// One decision: averages, curve, spacing, one verdict. The checks are in the order of docs/architecture.md, "The
// verdict":
//
//   bad       the frame is flagged bad
//   nobuf     no cell, or too long
//   policed   dropped by the queue's marker
//   tail      what is queued before this packet plus this packet exceeds limit_bytes or limit_packets; or the pool has
//             no room for it
//   forced    the drop curve is on and the colour's average is at its end or over it; also for ECT and CE packets
//   mark      spacing says early, the queue has ecn and the packet is ECT or CE
//   early     spacing says early
//   mark, early   PIE says so, in a queue with PIE; its curves have the probability 0
//   enqueue
//
// p comes from the drop curve. An ECT or CE packet of a queue with ecn takes it from the ecn curve, if the colour has
// ecn_own. Over the end of the ecn curve p is 1, which gives a mark, not forced. Size weighting, if on, comes before
// spacing.
//
// State changes: bad, nobuf and policed change no average, S or R. tail updates averages and keeps S and R. forced
// updates averages and restarts spacing. Every frame takes one draw, the trace's `draw`.
//
// The reported avg is that of the arriving colour after its update: the value that was compared. The reported p is the
// curve's after size weighting, also for tail; 2^32 for forced; 0 for bad, nobuf and policed. S is the accumulator
// after the decision.
#pragma once

#include <vector>

#include "average.h"
#include "pie.h"
#include "records.h"
#include "spacing.h"

namespace vermilion {

using Arrival = VmArrival;
using Departure = VmDeparture;
using Decision = VmDecision;

// A decision in progress: averages are updated, the verdict is not made yet.
struct Pending {
  u32 queue, colour, ecn, draw, len_bytes;
  bool bad, no_buffer, policed;
  bool over;  // the drop curve's end
  u64 avg, p;
};

class DecisionModel {
 public:
  explicit DecisionModel(std::vector<VmQueue> queues);
  // Queue, colour and n must be in range: see `legal`.
  Decision decide(const Arrival& a) {
    const Pending seen = observe(a);
    return conclude(seen, over(seen, a.queued_bytes, a.queued_packets, a.pool_full != 0));
  }
  // The two halves of `decide`, each in packet order: first the averages, later spacing and the limit.
  Pending observe(const Arrival& a);
  // Whether the packet is over a limit. `queuedBytes`, `queuedPackets`: before it.
  bool over(const Pending& seen, u32 queuedBytes, u32 queuedPackets, bool poolFull = false) const;
  // `over`: it is. `pie`: the verdict of PIE, which decides where the curves have no verdict.
  Decision conclude(const Pending& seen, bool over, ArrivalVerdict pie = ArrivalVerdict::Pass);
  void depart(const Departure& d);
  void configure(u32 queue, const VmQueue& record) { queues_[queue] = record; }
  bool legal(u32 queue, u32 colour, const u32 n[Colours]) const;
  u64 average(u32 queue, u32 colour) const { return state_[queue].average[colour].value(); }
  // What a host read returns for an empty queue. n: as in `Arrival`; `idleNs`: since the later of departure and update.
  u64 aged(u32 queue, u32 colour, int n, u64 idleNs) const {
    return state_[queue].average[colour].aged(queues_[queue], n, idleNs);
  }
  const VmQueue& queue(u32 index) const { return queues_[index]; }
  // Whether both make the same decisions from now on, given the same profiles.
  bool sameState(const DecisionModel& other) const { return state_ == other.state_; }
  u32 queueCount() const { return static_cast<u32>(queues_.size()); }

 private:
  struct State {
    Estimator average[Colours];
    SpacingState spacing[Colours];
    bool operator==(const State&) const = default;
  };
  std::vector<VmQueue> queues_;
  std::vector<State> state_;
};

}  // namespace vermilion
