// Where free cells are, clock by clock: FreeList.scala, ChainBank.scala and the few that each input holds ready
// (Ingress.scala). Cells are alike here, only their number counts.
//
// Matters when cells run out: a freed chain passes two clocks of banks, waits for its turn, and comes one cell a clock.
#pragma once

#include <deque>
#include <vector>

#include "timing.h"

namespace vermilion {

// The arbiter of IngressArbiter.scala: inputs that cannot be stalled go first, each
// group round robin as Chisel's RRArbiter, the next above the last that was granted, or the first.
class InputArbiter {
 public:
  explicit InputArbiter(LaneShape shape) : shape_(shape) {}
  int next(const std::vector<u8>& asks);  // the input that is granted; -1: none asks

 private:
  LaneShape shape_;
  u32 last_[2] = {};  // of those that cannot be stalled, and of those that can
};

class ClockedFreeCells {
 public:
  // As after reset and a while of rest: counted out are only the cells that are held ready.
  explicit ClockedFreeCells(LaneShape shape);
  // For the clock that `clock` ends.
  bool available(u32 input) const { return held_[input] != 0; }
  bool left() const { return ready_ != 0; }  // for whichever input
  void take(u32 input) { taken_[input] = 1; }
  void freedByPolicy(u32 cells) { pushed_[0] = cells; }
  void freedByReader(u32 cells) { pushed_[1] = cells; }
  void clock();

 private:
  std::deque<u32> banks_[2], chains_;  // cells of each chain
  u32 pushed_[2] = {};                 // in this clock; 0: none
  u32 popped_ = 0;                     // chain read from a bank in the clock before; 0: none
  bool turn_ = false;
  u32 unused_, remaining_ = 0, ready_ = timing::CellsReady;
  InputArbiter arbiter_;
  std::vector<u32> held_;
  std::vector<u8> taken_;
};

}  // namespace vermilion
