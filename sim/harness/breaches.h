// What one check has found: the number of breaches, and the first one as a sentence.
#pragma once

#include <string>

#include "formats.h"

namespace vermilion {

struct Breaches {
  u64 count = 0;
  std::string first;
  void add(const std::string& text) {
    count++;
    if (first.empty()) first = text;
  }
};

}  // namespace vermilion
