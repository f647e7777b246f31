// SPDX-License-Identifier: GPL-2.0-only
// Builds a network with lanes and traffic from a JSON object, and returns the results as another. Times in ns, rates in
// bit/s.
//
//   {"seconds", "tcp": {"segment_bytes", "window_segments", "initial_window", "delayed_ack", "delayed_ack_ms",
//                      "min_rto_ms", "retries", "ecn", "congestion", "sack", "send_segments", "dctcp_ect1",
//                      "pacing"}, "seed",
//    "nodes": {NODE: {"congestion"}},
//    "links": [{"ends": [NODE, NODE], "rate", "delay_ns",
//               "lanes": [{"at": NODE, "name", "lane": RECORD, "trace": {"from", "to", "step"}, "by_source",
//                          "sojourn"}],
//               "discs": [{"at": NODE, "name", "kind": TYPE, "attributes", "rate", "quantum", "sojourn"}]}],
//    "udp": [{"name", "from", "to", "dscp", "payload_bytes", "interval_ns", "start_ns", "on_ns", "off_ns",
//             "ecn", "latency"}],
//    "bulk": [{"name", "from", "to", "start_ns", "write_bytes"}],
//    "transactions": [{"name", "client", "server", "start_ns": [...], "request_bytes", "response_bytes"}],
//    "transfers": [{"name", "from", "to", "bytes": [...], "start_ns": [...]}], "count_from_ns", "sample_ns"}
//
//   {"lanes": {NAME: {"sources": {NODE: {COLOUR: {"enqueue" ... "policed", "evicted", "dropped", "left",
//                                                 "left_bytes", "waited_ns", "ce"}}},
//                     "most_bytes", "most_waiting", "lost_distance": {HOPS: PACKETS},
//                     "trace": [[ns, colour, average, packets]...], "sojourn": DELAYS,
//                     "queues": {NUMBER: {"ecn": [of each ECN field], "lost", "ce", "left", "left_bytes",
//                                         "sojourn": DELAYS}}}},
//    "discs": {NAME: {"arrived", "dropped", "marked", "sojourn": DELAYS}},
//    "udp": {NAME: {"sent", "latency": DELAYS}}, "bulk": {NAME: {"received_bytes", "counted_bytes"}},
//    "transactions": {NAME: {"completed", "failed"}},
//    "transfers": {NAME: {"took_ns": [of each start; 0: not ended], "received_bytes", "samples": [bytes so far]}},
//    "events"}
//
// A lane is at the end `at` of its link and sends towards the other end, and so does a disc, which is one of ns-3's
// (paced_queue_disc.h). A node exists if a link names it. `trace` may be absent. If `by_source` is false, all sources
// of a lane count as one, "all". DELAYS are those of delays.h; `sojourn` and `latency` are "summary" or "every", or
// absent: no delays. `sojourn` of a lane may be "marks". A lane with `sojourn` also tells of each of its queues: packets that arrived, by their ECN field,
// and those that were lost, marked CE, and sent. Counts of lanes and discs, delays, and bytes of transfers begin at
// `count_from_ns`; absent or 0: at the start. `received_bytes` of `bulk` are those of the whole run, `counted_bytes`
// those from `count_from_ns` on. Bytes of transfers are sampled every `sample_ns`; absent or 0: never. `seed` is that
// of ns-3's own draws, 1 if absent. `ecn` of `udp` is the ECN field of its packets, 0 if absent.
//
// TCP is NewReno without SACK, window scaling, time stamps and limited transmit, unless `congestion` names another of
// ns-3's congestion controls, for all nodes or for one in `nodes`. `sack` adds SACK, window scaling and time stamps,
// limited transmit and ns-3's proportional rate reduction. `ecn` is that of RFC 3168. DCTCP has ECN whatever `ecn` is,
// and sets ECT(1) in place of ECT(0) if `dctcp_ect1`. `send_segments` is the sender's buffer, four windows if absent.
// `pacing` is ns-3's: a sender spreads its window over a round trip, at 1.2 times the rate, in slow start twice.
#pragma once

#include <nlohmann/json.hpp>

#include "../engine/engine.h"

namespace vermilion {

nlohmann::json runScenario(const nlohmann::json& asked, const VmEngineCalls& calls);

}  // namespace vermilion
