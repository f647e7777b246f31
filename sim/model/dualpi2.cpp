#include "dualpi2.h"

#include <algorithm>

namespace vermilion {

void dualPi2Update(DualPi2State& s, const DualPi2Settings& settings, u64 delay) {
  const i64 now = static_cast<i64>(delay);
  i64 change = (now - static_cast<i64>(settings.target)) * settings.alpha;
  change += (now - static_cast<i64>(s.delayBefore)) * settings.beta;
  s.delayBefore = delay;
  const i64 step = change / (1 << DualGainFrac);  // C++ truncates towards 0
  s.prob = static_cast<u32>(std::clamp<i64>(s.prob + step, 0, settings.most));
}

HeadVerdict dualPi2Head(const DualPi2State& s, const DualPi2Settings& settings, const DualPi2Packet& packet,
                        u32 backlog, u32 drawA, u32 drawB) {
  const bool classic = drawA <= s.prob && drawB <= s.prob;
  const u64 coupled = u64{s.prob} * settings.coupling;
  const bool overload = coupled > DualProbMax;
  const bool byChance = backlog >= 2 * u64{settings.mtu};
  const bool ect = packet.ecn != 0;
  if (!packet.isL) {
    if (!byChance || !classic) return HeadVerdict::Pass;
    return ect && !overload ? HeadVerdict::Mark : HeadVerdict::Drop;
  }
  if (byChance && overload && settings.dropOverload && classic) return HeadVerdict::Drop;
  const bool marks = byChance && (overload || drawA <= coupled);
  const bool stepped = packet.sojourn > settings.step;
  if (ect) return marks || stepped ? HeadVerdict::Mark : HeadVerdict::Pass;
  return stepped || (marks && !overload) ? HeadVerdict::Drop : HeadVerdict::Pass;
}

}  // namespace vermilion
