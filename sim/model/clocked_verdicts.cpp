#include "clocked_verdicts.h"

#include <utility>

namespace vermilion {

namespace {

CodelSettings settingsOf(const VmQueue& q) {
  return {q.codel.target,
          q.codel.interval,
          q.codel.ce_threshold,
          q.codel.mtu,
          q.ecn != 0,
          static_cast<u8>(q.codel.ce_mask),
          static_cast<u8>(q.codel.ce_selector)};
}

u32 ticks(u64 ns) {
  return static_cast<u32>(ns >> CodelShift);
}

}  // namespace

QueueVerdicts::QueueVerdicts(std::vector<VmQueue> queues) : queues_(queues.size()) {
  for (u32 i = 0; i < queues.size(); i++) configure(i, queues[i]);
}

void QueueVerdicts::configure(u32 queue, const VmQueue& profile) {
  Queue& q = queues_[queue];
  q.settings = settingsOf(profile);
  const bool on = profile.codel.on != 0;
  if (on && !std::exchange(q.on, on)) q.state = {};
  q.on = on;
}

Judged QueueVerdicts::judge(u64 clock, u64 now, u32 queue, u64 arrival, u32 dsField, bool isIp, u32 backlog) {
  Queue& q = queues_[queue];
  if (!q.on) return {};
  const bool settled = !q.changed || clock - *q.changed >= CodelSettles;
  const CodelState before = q.state;
  const HeadPacket packet{ticks(arrival), static_cast<u8>(dsField), isIp};
  Judged judged{codelHead(q.state, q.settings, ticks(now), packet, backlog, settled)};
  if (q.state.changes != before.changes) {
    q.changed = lastChange_ = clock;
    changed_ = true;
  }
  judged.again = judged.verdict == HeadVerdict::Drop && codelDueAgain(before, ticks(now));
  return judged;
}

bool ClockedDiscards::room(u32 ahead, bool settling, bool shapedPort) const {
  if (chains_.size() > timing::DiscardsMost) return false;
  return settling ? ahead < timing::FewCells && !shapedPort : ahead < timing::AheadCellsJudged;
}

u32 ClockedDiscards::clock(bool free, bool late, u32 dropped) {
  u32 freed = 0;
  if (free && !chains_.empty()) {
    freed = chains_.front();
    chains_.pop_front();
  }
  if (dropped != 0) chains_.push_back(dropped);
  before_ = dropped;
  if (late)
    left_ = timing::SettleWait - 1;
  else if (left_ != 0)
    left_--;
  return freed;
}

}  // namespace vermilion
