// The faults. Each changes a recording at one injection point, like a defect of the lane or of the simulator.
//
//   name      on the command line
//   what      the change, in words
//   check     the checker that must report it; others may, too
//   says      words: that checker's first message must have one of them. For replay, victims and engines a word is a
//             whole name in the list of fields at the beginning of a message (differences.h). For the others it is a
//             part of the message. A fault has several words if its first consequence depends on the traffic
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
  bool live = false;  // needs its own run of the lane (stream_faults.h); places and put are empty
};

// Whether a message of that checker has one of the fault's words.
bool isReported(const Fault& fault, const std::string& message);

// All faults, in the order of the table. `config` must outlive them. Throws std::logic_error if a fault has no word, or
// if two faults have the same name.
std::vector<Fault> allFaults(const VmConfig& config);

// The parts of allFaults().
void addDecisionFaults(std::vector<Fault>& to, const VmConfig& config);
void addPushOutFaults(std::vector<Fault>& to, const VmConfig& config);
void addOrderFaults(std::vector<Fault>& to, const VmConfig& config);
void addWireFaults(std::vector<Fault>& to);
void addCounterFaults(std::vector<Fault>& to);
void addStreamFaults(std::vector<Fault>& to);

// The indices of events of a kind for which `fits` is true. Without `fits`: of all events of the kind.
std::vector<std::size_t> placesOf(const Recording& run, Event::Kind kind,
                                  const std::function<bool(std::size_t)>& fits = nullptr);
inline bool isPacket(const Event& e) {
  return e.kind == Event::Kind::Decided && !e.decision.refresh;
}
// The next event after `from` for which `fits` is true; events.size(): none.
std::size_t nextEvent(const Recording& run, std::size_t from, const std::function<bool(const Event&)>& fits);
// One bit of a field of `width` bits. The first three tries take the lowest, the highest and the middle bit. So they
// find a comparison that leaves out bits. Later tries take other bits.
constexpr u64 bitOf(u32 number, u32 width) {
  const u32 bit = number == 1 ? width - 1 : number == 2 ? width / 2 : number * 5 % width;
  return u64{1} << bit;
}
static_assert(bitOf(0, 48) == 1 && bitOf(1, 48) == u64{1} << 47 && bitOf(2, 48) == 1 << 24 && bitOf(3, 48) == 1 << 15);
static_assert(bitOf(1, 64) == u64{1} << 63 && bitOf(0, 1) == 1 && bitOf(1, 1) == 1 && bitOf(2, 1) == 1);
// Whether a number remains below `count` whichever of its `width` bits is flipped.
constexpr bool canFlip(u32 value, u32 width, u32 count) {
  for (u32 bit = 0; bit < width; bit++)
    if ((value ^ u32{1} << bit) >= count) return false;
  return true;
}

}  // namespace vermilion
