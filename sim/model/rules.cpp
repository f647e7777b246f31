#include "rules.h"

#include <algorithm>
#include <utility>

#include "vermilion_model.h"

namespace vermilion {

OuterTag outerTag(const u8* frame, u32 lenBytes) {
  if (lenBytes < 16) return {};
  const u32 type = u32{frame[12]} << 8 | frame[13], control = u32{frame[14]} << 8 | frame[15];
  if (type != 0x8100 && type != 0x88a8) return {};
  return {true, control >> 13, control & 0xfff};
}

RuleTable::RuleTable(std::vector<VmRule> rules, const VmPortRange* ranges) : rules_(std::move(rules)) {
  std::copy_n(ranges, 2 * VM_PORT_RANGES, ranges_);
}

std::optional<u32> RuleTable::first(const Headers& h, const OuterTag& tag, u32 input) const {
  u32 key[VM_RULE_WORDS];
  std::copy_n(h.src_addr, 4, key);
  std::copy_n(h.dst_addr, 4, key + 4);
  key[8] = h.src_port << 16 | h.dst_port;
  key[9] = h.ecn << 30 | h.dscp << 24 | h.proto << 16 | u32{tag.present} << 15 | tag.pcp << 12 | tag.vlan;
  key[10] = (h.is_ip4 | h.is_ip6) << 7 | h.has_ports << 6 | h.is_ip6 << 5 | h.is_ip4 << 4 | input;
  for (u32 i = 0; i < 2 * VM_PORT_RANGES; i++) {
    const u32 port = i < VM_PORT_RANGES ? h.src_port : h.dst_port;
    key[10] |= u32{ranges_[i].low <= port && port <= ranges_[i].high} << (8 + i);
  }
  const auto matches = [&](const VmRule& rule) {
    bool all = rule.action >> 31 != 0;
    for (u32 i = 0; i < VM_RULE_WORDS; i++) all = all && (key[i] & rule.mask[i]) == rule.value[i];
    return all;
  };
  const auto found = std::find_if(rules_.begin(), rules_.end(), matches);
  if (found == rules_.end()) return std::nullopt;
  return static_cast<u32>(found - rules_.begin());
}

RuleChoice RuleTable::choose(const u8* frame, u32 lenBytes, u32 input, Headers& headers) const {
  RuleChoice out;
  if (rules_.empty()) return out;
  out.rule = first(headers, outerTag(frame, lenBytes), input);
  if (!out.rule) return out;
  const VmRule& rule = rules_[*out.rule];
  const auto bits = [](u32 word, int low, int count) { return static_cast<u32>(truncate(word >> low, count)); };
  const auto has = [&](int bit) { return (rule.action >> bit & 1) != 0; };
  if (has(24)) out.queue = bits(rule.action, 0, 12);
  if (has(25)) out.colour = std::min(bits(rule.action, 12, 2), u32{Colours - 1});
  if (rule.marker >> 31 != 0) out.marker = bits(rule.marker, 0, 12);
  out.drop = has(27);
  out.setsDscp = has(26) && (headers.is_ip4 || headers.is_ip6);
  if (out.setsDscp) out.cameDscp = std::exchange(headers.dscp, bits(rule.action, 16, 6));
  return out;
}

}  // namespace vermilion

// The C interface, for tests.
using namespace vermilion;

struct VmRuleTable {
  RuleTable table;
};

extern "C" {

VmRuleTable* vm_rules_create(const VmRule* rules, uint32_t count, const VmPortRange* ranges) {
  return new VmRuleTable{RuleTable({rules, rules + count}, ranges)};
}

void vm_rules_destroy(VmRuleTable* rules) {
  delete rules;
}

int vm_rules_first(const VmRuleTable* rules, const uint8_t* frame, uint32_t lenBytes, uint32_t input) {
  const auto found = rules->table.first(parse(frame, lenBytes, {}), outerTag(frame, lenBytes), input);
  return found ? static_cast<int>(*found) : -1;
}

}  // extern "C"
