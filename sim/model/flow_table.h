// Who has which entry: the four-way set-associative table of hw/src/vermilion/flow/FlowTable.scala, one lookup after the
// other. An entry has a tag and the whole name (the RTL: the rest of it), so a flow never meets another's state.
//
//   key    eleven draws of xoshiro128++ from the four words of the seed, first draw lowest: 352 bits
//   name   328 bits: 0..127 source, ..255 destination (IPv4 in the low 32), ..271 source port, ..287 destination port,
//          ..302 queue, 303 IPv6, ..327 VLAN IDs
//   hash   bit j = parity(name & (key >> j)), a Toeplitz hash (Krawczyk, CRYPTO 1994); its low bits are the set
//   tag    the three bits of the hash above the set, and 39 bits: bit i = parity of the name's bits i, i + 39, i + 78, ..
//
// A lookup is by a packet that needs state: the entry of its set with its tag, made anew where it has aged; else it is given:
// a free way; one that has aged out; a half-open one (of several the lowest); else there is none and nothing changes. An
// entry with its tag that has not aged and is another name's gives no state; it takes the packet's tick and count all the
// same. But a SYN is given an entry with its tag that is half-open.
// An entry counts the data packets with its tag, to Settled; half-open: fewer. The count goes on in an entry with the same
// tag, but begins anew in an aged one that was settled, and with a SYN in any that has aged or is half-open.
// Aged: more ticks than idleAge, or halfOpenAge where half-open, by the looking packet's ages; a tick is 2^22 ns, of 26
// bits. An age within FutureTicks of the range is a tick that lies ahead (a clock set back), and not aged.
#pragma once

#include <array>
#include <vector>

#include "formats.h"

namespace vermilion {

struct FlowName {
  static constexpr int Words = 11, Bits = 328, FoldBits = 39;
  std::array<u32, Words> words;  // least significant word first
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
  static constexpr u32 SecretBits = 3;         // of the tag, from the hash

  // flows: a power of two, at least 256. seed: not all 0.
  FlowTable(u32 flows, const u32 seed[4]);
  FlowPlace lookup(const FlowName& name, bool syn, u64 tick, u32 idleAge, u32 halfOpenAge);

 private:
  struct Entry {
    bool valid = false;
    u32 data = 0;
    u64 tick = 0, tag = 0;
    FlowName name{};
  };
  u32 hash(const FlowName& name) const;

  u32 setBits_;
  std::array<u32, FlowName::Words + 1> key_{};  // and a word of 0 for shifts
  std::vector<Entry> entries_;
};

}  // namespace vermilion
