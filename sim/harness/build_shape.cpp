#include "build_shape.h"

#include "build_options.h"

namespace vermilion {

const u32 BeatBytes = VM_DATA_BITS / 8;
const u32 Inputs = VM_INPUTS;
const u32 Egresses = VM_EGRESSES;
const u32 Stallable = VM_STALLABLE;
const u32 BuildQueues = VM_QUEUES;
const u32 BuildCells = VM_CELLS;
const u32 BuildFlows = VM_FLOWS;
const u32 BuildVictims = VM_VICTIMS;
const bool BuildCodel = VM_CODEL != 0;
const bool BuildPie = VM_PIE != 0;
const bool BuildDualPi2 = VM_DUALPI2 != 0;
const bool BuildReports = VM_REPORTS != 0;
const bool BuildFq = VM_FQ != 0;
const u32 BuildRules = VM_RULES;
const u32 BuildMaxFrameBytes = VM_MAX_FRAME_BYTES;
const char* const BuildPreset = VM_PRESET;

static_assert(VM_DATA_BITS / 8 <= MostBeatBytes);

}  // namespace vermilion
