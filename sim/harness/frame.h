// A frame on its way through the simulator, and the one exception that is the user's fault.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "formats.h"

namespace vermilion {

// One sentence: where, what, what would be right. Ends the program with status 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Frame {
  u64 id = 0;       // 0 for the first frame of the input
  u64 time = 0;     // ns since the first frame, never going back
  u32 wireLen = 0;  // bytes it had where it was captured; more than bytes.size() where it was snapped
  std::vector<u8> bytes;
};

// Things that were not as they should be and were carried all the same, by name; see capture_reader.h.
using Warnings = std::map<std::string, u64>;

}  // namespace vermilion
