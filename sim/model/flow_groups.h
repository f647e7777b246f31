// The queue of a packet's flow within the group of its class's queue, as hw/src/vermilion/classify/FlowGroups.scala.
#pragma once

#include <vector>

#include "config.h"
#include "flow_hash.h"
#include "records.h"

namespace vermilion {

class FlowGroups {
 public:
  explicit FlowGroups(u64 seed);
  // `queue`: of the packet's class. `bits`: of the number of queues in its group; 0: it is in none.
  u32 queue(u32 queue, u32 bits, const VmHeaders& headers) const;

 private:
  FlowHash hash_;
};

}  // namespace vermilion
