// Accesses the lane's registers like a host, over AXI4-Lite, one access at a time.
//
// It also translates a whole configuration into register writes, and reads the lane's counters.
#pragma once

#include <functional>
#include <vector>

#include "accounting.h"
#include "config.h"
#include "report.h"
#include "verilated_lane.h"

namespace vermilion {

struct RegisterWrite {
  u32 address, value;
};

// The writes of a whole configuration, in the order of docs/registers.md: shadow registers and commit for each queue,
// then control, classes and port of each egress, routes, TTL option, pool, seeds.
std::vector<RegisterWrite> registerWrites(const VmConfig& config);
std::vector<RegisterWrite> reportWrites(const ReportSettings& reports);

// The registers of a lane, or a recording of accesses to them.
struct Registers {
  virtual ~Registers() = default;
  virtual void write(u32 address, u32 value, u32 strobes = 15) = 0;
  virtual u32 read(u32 address) = 0;
};

class ControlAccess : public Registers {
 public:
  // `clock` runs the lane for one cycle and calls `look` when its outputs have settled.
  using Clock = std::function<void(const std::function<void()>& look)>;
  ControlAccess(VerilatedLane& lane, Clock clock) : lane_(lane), clock_(std::move(clock)) {}
  void write(u32 address, u32 value, u32 strobes = 15) override;
  u32 read(u32 address) override;

 private:
  static void hang(u32 waited, const char* what, u32 address);
  VerilatedLane& lane_;
  Clock clock_;
};

// The lane's counters of one queue and colour. snapshot() makes a snapshot of the queue and reads them from its window.
struct LaneCounters {
  u64 arrived[2], enqueued[2], early[2], forced[2], tail[2], nobuf[2], bad[2], policed[2], marked[2], ceWritten[2],
      sent[2], evicted[2], flushed[2], departureDropped[2], departureMarked[2];  // packets, bytes
};
void snapshot(Registers& control, u32 queue, LaneCounters colours[Colours]);
// Of that snapshot: packets that arrived with colour `in` and got colour `out` from the queue's marker.
u64 markedPackets(Registers& control, u32 in, u32 out);
// Of that snapshot: lost packets with that distance; victims with that distance.
u64 lostByDistance(Registers& control, u32 distance);
u64 victimsByDistance(Registers& control, u32 distance);
// Of that snapshot: push-outs, and those with a stale candidate.
u64 pushOutCount(Registers& control);
u64 staleCount(Registers& control);
// Of that snapshot: packets sent with a latency in that class (results.h, latencies); the backlog of the queue.
u64 latencies(Registers& control, u32 bin);
struct Backlog {
  u32 packets, bytes;
};
Backlog backlog(Registers& control);

// The number of flow events of that kind (flow_book.h) since reset.
u32 flowEvents(Registers& control, u32 event);

// Departures since reset for which the refresh of the averages was skipped. The register saturates.
u32 refreshesSkipped(Registers& control);
u32 reportEvents(Registers& control, u32 event);  // the register report_events

// Packets that were enqueued after one of another flow, in queues of groups.
u64 flowCollisions(Registers& control);

// The frames and bytes that an input dropped, as of one cycle.
Lost lostFrames(Registers& control, u32 input);
Lost ruleCounts(Registers& control, u32 rule);

}  // namespace vermilion
