// Register access as a host does it, over AXI4-Lite, one access at a time; and a whole configuration in register writes.
#pragma once

#include <functional>
#include <vector>

#include "accounting.h"
#include "config.h"
#include "verilated_lane.h"

namespace vermilion {

struct RegisterWrite {
  u32 address, value;
};

// All of a configuration, in the order of docs/registers.md: shadow and commit for each queue, then classes, port, seed.
std::vector<RegisterWrite> registerWrites(const VmConfig& config);

// Where registers are read and written: a lane, or what was read from one before.
struct Registers {
  virtual ~Registers() = default;
  virtual void write(u32 address, u32 value, u32 strobes = 15) = 0;
  virtual u32 read(u32 address) = 0;
};

class ControlAccess : public Registers {
 public:
  // `clock` runs the lane by one clock and calls `look` after outputs have settled.
  using Clock = std::function<void(const std::function<void()>& look)>;
  ControlAccess(VerilatedLane& lane, Clock clock) : lane_(lane), clock_(std::move(clock)) {}
  void write(u32 address, u32 value, u32 strobes = 15) override;
  u32 read(u32 address) override;

 private:
  static void hang(u32 waited, const char* what, u32 address);
  VerilatedLane& lane_;
  Clock clock_;
};

// The lane's own counters of one (queue, colour), from the window after a snapshot of that queue.
struct LaneCounters {
  u64 arrived[2], enqueued[2], early[2], forced[2], tail[2], nobuf[2], bad[2], policed[2], marked[2], ceWritten[2],
      sent[2], evicted[2], flushed[2];  // packets, bytes
};
void snapshot(Registers& control, u32 queue, LaneCounters colours[Colours]);
// Of that snapshot: packets that came with one colour and were given another by the queue's marker.
u64 markedPackets(Registers& control, u32 in, u32 out);
// Of that snapshot: packets of a distance that the queue lost; victims of that distance.
u64 lostByDistance(Registers& control, u32 distance);
u64 victimsByDistance(Registers& control, u32 distance);
// Of that snapshot: push-outs, and those with a stale candidate.
u64 pushOutCount(Registers& control);
u64 staleCount(Registers& control);
// Of that snapshot: packets sent with a latency of a class (results.h, latencies), and the queue's packets and bytes.
u64 latencies(Registers& control, u32 bin);
struct Backlog {
  u32 packets, bytes;
};
Backlog backlog(Registers& control);

// How often one of the events of flow_book.h has happened to flows since reset.
u32 flowEvents(Registers& control, u32 event);

// Departures since reset whose refresh of the averages was skipped. The register stops at its greatest value.
u32 refreshesSkipped(Registers& control);

// An input's count of frames that it dropped, as of one cycle.
Lost lostFrames(Registers& control, u32 input);

}  // namespace vermilion
