// SPDX-License-Identifier: GPL-2.0-only
// Delays of packets, ns, one after the other: sojourn times of a bottleneck's queue, or times from sender to receiver.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

namespace vermilion {

class Delays {
 public:
  // What `told` gives of each packet.
  enum class Each { Nothing, Times, Marks };
  explicit Delays(Each each = Each::Nothing) : each_(each) {}
  // `ecnCame`, `ecnLeft`: its ECN field, where it is known.
  void add(std::uint64_t fromNs, std::uint64_t toNs, std::uint32_t bytes, std::uint8_t ecnCame = 0,
           std::uint8_t ecnLeft = 0) {
    all_.push_back({fromNs, toNs, bytes, ecnCame, ecnLeft});
  }
  void clear() { all_.clear(); }
  Each each() const { return each_; }
  // {"packets", "bytes", "mean_ns", "median_ns", "p95_ns", "p99_ns", "every": [[from, to, bytes]...]}. With Marks each
  // of `every` has its ECN field as it came and as it left, too. A percentile is the least delay that at least so many
  // percent of the packets do not exceed. Without packets there are only "packets" and "bytes".
  nlohmann::json told() const;

 private:
  struct One {
    std::uint64_t fromNs, toNs;
    std::uint32_t bytes;
    std::uint8_t ecnCame, ecnLeft;
  };
  Each each_;
  std::vector<One> all_;
};

}  // namespace vermilion
