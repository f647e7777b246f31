// The flows that the flow markers saw.
//
// Flows are numbered in the order in which their first packets were decided. Both engines give the same numbers. A
// packet belongs to a flow if the marker looked the flow up in its table, found or not. These are TCP packets with
// payload or a SYN, neither bad nor without a buffer, in a queue with 3CPM, WPM or APM (docs/flow-markers.md). So
// acknowledgements belong to no flow.
//
// Each flow has packets by colour, losses and probes, and its last state. The first `Most` flows have a number. Later
// flows count only in their queue's events, so that a port scan does not use up the memory.
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

  // The number of the packet's flow, if it has one.
  std::optional<u32> packet(const VmArrival& seen, const Headers& headers, const VmMark& mark);
  // The number of a queue's flows, and the `Busiest` flows with most packets: {"flows", "busiest": [{flow, from, to,
  // packets [3], losses, probes, average (A_Y, packets), burst (L_Y)}]}. `alphaEighths` is the marker's.
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
