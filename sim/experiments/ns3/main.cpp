// SPDX-License-Identifier: GPL-2.0-only
// One run: reads a scenario (scenario.h) from standard input and writes the results to standard output. Argument: an
// engine's library (../engine/engine.h).
#include <dlfcn.h>

#include <cstdio>
#include <exception>
#include <iostream>
#include <stdexcept>

#include "../engine/fate_hash.h"
#include "scenario.h"

static const VmEngineCalls& engineOf(const char* library) {
  void* handle = dlopen(library, RTLD_NOW);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  const auto give = reinterpret_cast<const VmEngineCalls* (*)()>(dlsym(handle, "vm_engine"));
  if (give == nullptr) throw std::runtime_error(std::string(library) + " exports no vm_engine");
  return *give();
}

// Results of all lanes. `lanes` is in the order of the scenario.
static nlohmann::json fatesOf(vermilion::Fates& fates) {
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(fates.hash));
  nlohmann::json out{{"hash", hash}, {"lanes", nlohmann::json::array()}};
  for (VmEngine* engine : fates.order) {
    const auto& lane = fates.lanes[engine];
    out["lanes"].push_back({{"decided", lane.decided}, {"left", lane.left}, {"waited_ns", lane.waitedNs}});
  }
  return out;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: vermilion-network ENGINE.so < SCENARIO.json\n");
    return 2;
  }
  try {
    auto results = vermilion::runScenario(nlohmann::json::parse(std::cin), vermilion::hashed(engineOf(argv[1])));
    results["fates"] = fatesOf(vermilion::fates);
    std::cout << results << "\n";
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
