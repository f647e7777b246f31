// The hardware configuration, as JSON (docs/hardware-configuration.md): what the host would write to the registers.
// Whoever writes this file has turned rates and probabilities into the formats; here only ranges are checked, so that
// nothing is narrowed in silence.
//
//   {"port": {"rate", "cost": [m, s], "burst_ns"},
//    "queues": [{"index", "name", "weight": [[m, e] x6], "lambda": [m, s], "masks": [3],
//                "unit_packets", "update_depart", "spacing", "size_weight": [on, m, s], "ecn",
//                "limit_bytes", "limit_packets", "strict", "priority", "quantum", "cost": [m, s], "burst_ns",
//                "curves": [{"drop": CURVE, "ecn_own", "ecn": CURVE} x3],
//                "marker", "remark": [3], "distance": [3], "remove_ttl_option", "victim": [3]}],
//    "dscp": [[queue, colour] x64], "default": [queue, colour], "seed": N, "ttl_option": {"ip4", "ip6"}}
//   CURVE = {"on", "min", "max", "end", "inv1": [m, s], "b1_1", "inv2": [m, s], "base2", "b1_2", "b2_2": [m, s]}
//
// Optional: "buffer_cells", "max_frame_bytes", "flows" (see config.h); "name"; "rate"; "ttl_option"; what the line from "marker" on names; a
// CURVE with "on" 0 may leave out the rest; "ecn" may be absent where "ecn_own" is 0. Other keys are refused. Switches may be 0/1 or
// false/true. Queues may come in any order, each index once; indices left out are drop-tail queues nobody can reach.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "config.h"

namespace vermilion {

// One sentence: where, what, what would be right.
struct ConfigError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct LoadedConfig {
  VmConfig config;  // config.queues points into `queues`: move this, do not copy it
  std::vector<VmQueue> queues;
  std::vector<std::string> names;

  LoadedConfig() = default;
  LoadedConfig(LoadedConfig&&) = default;
  LoadedConfig& operator=(LoadedConfig&&) = default;
  LoadedConfig(const LoadedConfig&) = delete;
};

LoadedConfig readConfig(const std::string& json);

}  // namespace vermilion
