#include "clocked_pie.h"

#include <algorithm>

namespace vermilion {

namespace {

constexpr int TickShift = 16, TickBits = 20;
constexpr u32 MostInterval = (1u << 14) - 1;
constexpr u64 UpdateCycles = 70;

u32 ticks(u32 x) {
  return x & static_cast<u32>(maxOf(TickBits));
}

// The tick is ahead, by at most `most`.
bool isAhead(u32 x, u32 tick, u32 most) {
  return ticks(x - tick - 1) < most;
}

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

u32 ClockedPie::tickOf(u64 now) {
  return ticks(static_cast<u32>(now >> TickShift));
}

// All queues with PIE begin in the passes that their configuration has caused, in the tick of `configuredNs`.
ClockedPie::ClockedPie(const std::vector<VmQueue>& queues, u32 built, u64 configuredNs) : queues_(built) {
  passTick_ = tickOf(configuredNs);
  for (u32 i = 0; i < std::min<std::size_t>(built, queues.size()); i++) {
    Queue& q = queues_[i];
    q.state = pieBegin();
    q.on = q.active = queues[i].pie.on != 0;
    q.settings = settingsOf(queues[i]);
    q.interval = std::max(queues[i].pie.interval, 1u);
    if (!q.on) continue;
    q.due = ticks(passTick_ + q.interval);
    find(q.due);
  }
  armed_ = soonest_.has_value();
  next_ = soonest_.value_or(0);
  wait_ = ticks(next_ - passTick_);
}

void ClockedPie::configure(u32 queue, const VmQueue& profile) {
  if (queue >= queues_.size()) return;
  Queue& q = queues_[queue];
  q.settings = settingsOf(profile);
  q.interval = std::max(profile.pie.interval, 1u);
  q.on = profile.pie.on != 0;
  asked_ = true;
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

void ClockedPie::find(u32 due) {
  if (!soonest_ || ticks(due - passTick_) < ticks(*soonest_ - passTick_)) soonest_ = due;
}

void ClockedPie::advance(u32 tick) {
  state_ = State::Read;
  if (++index_ != queues_.size()) return;
  index_ = 0;
  state_ = State::Idle;
  armed_ = soonest_.has_value();
  next_ = soonest_.value_or(next_);
  wait_ = ticks(next_ - passTick_) & MostInterval;
  if (isAhead(passTick_, tick, MostInterval)) asked_ = true;
}

bool ClockedPie::reached(u64 now) const {
  return armed_ && !isAhead(next_, tickOf(now), wait_);
}

// The state machine of PieSweep.scala.
void ClockedPie::pass(u64 clock, u64 now) {
  Queue& q = queues_[index_];
  const u32 tick = tickOf(now);
  switch (state_) {
    case State::Idle:
      if (!asked_ && !reached(now)) return;
      state_ = State::Read;
      passTick_ = tick;
      soonest_.reset();
      asked_ = false;
      return;
    case State::Read:
      state_ = State::Ask;
      return;
    case State::Ask:
      if (!q.on) {
        q.active = false;
        return advance(tick);
      }
      if (q.active && isAhead(q.due, tick, q.interval)) {
        find(q.due);
        return advance(tick);
      }
      update_ = Update{clock + UpdateCycles - 1, index_, q.state.delay, q.bytesBefore == 0, !q.active, q.settings};
      q.due = q.active && isAhead(ticks(q.due + q.interval), tick, q.interval) ? ticks(q.due + q.interval)
                                                                               : ticks(tick + q.interval);
      find(q.due);
      state_ = State::Wait;
      return;
    case State::Wait:
      if (update_) return;
      q.active = true;
      return advance(tick);
  }
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
  else
    pass(clock, now);
}

ClockedPie::Seen ClockedPie::request(u32 queue) const {
  if (queue >= queues_.size()) return {};
  const Queue& q = queues_[queue];
  return {q.on && q.active, q.state, q.restarts};
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

bool ClockedPie::wake(u64 now, u64& ns) const {
  if (!armed_ || busy(now)) return false;
  ns = truncate(((now >> TickShift) + ticks(next_ - tickOf(now))) << TickShift, TimeBits);
  return true;
}

}  // namespace vermilion
