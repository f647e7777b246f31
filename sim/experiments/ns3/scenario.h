// SPDX-License-Identifier: GPL-2.0-only
// Builds a network with lanes and traffic from a JSON object, and returns the results as another. Times in ns, rates in
// bit/s.
//
//   {"seconds", "tcp": {"segment_bytes", "window_segments", "initial_window", "delayed_ack", "delayed_ack_ms",
//                      "min_rto_ms", "retries", "ecn"},
//    "links": [{"ends": [NODE, NODE], "rate", "delay_ns",
//               "lanes": [{"at": NODE, "name", "lane": RECORD, "trace": {"from", "to", "step"}, "by_source"}]}],
//    "udp": [{"name", "from", "to", "dscp", "payload_bytes", "interval_ns", "start_ns", "on_ns", "off_ns"}],
//    "bulk": [{"name", "from", "to", "start_ns"}],
//    "transactions": [{"name", "client", "server", "start_ns": [...], "request_bytes", "response_bytes"}],
//    "transfers": [{"name", "from", "to", "bytes": [...], "start_ns": [...]}], "count_from_ns", "sample_ns"}
//
//   {"lanes": {NAME: {"sources": {NODE: {COLOUR: {"enqueue" ... "policed", "evicted", "dropped", "left",
//                                                 "left_bytes", "waited_ns"}}},
//                     "most_bytes", "most_waiting", "lost_distance": {HOPS: PACKETS},
//                     "trace": [[ns, colour, average, packets]...]}},
//    "udp": {NAME: {"sent"}}, "bulk": {NAME: {"received_bytes"}}, "transactions": {NAME: {"completed", "failed"}},
//    "transfers": {NAME: {"took_ns": [of each start; 0: not ended], "received_bytes", "samples": [bytes so far]}},
//    "events"}
//
// A lane is at the end `at` of its link and sends towards the other end. A node exists if it is named. `trace` may be
// absent. If `by_source` is false, all sources of a lane count as one, "all". Counts of lanes and bytes of transfers
// begin at `count_from_ns`; absent or 0: at the start. These bytes are sampled every `sample_ns`; absent or 0: never.
// TCP is NewReno without SACK, window scaling, time stamps and limited transmit.
#pragma once

#include <nlohmann/json.hpp>

#include "../engine/engine.h"

namespace vermilion {

nlohmann::json runScenario(const nlohmann::json& asked, const VmEngineCalls& calls);

}  // namespace vermilion
