// Counts drops and marks over the time of a run, by reason (report.h).
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "report.h"

namespace vermilion {

class FateTimes {
 public:
  // Times in ns, 64 bits.
  explicit FateTimes(u64 startNs) : startNs_(startNs) {}
  void add(u64 time, Reason reason);
  // Writes `fates`: {start_ns, bin_ns, reasons: {name: [packets, ...]}}; nothing if there are none.
  void write(nlohmann::ordered_json& json) const;

 private:
  static constexpr std::size_t Most = 256;  // bins
  using Bin = std::array<u64, ReasonBits>;
  u64 startNs_, width_ = 1024;
  std::vector<Bin> bins_;
};

}  // namespace vermilion
