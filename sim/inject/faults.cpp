#include "faults.h"

namespace vermilion {

const char* const CheckNames[Checks] = {"replay", "victims", "accounting", "counters", "stream", "engines"};

std::vector<Fault> allFaults(const VmConfig& config) {
  std::vector<Fault> faults;
  addDecisionFaults(faults, config);
  addContestFaults(faults, config);
  addOrderFaults(faults, config);
  addWireFaults(faults);
  addStreamFaults(faults);
  addCounterFaults(faults);
  return faults;
}

std::vector<std::size_t> placesOf(const Recording& run, Event::Kind kind,
                                  const std::function<bool(std::size_t)>& fits) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < run.events.size(); i++)
    if (run.events[i].kind == kind && (!fits || fits(i))) places.push_back(i);
  return places;
}

std::size_t nextEvent(const Recording& run, std::size_t from, const std::function<bool(const Event&)>& fits) {
  for (std::size_t i = from + 1; i < run.events.size(); i++)
    if (fits(run.events[i])) return i;
  return run.events.size();
}

}  // namespace vermilion
