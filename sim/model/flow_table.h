// The flow table: four-way set-associative, as hw/src/vermilion/flow/FlowTable.scala, one lookup after the other. An
// entry holds a tag and the whole name (in the RTL: the rest of the name), so a flow never uses another flow's state.
//
//   key    eleven draws of xoshiro128++ from the four words of the seed, first draw lowest: 352 bits
//   name   328 bits: 0..127 source, ..255 destination (IPv4 in the low 32), ..271 source port, ..287 destination port,
//          ..302 queue, 303 IPv6, ..327 VLAN IDs
//   hash   bit j = parity(name & (key >> j)), a Toeplitz hash (Krawczyk, CRYPTO 1994); its low bits are the set
//   tag    the three bits of the hash above the set, and 39 bits: bit i = parity of the name's bits i, i + 39, i + 78, ..
//
// A packet that needs state does a lookup. It gets the entry of its set with its tag; an aged entry is cleared first.
// Otherwise it gets the first of these: a free way; an aged entry; a half-open one (the lowest of several). If there is
// none, it gets no entry and nothing changes.
// An entry with the packet's tag that has not aged and has another name gives no state. It still takes the packet's
// tick and count. Exception: a SYN gets such an entry if it is half-open.
//
// An entry counts the data packets with its tag, up to Settled. With fewer it is half-open. The count continues if the
// new entry has the same tag. It restarts in an aged entry that was settled, and with a SYN in one that is aged or
// half-open. Aged: more ticks than idleAge (halfOpenAge if half-open) since the entry's last packet, by the ages of the
// current packet. A tick is 2^22 ns and has 26 bits. An age within FutureTicks of the range is a tick in the future (a
// clock that was set back), and not aged.
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
