// What a decision in the RTL's pipeline sees of the packets before it: backlogs, last departures, updates in the
// pipeline, the total that its limit is compared with, and its draw. The clocked lane and the replay both feed it with
// events.
//
//   queue state lookup, cycle t    average/BacklogCounters.scala: admissions of tokens up to cycle t - Admission -
//                                  settling, departures and evictions up to cycle t - 1
//   averages                       average/AverageUnit.scala: n - 1 updates of the same estimator in the `Averaging`
//                                  cycles before t are still in the pipeline
//   verdict in cycle t + Decide    decide/QueueLimit.scala: all admissions and push-outs before it; departures, and
//                                  packets lost to push-outs, up to LimitLag cycles before
//   pool                           decide/PoolLimit.scala: admissions, departures and losses up to PoolLag cycles
//                                  before
//   draw                           one per packet, in order
//
// The first cycle may have any number. The events of each kind come in the order of cycles.
#pragma once

#include <deque>
#include <vector>

#include "config.h"
#include "decide.h"
#include "random.h"
#include "timing.h"

namespace vermilion {

class PipelineView {
 public:
  explicit PipelineView(const VmConfig& config, u64 settling = 0);

  // A packet left its queue. The RTL shows it in cycle `clock`, at lane time `now`.
  void departed(u64 clock, u64 now, u32 queue, u32 colour, u32 lenBytes);
  // What a token sees that looks up its queue's state in cycle `clock`, at time `now`. A packet takes a draw. Packets
  // that are not `counted` (bad, nobuf, policed) change no average, nor does a refresh of a queue without `update`.
  Arrival packet(u64 clock, u64 now, u32 queue, u32 colour, u32 lenBytes, bool counted);
  Arrival refresh(u64 clock, u64 now, u32 queue, u32 colour);
  // Sets the total with which the verdict of that token's packet compares the limit.
  void limit(u64 tokenClock, Arrival& seen);
  // The packet occupies its room from its verdict on: it is admitted, or enters a push-out.
  void reserved(const Arrival& seen);
  // The packet is in its queue. Called in the cycle in which this is known.
  void admitted(u64 tokenClock, const Arrival& seen);
  // A commit. It takes effect at the queue's next token.
  void configure(u32 queue, const VmQueue& profile) { profiles_[queue] = profile; }
  // The result of a push-out, in the cycle in which it is known. `evicted`: the evicted packet. `lost`: the length of
  // the evicted packet, or of the arriving one if that is dropped.
  void evicted(u64 clock, u64 now, u32 queue, u32 colour, u32 lenBytes);
  void lost(u64 clock, u32 queue, u32 lenBytes);

 private:
  struct Event {
    u64 clock;
    u32 queue, colour, lenBytes;
    u64 now;
    bool evicted = false;
  };
  struct Update {
    u64 clock;
    u32 queue, mask;  // estimators
  };
  struct Queue {
    u32 bytes[Colours] = {}, packets[Colours] = {};  // as the averages see them
    u64 lastDeparture[Colours] = {}, lastEviction[Colours] = {};
    u32 totalBytes = 0, totalPackets = 0;  // as the limit sees them
    u32 cells = 0;                         // as the pool sees them
  };
  // Cells that a packet takes or returns.
  struct PoolEvent {
    u64 clock;
    u32 queue, cells;
  };
  u32 egressOf(u32 queue) const { return queue / (static_cast<u32>(queues_.size()) / egresses_); }
  bool poolFull(u64 clock, u32 queue, u32 cells);
  Arrival lookup(u64 clock, u64 now, u32 queue, u32 colour);
  void update(u64 clock, u32 queue, u32 colour);

  u64 settling_;
  std::vector<VmQueue> profiles_;
  std::vector<Queue> queues_;
  std::deque<Event> admissions_, departures_, leaving_;  // not yet counted; leaving_ is for the limit
  std::deque<Update> updates_;                           // of the last cycles
  VmPool pool_;
  u32 egresses_;
  u32 used_[VM_MAX_EGRESSES] = {};
  std::deque<PoolEvent> poolTaken_, poolReturned_;  // not yet counted
  u64 verdictClock_ = 0;                            // of the last call of `limit`
  RandomSource random_;
};

}  // namespace vermilion
