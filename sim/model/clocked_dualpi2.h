// DualPI2 in the pairs of queues of a lane, cycle by cycle: DualPi2Queues.scala and the latencies of DualPi2Unit.scala.
//
// Queue 2 i is C and queue 2 i + 1 is L. A packet that is taken in cycle T is decided with what updates have written up
// to T. An update reads delays of packets that were taken up to 3 cycles before, and is written 10 cycles later.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "clocked_sweep.h"
#include "config.h"
#include "dualpi2.h"
#include "random.h"

namespace vermilion {

class ClockedDualPi2 {
 public:
  // `built`: queues of the build that can be in a pair, 0 or all. `configuredNs`: as in ClockedSweep. `seed`: the host's.
  ClockedDualPi2(const std::vector<VmQueue>& queues, u32 built, u64 configuredNs, u64 seed);
  // Another profile, for packets of later cycles. Of L's queue only `on` has an effect.
  void configure(u32 queue, const VmQueue& profile);
  // A cycle, in order.
  void clock(u64 clock, u64 now);
  // The verdict on a packet that is taken in this cycle. Times in ns; ECN 0: not ECT or not IP. `behind`: bytes that are
  // queued behind it in its queue, `behindBoth`: and in the other queue of its pair.
  HeadVerdict judge(u64 clock, u64 now, u32 queue, u64 arrival, u32 ecn, u32 behind, u32 behindBoth);
  const ClockedSweep& updates() const { return sweep_; }

 private:
  struct Pair {
    DualPi2Settings settings;
    bool on[2] = {};  // C and L
    u32 interval = 1;
    DualPi2State state;
    u32 coupling = 0;   // that of the last update
    u64 delay[2] = {};  // of C and L
  };
  struct Left {
    u64 clock;
    u32 queue;
    u64 delay;
  };
  struct Update {
    u64 clock;  // of its result
    u32 pair;
    u64 delay;
    bool begins;
    DualPi2Settings settings;
  };
  static std::vector<Pair> pairsOf(const std::vector<VmQueue>& queues, u32 built);
  static std::vector<ClockedSweep::Timer> timersOf(const std::vector<Pair>& pairs);
  static void take(Pair& pair, u32 queue, const VmQueue& profile);
  static ClockedSweep::Timer timerOf(const Pair& pair) { return {pair.on[0] && pair.on[1], pair.interval}; }
  std::vector<Pair> pairs_;
  ClockedSweep sweep_;
  RandomSource draws_;
  std::deque<Left> left_;
  std::optional<Update> update_;
};

}  // namespace vermilion
