// vermilion-sim: a capture through the lane, by the RTL or by the model alone.
//
// On standard output: `progress DONE TOTAL`, `warning TEXT`, `error TEXT`. Exit status 0: done; 1: a defect of the lane, one `error` for
// each kind says which (the outputs are written all the same, to look at); 2: the input is at fault, one `error` says how, nothing is
// written; 3: the program itself failed, nothing is written.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "bench.h"
#include "build_shape.h"
#include "run.h"

using namespace vermilion;
using Json = nlohmann::ordered_json;

static LoadedConfig load(const Options& o) {
  std::ifstream file(o.config);
  if (!file)
    throw InputError(o.config + ": cannot be read; give the hardware's record (docs/hardware-configuration.md)");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    LoadedConfig loaded = readConfig(text);
    if (loaded.config.queue_count > VM_QUEUES)
      throw InputError(o.config + ": has " + std::to_string(loaded.config.queue_count) + " queues, this build " +
                       std::to_string(VM_QUEUES));
    for (u32 i = VM_VICTIMS; i < loaded.config.queue_count; i++)
      if (loaded.config.queues[i].nearest)
        throw InputError(o.config + ": queue " + std::to_string(i) + " is to drop the nearest packet, " +
                         (VM_VICTIMS == 0 ? std::string("which this build cannot")
                                          : "which this build can in queues 0 to " + std::to_string(VM_VICTIMS - 1)));
    return loaded;
  } catch (const ConfigError& e) {
    throw InputError(o.config + ": " + e.what());
  }
}

static int run(const Options& o) {
  StartNs = o.startNs;
  LoadedConfig loaded = load(o);
  if (o.seed) loaded.config.seed = *o.seed;
  loaded.config.buffer_cells = VM_CELLS;
  loaded.config.max_frame_bytes = VM_MAX_FRAME_BYTES;
  loaded.config.flows = VM_FLOWS;
  const auto source = o.bench ? benchSource(o) : captureSource(o);
  std::optional<AtomicFile> stats;
  if (!o.statsJson.empty()) stats.emplace(o.statsJson);
  Recorder recorder(o, loaded, *source);

  Json json;
  json["engine"] = o.model ? "model" : "rtl";
  json["preset"] = VM_PRESET;
  const auto began = std::chrono::steady_clock::now();
  const std::clock_t cpuBegan = std::clock();
  const u64 defects = o.model ? runModel(loaded, *source, recorder, json) : runRtl(o, loaded, *source, recorder, json);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const double cpu = static_cast<double>(std::clock() - cpuBegan) / CLOCKS_PER_SEC;
  recorder.progress(true);

  Warnings warnings = source->warnings();
  json["wall_seconds"] = wall;
  json["cpu_seconds"] = cpu;  // of the run: what others do on the machine slows the wall clock and hardly this
  json["packets_per_second"] = static_cast<double>(recorder.results().packets()) / wall;
  json["capture_start_ns"] = source->startNs();
  json["lane_start_ns"] = StartNs;
  json["warnings"] = warnings;
  recorder.results().write(json);
  recorder.keep();
  if (stats) {
    stats->write(json.dump() + "\n");
    stats->keep();
  }
  for (const auto& [name, count] : warnings)
    std::printf("warning %s: %llu\n", name.c_str(), static_cast<unsigned long long>(count));
  if (defects == 0) return 0;
  const Json replay = json.value("replay", Json::object());
  const std::string disagreement = replay.value("first_disagreement", std::string());
  if (!disagreement.empty()) std::printf("error the model disagrees: %s\n", disagreement.c_str());
  const std::string unaccounted = json["accounting"]["first_error"];
  if (!unaccounted.empty()) std::printf("error accounting: %s\n", unaccounted.c_str());
  if (disagreement.empty() && unaccounted.empty())
    std::printf("error %llu defects\n", static_cast<unsigned long long>(defects));
  return 1;
}

// One line of plain text, whatever a file put into the message.
static void printError(const std::string& message) {
  std::string text = message.substr(0, 4000);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
  std::printf("error %s\n", text.c_str());
}

int main(int count, char** words) {
  if (count == 2 && (words[1] == std::string("--help") || words[1] == std::string("-h"))) {
    std::fputs(usage(), stdout);
    return 0;
  }
  try {
    return run(parseOptions(count, words));
  } catch (const InputError& e) {
    printError(e.what());
    return 2;
  } catch (const std::exception& e) {
    printError(e.what());
    return 3;
  }
}
