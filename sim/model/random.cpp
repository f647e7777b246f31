#include "random.h"

#include <algorithm>
#include <bit>

namespace vermilion {

static u64 splitmix64(u64& x) {
  u64 z = (x += 0x9E3779B97F4A7C15ull);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// Two successive splitmix64 outputs are never both 0, so a seed never gives the refused state.
RandomSource::RandomSource(u64 seed, int which) {
  for (int skipped = 0; skipped < 2 * which; skipped++) splitmix64(seed);
  const u64 a = splitmix64(seed), b = splitmix64(seed);
  s_[0] = static_cast<u32>(truncate(a, 32));
  s_[1] = static_cast<u32>(a >> 32);
  s_[2] = static_cast<u32>(truncate(b, 32));
  s_[3] = static_cast<u32>(b >> 32);
}

bool RandomSource::setState(const u32 words[4]) {
  if ((words[0] | words[1] | words[2] | words[3]) == 0) return false;
  for (int i = 0; i < 4; i++) s_[i] = words[i];
  return true;
}

void RandomSource::state(u32 words[4]) const {
  for (int i = 0; i < 4; i++) words[i] = s_[i];
}

RandomSource RandomSource::rotated(int by) const {
  RandomSource out = *this;
  std::rotate(out.s_, out.s_ + by, out.s_ + 4);
  return out;
}

u32 RandomSource::draw() {
  const u32 result = std::rotl(s_[0] + s_[3], 7) + s_[0];
  const u32 t = s_[1] << 9;
  s_[2] ^= s_[0];
  s_[3] ^= s_[1];
  s_[1] ^= s_[2];
  s_[0] ^= s_[3];
  s_[2] ^= t;
  s_[3] = std::rotl(s_[3], 11);
  return result;
}

}  // namespace vermilion
