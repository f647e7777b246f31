// Which queue sends next: strict priority, then deficit round robin (Shreedhar, Varghese, SIGCOMM 1995), under a shaper
// per queue and one for the port.
//
// Shaper, a virtual clock in U40.16 ns:
//   may send when now >= next
//   after L bytes: next = max(next, now - burst) + cost(L), cost = (L m 2^16) >> s   (m = 0: always)
//   m 2^-s is ns per byte, m U18; at 64 kb/s that is 125000
// now - burst is not below 0. With burst 0 every packet rounds up to a whole nanosecond; a burst of 1 ns keeps the
// fractions.
//
// A queue is eligible when it holds a packet and its shaper lets it send. Of the strict queues the eligible one with
// the greatest priority goes first, of equals the one with the smallest number. If none is, the round robin over the
// others, upwards from the queue last visited:
//   a visit begins                deficit += quantum if it is less than the head's length; a quantum below 64 counts as 64
//   deficit >= head's length      the queue sends, deficit -= length, the visit goes on
//   else, or not eligible         the visit ends; the deficit is kept
//   the queue empties             deficit = 0, the visit ends
// Where nothing is eligible nothing moves.
#pragma once

#include <vector>

#include "config.h"
#include "formats.h"

namespace vermilion {

class Shaper {
 public:
  Shaper(VmScaled cost, u64 burstNs) : cost_(cost), burstNs_(burstNs) {}
  bool open(u64 now) const { return (now << ShaperFrac) >= next_; }
  u64 opensAt() const { return (next_ + (1u << ShaperFrac) - 1) >> ShaperFrac; }  // ns
  void sent(u64 now, u32 lenBytes);

 private:
  VmScaled cost_;
  u64 burstNs_;
  u64 next_ = 0;
};

class Scheduler {
 public:
  explicit Scheduler(const VmConfig& config);

  // The queue to send from now, or -1. `headBytes[i]` is the length of queue i's first packet, 0 where it is empty.
  int pick(u64 now, const std::vector<u32>& headBytes);
  // After a pick has left; `emptied` where it was the last packet.
  void sent(u64 now, u32 queue, u32 lenBytes, bool emptied);
  // The first time from `now` on when pick() finds a queue; only where a queue holds a packet.
  u64 nextTime(u64 now, const std::vector<u32>& headBytes) const;

 private:
  struct Queue {
    bool strict;
    u32 priority, quantum;
    u64 deficit;
    Shaper shaper;
  };
  int pickStrict(u64 now, const std::vector<u32>& headBytes) const;
  int pickRound(u64 now, const std::vector<u32>& headBytes);
  std::vector<Queue> queues_;
  Shaper port_;
  u32 last_;               // queue last visited
  bool visiting_ = false;  // that visit goes on
};

}  // namespace vermilion
