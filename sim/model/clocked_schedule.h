// The queues and the scheduler of the RTL, one call per cycle: QueueManager.scala, ServiceLists.scala and
// Scheduler.scala. Strict priority, then deficit round robin. Queues of equal priority are served in the order of
// insertion into their list, not by queue number.
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
  // `configuredNs`: lane time at which the port's shaper was configured. `judges`: in a build with codel. `waits`: in a
  // build with the victim search, where each queue that leaves its list is not new until the DRR list had its turn.
  explicit ClockedScheduler(const VmConfig& config, u64 configuredNs = 0, bool judges = false, bool waits = false);
  struct Egress {
    bool room;                        // it can hold one more packet
    bool settling = false;            // a queue with a rate is not chosen if no other is listed
    std::optional<Enqueued> dropped;  // a packet that was taken 4 cycles before, and is not sent
  };
  // One cycle. Returns the queue from which the scheduler takes a packet, or -1. `enqueued` came in the previous cycle.
  int clock(u64 now, const std::optional<Enqueued>& enqueued, const Egress& egress);
  bool shapedPort() const { return port_.shaped(); }
  // The port `busy` in the cycle of the last call of `clock`.
  bool busy() const { return busy_; }
  // The port `wake`, valid while the scheduler is quiescent.
  bool wake(u64 now, u64& ns) const;

 private:
  // Strict levels, the list of new flows, and the DRR list.
  static constexpr u32 New = 8, Drr = 9, Levels = 10;
  static constexpr std::size_t RefillsDepth = 2, ReleasesBusy = 1;
  struct Queue {
    u32 level, quantum;
    bool judged = false;  // its packets get a verdict
    bool flows = false;   // it is in a group whose queues hold flows
    bool place = false;   // it is in the DRR list without a packet (KeptPlaces.scala)
    u64 deficit = 0;
    bool backlogged = false;
    std::deque<u32> packets;  // bytes of each
  };
  struct Insertion {
    u32 queue;
    u64 deficit;
    bool add, mayPark, mustPark;
    bool place = false;   // the queue is inserted without a packet
    bool waited = false;  // it waited to be inserted without a packet
  };
  static bool hasDeficit(u32 level) { return level >= New; }
  struct Choice {  // of a cycle: the first queue of the list that may be served
    u32 level, first, firstBytes;
    bool listed, more;  // the list holds a queue, and that queue has a successor
    bool ends;          // it holds no packet, and leaves the DRR list
    bool mayServe, grant;
    bool restores;  // bytes of dropped packets are given back to the first queue
  };
  enum class Source : u8 { None, Backlogged, Reactivated, Blocked, Release, Place, Uncovered };
  struct Next {  // the queue that is inserted in the next cycle, and why
    Source from = Source::None;
    std::optional<Insertion> insertion;
  };
  std::optional<u32> reactivated();
  std::optional<u32> awaken(const std::optional<Enqueued>& enqueued);
  // The bytes of packets of this DRR turn that are dropped.
  struct Claim {
    u32 open = 0;        // bit i: a packet of the turn was taken i + 1 cycles before
    bool turns = false;  // `queue` has been first in its list since it sent
    u32 queue = 0;
    u64 bytes = 0;
  };
  Choice choose(const Egress& egress) const;
  Next next(const Choice& c, const std::optional<u32>& backlogged, bool blocks) const;
  Claim& claimOf(u32 level) { return claims_[level != New]; }
  const Claim& claimOf(u32 level) const { return claims_[level != New]; }
  void claim(u32 list, const Choice& c, bool pops, const std::optional<Enqueued>& dropped);
  // An empty queue of a group that waits to be inserted into the DRR list.
  struct Waiting {
    u32 queue;
    bool cancelled;
  };
  static constexpr std::size_t MostWaiting = 2;  // with more, no packet of a flow is taken
  bool filled() const;
  bool offersPlace() const { return !waiting_.empty() && !waiting_.front().cancelled; }
  bool cancelPlace(u32 queue);
  bool keepsPlace(const Choice& c) const;
  void placesClock(const std::optional<u32>& kept, bool arrives, const Next& n);
  void leave(const Choice& c);
  bool alone() const;
  void fetchSecond(const Choice& c, bool pops, const std::optional<Enqueued>& enqueued);
  bool goesOn(u64 now, const Choice& c, bool changes) const;
  bool parksInstead() const;
  void take(const Choice& c);
  void insert(bool parked, bool none, bool holdsOld);
  u32 level() const;
  bool closed() const {
    const auto& list = lists_[level()];
    return !list.empty() && !port_.open() && !queues_[list.front()].place;
  }
  bool quiet() const {
    return !shaper_.charging() && port_.settled() && !insertion_ && (claims_[0].open | claims_[1].open) == 0 &&
           waiting_.empty() && !kept_;
  }

  std::vector<Queue> queues_;
  ClockedQueueShaper shaper_;
  ClockedPortShaper port_;
  std::deque<u32> lists_[Levels], reactivations_, releases_;
  std::optional<u32> emptied_;  // by the dequeue of the previous cycle
  std::optional<Insertion> insertion_;
  Claim claims_[2];  // of the list of new flows and of the DRR list
  bool waits_;
  std::deque<Waiting> waiting_;
  std::optional<u32> kept_;  // the queue that the previous cycle's dequeue emptied keeps a place
  u32 settleLevel_ = 0;
  bool holdsFirst_ = false, busy_ = false;
  bool settled_ = true;  // the first queue of each list is unchanged since the previous cycle
  // Of `lastLevel_`, the list that was served. knowsSecond_: the successor has been read from RAM. arrived_: the first
  // packet has been read, so of two packets the successor is known.
  bool knowsSecond_ = false, arrived_ = false;
  u32 lastLevel_ = Drr;
};

}  // namespace vermilion
