#include "token_marker.h"

#include <algorithm>

namespace vermilion {

static_assert(TimeBits + ShaperFrac == 64, "times are U48.16 in 64 bits, modulo 2^64");

static bool atOrBehind(u64 a, u64 b) {
  return reached(a, b, 64);
}

u32 countedBytes(const VmMarker& m, const Headers& headers, u32 lenBytes) {
  if (m.packet != 0) return m.packet;
  return m.length ? ipBytes(headers, lenBytes) : lenBytes;
}

Marked TokenMarker::mark(const VmMarker& m, u64 timeNs, u32 colour, u32 bytes, u32 draw) {
  const u64 now = timeNs << ShaperFrac;
  const bool same = kind_ == m.kind;
  u64 z[2], cost[2], level[2];
  for (int i = 0; i < 2; i++) {
    const u64 floor = now - (m.burst[i] << ShaperFrac);
    cost[i] = static_cast<u64>(scale(u64{bytes} << ShaperFrac, m.cost[i].mant, m.cost[i].shift));
    const bool within = same && atOrBehind(z_[i], floor) && atOrBehind(now, z_[i]);
    z[i] = within ? z_[i] : floor;
    level[i] = now - z[i];
  }
  const VmScaled& odds = colour == 0 ? m.demote : m.promote;
  const u64 span = static_cast<u64>((u128{draw >> 16} * odds.mant << SpanShift) >> odds.shift);
  const u64 low = m.low_threshold << ShaperFrac, high = m.high_threshold << ShaperFrac;

  u32 out = colour;
  bool takes[2] = {}, dropped = false;
  const bool covered[2] = {level[0] >= cost[0], level[1] >= cost[1]};
  const u32 worst = m.colour_aware ? colour : 0;
  switch (m.kind) {
    case VM_MARKER_LEAF:
      out = covered[0] ? 0 : std::min(m.out, 2u);
      takes[0] = covered[0];
      break;
    case VM_MARKER_SRTCM:
      out = worst == 0 && covered[0] ? 0 : worst <= 1 && atOrBehind(level[1] - level[0], cost[0]) ? 1 : 2;
      takes[0] = out == 0;
      takes[1] = out <= 1;
      break;
    case VM_MARKER_TRTCM:
      out = worst == 2 || !covered[0] ? 2 : worst == 1 || !covered[1] ? 1 : 0;
      takes[0] = out <= 1;
      takes[1] = out == 0;
      break;
    case VM_MARKER_REDP: {
      const bool yellowSeen =
          !same || (reached(lastYellow_, timeNs - m.meter, TimeBits) && reached(timeNs, lastYellow_, TimeBits));
      if (colour == 0) {
        dropped = level[0] < low && !yellowSeen && truncate(draw, 16) < m.p_drop;
        out = !covered[0] || level[0] + span < low ? 1 : 0;
      } else if (colour == 1) {
        out = covered[0] && level[0] > high + span ? 0 : 1;
      }
      takes[0] = out == 0 && !dropped;
      if (dropped) out = 0;
      break;
    }
    default:
      return {colour, false, 0};
  }
  for (int i = 0; i < 2; i++) z_[i] = takes[i] ? z[i] + cost[i] : z[i];
  if (!same || colour == 1) lastYellow_ = truncate(timeNs, TimeBits);
  kind_ = m.kind;
  return {out, dropped || (m.drop >> out & 1) != 0, level[0]};
}

}  // namespace vermilion
