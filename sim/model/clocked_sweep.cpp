#include "clocked_sweep.h"

#include <algorithm>

namespace vermilion {

namespace {

constexpr int TickShift = 16, TickBits = 20;
constexpr u32 MostInterval = (1u << 14) - 1;

u32 ticks(u32 x) {
  return x & static_cast<u32>(maxOf(TickBits));
}

u32 tickOf(u64 now) {
  return ticks(static_cast<u32>(now >> TickShift));
}

// The tick is ahead, by at most `most`.
bool isAhead(u32 x, u32 tick, u32 most) {
  return ticks(x - tick - 1) < most;
}

}  // namespace

// All that are on begin in the passes that their configuration has caused, in the tick of `configuredNs`.
ClockedSweep::ClockedSweep(const std::vector<Timer>& timers, u64 configuredNs) {
  passTick_ = tickOf(configuredNs);
  for (const Timer& timer : timers) {
    Controller& c = timers_.emplace_back();
    static_cast<Timer&>(c) = timer;
    c.active = timer.on;
    if (!timer.on) continue;
    c.due = ticks(passTick_ + c.interval);
    find(c.due);
  }
  armed_ = soonest_.has_value();
  next_ = soonest_.value_or(0);
  wait_ = ticks(next_ - passTick_);
}

void ClockedSweep::configure(u32 index, const Timer& timer) {
  static_cast<Timer&>(timers_[index]) = timer;
  asked_ = true;
}

void ClockedSweep::find(u32 due) {
  if (!soonest_ || ticks(due - passTick_) < ticks(*soonest_ - passTick_)) soonest_ = due;
}

void ClockedSweep::advance(u32 tick) {
  state_ = State::Read;
  if (++index_ != timers_.size()) return;
  index_ = 0;
  state_ = State::Idle;
  armed_ = soonest_.has_value();
  next_ = soonest_.value_or(next_);
  wait_ = ticks(next_ - passTick_) & MostInterval;
  if (isAhead(passTick_, tick, MostInterval)) asked_ = true;
}

bool ClockedSweep::reached(u64 now) const {
  return armed_ && !isAhead(next_, tickOf(now), wait_);
}

// The state machine of UpdateSweep.scala.
std::optional<ClockedSweep::Due> ClockedSweep::clock(u64 now, bool updates) {
  Controller& c = timers_[index_];
  const u32 tick = tickOf(now);
  switch (state_) {
    case State::Idle:
      if (!asked_ && !reached(now)) break;
      state_ = State::Read;
      passTick_ = tick;
      soonest_.reset();
      asked_ = false;
      break;
    case State::Read:
      state_ = State::Load;
      break;
    case State::Load:
      state_ = State::Ask;
      break;
    case State::Ask: {
      const bool begins = !c.active;
      if (!c.on) {
        c.active = false;
        advance(tick);
        break;
      }
      if (!begins && isAhead(c.due, tick, c.interval)) {
        later_ = c.due;
        state_ = State::Note;
        break;
      }
      const u32 following = ticks(c.due + c.interval);
      c.due = !begins && isAhead(following, tick, c.interval) ? following : ticks(tick + c.interval);
      later_ = c.due;
      state_ = State::Wait;
      return Due{index_, begins};
    }
    case State::Note:
      find(later_);
      advance(tick);
      break;
    case State::Wait:
      if (updates) break;
      c.active = true;
      find(later_);
      advance(tick);
      break;
  }
  return {};
}

bool ClockedSweep::wake(u64 now, u64& ns) const {
  if (!armed_ || busy(now)) return false;
  ns = truncate(((now >> TickShift) + ticks(next_ - tickOf(now))) << TickShift, TimeBits);
  return true;
}

}  // namespace vermilion
