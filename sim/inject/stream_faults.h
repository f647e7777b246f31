// Faults at the lane's stream ports, between the lane and the driver, which checks the streams' rules: put into a run of its own.
#pragma once

#include <memory>
#include <string>

#include "lane_driver.h"

namespace vermilion {

// Strikes the `at`-th chance, from 0; `chances()` says how many there were.
class StreamFault : public StreamTap {
 public:
  StreamFault(const std::string& name, u64 at) : name_(name), at_(at) {}
  void output(Beat& beat) override;
  bool ready(u32 input, bool ready) override;
  u64 chances() const { return chances_; }

 private:
  std::string name_;
  u64 at_, chances_ = 0;
};

}  // namespace vermilion
