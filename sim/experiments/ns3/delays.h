// SPDX-License-Identifier: GPL-2.0-only
// Delays of packets, ns, one after the other: sojourn times of a bottleneck's queue, or times from sender to receiver.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace vermilion {

class Delays {
 public:
  // `every`: `told` gives each packet as well.
  explicit Delays(bool every = false) : every_(every) {}
  void add(std::uint64_t fromNs, std::uint64_t toNs, std::uint32_t bytes) { all_.push_back({fromNs, toNs, bytes}); }
  void clear() { all_.clear(); }
  bool every() const { return every_; }
  // {"packets", "bytes", "mean_ns", "median_ns", "p95_ns", "p99_ns", "every": [[from, to, bytes]...]}. A percentile is the least
  // delay that at least so many percent of the packets do not exceed. Without packets there are only "packets" and "bytes".
  nlohmann::json told() const;

 private:
  struct One {
    std::uint64_t fromNs, toNs;
    std::uint32_t bytes;
  };
  bool every_;
  std::vector<One> all_;
};

}  // namespace vermilion
