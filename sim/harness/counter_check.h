// Compares the lane's registers with what the harness saw at the ports.
//
// It compares every counter of every queue and colour, latencies, losses of inputs, push-outs, victims by distance and
// events of flow markers, and collisions of flows. It also checks that no queue has a backlog. It reads the registers at the end of a run, when
// the lane is idle.
//
// Then no counter changes. So this check cannot find a snapshot that mixes values of two cycles. StatisticsSpec checks
// in full traffic, and RecordRamProof proves (hw/test/src/vermilion/stats), that a snapshot is of one cycle.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "breaches.h"
#include "control_access.h"
#include "results.h"

namespace vermilion {

// Each difference becomes one breach. `lost`: one per input, as the harness counted them.
void compareCounters(Registers& registers, const VmConfig& config, const Results& results,
                     const std::vector<Lost>& lost, Breaches& breaches);
// If any queue has `update`, each departure from any queue gives one refresh, or the register `refreshes_skipped`
// counts it. An eviction is no departure. So the register is exact, until it saturates. If no queue has `update`, both
// are 0. `shown`: refreshes; `missing`: departures without one.
void compareRefreshes(Registers& registers, const VmConfig& config, u64 shown, u64 missing, Breaches& breaches);
// Packets and bytes of each rule.
void compareRules(Registers& registers, const Results& results, Breaches& breaches);
// Returns the lane's own counts of flow events for the JSON.
nlohmann::ordered_json compareFlowEvents(Registers& registers, const Results& results, Breaches& breaches);

// Returns the lane's own count of collisions of flows for the JSON.
u64 compareFlowCollisions(Registers& registers, const Results& results, Breaches& breaches);

}  // namespace vermilion
