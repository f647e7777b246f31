// The scheduler and the shapers of schedule.h as the RTL runs them, one call a clock: Scheduler.scala and Shaper.scala.
//
// The choice is that of schedule.h; here it takes the RTL's four clocks, a charge takes five to settle, and a blocked
// entry is released when the shaper's scan, one entry a clock, finds it due. Outputs belong to the state before `clock`.
// Times are in serial-number order, so that they may wrap.
#pragma once

#include <vector>

#include "config.h"
#include "formats.h"

namespace vermilion {

using Flags = std::vector<u8>;  // one a queue, 0 or 1

class ClockedShaper {
 public:
  // One entry a cost; cost m = 0 is not shaped.
  explicit ClockedShaper(u32 entries);
  void configure(u32 entry, VmScaled cost, u64 burstNs);

  const Flags& blocked() const { return blocked_; }
  bool settling() const { return stage_ != 0; }
  // The first ns at which a blocked, interesting entry is due; false where it is not known yet.
  bool earliest(const Flags& interesting, u64& ns) const;
  // `charged` is an entry, or -1.
  void clock(u64 now, int charged, u32 lenBytes, const Flags& interesting);

 private:
  // A time in U48.16 ns, and the bits of the cost that led there: a debt of more bits counts as paid.
  struct Due {
    u64 next = 0;
    u32 debtBits = 0;
    bool paid(u64 now) const;
  };
  struct Entry {
    VmScaled cost{};
    u64 burstNs = 0;
    bool stamped = false;  // `due` holds a value
    Due due;
  };
  struct Scanned {
    bool valid = false, wrapped = false;
    u32 entry = 0;
    Due due;
  };
  bool candidate(const Flags& interesting, u32 i) const { return blocked_[i] && interesting[i]; }
  Scanned choose(const Flags& interesting) const;
  std::vector<Entry> entries_;
  Flags blocked_, interestingBefore_;
  int stage_ = 0;  // of the one charge that can be under way
  u32 charged_ = 0, chargedBytes_ = 0;
  Due chargedDue_;
  u32 last_;  // entry last scanned
  Scanned p1_, p2_;
  u64 least_ = 0, result_ = 0;
  bool leastValid_ = false, whole_ = false, resultValid_ = false, disturbed1_ = false, disturbed2_ = false;
};

class ClockedScheduler {
 public:
  explicit ClockedScheduler(const VmConfig& config);
  // One clock; the number of the queue whose head is taken in it, or -1. `waiting` and `headBytes` are those at its
  // start, `single` says that the head is the queue's only packet.
  int clock(u64 now, const Flags& waiting, const std::vector<u32>& headBytes, const Flags& single, bool room);
  // As the ports `busy` and `wake`, for the present state.
  bool busy(u64 now, const Flags& waiting) const;
  bool wake(u64 now, const Flags& waiting, u64& ns) const;

 private:
  enum class State { Level, Pick, Look, Decide };
  struct Queue {
    bool strict;
    u32 priority, quantum;
    u64 deficit = 0;
  };
  bool eligible(const Flags& waiting, u32 i) const { return waiting[i] && !queueShaper_.blocked()[i]; }
  bool anyEligible(const Flags& waiting) const;
  u32 key(const Flags& waiting, u32 i) const;
  bool pick(const Flags& waiting);  // false: nothing at the level
  std::vector<Queue> queues_;
  ClockedShaper queueShaper_, portShaper_;
  Flags portWaiting_ = {0};
  State state_ = State::Level;
  u32 topKey_ = 0, roundLast_, queue_ = 0;
  bool visiting_ = false, queueStrict_ = false, newVisit_ = false;
};

}  // namespace vermilion
