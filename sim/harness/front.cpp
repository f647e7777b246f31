#include "front.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "rewrite.h"

namespace vermilion {

using nlohmann::json;

namespace {

constexpr u32 DscpMax = 63;

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
    for (const json& dscp : j.value("spread", json::array())) spread_.push_back(dscpOf(dscp));
    if (spread_.empty()) throw InputError("has no spread; legal is a list of DSCPs");
  } catch (const json::exception& e) {
    throw InputError(file + ": is no front (sim/harness/front.h): " + e.what());
  } catch (const InputError& e) {
    throw InputError(file + ": " + e.what());
  }
}

void Front::apply(Frame& frame) {
  const Headers h = parse(frame.bytes.data(), static_cast<u32>(frame.bytes.size()), {});
  const u64 hash = flowHash(h);
  matched_++;
  notIp_ += !isIp(h);
  changed_ += rewrite(frame.bytes.data(), h, false, true, spread_[(hash ^ hash >> 32) % spread_.size()], false);
}

void Front::write(nlohmann::ordered_json& out) const {
  out["spread"] = {{"matched", matched_}, {"changed", changed_}, {"not_ip", notIp_}};
}

}  // namespace vermilion
