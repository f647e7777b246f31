#include "clocked_free.h"

namespace vermilion {

int InputArbiter::next(const std::vector<u8>& asks) {
  for (u32 group = 0; group < 2; group++) {
    for (u32 k = 1; k <= shape_.inputs; k++) {
      const u32 i = (last_[group] + k) % shape_.inputs;
      if (!asks[i] || (shape_.stallable >> i & 1) != group) continue;
      last_[group] = i;
      return static_cast<int>(i);
    }
  }
  return -1;
}

ClockedFreeCells::ClockedFreeCells(LaneShape shape)
    : unused_(shape.cells - timing::CellsReady - shape.inputs * timing::CellsAhead),
      arbiter_(shape),
      held_(shape.inputs, timing::CellsAhead),
      taken_(shape.inputs) {
  if (shape.reports) line_.assign(timing::HoldCycles, 0);
}

void ClockedFreeCells::clock() {
  const bool chainsRoom = chains_.size() + (popped_ != 0) < timing::ChainsDepth;
  const bool readyRoom = ready_ < timing::CellsReady;

  // ready -> an input
  if (ready_ != 0) {
    std::vector<u8> asks(held_.size());
    for (std::size_t i = 0; i < held_.size(); i++) asks[i] = held_[i] < timing::CellsAhead;
    const int to = arbiter_.next(asks);
    if (to >= 0) {
      held_[static_cast<u32>(to)]++;
      ready_--;
    }
  }
  for (std::size_t i = 0; i < held_.size(); i++) {
    held_[i] -= taken_[i];
    taken_[i] = 0;
  }

  // chains -> ready
  if (readyRoom) {
    if (remaining_ != 0) {
      remaining_--;
      ready_++;
    } else if (unused_ != 0) {
      unused_--;
      ready_++;
    } else if (!chains_.empty()) {
      remaining_ = chains_.front() - 1;
      chains_.pop_front();
      ready_++;
    }
  }

  // banks -> chains
  if (popped_ != 0) chains_.push_back(popped_);
  popped_ = 0;
  const bool first = !banks_[0].empty(), second = !banks_[1].empty();
  if (chainsRoom && (first || second)) {
    const bool pickSecond = second && (turn_ || !first);
    std::deque<u32>& bank = banks_[pickSecond];
    popped_ = bank.front();
    bank.pop_front();
    turn_ = !pickSecond;
  }
  if (line_.empty()) {
    pushed_[0] = freed_;
  } else {
    pushed_[0] = line_.front();
    line_.pop_front();
    line_.push_back(freed_);
    heldChains_ += (freed_ != 0) - (pushed_[0] != 0);
  }
  freed_ = 0;
  for (int i = 0; i < 2; i++) {
    if (pushed_[i] != 0) banks_[i].push_back(pushed_[i]);
    pushed_[i] = 0;
  }
}

}  // namespace vermilion
