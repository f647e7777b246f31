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

// Square roots give 2^(-1/2), 2^(-1/4) .. 2^(-1/1024) as U2.62. Each entry is the product of those that the bits of i
// select. Ten truncations lose less than 2^-57, and no entry lies so close to a rounding edge. The test compares all
// 1024 entries with exact powers in big integers.
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
  return saturateSigned(static_cast<i128>(avg) + ((d * w.mant) >> (8 + w.shift)), AvgBits);
}

u128 idleProduct(const VmQueue& queue, u64 idleNs, u64 residue, u32 steps) {
  const u64 kept = truncate(residue, static_cast<int>(std::min(queue.lambda.shift, u32{IdleStepBits})));
  return u128{idleNs} * queue.lambda.mant + kept + u128{queue.idle_step} * steps;
}

u32 idleExponent(u128 product, VmScaled lambda) {
  return static_cast<u32>(saturate(product >> lambda.shift, IdleBits));
}

u64 averageAge(u64 avg, u32 x) {
  const u32 fraction = static_cast<u32>(truncate(x, IdleFrac));
  return static_cast<u64>((u128{avg} * ageRom()[fraction]) >> AgeRomFrac) >> (x >> IdleFrac);
}

void Estimator::push(const Update& update) {
  head_ = (head_ + 1) % Depth;
  ring_[head_] = update;
}

void Estimator::arrive(const VmQueue& queue, u32 q, int n, u64 now, u64 idleNs) {
  if (q != 0) return depart(queue, q, n, now);
  const Update& base = back(n);
  const u64 spell = std::min(idleNs, truncate(u128{now} - base.time, TimeBits));
  const u32 steps = VERMILION_AGEING == 2 ? 1 + base.remainder.pending : 0;
  const u128 product = idleProduct(queue, spell, base.remainder.residue, steps);
  Remainder left;
  if (VERMILION_AGEING != 0) left = {truncate(product, IdleStepBits), static_cast<u32>(n - 1)};
  push({averageAge(base.avg, idleExponent(product, queue.lambda)), now, left});
}

void Estimator::depart(const VmQueue& queue, u32 q, int n, u64 now) {
  push({averageStep(value(n), q, queue.weight[n - 1]), now, back(1).remainder});
}

u64 Estimator::aged(const VmQueue& queue, int n, u64 idleNs) const {
  const Update& base = back(n);
  const u128 product = idleProduct(queue, idleNs, base.remainder.residue, base.remainder.pending);
  return averageAge(base.avg, idleExponent(product, queue.lambda));
}

}  // namespace vermilion
