// The faults: each changes a recording in one place, as a defect of the lane or of the simulator would.
//
//   name      what it is asked for by
//   what      in words
//   check     the check that must name it; others may, too
//   says      what that check's first sentence must have in it; empty: anything
//   places    where the recording can take it: indices of events or accesses, in order
//   put       puts it there; `number` counts tries and chooses bits
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config.h"
#include "recording.h"

namespace vermilion {

enum class Check { Replay, Victims, Accounting, Counters, Stream, Engines };
constexpr u32 Checks = 6;
extern const char* const CheckNames[Checks];

struct Fault {
  std::string name, what;
  Check check;
  std::string says;
  std::function<std::vector<std::size_t>(const Recording&)> places;
  std::function<void(Recording&, std::size_t place, u32 number)> put;
  bool live = false;  // put into the stream of a run of its own (stream_faults.h); places and put are empty
};

// In the order of the table. `config` must outlive them.
std::vector<Fault> allFaults(const VmConfig& config);

// Its parts.
void addDecisionFaults(std::vector<Fault>& to, const VmConfig& config);
void addContestFaults(std::vector<Fault>& to, const VmConfig& config);
void addOrderFaults(std::vector<Fault>& to, const VmConfig& config);
void addWireFaults(std::vector<Fault>& to);
void addCounterFaults(std::vector<Fault>& to);
void addStreamFaults(std::vector<Fault>& to);

// Indices of events of a kind that `fits`.
std::vector<std::size_t> placesOf(const Recording& run, Event::Kind kind,
                                  const std::function<bool(std::size_t)>& fits = nullptr);
inline bool isPacket(const Event& e) {
  return e.kind == Event::Kind::Decided && !e.decision.refresh;
}
// The next event behind `from` that `fits`; events.size(): none.
std::size_t nextEvent(const Recording& run, std::size_t from, const std::function<bool(const Event&)>& fits);
// One bit of a field `width` bits wide, another in each try.
inline u64 bitOf(u32 number, u32 width) {
  return u64{1} << (number * 5 % width);
}

}  // namespace vermilion
