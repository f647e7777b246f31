// Rules by any header fields: the first rule that matches a packet, as hw/src/vermilion/classify/RuleTable.scala.
//
// A rule has value and mask of the words of a key, and matches if (key & mask) == value in all of them. So a mask of
// zeros matches every packet, and a bit of the value outside the mask none. The rule with the lowest number wins.
//
//   word 0 to 3    source address, lowest word first; IPv4 in word 0, the others 0
//   4 to 7         destination address
//   8              15:0 destination port, 31:16 source port; 0 without ports
//   9              11:0 VLAN ID, 14:12 PCP and 15 presence of the outer tag, 23:16 protocol, 29:24 DSCP, 31:30 ECN
//   10             3:0 input, 4 IPv4, 5 IPv6, 6 has ports, 7 IPv4 or IPv6, 15:8 the source port is in range i,
//                  23:16 the destination port is in range i
//
// The outer tag is of type 0x8100 or 0x88a8 (IEEE 802.1Q), also of frames that are not IP; a tag that the frame's end
// cuts is none. All other fields are those of parser.h.
#pragma once

#include <optional>
#include <vector>

#include "config.h"
#include "parser.h"

namespace vermilion {

struct OuterTag {
  bool present = false;
  u32 pcp = 0, vlan = 0;
};

OuterTag outerTag(const u8* frame, u32 lenBytes);

// What the first rule that matches does with a packet: RuleBundles.scala, RuleChoice. Queues are numbered within the
// packet's egress.
struct RuleChoice {
  std::optional<u32> rule;  // its number; without it the rest is as it is here
  bool drop = false, setsDscp = false;
  std::optional<u32> queue, colour, marker;
  u32 cameDscp = 0;  // if `setsDscp`, the packet's DSCP before the rule
};

class RuleTable {
 public:
  // `ranges`: VM_PORT_RANGES of source ports, then as many of destination ports. Rules that are off never match.
  RuleTable(std::vector<VmRule> rules, const VmPortRange* ranges);
  // The number of the first rule that matches.
  std::optional<u32> first(const Headers& headers, const OuterTag& tag, u32 input) const;
  // Gives `headers` the DSCP that the rule sets.
  RuleChoice choose(const u8* frame, u32 lenBytes, u32 input, Headers& headers) const;

 private:
  std::vector<VmRule> rules_;
  VmPortRange ranges_[2 * VM_PORT_RANGES];
};

}  // namespace vermilion
