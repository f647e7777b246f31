// The queue of a packet's flow within the group of its class's queue, as hw/src/vermilion/classify/FlowGroups.scala, and
// packets that follow one of another flow there, as hw/src/vermilion/stats/FlowCollisions.scala.
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

  u32 name(const VmHeaders& headers) const;  // 16 bits of the hash that select no queue

 private:
  FlowHash hash_;
};

class FlowCollisions {
 public:
  explicit FlowCollisions(const VmConfig& config);
  // Call for each packet that is enqueued, in the order of the decisions. Returns whether its queue is in a group and
  // held packets, the last of which was of a flow with another name.
  bool enqueued(const VmArrival& seen, const VmHeaders& headers);

 private:
  FlowGroups groups_;
  std::vector<bool> grouped_;
  std::vector<u32> last_;  // by queue
};

}  // namespace vermilion
