// SPDX-License-Identifier: GPL-2.0-only
#include "delays.h"

#include <algorithm>
#include <numeric>

namespace vermilion {

nlohmann::json Delays::told() const {
  std::uint64_t bytes = 0;
  for (const One& one : all_) bytes += one.bytes;
  nlohmann::json out{{"packets", all_.size()}, {"bytes", bytes}};
  if (all_.empty()) return out;
  std::vector<std::uint64_t> delays;
  for (const One& one : all_) delays.push_back(one.toNs - one.fromNs);
  std::sort(delays.begin(), delays.end());
  const auto percentile = [&delays](std::size_t percent) { return delays[(delays.size() * percent + 99) / 100 - 1]; };
  const double sum = std::accumulate(delays.begin(), delays.end(), 0.0);
  out["mean_ns"] = sum / static_cast<double>(delays.size());
  out["median_ns"] = percentile(50);
  out["p95_ns"] = percentile(95);
  out["p99_ns"] = percentile(99);
  if (each_ == Each::Nothing) return out;
  out["every"] = nlohmann::json::array();
  for (const One& one : all_) {
    nlohmann::json told{one.fromNs, one.toNs, one.bytes};
    if (each_ == Each::Marks) told.insert(told.end(), {one.ecnCame, one.ecnLeft});
    out["every"].push_back(told);
  }
  return out;
}

}  // namespace vermilion
