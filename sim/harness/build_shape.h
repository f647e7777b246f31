// The build of the lane this program is compiled for: elaboration parameters of hw/src/vermilion/lane/LaneParams.scala, given
// by the compiler's command line (sim/vermilion/build.py). Defaults are those of the preset `lab`.
#pragma once

#include "formats.h"

#ifndef VM_DATA_BITS
#define VM_DATA_BITS 64
#endif
#ifndef VM_INPUTS
#define VM_INPUTS 1
#endif
#ifndef VM_STALLABLE
#define VM_STALLABLE 0
#endif
#ifndef VM_EGRESSES
#define VM_EGRESSES 1
#endif
#ifndef VM_QUEUES
#define VM_QUEUES 16
#endif
#ifndef VM_CELLS
#define VM_CELLS 4096
#endif
#ifndef VM_FLOWS
#define VM_FLOWS 4096
#endif
#ifndef VM_VICTIMS
#define VM_VICTIMS 16
#endif
#ifndef VM_MAX_FRAME_BYTES
#define VM_MAX_FRAME_BYTES 9728
#endif
#ifndef VM_PRESET
#define VM_PRESET "lab"
#endif

namespace vermilion {

constexpr u32 BeatBytes = VM_DATA_BITS / 8;
constexpr u32 Inputs = VM_INPUTS;
constexpr u32 Egresses = VM_EGRESSES;
constexpr u32 Stallable = VM_STALLABLE;  // bit i: input i can be stalled
constexpr u64 ClockNs = 4;               // 250 MHz

// Lane time of the first frame: what comes before is for reset and registers. Tests move it (--start-ns) before anything runs.
inline u64 StartNs = 1'000'000;

}  // namespace vermilion
