#include "clocked_pie.h"

#include <algorithm>

namespace vermilion {

namespace {

constexpr u64 UpdateCycles = 70;

PieSettings settingsOf(const VmQueue& q) {
  return {q.pie.target, q.pie.burst,         q.pie.alpha, q.pie.beta, std::max(q.pie.mtu, 1u),
          q.ecn != 0,   q.pie.byte_mode != 0};
}

// A packet departs. The lane's clock wraps.
void departs(PieState& state, const PieSettings& settings, u64 now, u64 arrival, bool last) {
  const u64 left = truncate(now, TimeBits) >> PieTimeShift, came = truncate(arrival, TimeBits) >> PieTimeShift;
  const int shift = 64 - (TimeBits - PieTimeShift);
  const i64 sojourn = static_cast<i64>((left - came) << shift) >> shift;
  pieDeparts(state, settings, left, left - static_cast<u64>(sojourn), last ? 0 : 1);
}

}  // namespace

static ClockedSweep::Timer timerOf(const VmQueue& q) {
  return {q.pie.on != 0, std::max(q.pie.interval, 1u)};
}

static std::vector<ClockedSweep::Timer> timersOf(const std::vector<VmQueue>& queues, u32 built) {
  std::vector<ClockedSweep::Timer> timers(built);
  for (u32 i = 0; i < built && i < queues.size(); i++) timers[i] = timerOf(queues[i]);
  return timers;
}

ClockedPie::ClockedPie(const std::vector<VmQueue>& queues, u32 built, u64 configuredNs)
    : queues_(built), sweep_(timersOf(queues, built), configuredNs) {
  for (u32 i = 0; i < built; i++) {
    queues_[i].state = pieBegin();
    if (i < queues.size()) queues_[i].settings = settingsOf(queues[i]);
  }
}

void ClockedPie::configure(u32 queue, const VmQueue& profile) {
  if (queue >= queues_.size()) return;
  queues_[queue].settings = settingsOf(profile);
  sweep_.configure(queue, timerOf(profile));
}

void ClockedPie::came(u64 clock, u32 queue, u32 bytes) {
  if (!queues_.empty() && bytes != 0) came_.push_back({clock, queue, bytes});
}

void ClockedPie::taken(u64 clock, u64 now, u32 queue, u32 lenBytes, u64 arrival) {
  if (!queues_.empty()) taken_.push_back({clock, now, queue, lenBytes, arrival});
}

// Departures that arrivals of this cycle see. All that came and was taken has been counted then.
void ClockedPie::depart(u64 clock) {
  while (!taken_.empty() && taken_.front().clock < clock) {
    Left left = taken_.front();
    taken_.pop_front();
    for (; !came_.empty() && came_.front().clock < left.clock; came_.pop_front()) {
      queues_[came_.front().queue].bytes += came_.front().bytes;
      cameBefore_.push_back(came_.front());
    }
    u32& bytes = queues_[left.queue].bytes;
    bytes -= left.lenBytes;
    left.last = bytes == 0;
    takenBefore_.push_back(left);
    leaving_.push_back(left);
  }
  for (; !came_.empty() && came_.front().clock < clock; came_.pop_front()) {
    queues_[came_.front().queue].bytes += came_.front().bytes;
    cameBefore_.push_back(came_.front());
  }
  for (; !cameBefore_.empty() && cameBefore_.front().clock + 2 <= clock; cameBefore_.pop_front())
    queues_[cameBefore_.front().queue].bytesBefore += cameBefore_.front().bytes;
  for (; !takenBefore_.empty() && takenBefore_.front().clock + 2 <= clock; takenBefore_.pop_front())
    queues_[takenBefore_.front().queue].bytesBefore -= takenBefore_.front().lenBytes;
}

// The result of an update. A departure that has read the restarts before it does not see its restart.
void ClockedPie::write() {
  const Update u = *update_;
  Queue& q = queues_[u.queue];
  PieState after = q.state;
  after.restarts = false;
  const auto apply = [&](PieState& state) {
    if (u.begins)
      pieRestarts(state, u.delay);
    else
      pieUpdate(state, u.settings, u.delay, u.isEmpty);
  };
  apply(after);
  if (after.restarts) {
    for (const Left& left : leaving_)
      if (left.queue == u.queue && left.clock + 2 <= u.clock)
        departs(q.state, q.settings, left.now, left.arrival, left.last);
    std::erase_if(leaving_, [&](const Left& left) { return left.queue == u.queue && left.clock + 2 <= u.clock; });
    q.restarts++;
  }
  apply(q.state);
  update_.reset();
}

void ClockedPie::clock(u64 clock, u64 now) {
  if (queues_.empty()) return;
  depart(clock);
  for (; !leaving_.empty() && leaving_.front().clock + 3 <= clock; leaving_.pop_front()) {
    const Left& left = leaving_.front();
    Queue& q = queues_[left.queue];
    departs(q.state, q.settings, left.now, left.arrival, left.last);
  }
  if (update_ && update_->clock == clock)
    write();
  else if (const auto due = sweep_.clock(now, update_.has_value())) {
    const Queue& q = queues_[due->index];
    update_ = Update{clock + UpdateCycles - 1, due->index, q.state.delay, q.bytesBefore == 0, due->begins, q.settings};
  }
}

ClockedPie::Seen ClockedPie::request(u32 queue) const {
  if (queue >= queues_.size()) return {};
  const Queue& q = queues_[queue];
  return {sweep_.decides(queue), q.state, q.restarts};
}

static bool sound(const VmArrival& a) {
  return a.bad == 0 && a.no_buffer == 0 && a.policed == 0;
}

ArrivalVerdict ClockedPie::decide(const Seen& seen, const VmQueue& profile, const VmArrival& a, bool lost) {
  if (!seen.on || !sound(a)) return ArrivalVerdict::Pass;
  Queue& q = queues_[a.queue];
  PieState state = seen.state;
  state.accumulated = q.accumulatedOf == seen.restarts ? q.accumulated : 0;
  ArrivalVerdict verdict = ArrivalVerdict::Pass;
  u32 backlog = 0;
  for (const u32 bytes : a.backlog_bytes) backlog += bytes;
  if (lost)
    pieLost(state);
  else
    verdict = pieArrives(state, settingsOf(profile), static_cast<u32>(truncate(backlog, LenBits)), a.len_bytes,
                         a.ecn != 0, u64{a.draw} << (PieProbBits - 32));
  q.accumulated = state.accumulated;
  q.accumulatedOf = seen.restarts;
  return verdict;
}

u64 pieProbability(const ClockedPie::Seen& seen, const VmArrival& a) {
  return seen.on && sound(a) ? seen.state.prob >> (PieProbBits - 32) : 0;
}

}  // namespace vermilion
