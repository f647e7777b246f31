// The stage upstream of the lane, only in the simulator: it sets the DSCPs of IP packets by flow.
//
// --front FILE is one JSON object. sim/vermilion/simulation/front.py makes it from a checked configuration:
//
//   {"spread": [N, ...]}
//
// Each flow gets one DSCP of the list: that at index (h ^ h >> 32) modulo the list's length. h is the 64-bit FNV-1a hash
// of source address, destination address, protocol (1 byte), source port and destination port. Its offset basis is
// 0xcbf29ce484222325. Bytes are in the order on the wire. Fields are those of the model's parser (parser.h). Ports are 0
// if the parser finds none. A frame that is not IP has no DSCP. It is counted and stays unchanged. The IPv4 checksum is
// updated as rewrite.h does it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "frame.h"

namespace vermilion {

class Front {
 public:
  explicit Front(const std::string& file);
  void apply(Frame& frame);
  void write(nlohmann::ordered_json& json) const;  // spread {matched, changed, not_ip}: results.h

 private:
  std::vector<u32> spread_;
  // Frames; of these, frames with a changed DSCP, and frames without a DSCP.
  u64 matched_ = 0, changed_ = 0, notIp_ = 0;
};

}  // namespace vermilion
