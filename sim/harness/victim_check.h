// Compares the victim of each push-out of the RTL with the model of the victim search (clocked_victims.h).
//
// An outcome depends on what is dequeued during the search, and the lane shows a decision only at its end. So the model runs `Lag` cycles
// after the lane, when the lane has shown all events that it needs. Cycles are the lane's. Calls of each function come in the order of cycles.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "clocked_victims.h"
#include "timing.h"

namespace vermilion {

class VictimCheck {
 public:
  explicit VictimCheck(const VictimShape& shape);  // indexed 0: there is nothing to check
  // A cycle begins: the events of earlier cycles have been shown.
  void clock(u64 lane);
  void decided(const VictimArrival& arrival, const VictimOutcome& shown, u64 lane);
  void departed(u32 queue, u64 lane);
  void finish();
  u64 wrong() const { return wrong_; }
  // Names the fields that differ (differences.h), then gives the outcomes of RTL and model.
  const std::string& first() const { return first_; }

 private:
  static constexpr u64 Searching = timing::Searching;  // from the lookup
  // An outcome is shown `Searching` cycles after its queue state lookup. It is used when the model reaches it, one cycle before the model shows
  // its own. A dequeue is shown one cycle late.
  static constexpr u64 Lag = Searching + 1, Slots = 2 * (Lag + 1);
  struct Slot {
    std::optional<VictimArrival> arrival;
    VictimOutcome shown{};
    std::optional<u32> taken;  // from this queue
  };
  void run(u64 clock);
  void defect(const char* text);
  void compare(const Slot& pushOut, const VictimOutcome& outcome);

  bool on_;
  ClockedVictims victims_;
  std::vector<u32> heads_;           // packets in the head of each queue
  std::array<Slot, Slots> slots_{};  // by cycle
  u64 lane_ = 0, wrong_ = 0;
  std::string first_;
};

}  // namespace vermilion
