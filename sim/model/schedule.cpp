#include "schedule.h"

#include <algorithm>

namespace vermilion {

void Shaper::sent(u64 now, u32 lenBytes) {
  if (cost_.m == 0) return;
  const u64 earliest = (now > burstNs_ ? now - burstNs_ : 0) << ShaperFrac;
  next_ = std::max(next_, earliest) + static_cast<u64>(scale(u64{lenBytes} << ShaperFrac, cost_.m, cost_.s));
}

Scheduler::Scheduler(const VmConfig& config) : port_(config.port_cost, config.port_burst_ns) {
  for (u32 i = 0; i < config.queue_count; i++) {
    const VmQueue& q = config.queues[i];
    queues_.push_back({q.strict != 0, q.priority, q.quantum, 0, Shaper(q.cost, q.burst_ns)});
  }
}

int Scheduler::pickStrict(u64 now, const std::vector<u32>& headBytes) const {
  int best = -1;
  for (u32 i = 0; i < queues_.size(); i++) {
    const Queue& q = queues_[i];
    if (!q.strict || headBytes[i] == 0 || !q.shaper.open(now)) continue;
    if (best < 0 || q.priority > queues_[static_cast<u32>(best)].priority) best = static_cast<int>(i);
  }
  return best;
}

int Scheduler::pickRound(u64 now, const std::vector<u32>& headBytes) {
  u32 idle = 0;  // queues passed since one was eligible
  while (idle <= queues_.size()) {
    Queue& q = queues_[pointer_];
    if (!q.strict && headBytes[pointer_] != 0 && q.shaper.open(now) && q.quantum != 0) {
      idle = 0;
      if (!granted_) q.deficit += q.quantum;
      granted_ = true;
      if (q.deficit >= headBytes[pointer_]) return static_cast<int>(pointer_);
    } else {
      idle++;
    }
    pointer_ = (pointer_ + 1) % static_cast<u32>(queues_.size());
    granted_ = false;
  }
  return -1;
}

int Scheduler::pick(u64 now, const std::vector<u32>& headBytes) {
  if (!port_.open(now)) return -1;
  const int strict = pickStrict(now, headBytes);
  return strict >= 0 ? strict : pickRound(now, headBytes);
}

void Scheduler::sent(u64 now, u32 queue, u32 lenBytes, bool emptied) {
  Queue& q = queues_[queue];
  if (!q.strict) q.deficit = emptied ? 0 : q.deficit - lenBytes;
  q.shaper.sent(now, lenBytes);
  port_.sent(now, lenBytes);
}

u64 Scheduler::nextTime(u64 now, const std::vector<u32>& headBytes) const {
  u64 first = ~u64{0};
  for (u32 i = 0; i < queues_.size(); i++)
    if (headBytes[i] != 0) first = std::min(first, queues_[i].shaper.opensAt());
  return std::max({now, port_.opensAt(), first});
}

}  // namespace vermilion
