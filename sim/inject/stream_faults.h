// Faults at the lane's stream ports, between the lane and the driver. The driver checks the rules of the streams.
//
// Each fault needs its own run.
#pragma once

#include <memory>
#include <string>

#include "lane_driver.h"

namespace vermilion {

// Changes the beat or signal at injection point `at`, counted from 0. `points()` counts the injection points of the
// run.
class StreamFault : public StreamTap {
 public:
  StreamFault(const std::string& name, u64 at) : name_(name), at_(at) {}
  void output(Beat& beat) override;
  bool ready(u32 input, bool ready) override;
  u64 points() const { return points_; }

 private:
  std::string name_;
  u64 at_, points_ = 0;
};

}  // namespace vermilion
