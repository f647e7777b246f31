// The hardware configuration, as JSON: what the host would write to the registers. The form: docs/hardware-configuration.md; a queue's part,
// which is generated: image_reader.cpp. Whoever writes this file has turned rates and probabilities into the formats. Here only ranges are
// checked, so that nothing is narrowed in silence. Unknown keys are refused.
#pragma once

#include <string>
#include <vector>

#include "config.h"
#include "json_object.h"

namespace vermilion {

struct LoadedConfig {
  VmConfig config;  // config.queues points into `queues`: move this, do not copy it
  std::vector<VmQueue> queues;
  std::vector<std::string> names;

  LoadedConfig() = default;
  LoadedConfig(LoadedConfig&&) = default;
  LoadedConfig& operator=(LoadedConfig&&) = default;
  LoadedConfig(const LoadedConfig&) = delete;
};

LoadedConfig readConfig(const std::string& json);

}  // namespace vermilion
