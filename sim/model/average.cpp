#include "average.h"

#include <algorithm>

namespace vermilion {

// floor(sqrt(x)), bit by bit.
static u64 squareRoot(u128 x) {
  u64 root = 0;
  for (int bit = 62; bit >= 0; bit--) {
    const u64 t = root | (u64{1} << bit);
    if (u128{t} * t <= x) root = t;
  }
  return root;
}

// 2^(-1/2), 2^(-1/4) .. 2^(-1/1024) as U2.62 by square roots, multiplied as the bits of i say. Ten truncations lose
// less than 2^-57, and no entry lies that near to a rounding edge: the test compares all 1024 with whole powers in big
// integers.
static std::array<u32, 1 << IdleFrac> makeRom() {
  constexpr int frac = 62;
  u64 power[IdleFrac];  // power[k] = 2^(-2^k/1024)
  u64 p = u64{1} << (frac - 1);
  for (int k = IdleFrac - 1; k >= 0; k--) power[k] = p = squareRoot(u128{p} << frac);
  std::array<u32, 1 << IdleFrac> rom;
  for (u32 i = 0; i < rom.size(); i++) {
    u64 x = u64{1} << frac;
    for (int k = 0; k < IdleFrac; k++)
      if (i >> k & 1) x = static_cast<u64>((u128{x} * power[k]) >> frac);
    rom[i] = static_cast<u32>(((x >> (frac - AgeRomFrac - 1)) + 1) >> 1);
  }
  return rom;
}

const std::array<u32, 1 << IdleFrac>& ageRom() {
  static const auto rom = makeRom();
  return rom;
}

u64 averageStep(u64 avg, u32 q, VmScaled w) {
  const i128 d = (i128{q} << AvgFrac) - static_cast<i128>(avg);
  return saturateSigned(static_cast<i128>(avg) + ((d * w.m) >> (8 + w.s)), AvgBits);
}

u32 idleExponent(u64 idleNs, VmScaled lambda) {
  return static_cast<u32>(saturate(scale(idleNs, lambda.m, lambda.s), IdleBits));
}

u64 averageAge(u64 avg, u32 x) {
  const u32 fraction = static_cast<u32>(truncate(x, IdleFrac));
  return static_cast<u64>((u128{avg} * ageRom()[fraction]) >> AgeRomFrac) >> (x >> IdleFrac);
}

void Estimator::push(u64 avg, u64 now) {
  head_ = (head_ + 1) % Depth;
  ring_[head_] = {avg, now};
}

void Estimator::arrive(const VmQueue& queue, u32 q, int n, u64 now, u64 idleNs) {
  if (q != 0) return depart(queue, q, n, now);
  const u64 spell = std::min(idleNs, truncate(u128{now} - back(n).time, TimeBits));
  push(averageAge(value(n), idleExponent(spell, queue.lambda)), now);
}

void Estimator::depart(const VmQueue& queue, u32 q, int n, u64 now) {
  push(averageStep(value(n), q, queue.weight[n - 1]), now);
}

}  // namespace vermilion
