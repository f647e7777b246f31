// The lane's registers against what the harness saw at the ports: every counter of every queue and colour, latencies, losses of inputs,
// contests, victims by distance, events of flow markers; and that no queue has a backlog. Read at the end of a run, when nothing moves.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "breaches.h"
#include "control_access.h"
#include "results.h"

namespace vermilion {

// Each difference becomes one breach. `lost`: one an input, as the harness counted them.
void compareCounters(Registers& registers, const VmConfig& config, const Results& results,
                     const std::vector<Lost>& lost, Breaches& breaches);
// Returns the lane's own counts of flow events for the JSON.
nlohmann::ordered_json compareFlowEvents(Registers& registers, const Results& results, Breaches& breaches);

}  // namespace vermilion
