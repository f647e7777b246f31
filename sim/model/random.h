// The random source: xoshiro128++ 1.0 (Blackman, Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS
// 2021).
//
//   draw = rotl(s0 + s3, 7) + s0            U32
//   t = s1 << 9; s2 ^= s0; s3 ^= s1; s1 ^= s2; s0 ^= s3; s2 ^= t; s3 = rotl(s3, 11)
//
// The state has 128 bits and the period is 2^128 - 1. A step needs only additions, shifts, rotations and exclusive ors.
// Every packet that enters the policy pipeline steps it once, whatever its verdict. Nothing else steps it.
// Markers have a second source of the same kind. The draw comes from the state before the step.
//
// The host turns a 64-bit seed into the four words with splitmix64 (Steele, Lea, Flood, OOPSLA 2014): first output's
// low half s0, high half s1, second output's low half s2, high half s3. The all-zero state is a fixed point and
// is refused.
#pragma once

#include "formats.h"

namespace vermilion {

class RandomSource {
 public:
  // `which`: 0 the source of verdicts, 1 that of markers, 2 that of verdicts at departure, whose state also gives the
  // flow table's key.
  // Seeded from outputs 2 which and 2 which + 1 of splitmix64.
  explicit RandomSource(u64 seed, int which = 0);
  // Returns false and changes nothing if all words are 0.
  bool setState(const u32 words[4]);
  void state(u32 words[4]) const;
  // The source with its words rotated, for one that shares a seed with others and must draw other numbers. `by`: 0 to 3,
  // one for each source.
  RandomSource rotated(int by) const;
  u32 draw();

 private:
  u32 s_[4];
};

}  // namespace vermilion
