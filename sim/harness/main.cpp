// vermilion-sim: sends a capture through the lane, with the RTL or with the model alone.
//
// Lines on standard output: `progress DONE TOTAL`, `warning TEXT`, `error TEXT`. Exit status:
//   0   done
//   1   a defect of the lane: one `error` for each kind. The outputs are written, to be examined
//   2   a fault of the input: one `error` describes it, nothing is written
//   3   a failure of the program itself, nothing is written
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "bench.h"
#include "build_shape.h"
#include "run.h"
#include "run_config.h"

using namespace vermilion;
using Json = nlohmann::ordered_json;

// Prints one error line for each check that found a defect.
static void printDefects(const Json& json, u64 defects) {
  bool said = false;
  const auto say = [&](const char* check, const std::string& first) {
    if (first.empty()) return;
    std::printf("error %s: %s\n", check, first.c_str());
    said = true;
  };
  if (json.contains("replay")) say("the model disagrees", json["replay"]["first_disagreement"]);
  for (const char* check : {"victims", "accounting", "counters", "stream", "reports"})
    if (json.contains(check) && json[check].contains("first_error")) say(check, json[check]["first_error"]);
  if (!said) std::printf("error %llu defects\n", static_cast<unsigned long long>(defects));
}

static u64 runEngine(const Options& o, const LoadedConfig& loaded, FrameSource& source, Recorder& recorder,
                     Json& json) {
  if (o.model) return runModel(loaded, source, recorder, json);
#ifdef VM_MODEL_ONLY
  throw std::logic_error("this program has the model alone");
#else
  return runRtl(o, loaded, source, recorder, json);
#endif
}

static int run(const Options& o) {
#ifdef VM_MODEL_ONLY
  if (!o.model) throw InputError("--engine is rtl; this program has the model alone: give --engine model");
#endif
  const LoadedConfig loaded = loadConfig(o);
  const auto source = o.bench ? benchSource(o) : captureSource(o);
  std::optional<AtomicFile> stats;
  if (!o.statsJson.empty()) stats.emplace(o.statsJson);
  Recorder recorder(o, loaded, *source);

  Json json;
  json["engine"] = o.model ? "model" : "rtl";
  json["preset"] = BuildPreset;
  const auto began = std::chrono::steady_clock::now();
  const std::clock_t cpuBegan = std::clock();
  const u64 defects = runEngine(o, loaded, *source, recorder, json);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const double cpu = static_cast<double>(std::clock() - cpuBegan) / CLOCKS_PER_SEC;
  recorder.progress(true);

  Warnings warnings = source->warnings();
  json["wall_seconds"] = wall;
  json["cpu_seconds"] = cpu;  // of the run; other processes affect it much less than wall_seconds
  json["packets_per_second"] = static_cast<double>(recorder.results().packets()) / wall;
  json["capture_start_ns"] = source->startNs();
  json["lane_start_ns"] = StartNs;
  json["warnings"] = warnings;
  source->write(json);
  recorder.results().write(json);
  recorder.fates().write(json);
  recorder.keep();
  if (stats) {
    stats->write(json.dump() + "\n");
    stats->keep();
  }
  for (const auto& [name, count] : warnings)
    std::printf("warning %s: %llu\n", name.c_str(), static_cast<unsigned long long>(count));
  if (defects == 0) return 0;
  printDefects(json, defects);
  return 1;
}

// Prints one line of printable ASCII, whatever characters of a file the message has.
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
