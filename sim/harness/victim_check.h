// Compares the victim of each push-out of the RTL with the model of the victim search (clocked_victims.h).
//
// An outcome depends on what is dequeued during the search, and the lane shows a decision only at its end. So the model
// runs `Lag` cycles after the lane, when the lane has shown all events that it needs.
//
// Cycles are those of the lane. Each function is called in the order of cycles.
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
  // Without indexed queues there is nothing to check. `judges`: a build with codel, which shows departures later.
  explicit VictimCheck(const VictimShape& shape, bool judges = false);
  // Begins a cycle. The lane has shown the events of all earlier cycles.
  void clock(u64 lane);
  void decided(const VictimArrival& arrival, const VictimOutcome& shown, u64 lane);
  void departed(u32 queue, u64 lane);
  void finish();
  u64 wrong() const { return wrong_; }
  // The names of the fields that differ (differences.h), then the outcomes of RTL and model.
  const std::string& first() const { return first_; }

 private:
  static constexpr u64 Searching = timing::Searching;  // from the lookup
  // The lane shows an outcome `Searching` cycles after its queue state lookup, and a dequeue one cycle late, with codel
  // when it is judged. The check uses the outcome one cycle before the model shows its own.
  static constexpr u64 Lag = Searching + 1 + timing::Judging, Slots = 2 * (Lag + 1);
  struct Slot {
    std::optional<VictimArrival> arrival;
    VictimOutcome shown{};
    std::optional<u32> taken;  // the queue of a dequeue in this cycle
  };
  void run(u64 clock);
  void defect(const char* text);
  void compare(const Slot& pushOut, const VictimOutcome& outcome);

  bool on_;
  u64 late_;  // cycles from a dequeue to the departure
  ClockedVictims victims_;
  std::vector<u32> heads_;           // packets in the head of each queue
  std::array<Slot, Slots> slots_{};  // by cycle
  u64 lane_ = 0, wrong_ = 0;
  std::string first_;
};

}  // namespace vermilion
