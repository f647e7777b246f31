// PIE in the queues of a lane, cycle by cycle: PieQueues.scala and the latencies of PieUnit.scala.
//
//   arrival     requests in cycle R: it sees updates that were written up to R, and departures of packets that were
//               taken up to R - 3. The accumulated probability passes from packet to packet in their order
//   departure   of a packet that was taken in cycle T, at the time of T: its backlog is what came up to T - 1
//   update      reads the delay in its first cycle, and is written 69 cycles later. Whether the queue is empty counts what
//               came or was taken up to 2 cycles before
//   pass        over all queues, from the tick in which one is due: three or four cycles per queue, 73 with an update
//
// Events may be told late: the cycle of a call of `clock` must only be later than that of no event that it sees. So the
// replay steps this some cycles behind the lane.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "clocked_sweep.h"
#include "config.h"
#include "pie.h"
#include "records.h"

namespace vermilion {

class ClockedPie {
 public:
  // What an arrival sees in the cycle of its request.
  struct Seen {
    bool on = false;
    PieState state;
    u64 restarts = 0;
  };
  // `built`: queues of the build that can have PIE. `configuredNs`: the lane time at which they were configured, some
  // passes before the first cycle.
  ClockedPie(const std::vector<VmQueue>& queues, u32 built, u64 configuredNs);
  // Another profile, for requests in later cycles. PIE that is turned on decides from the end of the next pass on.
  void configure(u32 queue, const VmQueue& profile);

  // Events, each kind in the order of cycles. `bytes` modulo 2^32: negative if more are evicted than come.
  void came(u64 clock, u32 queue, u32 bytes);
  void taken(u64 clock, u64 now, u32 queue, u32 lenBytes, u64 arrival);
  // A cycle, in order.
  void clock(u64 clock, u64 now);
  // In that cycle, of a packet that is not bad, without buffer or policed.
  Seen request(u32 queue) const;
  // The verdict on the arriving packet, Pass if it is bad, without buffer or policed. `lost`: it is over a limit. Call in
  // the order of requests.
  ArrivalVerdict decide(const Seen& seen, const VmQueue& profile, const VmArrival& arrival, bool lost);

  const ClockedSweep& updates() const { return sweep_; }

 private:
  struct Came {
    u64 clock;
    u32 queue, bytes;
  };
  struct Left {
    u64 clock, now;
    u32 queue, lenBytes;
    u64 arrival;
    bool last = false;
  };
  struct Queue {
    PieSettings settings;
    PieState state;
    u64 restarts = 0;
    u64 accumulated = 0, accumulatedOf = 0;  // the sum, and the restart since which it was summed
    u32 bytes = 0, bytesBefore = 0;          // queued, for departures; and as the empty queue is seen
  };
  void depart(u64 clock);
  void write();

  std::vector<Queue> queues_;
  std::deque<Came> came_, cameBefore_;
  std::deque<Left> taken_, takenBefore_, leaving_;
  ClockedSweep sweep_;
  struct Update {
    u64 clock;  // of its result
    u32 queue;
    u64 delay;
    bool isEmpty, begins;
    PieSettings settings;
  };
  std::optional<Update> update_;
};

// The probability that an arrival saw, U0.32; 0 without PIE, or if it is bad, without buffer or policed.
u64 pieProbability(const ClockedPie::Seen& seen, const VmArrival& arrival);

}  // namespace vermilion
