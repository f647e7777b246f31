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

// The buckets that a packet finds. A bucket of another kind is full.
TokenMarker::Buckets TokenMarker::bucketsAt(const VmMarker& m, u64 now, u32 bytes) const {
  Buckets b{};
  b.same = kind_ == m.kind;
  for (int i = 0; i < 2; i++) {
    const u64 floor = now - (m.burst[i] << ShaperFrac);
    b.cost[i] = static_cast<u64>(scale(u64{bytes} << ShaperFrac, m.cost[i].mant, m.cost[i].shift));
    const bool within = b.same && atOrBehind(z_[i], floor) && atOrBehind(now, z_[i]);
    b.z[i] = within ? z_[i] : floor;
    b.level[i] = now - b.z[i];
    b.covered[i] = b.level[i] >= b.cost[i];
  }
  return b;
}

TokenMarker::Result TokenMarker::leaf(const VmMarker& m, const Buckets& b) {
  return {b.covered[0] ? 0 : std::min(m.out, 2u), {b.covered[0], false}, false};
}

TokenMarker::Result TokenMarker::singleRate(const Buckets& b, u32 worst) {
  u32 out = 2;
  if (worst == 0 && b.covered[0]) {
    out = 0;
  } else if (worst <= 1 && atOrBehind(b.level[1] - b.level[0], b.cost[0])) {
    out = 1;
  }
  return {out, {out == 0, out <= 1}, false};
}

TokenMarker::Result TokenMarker::twoRates(const Buckets& b, u32 worst) {
  u32 out = 0;
  if (worst == 2 || !b.covered[0]) {
    out = 2;
  } else if (worst == 1 || !b.covered[1]) {
    out = 1;
  }
  return {out, {out <= 1, out == 0}, false};
}

TokenMarker::Result TokenMarker::redp(const VmMarker& m, const Buckets& b, u64 timeNs, u32 colour, u32 draw) const {
  const VmScaled& odds = colour == 0 ? m.demote : m.promote;
  const u64 span = static_cast<u64>((u128{draw >> 16} * odds.mant << SpanShift) >> odds.shift);
  const u64 low = m.low_threshold << ShaperFrac, high = m.high_threshold << ShaperFrac;
  const bool yellowSeen =
      !b.same || (reached(lastYellow_, timeNs - m.meter, TimeBits) && reached(timeNs, lastYellow_, TimeBits));
  u32 out = colour;
  bool dropped = false;
  if (colour == 0) {
    dropped = b.level[0] < low && !yellowSeen && truncate(draw, 16) < m.p_drop;
    out = !b.covered[0] || b.level[0] + span < low ? 1 : 0;
  } else if (colour == 1) {
    out = b.covered[0] && b.level[0] > high + span ? 0 : 1;
  }
  return {dropped ? 0 : out, {out == 0 && !dropped, false}, dropped};
}

Marked TokenMarker::mark(const VmMarker& m, u64 timeNs, u32 colour, u32 bytes, u32 draw) {
  const Buckets b = bucketsAt(m, timeNs << ShaperFrac, bytes);
  const u32 worst = m.colour_aware ? colour : 0;
  Result r{};
  switch (m.kind) {
    case VM_MARKS_LEAF:
      r = leaf(m, b);
      break;
    case VM_MARKS_SRTCM:
      r = singleRate(b, worst);
      break;
    case VM_MARKS_TRTCM:
      r = twoRates(b, worst);
      break;
    case VM_MARKS_REDP:
      r = redp(m, b, timeNs, colour, draw);
      break;
    default:
      return {colour, false, 0};
  }
  for (int i = 0; i < 2; i++) z_[i] = r.takes[i] ? b.z[i] + b.cost[i] : b.z[i];
  if (!b.same || colour == 1) lastYellow_ = truncate(timeNs, TimeBits);
  kind_ = m.kind;
  return {r.colour, r.dropped || (m.drop >> r.colour & 1) != 0, b.level[0]};
}

}  // namespace vermilion
