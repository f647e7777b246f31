#include "pie.h"

#include <algorithm>

namespace vermilion {

namespace {

constexpr u64 Percent = PieProbMax / 100;

// How far alpha and beta are scaled down: by 2 below 0.1, and by 4 more below each of 0.01 to 0.000001.
int scaledBy(u64 prob) {
  if (prob >= PieProbMax / 10) return 0;
  int shift = 1;
  for (u64 power = 100; power <= 1'000'000 && prob < PieProbMax / power; power *= 10) shift += 2;
  return shift;
}

}  // namespace

PieState pieBegin() {
  PieState s;
  s.restarts = true;
  return s;
}

void pieRestarts(PieState& s, u64 delay) {
  s.prob = s.probPerByte = s.accumulated = 0;
  s.restarts = true;
  s.delayBefore = delay;
}

u64 pieBurstLeft(const PieState& s, const PieSettings& settings) {
  return s.restarts ? settings.burst : s.burstLeft;
}

ArrivalVerdict pieArrives(PieState& s, const PieSettings& settings, u32 backlog, u32 lenBytes, bool ect, u64 draw) {
  if (pieBurstLeft(s, settings) > 0) return ArrivalVerdict::Pass;
  if (s.delay < settings.target / 2 && s.prob < PieProbMax / 5) return ArrivalVerdict::Pass;
  if (backlog < 2 * u64{settings.mtu}) return ArrivalVerdict::Pass;
  const bool shorter = settings.byteMode && lenBytes <= settings.mtu;
  const u64 prob = shorter ? saturate(u128{lenBytes} * s.probPerByte, PieProbBits) : s.prob;
  s.accumulated = prob == 0 ? 0 : s.accumulated + prob;
  if (s.accumulated < 85 * Percent) return ArrivalVerdict::Pass;
  if (s.accumulated < PieProbMax / 2 * 17 && draw >= prob) return ArrivalVerdict::Pass;
  s.accumulated = 0;
  return settings.ecn && ect && s.prob <= PieProbMax / 10 ? ArrivalVerdict::Mark : ArrivalVerdict::Drop;
}

void pieLost(PieState& s) {
  s.accumulated = 0;
}

void pieDeparts(PieState& s, const PieSettings& settings, u64 now, u64 enqueued, u32 backlog) {
  const bool future = static_cast<i64>(now - enqueued) < 0;  // the clock was set back
  s.delay = backlog == 0 || future ? 0 : saturate(now - enqueued, PieDelayBits);
  s.burstLeft = pieBurstLeft(s, settings);
  const u64 since = !s.restarts ? static_cast<u32>(now - s.departed) : 0;
  s.departed = static_cast<u32>(now);
  s.restarts = false;
  s.burstLeft -= std::min(since, s.burstLeft);
}

void pieUpdate(PieState& s, const PieSettings& settings, u64 delay, bool isEmpty) {
  const int shift = scaledBy(s.prob);
  const i64 beyond = static_cast<i64>(delay) - static_cast<i64>(settings.target);
  const i64 grown = static_cast<i64>(delay) - static_cast<i64>(s.delayBefore);
  i64 delta = static_cast<i64>(settings.alpha >> shift) * beyond + static_cast<i64>(settings.beta >> shift) * grown;
  if (s.prob >= PieProbMax / 10 && delta > static_cast<i64>(PieProbMax / 50)) delta = 2 * Percent;
  if (delay > PieSteep) delta += PieProbMax / 50;
  s.prob = saturateSigned(i128{delta} + s.prob, PieProbBits);
  if (delay == 0 && s.delayBefore == 0 && isEmpty) s.prob -= s.prob / 64;
  s.probPerByte = s.prob / settings.mtu;
  const bool calm = delay < settings.target / 2 && s.delayBefore < settings.target / 2 && s.prob == 0;
  if (calm) {
    s.accumulated = 0;
    s.restarts = true;
  }
  s.delayBefore = delay;
}

}  // namespace vermilion
