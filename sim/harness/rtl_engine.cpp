// --engine rtl and --bench: run the Verilated lane. All checks are always on.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "lane_driver.h"
#include "rtl_checks.h"
#include "run.h"

namespace vermilion {

namespace {

using Json = nlohmann::ordered_json;

// Adds the names that --bench has in addition to those of BenchTiming. `verdicts`: {name: packets}; `marked`: packets
// by the colour that their marker gave, green first.
void benchJson(const VmConfig& config, const Results& results, Json& json) {
  for (int v = 0; v < VM_VERDICTS; v++) {
    u64 packets = 0;
    for (u32 q = 0; q < config.queue_count; q++)
      for (u32 c = 0; c < u32{Colours}; c++) packets += results.counters(q, c).packets[v];
    json["verdicts"][VerdictNames[v]] = packets;
  }
  u64 gave[Colours] = {};
  for (u32 q = 0; q < config.queue_count; q++)
    for (u32 in = 0; in < u32{Colours}; in++)
      for (u32 c = 0; c < u32{Colours}; c++) gave[c] += results.marked(q, in, c);
  json["marked"] = gave;
}

}  // namespace

u64 runRtl(const Options& o, const LoadedConfig& loaded, FrameSource& source, Recorder& recorder, Json& json) {
  const VmConfig& config = loaded.config;
  VerilatedLane lane(o.waves, o.undefined);
  RtlChecks checks(config, recorder);
  const bool reports = !loaded.reports.reasons.empty();
  LaneDriver driver(lane, checks, o.stalls, o.bench && !o.allInputs);
  if (o.hold >> Egresses)
    throw InputError("--hold is " + std::to_string(o.hold) + ", and this build has " + std::to_string(Egresses) +
                     " egresses");
  driver.hold(o.hold);
  if (o.allInputs) driver.readAhead(o.packets);
  if (o.holdReports) driver.holdReports();
  driver.start(config, o.undefined.resetCycles(LaneDriver::ResetCycles),
               reports ? reportWrites(loaded.reports) : std::vector<RegisterWrite>{});
  const auto began = std::chrono::steady_clock::now();
  driver.run(source, [&] { recorder.progress(); });
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  json["clocks"] = driver.runCycles();
  json["seconds"] = static_cast<double>(driver.now() - StartNs) / 1e9;
  json["clocks_per_second"] = static_cast<double>(driver.runCycles()) / std::max(wall, 1e-9);
  json["input_stalled_clocks"] = driver.stalledCycles();
  checks.finish(driver.control(), json);
  if (o.bench) {
    checks.timing().write(o, json);
    benchJson(config, recorder.results(), json);
  }
  return checks.defects();
}

}  // namespace vermilion
