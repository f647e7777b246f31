// Latencies of the RTL, in cycles, for the clocked lane (clocked_lane.h). Each number comes from the named file in
// hw/src/vermilion. A change there needs the same change here; test_engines.py checks it.
#pragma once

#include "formats.h"

namespace vermilion {

constexpr u64 LaneClockNs = 4;  // 250 MHz

// The build parameters on which timing depends: lane/LaneParams.scala.
struct LaneShape {
  u32 beatBytes = 8;  // dataBits / 8: 8, 16 or 64
  u32 inputs = 1;
  u32 stallable = 0;  // bit i: input i can be stalled
  u32 cells = 4096;
  u32 victims = 0;       // queues with the victim search
  u32 heads = 0;         // packets of a queue's head; 0: by the data width
  bool codel = false;    // packets are judged as they leave
  u32 pieQueues = 0;     // queues that can have PIE; its passes go over all of them
  u32 pairQueues = 0;    // queues that can be in a pair under DualPI2; its passes go over all pairs
  bool reports = false;  // cells of packets that are dropped on arrival return later
  bool rules = false;    // packets are looked up in a table of rules
  bool fq = false;       // groups of queues can hold flows: descriptors pass a register (lane/LaneCore.scala)
  constexpr u32 headPlaces() const { return heads != 0 ? heads : beatBytes == 64 ? 8 : 4; }
};

namespace timing {

// policy/PolicyTiming.scala: the policy pipeline's stages.
// From a slot to the packet's colour: the marker's kind and the marker by flow (flow/FlowMarker.scala)
constexpr u64 Mark = 10;
// From a slot to its queue state lookup. The state for the averages (average/QueueStateLookup.scala) is ready one cycle
// after the colour
constexpr u64 Lookup = Mark + 1 - 8;
// From the lookup to the verdict: the rest of the markers' cycles, averages (average/AverageUnit.scala), curve
// (curve/CurveUnit.scala), verdict
constexpr u64 Verdict = Mark - Lookup + 6 + 8 + 1;
// From the lookup to the decision itself, one cycle before the verdict is at the port
constexpr u64 Decide = Verdict - 1;
// average/BacklogCounters.scala: from a packet's lookup to the first lookup that sees it admitted, without settling
constexpr u64 Admission = Verdict + 1;
// policy/PolicyTiming.scala, pie: from the request of PIE to the verdict at the port
constexpr u64 Pie = 8;

// parse/FrameHeads.scala: from the last cell of a frame's head to the cycle in which its descriptor can be chosen. This
// is parse/HeaderParser.scala and one cycle for the register before it. The descriptor is at the policy pipeline in the
// next cycle (stream/IngressArbiter.scala).
constexpr u64 Headers = 3 + 1;
// In builds with rules the lookup follows: classify/RuleTable.scala, Latency
constexpr u64 Rules = 4;
constexpr u64 headers(bool rules) {
  return Headers + (rules ? Rules : 0);
}
// decide/QueueLimit.scala: the limit counts departures up to this many cycles before
constexpr u64 LimitLag = 3;
// decide/PoolLimit.scala, Lag: the pool counts admissions, departures and losses up to this many cycles before
constexpr u64 PoolLag = 5;
// victim/VictimPipeline.scala: a search, from its first stage to the cycle that shows the victim; how long before the
// verdict it begins
constexpr u64 Searching = 6, SearchAhead = 3;
// From a verdict to the cycle that shows the victim, in builds with the search
constexpr u64 settling(u32 victims) {
  return victims != 0 ? Searching - SearchAhead : 0;
}
constexpr u32 Refreshes = 16;  // policy/SlotSource.scala, Refreshes
// average/AverageUnit.scala: updates in the pipeline when a later one reads, EwmaStages - 1
constexpr u64 Averaging = EwmaStages - 1;
// schedule/QueueShaper.scala: a charge passes s1..s3, and blocks the queue from the next cycle on
constexpr u32 ChargeFloor = 2, ChargeCompared = 3, ChargeBlocks = 4;

constexpr u32 DescriptorDepth = 16;   // stream/Ingress.scala, DescriptorDepth
constexpr u32 CellsAhead = 4;         // stream/Ingress.scala, CellsAhead
constexpr u32 CellsReady = 4;         // queue/FreeList.scala, `ready`
constexpr u32 ChainsDepth = 3;        // queue/FreeList.scala, `chains`
constexpr u32 DescriptorsChosen = 2;  // stream/IngressArbiter.scala, Chosen
constexpr u32 AheadCells = 4;         // schedule/EgressQueues.scala, AheadCells
constexpr u32 AheadCellsJudged = 16;  // the same in builds with codel
constexpr u32 FewCells = 12;          // schedule/EgressQueues.scala, FewCells
constexpr u32 DiscardsMost = 11;      // schedule/EgressQueues.scala: places - underWayHere
constexpr u32 Judging = 3;            // departure/CodelUnit.scala, Latency
constexpr u32 SettleWait = 10;        // departure/DepartureVerdicts.scala, Settles
constexpr u32 HoldCycles = 64;        // report/ReportHeads.scala, HoldCycles
constexpr u32 ShortBytes = 512;       // schedule/PortShaper.scala, ShortBytes

}  // namespace timing
}  // namespace vermilion
