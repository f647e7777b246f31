#include "flow_table.h"

#include <algorithm>
#include <bit>

#include "random.h"

namespace vermilion {

FlowTable::FlowTable(u32 flows, const u32 seed[4])
    : setBits_(static_cast<u32>(std::countr_zero(flows)) - 2), entries_(flows) {
  RandomSource source(0);
  source.setState(seed);
  for (int i = 0; i < FlowName::Words; i++) key_[i] = source.draw();
}

u32 FlowTable::set(const FlowName& name) const {
  u32 index = 0;
  for (u32 j = 0; j < setBits_; j++) {
    u32 sum = 0;
    for (int i = 0; i < FlowName::Words; i++) {
      const u64 pair = u64{key_[i + 1]} << 32 | key_[i];
      sum ^= static_cast<u32>(truncate(pair >> j, 32)) & name.words[i];
    }
    index |= static_cast<u32>(std::popcount(sum) & 1) << j;
  }
  return index;
}

FlowPlace FlowTable::lookup(const FlowName& name, bool syn, u64 tick, u32 idleAge, u32 halfOpenAge) {
  const u32 base = Ways * set(name);
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
  int way = lowest([&](const Entry& e) { return e.valid && e.name == name; });
  const bool own = way < Ways;
  p.fresh = !own || aged(entries_[base + way]);
  if (own) {
    p.agedOut = p.fresh;
  } else if ((way = lowest([&](const Entry& e) { return !e.valid; })) == Ways) {
    p.collision = true;
    if ((way = lowest(aged)) < Ways)
      p.agedOut = true;
    else if ((way = lowest([&](const Entry& e) { return e.data < Settled; })) < Ways)
      p.displaced = true;
    else
      return p;
  }
  p.found = true;
  p.index = base + static_cast<u32>(way);
  Entry& e = entries_[p.index];
  const bool anew = !own || (p.fresh && (syn || e.data == Settled));
  const u32 data = anew ? 0 : e.data;
  e = Entry{true, syn ? data : std::min(data + 1, Settled), tick, name};
  return p;
}

}  // namespace vermilion
