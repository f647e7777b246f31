// The stage upstream of the lane, only in the simulator: it sets the DSCPs of IP packets, by rules or by flow.
//
// --front FILE is one JSON object. sim/vermilion/simulation/front.py makes it from a checked configuration:
//
//   {"rules": [{"dscp": N, "ingress": N, "vlan": N, "pcp": N, "source": ADDRESS, "destination": ADDRESS, "protocol": N,
//               "source_port": [LOW, HIGH], "destination_port": [LOW, HIGH], "match_dscp": N}]}
//   {"spread": [N, ...]}
//   ADDRESS = {"six": 0 or 1, "address": [4 words], "mask": [4 words]}, least significant word first, as in VmHeaders
//
// A rule matches a frame if every field of the rule matches. The first such rule gives the frame `dscp`. Fields are
// those of the model's parser (parser.h). `protocol` is the number after IPv6 extension headers. Ports are those of TCP
// and UDP in the first fragment.
//   ingress     the lane's input, see inputOf() in pace.h
//   vlan, pcp   of the outer tag, type 0x8100 or 0x88a8, of frames with and without IP; a frame without a tag has
//               neither
//   the others  of IP packets only
// A frame that is not IP has no DSCP. It is counted with its rule and stays unchanged. The IPv4 checksum is updated as
// rewrite.h does it.
//
// "spread" gives each flow one DSCP of the list: that at index (h ^ h >> 32) modulo the list's length. h is the 64-bit
// FNV-1a hash of source address, destination address, protocol (1 byte), source port and destination port. Its offset
// basis is 0xcbf29ce484222325. Bytes are in the order on the wire. Ports are 0 if the parser finds none.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "frame.h"
#include "parser.h"

namespace vermilion {

class Front {
 public:
  explicit Front(const std::string& file);
  void apply(Frame& frame);
  // rules[] {dscp, matched, changed, not_ip} and unmatched, or spread {matched, changed, not_ip}: results.h
  void write(nlohmann::ordered_json& json) const;

 private:
  struct Range {
    u32 low, high;
  };
  struct Prefix {
    u32 six;
    u32 address[4], mask[4];
  };
  // Frames that a rule matched; of these, the frames with a changed DSCP, and the frames without a DSCP.
  struct Count {
    u64 matched = 0, changed = 0, notIp = 0;
  };
  struct Rule {
    u32 dscp = 0;
    std::optional<u32> ingress, vlan, pcp, protocol, matchDscp;
    std::optional<Prefix> source, destination;
    std::optional<Range> sourcePort, destinationPort;
    Count count;
  };
  static Rule ruleOf(const nlohmann::json& json);
  static bool fits(const Rule& rule, const Frame& frame, const Headers& headers);
  static bool fitsTag(const Rule& rule, const Frame& frame);
  static bool fitsPrefix(const std::optional<Prefix>& prefix, const Headers& h, const u32* address);
  static bool fitsRange(const std::optional<Range>& range, const Headers& h, u32 port);
  static void give(Frame& frame, const Headers& headers, u32 dscp, Count& count);

  std::vector<Rule> rules_;
  std::vector<u32> spread_;
  Count spreadCount_;
  u64 unmatched_ = 0;
};

}  // namespace vermilion
