#include "front.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "pace.h"
#include "rewrite.h"

namespace vermilion {

using nlohmann::json;

namespace {

constexpr u32 TagAt = 12, TagBytes = 4, DscpMax = 63;

// The outer tag's 16 bits of PCP, DEI and VLAN ID.
std::optional<u32> tagOf(const std::vector<u8>& bytes) {
  if (bytes.size() < TagAt + TagBytes) return std::nullopt;
  const u32 type = u32{bytes[TagAt]} << 8 | bytes[TagAt + 1];
  if (type != 0x8100 && type != 0x88a8) return std::nullopt;
  return u32{bytes[TagAt + 2]} << 8 | bytes[TagAt + 3];
}

u64 fnv1a(u64 hash, u32 value, u32 bytes) {
  for (u32 i = bytes; i-- > 0;) hash = (hash ^ (value >> 8 * i & 0xff)) * 0x100000001b3;
  return hash;
}

u64 flowHash(const Headers& h) {
  u64 hash = 0xcbf29ce484222325;
  const u32 words = h.is_ip6 ? 4 : 1;
  for (u32 i = words; i-- > 0;) hash = fnv1a(hash, h.src_addr[i], 4);
  for (u32 i = words; i-- > 0;) hash = fnv1a(hash, h.dst_addr[i], 4);
  hash = fnv1a(hash, h.proto, 1);
  hash = fnv1a(hash, h.src_port, 2);
  return fnv1a(hash, h.dst_port, 2);
}

u32 dscpOf(const json& j) {
  const u32 dscp = j.get<u32>();
  if (dscp > DscpMax) throw InputError("a DSCP is " + std::to_string(dscp) + "; legal is 0 to 63");
  return dscp;
}

bool isIp(const Headers& h) {
  return h.is_ip4 || h.is_ip6;
}

}  // namespace

Front::Front(const std::string& file) {
  std::ifstream text(file);
  if (!text) throw InputError(file + ": cannot be read: " + std::strerror(errno));
  try {
    const json j = json::parse(text);
    for (const json& rule : j.value("rules", json::array())) rules_.push_back(ruleOf(rule));
    for (const json& dscp : j.value("spread", json::array())) spread_.push_back(dscpOf(dscp));
    if (rules_.empty() == spread_.empty())
      throw InputError("has both rules and spread, or neither; legal is one of them");
  } catch (const json::exception& e) {
    throw InputError(file + ": is no front (sim/harness/front.h): " + e.what());
  } catch (const InputError& e) {
    throw InputError(file + ": " + e.what());
  }
}

Front::Rule Front::ruleOf(const json& j) {
  Rule rule;
  rule.dscp = dscpOf(j.at("dscp"));
  const auto number = [&](const char* key, std::optional<u32>& field) {
    if (j.contains(key)) field = j.at(key).get<u32>();
  };
  const auto range = [&](const char* key, std::optional<Range>& field) {
    if (j.contains(key)) field = Range{j.at(key).at(0).get<u32>(), j.at(key).at(1).get<u32>()};
  };
  const auto prefix = [&](const char* key, std::optional<Prefix>& field) {
    if (!j.contains(key)) return;
    Prefix made{j.at(key).at("six").get<u32>(), {}, {}};
    for (u32 i = 0; i < 4; i++) {
      made.address[i] = j.at(key).at("address").at(i).get<u32>();
      made.mask[i] = j.at(key).at("mask").at(i).get<u32>();
    }
    field = made;
  };
  number("ingress", rule.ingress);
  number("vlan", rule.vlan);
  number("pcp", rule.pcp);
  number("protocol", rule.protocol);
  number("match_dscp", rule.matchDscp);
  prefix("source", rule.source);
  prefix("destination", rule.destination);
  range("source_port", rule.sourcePort);
  range("destination_port", rule.destinationPort);
  return rule;
}

bool Front::fits(const Rule& rule, const Frame& frame, const Headers& h) {
  if (rule.ingress && *rule.ingress != inputOf(frame)) return false;
  if (!fitsTag(rule, frame)) return false;
  if ((rule.protocol || rule.matchDscp) && !isIp(h)) return false;
  if ((rule.protocol && *rule.protocol != h.proto) || (rule.matchDscp && *rule.matchDscp != h.dscp)) return false;
  return fitsPrefix(rule.source, h, h.src_addr) && fitsPrefix(rule.destination, h, h.dst_addr) &&
         fitsRange(rule.sourcePort, h, h.src_port) && fitsRange(rule.destinationPort, h, h.dst_port);
}

bool Front::fitsTag(const Rule& rule, const Frame& frame) {
  if (!rule.vlan && !rule.pcp) return true;
  const std::optional<u32> tag = tagOf(frame.bytes);
  return tag && (!rule.vlan || *rule.vlan == (*tag & 0xfff)) && (!rule.pcp || *rule.pcp == *tag >> 13);
}

bool Front::fitsPrefix(const std::optional<Prefix>& prefix, const Headers& h, const u32* address) {
  if (!prefix) return true;
  if (prefix->six ? !h.is_ip6 : !h.is_ip4) return false;
  for (u32 i = 0; i < 4; i++)
    if ((address[i] & prefix->mask[i]) != prefix->address[i]) return false;
  return true;
}

bool Front::fitsRange(const std::optional<Range>& range, const Headers& h, u32 port) {
  return !range || (h.has_ports && port >= range->low && port <= range->high);
}

void Front::give(Frame& frame, const Headers& h, u32 dscp, Count& count) {
  count.matched++;
  count.notIp += !isIp(h);
  count.changed += rewrite(frame.bytes.data(), h, false, true, dscp, false);
}

void Front::apply(Frame& frame) {
  const Headers h = parse(frame.bytes.data(), static_cast<u32>(frame.bytes.size()), {});
  if (!spread_.empty()) {
    const u64 hash = flowHash(h);
    return give(frame, h, spread_[(hash ^ hash >> 32) % spread_.size()], spreadCount_);
  }
  const auto first = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& r) { return fits(r, frame, h); });
  if (first == rules_.end()) {
    unmatched_++;
  } else {
    give(frame, h, first->dscp, first->count);
  }
}

void Front::write(nlohmann::ordered_json& out) const {
  const auto counts = [](const Count& c) {
    return nlohmann::ordered_json{{"matched", c.matched}, {"changed", c.changed}, {"not_ip", c.notIp}};
  };
  if (!spread_.empty()) {
    out["spread"] = counts(spreadCount_);
    return;
  }
  auto& list = out["rules"] = nlohmann::ordered_json::array();
  for (const Rule& rule : rules_) {
    list.push_back({{"dscp", rule.dscp}});
    list.back().update(counts(rule.count));
  }
  out["unmatched"] = unmatched_;
}

}  // namespace vermilion
