// All checkers of a run of the Verilated lane. They receive the driver's events.
//
// The checkers are the replay with the victim check, the accounting, the rules of the streams, and at the end the
// lane's counters. docs/results/inject.md shows which checker reports which fault.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "bench.h"
#include "breaches.h"
#include "control_access.h"
#include "lane_driver.h"
#include "run.h"

namespace vermilion {

class RtlChecks : public LaneListener {
 public:
  RtlChecks(const VmConfig& config, Recorder& recorder);

  void time(u64 clock, u64 now) override;
  void arrived(u32 input, std::shared_ptr<const Frame> frame, u64 clock) override;
  void lost(u32 input, u32 lenBytes, u64 clock) override;
  void decided(const RtlDecision& made, u64 clock) override;
  void departed(const Left& left, u64 now, u64 clock) override;
  void wire(u32 egress, std::vector<u8> bytes, u64 firstBeatClock) override;
  void reported(const std::vector<u8>& frame, u64 clock) override;
  void breach(const std::string& text) override { stream_.add(text); }

  // Call after the last event. It reads the lane's counters, and adds `flow_events`, `replay` and each check's errors
  // to the JSON (results.h).
  void finish(Registers& registers, nlohmann::ordered_json& json);
  u64 defects() const;
  const BenchTiming& timing() const { return timing_; }

 private:
  void onWire(const Packet& p, const std::vector<u8>& bytes);

  const VmConfig& config_;
  Recorder& recorder_;
  Replay replay_;
  Accounting accounting_;
  Breaches stream_, counters_, reports_;
  BenchTiming timing_;
  u64 now_ = 0;
};

}  // namespace vermilion
