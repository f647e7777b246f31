#include "flow_groups.h"

#include "flow_marker.h"

namespace vermilion {

FlowGroups::FlowGroups(u64 seed) : hash_(flowSeed(seed, 1).data()) {}

u32 FlowGroups::queue(u32 queue, u32 bits, const VmHeaders& headers) const {
  const u32 low = static_cast<u32>(maxOf(static_cast<int>(bits)));
  return (queue & ~low) | hash_.hash(flowName(headers.proto, headers), bits);
}

}  // namespace vermilion
