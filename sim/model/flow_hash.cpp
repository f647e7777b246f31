#include "flow_hash.h"

#include <bit>

#include "random.h"

namespace vermilion {

std::array<u32, 4> flowSeed(u64 seed, int rotation) {
  std::array<u32, 4> words;
  RandomSource(seed, 2).rotated(rotation).state(words.data());
  return words;
}

FlowHash::FlowHash(const u32 seed[4]) {
  RandomSource source(0);
  source.setState(seed);
  for (int i = 0; i <= FlowName::Words; i++) key_[i] = source.draw();
}

u32 FlowHash::hash(const FlowName& name, u32 bits) const {
  u32 hash = 0;
  for (u32 j = 0; j < bits; j++) {
    u32 sum = 0;
    for (int i = 0; i < FlowName::Words; i++) {
      const u64 pair = u64{key_[i + 1]} << 32 | key_[i];
      sum ^= static_cast<u32>(truncate(pair >> j, 32)) & name.words[i];
    }
    hash |= static_cast<u32>(std::popcount(sum) & 1) << j;
  }
  return hash;
}

}  // namespace vermilion
