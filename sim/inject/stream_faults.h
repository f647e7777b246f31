// Faults at the lane's stream ports, between the lane and the driver that checks the streams' rules. Each needs a run of its own.
#pragma once

#include <memory>
#include <string>

#include "lane_driver.h"

namespace vermilion {

// Changes the beat or signal at injection point `at`, from 0; `points()` says how many there were.
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
