#include "flow_groups.h"

#include <utility>

#include "flow_marker.h"

namespace vermilion {

FlowGroups::FlowGroups(u64 seed) : hash_(flowSeed(seed, 1).data()) {}

u32 FlowGroups::queue(u32 queue, u32 bits, const VmHeaders& headers) const {
  const u32 low = static_cast<u32>(maxOf(static_cast<int>(bits)));
  return (queue & ~low) | hash_.hash(flowName(headers.proto, headers), bits);
}

u32 FlowGroups::name(const VmHeaders& headers) const {
  constexpr u32 NameAt = 10, NameBits = 16;
  return hash_.hash(flowName(headers.proto, headers), NameAt + NameBits) >> NameAt;
}

FlowCollisions::FlowCollisions(const VmConfig& config) : groups_(config.seed), last_(config.queue_count) {
  for (u32 i = 0; i < config.queue_count; i++) grouped_.push_back(config.queues[i].fq != 0);
}

bool FlowCollisions::enqueued(const VmArrival& seen, const VmHeaders& headers) {
  if (!grouped_[seen.queue]) return false;
  const u32 name = groups_.name(headers), last = std::exchange(last_[seen.queue], name);
  return seen.queued_packets != 0 && last != name;
}

}  // namespace vermilion
