// When and where a frame starts, the same for both engines: see lane_driver.h.
#pragma once

#include <algorithm>

#include "build_shape.h"
#include "frame.h"

namespace vermilion {

constexpr u64 RestClocks = 4;                // not busy for so long before time jumps
constexpr std::size_t WaitingFrames = 4096;  // on one input; then no more are read

constexpr u64 LostClocks = 2;  // from a frame's last beat to the news that it was left out: Ingress.scala, LostLatency

inline u64 ontoGrid(u64 ns) {
  return (ns + ClockNs - 1) / ClockNs * ClockNs;
}

inline u32 inputOf(const Frame& frame) {
  u32 sum = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(12, frame.bytes.size()); i++) sum = sum * 31 + frame.bytes[i];
  return (sum >> 3) % Inputs;
}

}  // namespace vermilion
