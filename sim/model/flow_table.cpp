#include "flow_table.h"

#include <algorithm>
#include <bit>

namespace vermilion {

FlowTable::FlowTable(u32 flows, const u32 seed[4])
    : setBits_(static_cast<u32>(std::countr_zero(flows)) - 2), hash_(seed), entries_(flows) {}

static u64 fold(const FlowName& name) {
  u64 fold = 0;
  for (int low = 0; low < FlowName::Bits; low += FlowName::FoldBits) {
    const int word = low / 32, shift = low % 32;
    u128 part = 0;
    for (int i = 0; i < 3 && word + i < FlowName::Words; i++) part |= u128{name.words[word + i]} << 32 * i;
    fold ^= truncate(part >> shift, FlowName::FoldBits);
  }
  return fold;
}

FlowPlace FlowTable::lookup(const FlowName& name, bool syn, u64 tick, u32 idleAge, u32 halfOpenAge) {
  const u32 hashed = hash_.hash(name, setBits_ + SecretBits);
  const u32 base = Ways * static_cast<u32>(truncate(hashed, static_cast<int>(setBits_)));
  const u64 tag = u64{hashed >> setBits_} << FlowName::FoldBits | fold(name);
  const auto aged = [&](const Entry& e) {
    const u64 age = truncate(u128{tick} - e.tick, TickBits);
    return age > (e.data < Settled ? halfOpenAge : idleAge) && age < (1 << TickBits) - FutureTicks;
  };
  const auto lowest = [&](auto property) {
    int way = 0;
    while (way < Ways && !property(entries_[base + way])) way++;
    return way;
  };
  FlowPlace p{};
  int way = lowest([&](const Entry& e) { return e.valid && e.tag == tag; });
  const bool own = way < Ways;
  const bool old = own && aged(entries_[base + way]), halfOpen = own && entries_[base + way].data < Settled;
  p.fresh = !own || old || (syn && halfOpen);
  if (own) {
    p.agedOut = old;
  } else {
    way = lowest([](const Entry& e) { return !e.valid; });
  }
  if (way == Ways) {
    p.collision = true;
    way = lowest(aged);
    p.agedOut = way < Ways;
  }
  if (way == Ways) {
    way = lowest([](const Entry& e) { return e.data < Settled; });
    p.displaced = way < Ways;
  }
  if (way == Ways) return p;
  p.index = base + static_cast<u32>(way);
  Entry& e = entries_[p.index];
  p.found = p.fresh || e.name == name;
  if (!p.found) p.collision = true;
  const bool anew = !own || (syn ? old || halfOpen : old && !halfOpen);
  const u32 data = anew ? 0 : e.data;
  e = Entry{true, syn ? data : std::min(data + 1, Settled), tick, tag, p.fresh ? name : e.name};
  return p;
}

}  // namespace vermilion
