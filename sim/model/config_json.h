// Reads the hardware configuration, as JSON: the values that the host writes to the registers.
//
// docs/hardware-configuration.md describes the format. image_reader.cpp, which is generated, reads the part of a queue.
// The writer of the file has already converted rates and probabilities to the number formats. This reader checks only
// ranges, so that no value is narrowed silently, and refuses unknown keys.
#pragma once

#include <string>
#include <vector>

#include "config.h"
#include "json_object.h"
#include "report.h"

namespace vermilion {

struct LoadedConfig {
  VmConfig config;  // config.queues points into `queues`: move this, do not copy it
  std::vector<VmQueue> queues;
  std::vector<std::string> names;
  std::vector<VmRule> rules;  // config.rules points into them
  ReportSettings reports;

  LoadedConfig() = default;
  LoadedConfig(LoadedConfig&&) = default;
  LoadedConfig& operator=(LoadedConfig&&) = default;
  LoadedConfig(const LoadedConfig&) = delete;
};

LoadedConfig readConfig(const std::string& json);

}  // namespace vermilion
