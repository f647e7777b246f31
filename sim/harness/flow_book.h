// The flows that the flow markers met, in the order in which the first packet of each was decided: that is their number, the same
// in both engines. A packet is one of a flow's where the marker asked its table for the flow's state, found or not: TCP with
// payload or a SYN, neither bad nor without a buffer, in a queue with 3CPM, WPM or APM (docs/flow-markers.md). So acknowledgements belong to none.
//
// Kept for each: packets by colour, losses and probes, and the state it had last. The first `Most` flows have a number; later
// ones are counted in their queue's events and nowhere else, so that a scan does not take all memory.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <unordered_map>
#include <vector>

#include "flow_marker.h"
#include "records.h"

namespace vermilion {

constexpr u32 FlowEvents = 8;
extern const char* const FlowEventNames[FlowEvents];  // in the order of the register flow_events

nlohmann::ordered_json flowEventJson(const u64 counts[FlowEvents]);

class FlowBook {
 public:
  static constexpr u32 Most = 1 << 20;
  static constexpr std::size_t Busiest = 12;

  // The number of the packet's flow, where it has one.
  std::optional<u32> packet(const VmArrival& seen, const Headers& headers, const VmMark& mark);
  // Flows of one queue in all, and those with most packets: {"flows", "busiest": [{flow, from, to, packets [3], losses,
  // probes, average (A_Y, packets), burst (L_Y)}]}. `alphaEighths` is the marker's.
  void write(nlohmann::ordered_json& json, u32 queue, u32 alphaEighths) const;

 private:
  struct Flow {
    FlowName name;
    u32 queue;
    u64 packets[3], losses, probes;
    VmFlowState state;
  };
  struct Hash {
    std::size_t operator()(const FlowName& name) const;
  };
  std::unordered_map<FlowName, u32, Hash> numbers_;
  std::vector<Flow> flows_;
};

}  // namespace vermilion
