// What one check has found: how often, and the first of it as a sentence.
#pragma once

#include <nlohmann/json.hpp>
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
  nlohmann::ordered_json json() const { return {{"errors", count}, {"first_error", first}}; }
};

}  // namespace vermilion
