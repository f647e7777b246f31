// The free cells, cycle by cycle: FreeList.scala, ChainBank.scala and the cells that each input holds ready
// (Ingress.scala). The model counts cells and does not name them.
//
// This matters when cells run out. A freed chain needs two cycles to pass its bank. It then waits until the chains
// before it are used, and gives one cell per cycle.
#pragma once

#include <deque>
#include <vector>

#include "timing.h"

namespace vermilion {

// The arbiter of IngressArbiter.scala. Inputs that cannot be stalled have priority. Within each group it is round-robin
// like Chisel's RRArbiter: it grants the next requesting input above the last granted one, or else the lowest.
class InputArbiter {
 public:
  explicit InputArbiter(LaneShape shape) : shape_(shape) {}
  int next(const std::vector<u8>& asks);  // the granted input; -1: no input requests

 private:
  LaneShape shape_;
  u32 last_[2] = {};  // last grant: [0] cannot be stalled, [1] can be stalled
};

class ClockedFreeCells {
 public:
  // The state after reset and a quiescent time: all cells are unused, except those that are held ready.
  explicit ClockedFreeCells(LaneShape shape);
  // The following calls apply to the cycle that the next call of `clock` ends.
  bool available(u32 input) const { return held_[input] != 0; }
  bool left() const { return ready_ != 0; }  // not yet given to an input
  void take(u32 input) { taken_[input] = 1; }
  void freedByPolicy(u32 cells) { freed_ = cells; }
  void freedByReader(u32 cells) { pushed_[1] = cells; }
  void clock();
  bool holds() const { return heldChains_ != 0; }  // chains that return later

 private:
  std::deque<u32> banks_[2], chains_;  // cells of each chain
  u32 pushed_[2] = {};                 // in this cycle; 0: none
  u32 freed_ = 0;                      // by the policy, in this cycle
  std::deque<u32> line_;               // in builds with reports, one entry for each cycle that it is held
  u32 heldChains_ = 0;
  u32 popped_ = 0;  // chain read from a bank in the previous cycle; 0: none
  bool turn_ = false;
  u32 unused_, remaining_ = 0, ready_ = timing::CellsReady;
  InputArbiter arbiter_;
  std::vector<u32> held_;
  std::vector<u8> taken_;
};

}  // namespace vermilion
