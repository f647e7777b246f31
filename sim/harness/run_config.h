// Loads the configuration of a run: the hardware's record, checked against the build of the lane.
//
// It adds the build's own numbers of cells and flows, and the longest frame.
#pragma once

#include "config_json.h"
#include "options.h"

namespace vermilion {

// Throws InputError. It also sets StartNs (build_shape.h).
LoadedConfig loadConfig(const Options& options);

}  // namespace vermilion
