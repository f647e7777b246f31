// Lane time that follows the wall clock (`--real-time`), and how far the simulation falls behind.
//
// The simulation of a packet takes about a millisecond, in which lane time advances by microseconds. So lane time lags
// the wall clock while packets are in the pipeline, and catches up when the lane is at rest. Departures have the lane
// times that a lane in hardware would give them, and reach the socket later by the lag. A lane that never rests lags
// more and more. Nothing hides that: `counters` of the control channel reports it.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>

#include "formats.h"

namespace vermilion {

class RealTime {
 public:
  using Clock = std::chrono::steady_clock;
  explicit RealTime(u64 laneNow) : laneOrigin_(laneNow) {}
  // The lane time that the wall clock shows.
  u64 now() const;
  // From now to a lane time; 0 if that has passed.
  std::chrono::nanoseconds until(u64 laneTime) const;
  // The lane's clock has run, as far as it got.
  void followed(u64 laneNow);
  // A frame that left the lane at `left` is given to the socket now.
  void sent(u64 left);
  // "real_time": {lag_ns, most_lag_ns: of lane time after each run of cycles; frames, late_mean_ns, late_most_ns: from the
  // lane time of a departure to its frame's send call}. Since the start of the program.
  void write(nlohmann::ordered_json& json) const;

 private:
  Clock::time_point origin_ = Clock::now();
  u64 laneOrigin_;
  u64 lag_ = 0, mostLag_ = 0, frames_ = 0, lateSum_ = 0, lateMost_ = 0;
};

}  // namespace vermilion
