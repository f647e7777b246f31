// Where free cells are, clock by clock: FreeList.scala, ChainBank.scala and the few that each input holds ready
// (Ingress.scala). Cells are alike here, only their number counts.
//
// Matters when cells run out: a freed chain passes two clocks of banks, waits for its turn, and comes one cell a clock.
#pragma once

#include <deque>
#include <vector>

#include "timing.h"

namespace vermilion {

class ClockedFreeCells {
 public:
  // As after reset and a while of rest: counted out are only the cells that are held ready.
  explicit ClockedFreeCells(LaneShape shape);
  // For the clock that `clock` ends.
  bool available(u32 input) const { return held_[input] != 0; }
  void take(u32 input) { taken_[input] = 1; }
  void freedByPolicy(u32 cells) { pushed_[0] = cells; }
  void freedByReader(u32 cells) { pushed_[1] = cells; }
  void clock();

 private:
  std::deque<u32> banks_[2], chains_;  // cells of each chain
  u32 pushed_[2] = {};                 // in this clock; 0: none
  u32 popped_ = 0;                     // chain read from a bank in the clock before; 0: none
  bool turn_ = false;
  u32 unused_, remaining_ = 0, ready_ = timing::CellsReady, lastTurn_ = 0;
  std::vector<u32> held_;
  std::vector<u8> taken_;
};

// Round robin as Chisel's RRArbiter: the next above the last that was granted, or the first; -1: nobody asks.
int roundRobin(u32& lastGrant, const std::vector<u8>& asks);

}  // namespace vermilion
