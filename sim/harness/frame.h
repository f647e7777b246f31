// A frame on its way through the simulator, and the exception for faults of the input.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats.h"

namespace vermilion {

// A fault of the input, in one sentence: its place, the fault, the legal values. Ends the program with status 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Frame {
  u64 id = 0;       // 0 for the first frame of the input
  u64 time = 0;     // ns since the first frame, never less than that of the previous frame
  u32 wireLen = 0;  // length on the wire; more than bytes.size() if the capture cut the frame
  std::vector<u8> bytes;
};

// Counts of warnings, by name (capture_reader.h, frame_source.h).
using Warnings = std::map<std::string, u64>;

}  // namespace vermilion
