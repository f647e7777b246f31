// The faults: each changes a recording at one injection point, as a defect of the lane or of the simulator would.
//
//   name      on the command line
//   what      the change, in words
//   check     the checker that must report it; others may, too
//   says      the words of which that checker's first message must have one. For replay, victims and engines a word is a whole name in the list of
//             fields that a message begins with (differences.h); for the others it is a part of the message. Several words are for faults whose
//             first consequence depends on the traffic
//   places    the injection points: indices of events or accesses, in order
//   put       applies the change; `number` counts tries and selects bits
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
  std::vector<std::string> says;
  std::function<std::vector<std::size_t>(const Recording&)> places;
  std::function<void(Recording&, std::size_t place, u32 number)> put;
  bool live = false;  // applied to the stream in a run of its own (stream_faults.h); places and put are empty
};

// Whether a message of that checker has one of the fault's words.
bool isReported(const Fault& fault, const std::string& message);

// In the order of the table. `config` must outlive them. Throws std::logic_error if a fault has no word, or the name of another.
std::vector<Fault> allFaults(const VmConfig& config);

// Its parts.
void addDecisionFaults(std::vector<Fault>& to, const VmConfig& config);
void addPushOutFaults(std::vector<Fault>& to, const VmConfig& config);
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
// The next event after `from` that `fits`; events.size(): none.
std::size_t nextEvent(const Recording& run, std::size_t from, const std::function<bool(const Event&)>& fits);
// One bit of a field `width` bits wide. The first three tries take the lowest, the highest and the middle bit, so that a comparison of fewer bits
// is found. Later tries take others.
constexpr u64 bitOf(u32 number, u32 width) {
  const u32 bit = number == 1 ? width - 1 : number == 2 ? width / 2 : number * 5 % width;
  return u64{1} << bit;
}
static_assert(bitOf(0, 48) == 1 && bitOf(1, 48) == u64{1} << 47 && bitOf(2, 48) == 1 << 24 && bitOf(3, 48) == 1 << 15);
static_assert(bitOf(1, 64) == u64{1} << 63 && bitOf(0, 1) == 1 && bitOf(1, 1) == 1 && bitOf(2, 1) == 1);
// Whether each bit of a number's `width` bits can be flipped with the number still below `count`.
constexpr bool canFlip(u32 value, u32 width, u32 count) {
  for (u32 bit = 0; bit < width; bit++)
    if ((value ^ u32{1} << bit) >= count) return false;
  return true;
}

}  // namespace vermilion
