// How long the RTL takes, in clocks, for the lane that is modelled clock by clock (clocked_lane.h).
// Each number stands in the named file below hw/src/vermilion; a change there needs one here, and test_engines.py sees it.
#pragma once

#include "formats.h"

namespace vermilion {

constexpr u64 LaneClockNs = 4;  // 250 MHz

// The elaboration parameters that timing depends on: lane/LaneParams.scala.
struct LaneShape {
  u32 beatBytes = 8;  // dataBits / 8: 8, 16 or 64
  u32 inputs = 1;
  u32 stallable = 0;  // bit i: input i can be stalled
  u32 cells = 4096;
  u32 victims = 0;  // queues with the victim search
  u32 heads = 0;    // packets of a queue's head; 0: as many as the width asks for
  constexpr u32 headPlaces() const { return heads != 0 ? heads : beatBytes == 64 ? 8 : 4; }
};

namespace timing {

// policy/PolicyTiming.scala: the policy pipeline's stages.
// From a slot to the packet's colour: the marker's kind and the marker by flow (flow/FlowMarker.scala)
constexpr u64 Mark = 10;
// From a slot to the lookup of its queue's state: what averages see of it (average/QueueStateLookup.scala) is there one cycle after the colour
constexpr u64 Lookup = Mark + 1 - 8;
// From there to the verdict: the rest of the markers' clocks, averages (average/AverageUnit.scala), curve (curve/CurveUnit.scala), verdict
constexpr u64 Verdict = Mark - Lookup + 6 + 8 + 1;
// The verdict's own clock, one before it stands at the port
constexpr u64 Decide = Verdict - 1;
// average/BacklogCounters.scala: from a packet's lookup to the first lookup that sees it admitted, and settling
constexpr u64 Admission = Verdict + 1;

// parse/FrameHeads.scala: from a head's last cell to the clock in which its descriptor can be chosen, parse/HeaderParser.scala and a clock for the register
// before it. The descriptor stands at the policy pipeline in the clock behind that (stream/IngressArbiter.scala).
constexpr u64 Headers = 3 + 1;
// decide/QueueLimit.scala: departures this many clocks before that count in the limit
constexpr u64 LimitLag = 3;
// decide/PoolLimit.scala, Lag: what was admitted, has departed or was lost this many clocks before counts in the pool
constexpr u64 PoolLag = 5;
// victim/VictimPipeline.scala: a search, from its lookup of the queue until it shows the victim; and how far ahead of the verdict it begins
constexpr u64 Searching = 6, SearchAhead = 3;
// From a verdict until that is shown, where the search is built
constexpr u64 settling(u32 victims) {
  return victims != 0 ? Searching - SearchAhead : 0;
}
constexpr u32 Refreshes = 16;  // policy/SlotSource.scala, Refreshes
// average/AverageUnit.scala: updates under way when a later one reads, EwmaStages - 1
constexpr u64 Averaging = EwmaStages - 1;
// schedule/QueueShaper.scala: a charge runs through s1..s3, and blocks the queue from the clock behind that on
constexpr u32 ChargeFloor = 2, ChargeCompared = 3, ChargeBlocks = 4;

constexpr u32 DescriptorDepth = 16;   // stream/Ingress.scala, DescriptorDepth
constexpr u32 CellsAhead = 4;         // stream/Ingress.scala, CellsAhead
constexpr u32 CellsReady = 4;         // queue/FreeList.scala, `ready`
constexpr u32 ChainsDepth = 3;        // queue/FreeList.scala, `chains`
constexpr u32 DescriptorsChosen = 2;  // stream/IngressArbiter.scala, Chosen
constexpr u32 AheadCells = 4;         // schedule/EgressQueues.scala, AheadCells
constexpr u32 ShortBytes = 512;       // schedule/PortShaper.scala, ShortBytes

}  // namespace timing
}  // namespace vermilion
