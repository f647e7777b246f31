// Who has which entry: the four-way set-associative table of hw/src/vermilion/flow/FlowTable.scala, one lookup after the
// other. A lookup compares whole names, so a flow never meets another's state.
//
//   key    ten draws of xoshiro128++ from the four words of the seed, first draw lowest: 320 bits
//   name   304 bits: 0..127 source, ..255 destination (IPv4 in the low 32), ..271 source port, ..287 destination port,
//          ..302 queue, 303 IPv6
//   set    bit j = parity(name & (key >> j)), a Toeplitz hash (Krawczyk, CRYPTO 1994)
//
// A lookup is by a packet that needs state: its own entry, made anew where it has aged; else it is given, half-open: a
// free way; one that has aged out; a half-open one (of several the lowest); else there is none and nothing changes.
// Half-open: no data packet has come behind the one that made the entry. Aged: more ticks than idleAge, or halfOpenAge
// where half-open, by the looking packet's ages; a tick is 2^22 ns, of 26 bits in serial-number order.
#pragma once

#include <array>
#include <vector>

#include "formats.h"

namespace vermilion {

struct FlowName {
  std::array<u32, 10> words;  // 304 bits, least significant word first
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

  // flows: a power of two, at least 256. seed: not all 0.
  FlowTable(u32 flows, const u32 seed[4]);
  FlowPlace lookup(const FlowName& name, bool syn, u64 tick, u32 idleAge, u32 halfOpenAge);
  u32 set(const FlowName& name) const;

 private:
  struct Entry {
    bool valid = false, halfOpen = false;
    u64 tick = 0;
    FlowName name{};
  };
  u32 setBits_;
  std::array<u32, 11> key_{};  // ten words, and one of 0 for shifts
  std::vector<Entry> entries_;
};

}  // namespace vermilion
