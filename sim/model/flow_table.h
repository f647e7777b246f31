// The flow table: four-way set-associative, as hw/src/vermilion/flow/FlowTable.scala, one lookup after the other. An
// entry holds a tag and the whole name (in the RTL: the rest of the name), so a flow never uses another flow's state.
//
//   name   and its hash: flow_hash.h; the low bits of the hash are the set
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

#include <vector>

#include "flow_hash.h"
#include "formats.h"

namespace vermilion {

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

  u32 setBits_;
  FlowHash hash_;
  std::vector<Entry> entries_;
};

}  // namespace vermilion
