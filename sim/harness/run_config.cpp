#include "run_config.h"

#include <fstream>
#include <iterator>

#include "build_shape.h"

namespace vermilion {

// Refuses numbers of cells above those of the build: such a pool would have no limit.
static void checkPool(const Options& o, const VmConfig& config) {
  const auto check = [&](const std::string& name, u32 cells) {
    if (cells > BuildCells)
      throw InputError(o.config + ": pool." + name + " is " + std::to_string(cells) + ", this build has " +
                       std::to_string(BuildCells) + " cells");
  };
  check("size", config.pool.size);
  for (u32 e = 0; e < config.egress_count; e++) {
    check("reserve[" + std::to_string(e) + "]", config.pool.reserve[e]);
    check("cap[" + std::to_string(e) + "]", config.pool.cap[e]);
  }
}

// Refuses AQMs that this build has not.
static void checkAqms(const Options& o, const VmConfig& config) {
  for (u32 i = 0; i < config.queue_count; i++) {
    const VmQueue& q = config.queues[i];
    const char* lacks = nullptr;
    if (!BuildFq && q.fq != 0) lacks = "is in a group that holds flows, which this build has not";
    if (!BuildDualPi2 && q.dualpi2.on != 0) lacks = "has DualPI2, which this build has not";
    if (!BuildPie && q.pie.on != 0) lacks = "has PIE, which this build has not";
    if (!BuildCodel && (q.codel.on != 0 || q.mark_late != 0))
      lacks = "is to mark or drop packets as they leave, which this build cannot";
    if (lacks != nullptr) throw InputError(o.config + ": queue " + std::to_string(i) + " " + lacks);
  }
}

static LoadedConfig read(const Options& o) {
  std::ifstream file(o.config);
  if (!file)
    throw InputError(o.config + ": cannot be read; give the hardware's record (docs/hardware-configuration.md)");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    LoadedConfig loaded = readConfig(text);
    if (loaded.config.queue_count > BuildQueues)
      throw InputError(o.config + ": has " + std::to_string(loaded.config.queue_count) + " queues, this build " +
                       std::to_string(BuildQueues));
    if (loaded.config.egress_count != Egresses)
      throw InputError(o.config + ": has " + std::to_string(loaded.config.egress_count) + " egresses, this build " +
                       std::to_string(Egresses));
    if (Egresses > 1 && loaded.config.queue_count != BuildQueues)
      throw InputError(o.config + ": has " + std::to_string(loaded.config.queue_count) + " queues; a build with " +
                       std::to_string(Egresses) + " egresses needs all its " + std::to_string(BuildQueues) +
                       ", an equal share each");
    checkPool(o, loaded.config);
    for (u32 i = BuildVictims; i < loaded.config.queue_count; i++)
      if (loaded.config.queues[i].victim)
        throw InputError(o.config + ": queue " + std::to_string(i) + " is to drop the nearest packet, " +
                         (BuildVictims == 0
                              ? std::string("which this build cannot")
                              : "which this build can in queues 0 to " + std::to_string(BuildVictims - 1)));
    checkAqms(o, loaded.config);
    if (loaded.config.rule_count > BuildRules)
      throw InputError(o.config + ": has " + std::to_string(loaded.config.rule_count) + " rules; legal are up to " +
                       std::to_string(BuildRules) + ", the rules of this build");
    if (!loaded.reports.reasons.empty() && !BuildReports)
      throw InputError(o.config + ": has reports, which this build cannot send");
    return loaded;
  } catch (const ConfigError& e) {
    throw InputError(o.config + ": " + e.what());
  }
}

LoadedConfig loadConfig(const Options& o) {
  StartNs = o.startNs;
  LoadedConfig loaded = read(o);
  if (o.seed) loaded.config.seed = *o.seed;
  loaded.config.buffer_cells = BuildCells;
  loaded.config.max_frame_bytes = BuildMaxFrameBytes;
  loaded.config.flows = BuildFlows;
  return loaded;
}

}  // namespace vermilion
