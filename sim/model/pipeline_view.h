// What a decision in the RTL's pipeline sees of those before it: backlogs, last departures, updates under way, the total
// that its limit is compared with, and its draw. Fed with what happened when, by the clocked lane and by the replay alike.
//
//   a token looks up its queue's state, clock t average/BacklogCounters.scala: admissions whose token came by clock t - Admission (and
//                                       - settling), departures and evictions up to clock t - 1
//   its averages                        average/AverageUnit.scala: n - 1 updates of the same estimator in the `Averaging`
//                                       clocks before t are still under way
//   its verdict in clock t + Decide      decide/QueueLimit.scala: all admissions and push-outs before it, departures and packets that
//                                       push-outs have cost up to LimitLag clocks before
//   the pool                            decide/PoolLimit.scala: admissions, departures and losses up to PoolLag clocks before
//   its draw                            one a packet, in order
//
// Clocks may start anywhere, but each kind of event comes in the order of clocks.
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

  // A packet left its queue, shown in `clock`, when the lane's time was `now`.
  void departed(u64 clock, u64 now, u32 queue, u32 colour, u32 lenBytes);
  // What a token that looks up its queue's state in `clock` sees, whose time is `now`. A packet's takes a draw; packets that are not `counted` (bad,
  // nobuf, policed) and a refresh of a queue that does not update at departures change no average.
  Arrival packet(u64 clock, u64 now, u32 queue, u32 colour, u32 lenBytes, bool counted);
  Arrival refresh(u64 clock, u64 now, u32 queue, u32 colour);
  // The total that the verdict of a packet of that token is compared with.
  void limit(u64 tokenClock, Arrival& seen);
  // It takes its room: it is admitted, or goes into a push-out, at its verdict.
  void reserved(const Arrival& seen);
  // It is in its queue, in the clock in which that is known.
  void admitted(u64 tokenClock, const Arrival& seen);
  // A commit: from the queue's next token on.
  void configure(u32 queue, const VmQueue& profile) { profiles_[queue] = profile; }
  // What a push-out has cost, in the clock in which that is known: who was evicted; the length of who was, or of the arriving packet.
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
    u32 bytes[Colours] = {}, packets[Colours] = {};  // as averages see them
    u64 lastDeparture[Colours] = {}, lastEviction[Colours] = {};
    u32 totalBytes = 0, totalPackets = 0;  // as the limit sees them
    u32 cells = 0;                         // as the pool sees them
  };
  // Cells that a packet takes, or gives back.
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
  std::deque<Event> admissions_, departures_, leaving_;  // not yet counted; the last for the limit
  std::deque<Update> updates_;                           // of the last clocks
  VmPool pool_;
  u32 egresses_;
  u32 used_[VM_MAX_EGRESSES] = {};
  std::deque<PoolEvent> poolTaken_, poolReturned_;  // not yet counted
  u64 verdictClock_ = 0;                            // of the packet whose limit was asked for last
  RandomSource random_;
};

}  // namespace vermilion
