// When and at which input a frame starts, the same for both engines: see lane_driver.h.
//
// Lane time has 64 bits in the harness and in all outputs. In the lane it is modulo 2^48 ns, in serial-number order.
#pragma once

#include <algorithm>

#include "build_shape.h"
#include "frame.h"

namespace vermilion {

constexpr u64 RestCycles = 4;                // idle cycles before lane time may jump
constexpr std::size_t WaitingFrames = 4096;  // on one input; at this number the driver reads no more frames

constexpr u64 LostCycles = 1;  // from a dropped frame's last beat to `lost`: LostLatency in Ingress.scala

inline u64 ontoGrid(u64 ns) {
  return (ns + ClockNs - 1) / ClockNs * ClockNs;
}

// Lane time as the lane's input has it.
inline u64 wrapped(u64 ns) {
  return truncate(ns, TimeBits);
}

// The time nearest to `near` with `lane` as its lower 48 bits.
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
