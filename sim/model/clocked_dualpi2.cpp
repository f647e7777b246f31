#include "clocked_dualpi2.h"

#include <algorithm>

#include "pie.h"

namespace vermilion {

namespace {

constexpr u64 UpdateCycles = 11, Seen = 3;

DualPi2Settings settingsOf(const VmQueue& q) {
  DualPi2Settings s;
  s.target = q.dualpi2.target;
  s.step = q.dualpi2.step;
  s.alpha = q.dualpi2.alpha;
  s.beta = q.dualpi2.beta;
  s.most = q.dualpi2.most;
  s.coupling = std::max(q.dualpi2.coupling, 1u);
  s.mtu = std::max(q.dualpi2.mtu, 1u);
  s.dropOverload = q.dualpi2.drop_overload != 0;
  return s;
}

// Of a packet that waited from `arrival` to `now`, in ns; the lane's clock wraps. From the future: 0.
u64 sojournOf(u64 now, u64 arrival) {
  const int bits = TimeBits - PieTimeShift;
  const u64 left = truncate(now, TimeBits) >> PieTimeShift, came = truncate(arrival, TimeBits) >> PieTimeShift;
  const u64 sojourn = truncate(left - came, bits);
  return sojourn >> (bits - 1) != 0 ? 0 : std::min(sojourn, maxOf(PieDelayBits));
}

}  // namespace

void ClockedDualPi2::take(Pair& pair, u32 queue, const VmQueue& profile) {
  pair.on[queue % 2] = profile.dualpi2.on != 0;
  if (queue % 2 != 0) return;
  pair.settings = settingsOf(profile);
  pair.interval = std::max(profile.dualpi2.interval, 1u);
}

std::vector<ClockedDualPi2::Pair> ClockedDualPi2::pairsOf(const std::vector<VmQueue>& queues, u32 built) {
  std::vector<Pair> pairs(built / 2);
  for (u32 i = 0; i < queues.size() && i / 2 < pairs.size(); i++) take(pairs[i / 2], i, queues[i]);
  return pairs;
}

std::vector<ClockedSweep::Timer> ClockedDualPi2::timersOf(const std::vector<Pair>& pairs) {
  std::vector<ClockedSweep::Timer> timers(pairs.size());
  std::transform(pairs.begin(), pairs.end(), timers.begin(), timerOf);
  return timers;
}

ClockedDualPi2::ClockedDualPi2(const std::vector<VmQueue>& queues, u32 built, u64 configuredNs, u64 seed)
    : pairs_(pairsOf(queues, built)), sweep_(timersOf(pairs_), configuredNs), draws_(seed, 2) {}

void ClockedDualPi2::configure(u32 queue, const VmQueue& profile) {
  if (queue / 2 >= pairs_.size()) return;
  take(pairs_[queue / 2], queue, profile);
  sweep_.configure(queue / 2, timerOf(pairs_[queue / 2]));
}

void ClockedDualPi2::clock(u64 clock, u64 now) {
  if (pairs_.empty()) return;
  for (; !left_.empty() && left_.front().clock + Seen <= clock; left_.pop_front())
    pairs_[left_.front().queue / 2].delay[left_.front().queue % 2] = left_.front().delay;
  if (update_ && update_->clock == clock) {
    Pair& pair = pairs_[update_->pair];
    if (update_->begins)
      pair.state = {};
    else
      dualPi2Update(pair.state, update_->settings, update_->delay);
    pair.coupling = update_->settings.coupling;
    update_.reset();
  } else if (const auto due = sweep_.clock(now, update_.has_value())) {
    const Pair& pair = pairs_[due->index];
    const u64 delay = std::max(pair.delay[0], pair.delay[1]);
    update_ = Update{clock + UpdateCycles - 1, due->index, delay, due->begins, pair.settings};
  }
}

HeadVerdict ClockedDualPi2::judge(u64 clock, u64 now, u32 queue, u64 arrival, u32 ecn, u32 behind, u32 behindBoth) {
  if (queue / 2 >= pairs_.size()) return HeadVerdict::Pass;
  const u64 sojourn = sojournOf(now, arrival);
  left_.push_back({clock, queue, behind == 0 ? 0 : sojourn});
  if (!sweep_.decides(queue / 2)) return HeadVerdict::Pass;
  const Pair& pair = pairs_[queue / 2];
  DualPi2Settings settings = pair.settings;
  settings.coupling = pair.coupling;
  const u32 first = draws_.draw(), second = draws_.draw();
  return dualPi2Head(pair.state, settings, {queue % 2 != 0, static_cast<u8>(ecn), sojourn}, behindBoth, first, second);
}

}  // namespace vermilion
