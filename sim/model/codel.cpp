#include "codel.h"

namespace vermilion {

namespace {

// Serial numbers (RFC 1982): a is after b, by less than half of the range.
bool after(u32 a, u32 b) {
  return a != b && reached(a, b, 32);
}

void newtonStep(CodelState& s) {
  const u64 y = u64{s.invSqrt} << 16;                  // U0.32
  const u64 square = y * y >> 32;                      // U0.32
  const u64 rest = (u64{3} << 32) - s.count * square;  // 3 - count y^2, U2.32; wraps where the estimate is bad
  s.invSqrt = static_cast<u16>(((rest >> 2) * y) >> 47);
}

void setStep(CodelState& s, const CodelSettings& settings) {
  s.step = static_cast<u32>(u64{settings.interval} * s.invSqrt >> 16);
}

// Whether the sojourn time has been above the target for an interval.
bool mayDrop(CodelState& s, const CodelSettings& settings, u32 now, u32 sojourn, u32 backlog) {
  if (after(settings.target, sojourn) || backlog <= settings.mtu) {
    s.isAbove = false;
    return false;
  }
  if (s.isAbove) return after(now, s.mayDropAt);
  s.isAbove = true;
  s.mayDropAt = now + settings.interval;
  return false;
}

// The dropping state begins. Where the last one ended a short time ago, it begins at that one's rate.
void enter(CodelState& s, const CodelSettings& settings, u32 now) {
  const u32 grown = s.count - s.lastCount;
  if (grown > 1 && after(16 * settings.interval, now - s.dropNext)) {
    s.count = grown;
    newtonStep(s);
  } else {
    s.count = 1;
    s.invSqrt = 0xffff;
  }
  s.lastCount = s.count;
  setStep(s, settings);
  s.dropNext = now + s.step;
  s.changes = !s.changes;
}

// Whether the controller wants this packet marked or dropped.
bool isDue(CodelState& s, const CodelSettings& settings, u32 now, bool may, bool marks, bool settled) {
  if (s.phase == CodelPhase::Entered) {
    s.phase = CodelPhase::Dropping;
    return false;
  }
  if (s.phase == CodelPhase::Below) {
    if (!may || !settled) return false;
    enter(s, settings, now);
    s.phase = marks ? CodelPhase::Dropping : CodelPhase::Entered;
    return true;
  }
  if (!may) {
    s.phase = CodelPhase::Below;
    return false;
  }
  if (!settled) return false;
  if (s.phase == CodelPhase::Dropped) s.dropNext += s.step;
  s.phase = CodelPhase::Dropping;
  if (!reached(now, s.dropNext, 32)) return false;
  s.count++;
  newtonStep(s);
  setStep(s, settings);
  s.changes = !s.changes;
  if (marks)
    s.dropNext += s.step;
  else
    s.phase = CodelPhase::Dropped;
  return true;
}

}  // namespace

HeadVerdict codelHead(CodelState& s, const CodelSettings& settings, u32 now, const HeadPacket& packet, u32 backlog,
                      bool settled) {
  const u32 sojourn = now - packet.enqueued;
  const bool ect = packet.hasDsField && (packet.dsField & 3) != 0;
  const bool marks = settings.ecn && ect;
  const bool may = mayDrop(s, settings, now, sojourn, backlog);
  const bool due = isDue(s, settings, now, may, marks, settled);
  if (due && !marks) return HeadVerdict::Drop;
  const bool chosen = settings.ceMask == 0 || (packet.dsField & settings.ceMask) == settings.ceSelector;
  return due || (ect && chosen && sojourn < 1u << 31 && after(sojourn, settings.ceThreshold)) ? HeadVerdict::Mark
                                                                                              : HeadVerdict::Pass;
}

bool codelDueAgain(const CodelState& before, u32 now) {
  if (before.phase != CodelPhase::Dropping && before.phase != CodelPhase::Dropped) return false;
  const u32 due = before.dropNext + (before.phase == CodelPhase::Dropped ? before.step : 0);
  return reached(now, due + (before.step >> 1), 32);
}

}  // namespace vermilion
