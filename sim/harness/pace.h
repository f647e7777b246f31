// When and where a frame starts, the same for both engines: see lane_driver.h. And lane time, which has 64 bits in the harness and in
// all outputs, and modulo 2^48 ns, in serial-number order, in the lane.
#pragma once

#include <algorithm>

#include "build_shape.h"
#include "frame.h"

namespace vermilion {

constexpr u64 RestCycles = 4;                // not busy for so long before time jumps
constexpr std::size_t WaitingFrames = 4096;  // on one input; the driver then reads no more

constexpr u64 LostCycles = 1;  // from a frame's last beat to the news that it was left out: Ingress.scala, LostLatency

inline u64 ontoGrid(u64 ns) {
  return (ns + ClockNs - 1) / ClockNs * ClockNs;
}

// What the lane is given as its time.
inline u64 wrapped(u64 ns) {
  return truncate(ns, TimeBits);
}

// The time nearest to `near` that the lane calls `lane`.
inline u64 unwrapped(u64 lane, u64 near) {
  const u64 ahead = wrapped(lane - near);
  return reached(lane, near, TimeBits) ? near + ahead : near - wrapped(near - lane);
}

inline u32 inputOf(const Frame& frame) {
  u32 sum = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(12, frame.bytes.size()); i++) sum = sum * 31 + frame.bytes[i];
  return (sum >> 3) % Inputs;
}

}  // namespace vermilion
