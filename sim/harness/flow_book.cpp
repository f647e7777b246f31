#include "flow_book.h"

#include <arpa/inet.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace vermilion {

using Json = nlohmann::ordered_json;

const char* const FlowEventNames[FlowEvents] = {"adopted",    "collision", "aged_out", "displaced",
                                                "table_full", "loss",      "jump",     "probe"};
constexpr u32 Loss = 5, Probe = 7;

Json flowEventJson(const u64 counts[FlowEvents]) {
  Json j;
  for (u32 i = 0; i < FlowEvents; i++) j[FlowEventNames[i]] = counts[i];
  return j;
}

// "10.0.0.1:80" or "[fd00::1]:80"; `words`: least significant first.
static std::string endpoint(const u32* words, bool ip6, u32 port) {
  u32 network[4];
  for (int i = 0; i < 4; i++) network[i] = htonl(ip6 ? words[3 - i] : words[0]);
  char text[INET6_ADDRSTRLEN];
  inet_ntop(ip6 ? AF_INET6 : AF_INET, network, text, sizeof text);
  return (ip6 ? "[" + std::string(text) + "]" : std::string(text)) + ":" + std::to_string(port);
}

std::size_t FlowBook::Hash::operator()(const FlowName& name) const {
  u64 sum = 0xcbf29ce484222325;
  for (const u32 word : name.words) sum = (sum ^ word) * 0x100000001b3;
  return sum ^ sum >> 32;
}

std::optional<u32> FlowBook::packet(const VmArrival& seen, const Headers& headers, const VmMark& mark) {
  if (seen.bad || seen.no_buffer || (!mark.has_flow && mark.flow_events == 0)) return {};
  const FlowName name = flowName(seen.queue, headers);
  auto at = numbers_.find(name);
  if (at == numbers_.end()) {
    if (flows_.size() == Most) return {};
    at = numbers_.emplace(name, static_cast<u32>(flows_.size())).first;
    flows_.push_back({name, seen.queue, {}, 0, 0, {}});
  }
  Flow& f = flows_[at->second];
  f.packets[seen.colour]++;
  f.losses += mark.flow_events >> Loss & 1;
  f.probes += mark.flow_events >> Probe & 1;
  if (mark.has_flow) f.state = mark.flow;
  return at->second;
}

void FlowBook::write(Json& json, u32 queue, u32 alphaEighths) const {
  std::vector<u32> own;
  for (u32 i = 0; i < flows_.size(); i++)
    if (flows_[i].queue == queue) own.push_back(i);
  const auto packets = [&](u32 i) { return flows_[i].packets[0] + flows_[i].packets[1] + flows_[i].packets[2]; };
  json["flows"] = own.size();
  std::stable_sort(own.begin(), own.end(), [&](u32 a, u32 b) { return packets(a) > packets(b); });
  own.resize(std::min(own.size(), Busiest));
  Json& busiest = json["busiest"] = Json::array();
  for (const u32 i : own) {
    const Flow& f = flows_[i];
    const bool ip6 = f.name.words[9] >> 15 & 1;
    const double whole = f.state.raised && alphaEighths < 8 ? 8.0 / (8 - alphaEighths) : 1.0;
    busiest.push_back({{"flow", i},
                       {"from", endpoint(f.name.words.data(), ip6, f.name.words[8] & 0xffff)},
                       {"to", endpoint(&f.name.words[4], ip6, f.name.words[8] >> 16)},
                       {"packets", f.packets},
                       {"losses", f.losses},
                       {"probes", f.probes},
                       {"average", whole * f.state.average / (1 << FlowMarker::AverageFrac)},
                       {"burst", f.state.burst}});
  }
}

}  // namespace vermilion
