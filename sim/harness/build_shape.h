// The build parameters of the lane that this program is built with. build_shape.cpp takes them from build_options.h.
#pragma once

#include "formats.h"

namespace vermilion {

extern const u32 BeatBytes;
extern const u32 Inputs;
extern const u32 Egresses;
extern const u32 Stallable;  // bit i: input i can be stalled
extern const u32 BuildQueues;
extern const u32 BuildCells;
extern const u32 BuildFlows;
extern const u32 BuildVictims;
extern const bool BuildCodel;    // packets are judged as they leave
extern const bool BuildPie;      // queues can have PIE
extern const bool BuildDualPi2;  // pairs of queues can have DualPI2
extern const bool BuildReports;  // drops and marks can be reported
extern const bool BuildFq;       // groups of queues can hold flows
extern const u32 BuildRules;     // rules by any header fields
extern const u32 BuildMaxFrameBytes;
extern const char* const BuildPreset;

constexpr u32 MostBeatBytes = 64;
constexpr u64 ClockNs = 4;  // 250 MHz

// Lane time of the first frame. Lane time stays at it during reset and configuration. --start-ns sets it before the
// run.
inline u64 StartNs = 1'000'000;

}  // namespace vermilion
