// SPDX-License-Identifier: GPL-2.0-only
// One run: a scenario (scenario.h) on standard input, what came of it on standard output. Argument: an engine's library (../engine/engine.h).
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

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: vermilion-network ENGINE.so < SCENARIO.json\n");
    return 2;
  }
  try {
    auto results = vermilion::runScenario(nlohmann::json::parse(std::cin), vermilion::hashed(engineOf(argv[1])));
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(vermilion::fateHash.hash));
    results["fates"] = {{"hash", hash}, {"decided", vermilion::fateHash.decided}, {"left", vermilion::fateHash.left}};
    std::cout << results << "\n";
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
