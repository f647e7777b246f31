// The updates of controllers that have a T_update, cycle by cycle: UpdateSweep.scala. A controller is a queue's PIE or a
// pair's DualPI2.
#pragma once

#include <optional>
#include <vector>

#include "formats.h"

namespace vermilion {

class ClockedSweep {
 public:
  struct Timer {
    bool on = false;
    u32 interval = 1;  // T_update in ticks, 1 and more
  };
  struct Due {
    u32 index;
    bool begins;  // a new state instead
  };
  // `configuredNs`: the lane time at which the controllers were configured, some passes before the first cycle.
  ClockedSweep(const std::vector<Timer>& timers, u64 configuredNs);
  void configure(u32 index, const Timer& timer);
  bool decides(u32 index) const { return timers_[index].on && timers_[index].active; }
  // A cycle, in order, but not that in which the result of an update is written. `updates`: an update is in progress.
  // Returns the controller whose update begins in this cycle.
  std::optional<Due> clock(u64 now, bool updates);
  bool busy(u64 now) const { return state_ != State::Idle || asked_ || reached(now); }  // the port `busy`
  bool wake(u64 now, u64& ns) const;

 private:
  struct Controller : Timer {
    bool active = false;
    u32 due = 0;  // tick
  };
  enum class State : u8 { Idle, Read, Load, Ask, Note, Wait };
  bool reached(u64 now) const;
  void advance(u32 tick);
  void find(u32 due);

  std::vector<Controller> timers_;
  State state_ = State::Idle;
  u32 later_ = 0;  // tick at which the controller at `index_` is due next
  u32 index_ = 0, next_ = 0, passTick_ = 0, wait_ = 0;
  std::optional<u32> soonest_;
  bool asked_ = false, armed_ = false;
};

}  // namespace vermilion
