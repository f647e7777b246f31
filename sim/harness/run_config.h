// The configuration of one run: the hardware's record, checked against the build of the lane, with the build's own numbers.
#pragma once

#include "config_json.h"
#include "options.h"

namespace vermilion {

// Throws InputError. Sets lane time, too (build_shape.h, StartNs).
LoadedConfig loadConfig(const Options& options);

}  // namespace vermilion
