// Words `name=value` for comments of captures.
#pragma once

#include <string>

#include "formats.h"

namespace vermilion {

std::string word(const char* name, u64 value);
std::string word(const char* name, double value);

}  // namespace vermilion
