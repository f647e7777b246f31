// Who has which entry: the four-way set-associative table of hw/src/vermilion/flow/FlowTable.scala, one lookup after the
// other. A lookup compares whole names, so a flow never meets another's state.
//
//   key    eleven draws of xoshiro128++ from the four words of the seed, first draw lowest: 352 bits
//   name   328 bits: 0..127 source, ..255 destination (IPv4 in the low 32), ..271 source port, ..287 destination port,
//          ..302 queue, 303 IPv6, ..327 VLAN IDs
//   set    bit j = parity(name & (key >> j)), a Toeplitz hash (Krawczyk, CRYPTO 1994)
//
// A lookup is by a packet that needs state: its own entry, made anew where it has aged; else it is given: a free way; one
// that has aged out; a half-open one (of several the lowest); else there is none and nothing changes.
// An entry counts its flow's data packets, to Settled; half-open: fewer. The count goes on in an entry of its own flow,
// but begins anew in an aged one that was settled, and with a SYN in any aged one.
// Aged: more ticks than idleAge, or halfOpenAge where half-open, by the looking packet's ages; a tick is 2^22 ns, of 26
// bits. An age within FutureTicks of the range is a tick that lies ahead (a clock set back), and not aged.
#pragma once

#include <array>
#include <vector>

#include "formats.h"

namespace vermilion {

struct FlowName {
  static constexpr int Words = 11;
  std::array<u32, Words> words;  // 328 bits, least significant word first
  bool operator==(const FlowName&) const = default;
};

struct FlowPlace {
  bool found, fresh;
  u32 index;
  bool collision, agedOut, displaced;
};

class FlowTable {
 public:
  static constexpr int Ways = 4;
  static constexpr int TickShift = 22;
  static constexpr int TickBits = TimeBits - TickShift;
  static constexpr u32 FutureTicks = 1 << 15;  // 137 s
  static constexpr u32 Settled = 4;            // data packets

  // flows: a power of two, at least 256. seed: not all 0.
  FlowTable(u32 flows, const u32 seed[4]);
  FlowPlace lookup(const FlowName& name, bool syn, u64 tick, u32 idleAge, u32 halfOpenAge);
  u32 set(const FlowName& name) const;

 private:
  struct Entry {
    bool valid = false;
    u32 data = 0;
    u64 tick = 0;
    FlowName name{};
  };
  u32 setBits_;
  std::array<u32, FlowName::Words + 1> key_{};  // and a word of 0 for shifts
  std::vector<Entry> entries_;
};

}  // namespace vermilion
