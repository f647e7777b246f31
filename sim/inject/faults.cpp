#include "faults.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "differences.h"

namespace vermilion {

const char* const CheckNames[Checks] = {"replay", "victims", "accounting", "counters", "stream", "engines"};

std::vector<Fault> allFaults(const VmConfig& config) {
  std::vector<Fault> faults;
  addDecisionFaults(faults, config);
  addPushOutFaults(faults, config);
  addOrderFaults(faults, config);
  addWireFaults(faults);
  addStreamFaults(faults);
  addCounterFaults(faults);
  std::set<std::string> names;
  for (const Fault& f : faults) {
    const auto empty = [](const std::string& word) { return word.empty(); };
    if (f.says.empty() || std::any_of(f.says.begin(), f.says.end(), empty))
      throw std::logic_error("fault " + f.name + " has no word for its checker's message");
    if (!names.insert(f.name).second) throw std::logic_error("two faults are called " + f.name);
  }
  return faults;
}

bool isReported(const Fault& fault, const std::string& message) {
  if (message.empty()) return false;
  const bool fields = fault.check == Check::Replay || fault.check == Check::Victims || fault.check == Check::Engines;
  return std::any_of(fault.says.begin(), fault.says.end(), [&](const std::string& word) {
    return fields ? namesField(message, word) : message.find(word) != std::string::npos;
  });
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
