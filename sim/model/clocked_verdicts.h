// The verdicts on packets that leave, cycle by cycle: DepartureVerdicts.scala, and what EgressQueues.scala makes of them.
//
// A packet that is taken in cycle t is judged by codel.h with the time of cycle t + 1. Its backlog is what came until
// cycle t and is still queued behind it. The verdict counts in cycle t + 4. A packet that is dropped goes to a queue of
// discarded packets, and returns its cells in a cycle in which the reader reads none.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "codel.h"
#include "config.h"
#include "timing.h"

namespace vermilion {

// The verdict of a queue on one packet. `again`: it is dropped, and another drop may be due at once.
struct Judged {
  HeadVerdict verdict = HeadVerdict::Pass;
  bool again = false;
};

// A packet that was marked on arrival is not marked again.
inline HeadVerdict ofMarked(HeadVerdict verdict, bool marked) {
  return verdict == HeadVerdict::Mark && marked ? HeadVerdict::Pass : verdict;
}

// Of two verdicts on a packet: a drop goes before a mark.
inline HeadVerdict strongest(HeadVerdict one, HeadVerdict other) {
  return one > other ? one : other;
}

// The CoDel of all queues: settings, state, and which queues are settled.
class QueueVerdicts {
 public:
  explicit QueueVerdicts(std::vector<VmQueue> queues);
  // Another profile, for requests in later cycles. A queue whose CoDel is turned on begins with a new state.
  void configure(u32 queue, const VmQueue& profile);
  // A request in this cycle: time and arrival in ns, bytes queued behind the packet.
  Judged judge(u64 clock, u64 now, u32 queue, u64 arrival, u32 dsField, bool isIp, u32 backlog);
  // In a build with `codel`, the port `busy` of CodelUnit.scala.
  bool settling(u64 clock) const { return changed_ && clock <= lastChange_ + CodelSettles; }

 private:
  struct Queue {
    CodelSettings settings;
    bool on = false;
    CodelState state;
    std::optional<u64> changed;  // the cycle of the request that last changed `count`
  };
  std::vector<Queue> queues_;
  bool changed_ = false;
  u64 lastChange_ = 0;
};

// Whether an egress may choose a packet, and what becomes of packets that are dropped. One call of `clock` per cycle.
class ClockedDiscards {
 public:
  // The egress waits until a queue is settled. `late`: a drop in this cycle after which another may be due at once.
  bool settling(bool late) const { return late || left_ != 0; }
  // `ahead`: cells of chosen packets that wait for the reader.
  bool room(u32 ahead, bool settling, bool shapedPort) const;
  bool holds() const { return !chains_.empty(); }
  // `free`: no cell is read in this cycle. `dropped`: cells of the packet that is dropped in this cycle, or 0. Returns
  // the cells that are freed in this cycle, or 0.
  u32 clock(bool free, bool late, u32 dropped);
  // Cells of the packet that was dropped in the cycle before.
  u32 droppedBefore() const { return before_; }

 private:
  std::deque<u32> chains_;  // cells of each discarded packet
  u32 left_ = 0, before_ = 0;
};

}  // namespace vermilion
