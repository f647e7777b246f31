#include "schedule.h"

#include <algorithm>

namespace vermilion {

void Shaper::sent(u64 now, u32 lenBytes) {
  if (cost_.m == 0) return;
  const u64 earliest = (now > burstNs_ ? now - burstNs_ : 0) << ShaperFrac;
  next_ = std::max(next_, earliest) + static_cast<u64>(scale(u64{lenBytes} << ShaperFrac, cost_.m, cost_.s));
}

Scheduler::Scheduler(const VmConfig& config)
    : port_(config.port_cost, config.port_burst_ns), last_(config.queue_count - 1) {
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
  const u32 count = static_cast<u32>(queues_.size());
  const auto eligible = [&](u32 i) { return !queues_[i].strict && headBytes[i] != 0 && queues_[i].shaper.open(now); };
  bool any = false;
  for (u32 i = 0; i < count; i++) any = any || eligible(i);
  while (any) {
    const bool stay = visiting_ && eligible(last_);
    u32 i = last_;
    if (!stay) do
        i = (i + 1) % count;
      while (!eligible(i));
    Queue& q = queues_[i];
    last_ = i;
    if (!stay && q.deficit < headBytes[i]) q.deficit += std::max<u32>(q.quantum, CellBytes);
    visiting_ = q.deficit >= headBytes[i];
    if (visiting_) return static_cast<int>(i);
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
  if (!q.strict) {
    q.deficit = emptied ? 0 : q.deficit - lenBytes;
    visiting_ = !emptied;
  }
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
