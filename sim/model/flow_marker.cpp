#include "flow_marker.h"

#include <algorithm>

namespace vermilion {

namespace {

constexpr u32 Green = 0, Yellow = 1, Red = 2;
constexpr u32 Syn = 2, Rst = 4;

// A marker's configuration in the form that the rules use.
struct Rules {
  const VmFlowConfig& c;
  bool green, red;
  u32 n;  // alpha in eighths
};

Rules rulesOf(const VmFlowConfig& c) {
  return {c, c.kind == VM_FLOW_THREE_COLOUR || c.kind == VM_FLOW_WEB,
          c.kind == VM_FLOW_THREE_COLOUR || c.kind == VM_FLOW_ADAPTIVE, std::min(c.alpha, 8u)};
}

// The factor of few bits near 1/(1-alpha), floored term by term, and 2^-8.
u64 grown(u64 a, u32 n) {
  switch (n) {
    case 0:
      return a + 1;
    case 1:
      return a + (a >> 3) + (a >> 6) + 1;
    case 2:
      return a + (a >> 2) + (a >> 4) + 1;
    case 3:
      return a + (a >> 1) + (a >> 3) + 1;
    case 4:
      return 2 * a + 1;
    case 5:
      return 2 * a + (a >> 1) + (a >> 3) + 1;
    case 6:
      return 4 * a + 1;
    default:
      return 8 * a + 1;
  }
}

void increase(VmFlowState& s, const Rules& r) {
  u64 a = s.average;
  if (!r.c.increase)
    a = 2 * (a + (1 << FlowMarker::AverageFrac));
  else if (s.raised)
    a = grown(a, r.n);
  s.average = static_cast<u32>(saturate(a, FlowMarker::AverageBits));
  s.raised = r.c.increase != 0;
}

// The rules for a packet that does not count as a retransmission.
u32 newData(VmFlowState& s, const Rules& r) {
  if (r.red) {
    s.burst = static_cast<u32>(saturate(s.burst + 1, FlowMarker::BurstBits));
    const u64 factor = s.raised ? 8 - r.n : 8;
    if ((factor * s.burst << FlowMarker::AverageFrac) > 8 * u64{s.average}) {
      increase(s, r);
      s.burst = 0;
      return Red;
    }
  }
  if (!r.green || s.credits == 0) return Yellow;
  s.credits--;
  return Green;
}

u32 lost(VmFlowState& s, const Rules& r) {
  if (r.red) {
    const u64 keep = s.raised ? 8 : 8 - r.n;
    const u64 sum = keep * s.average + (u64{r.n} * s.burst << FlowMarker::AverageFrac);
    s.average = static_cast<u32>(saturate(sum >> 3, FlowMarker::AverageBits));
    s.raised = 0;
    s.burst = 0;
  }
  if (!r.green) return Yellow;
  s.credits = r.c.na;
  return Green;
}

}  // namespace

FlowName flowName(u32 queue, const Headers& h) {
  FlowName name{};
  std::copy(h.src_addr, h.src_addr + 4, name.words.begin());
  std::copy(h.dst_addr, h.dst_addr + 4, name.words.begin() + 4);
  name.words[8] = h.dst_port << 16 | h.src_port;
  name.words[9] = h.is_ip6 << 15 | queue | h.vlan << 16;
  name.words[10] = h.vlan >> 16;
  return name;
}

FlowMarker::FlowMarker(u32 flows, const u32 seed[4]) : table_(flows, seed), states_(flows) {}

VmFlowAnswer FlowMarker::step(u64 time, u32 queue, const Headers& h, const VmFlowConfig& c) {
  const Rules r = rulesOf(c);
  const bool syn = (h.tcp_flags & Syn) != 0;
  VmFlowAnswer a{};
  a.colour = Yellow;
  if (!h.is_tcp || c.kind == VM_FLOW_NONE) return a;
  if ((h.tcp_flags & Rst) != 0 || (!syn && !h.tcp_payload)) {
    if (r.green && c.ack) a.colour = Green;
    return a;
  }

  const u64 tick = truncate(time, TimeBits) >> FlowTable::TickShift;
  const FlowPlace p = table_.lookup(flowName(queue, h), syn, tick, c.idle, c.half_open);
  a.collision = p.collision;
  a.aged_out = p.agedOut;
  a.displaced = p.displaced;
  a.table_full = !p.found;
  if (!p.found) return a;

  VmFlowState& s = states_[p.index];
  const u32 distance = h.tcp_seq - s.highest_seq;
  a.jump = !p.fresh && !syn && ((distance >> 31 ^ distance >> 30) & 1) != 0;
  a.adopted = p.fresh && !syn;
  if (syn || p.fresh || a.jump) {
    s = VmFlowState{0, c.a0, 0, h.tcp_seq, c.ns};
    a.colour = syn ? (r.green ? Green : Yellow) : newData(s, r);
  } else if (distance == 0 || distance >> 31 != 0) {
    a.loss = 1;
    a.colour = lost(s, r);
  } else {
    s.highest_seq = h.tcp_seq;
    a.colour = newData(s, r);
  }
  a.probe = a.colour == Red;
  a.has_state = 1;
  a.state = s;
  return a;
}

}  // namespace vermilion
