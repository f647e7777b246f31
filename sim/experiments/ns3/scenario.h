// SPDX-License-Identifier: GPL-2.0-only
// A network with lanes and traffic from a JSON object, and what came of it as another. Times in ns, rates in bit/s.
//
//   {"seconds", "tcp": {"segment_bytes", "window_segments", "initial_window", "delayed_ack", "delayed_ack_ms", "min_rto_ms", "retries",
//                      "ecn"},
//    "links": [{"ends": [NODE, NODE], "rate", "delay_ns",
//               "lanes": [{"at": NODE, "name", "lane": RECORD, "trace": {"from", "to", "step"}}]}],       towards the other end
//    "udp": [{"name", "from", "to", "dscp", "payload_bytes", "interval_ns", "start_ns", "on_ns", "off_ns"}],
//    "bulk": [{"name", "from", "to", "start_ns"}],
//    "transactions": [{"name", "client", "server", "start_ns": [...], "request_bytes", "response_bytes"}]}
//
//   {"lanes": {NAME: {"sources": {NODE: {COLOUR: {"enqueue" ... "policed", "evicted", "left", "left_bytes"}}}, "most_bytes", "most_waiting",
//                     "trace": [[ns, colour, average]...]}},
//    "udp": {NAME: {"sent"}}, "bulk": {NAME: {"received_bytes"}}, "transactions": {NAME: {"completed", "failed"}}, "events"}
//
// Nodes are there by being named. `trace` may be absent. TCP is NewReno without SACK, window scaling, time stamps and limited transmit.
#pragma once

#include <nlohmann/json.hpp>

#include "../engine/engine.h"

namespace vermilion {

nlohmann::json runScenario(const nlohmann::json& asked, const VmEngineCalls& calls);

}  // namespace vermilion
