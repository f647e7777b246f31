// The queues and the scheduler as the RTL runs them, one call a clock: QueueManager.scala, ServiceLists.scala and
// Scheduler.scala. Strict priority, then deficit round robin, by lists of active queues and not by their numbers,
// so that of equals who came first goes first.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "clocked_shaper.h"
#include "timing.h"

namespace vermilion {

class ClockedScheduler {
 public:
  struct Enqueued {
    u32 queue, lenBytes;
  };
  // `configuredNs`: lane time at which the port's shaper was configured.
  explicit ClockedScheduler(const VmConfig& config, const LaneShape& shape = {}, u64 configuredNs = 0);
  // One clock; the number of the queue whose first packet is taken in it, or -1. `enqueued` came in the clock before. `mayReplace`: a victim goes in
  // this clock, who may be the packet behind the one taken in the clock before.
  int clock(u64 now, const std::optional<Enqueued>& enqueued, bool room, bool mayReplace = false);
  bool emptied() const { return emptied_.has_value(); }  // that packet was taken as its queue's last
  // In the clock that was, behind all that it brought, a packet was taken out of the middle; or, before the clock that comes, the first.
  void evict(u32 queue, std::size_t place) {
    std::deque<u32>& packets = queues_[queue].packets;
    packets.erase(packets.begin() + static_cast<std::ptrdiff_t>(place));
  }
  // Before the clock that comes: a packet in the place of one that was evicted, its queue's only one.
  void fill(u32 queue, u32 lenBytes) { queues_[queue].packets.push_back(lenBytes); }
  // The port `busy` in the clock that was.
  bool busy() const { return busy_; }
  // The port `wake` as it stands, when nothing is going on.
  bool wake(u64 now, u64& ns) const;

 private:
  static constexpr u32 Round = 8, Levels = 9;
  static constexpr std::size_t RefillsDepth = 2, ReleasesBusy = 1;
  struct Queue {
    u32 level, quantum;
    u64 deficit = 0;
    bool awake = false;
    std::deque<u32> packets;  // bytes of each
  };
  struct Joining {
    u32 queue;
    u64 deficit;
    bool add, mayPark, mustPark;
  };
  u32 level() const;
  bool closed() const { return !lists_[level()].empty() && !port_.open(); }
  bool quiet() const { return !shaper_.charging() && port_.settled() && !joining_ && waking_ < 0; }

  std::vector<Queue> queues_;
  ClockedQueueShaper shaper_;
  ClockedPortShaper port_;
  std::deque<u32> lists_[Levels], refills_, releases_;
  std::optional<u32> emptied_;  // by the take of the clock before
  std::optional<Joining> joining_;
  u32 settleLevel_ = 0;
  // With the victim search: a packet can be taken in the clock in which it comes out of RAM, unless the queues `mayReplace` it in that
  // clock; and that a queue has awoken is told a clock later.
  bool bypasses_;
  int waking_ = -1;
  bool holdsFirst_ = false, busy_ = false;
  bool settled_ = true;  // who is first in each list stands since the last clock
  // Of `lastLevel_`, the list that was served: the packet behind its first has come out of RAM; or its first has, and then of two packets it is known.
  bool knowsSecond_ = false, arrived_ = false;
  u32 lastLevel_ = Round;
};

}  // namespace vermilion
