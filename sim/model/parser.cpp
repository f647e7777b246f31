#include "parser.h"

#include <algorithm>

namespace vermilion {

namespace {

constexpr int MaxExtensions = 4;
constexpr u32 OptionBytes = 4, OptionSearchBytes = 12;
constexpr u32 PtpType = 0x88f7;  // IEEE 1588 annex F
constexpr u32 HopByHop = 0, Tcp = 6, Udp = 17, Routing = 43, Fragment = 44, Authentication = 51, Destination = 60;

// The bytes of a frame that the parser may read.
struct Window {
  const u8* data;
  u32 size;
  bool has(u32 offset, u32 bytes) const { return offset + bytes <= size; }
  u32 u8At(u32 i) const { return data[i]; }
  u32 u16At(u32 i) const { return u32{data[i]} << 8 | data[i + 1]; }
  u32 u32At(u32 i) const { return u16At(i) << 16 | u16At(i + 2); }
};

void addresses(const Window& w, u32 at, u32 words, Headers& h) {
  for (u32 i = 0; i < words; i++) {
    h.src_addr[words - 1 - i] = w.u32At(at + 4 * i);
    h.dst_addr[words - 1 - i] = w.u32At(at + 4 * (words + i));
  }
}

// `end`: the packet's end by its IP length.
void transport(const Window& w, u32 at, u32 end, Headers& h) {
  if ((h.proto != Tcp && h.proto != Udp) || !w.has(at, 4)) return;
  h.has_ports = 1;
  h.src_port = w.u16At(at);
  h.dst_port = w.u16At(at + 2);
  if (h.proto != Tcp || !w.has(at, 14)) return;
  h.is_tcp = 1;
  h.tcp_seq = w.u32At(at + 4);
  h.tcp_flags = w.u8At(at + 13);
  const u32 headerWords = w.u8At(at + 12) >> 4;
  const u32 payload = at + 4 * headerWords;
  h.tcp_payload = headerWords >= 5 && payload < end && (w.size == HeaderWindow || payload < w.size);
}

// Searches `bytes` of options at `at`.
void ttlOption(const Window& w, u32 at, u32 bytes, u32 type, Headers& h) {
  const u32 end = std::min(bytes, OptionSearchBytes), single = h.is_ip6 ? 0 : 1;
  if (type <= 1) return;
  for (u32 i = 0; i + OptionBytes <= end;) {
    const u32 kind = w.u8At(at + i), field = w.u8At(at + i + 1);
    if (kind == single) {
      i++;
      continue;
    }
    const u32 length = h.is_ip6 ? field + 2 : field;
    if (!h.is_ip6 && (kind == 0 || length < 2)) return;
    if (kind == type) {
      if (length != OptionBytes) return;
      h.has_ttl_option = 1;
      h.initial_ttl = w.u8At(at + i + 2);
      h.final_ttl = w.u8At(at + i + 3);
      h.ttl_option_at = i;
      return;
    }
    i += length;
  }
}

Payload ip4(const Window& w, u32 at, u32 optionType, Headers& h) {
  if (!w.has(at, 20)) return {};
  const u32 words = w.u8At(at) & 15;
  if (w.u8At(at) >> 4 != 4 || words < 5 || !w.has(at, 4 * words)) return {};
  h.is_ip4 = 1;
  h.l3_offset = at;
  h.ip_bytes = w.u16At(at + 2);
  h.dscp = w.u8At(at + 1) >> 2;
  h.ecn = w.u8At(at + 1) & 3;
  h.ttl = w.u8At(at + 8);
  h.proto = w.u8At(at + 9);
  addresses(w, at + 12, 1, h);
  ttlOption(w, at + 20, 4 * words - 20, optionType, h);
  const u32 fragment = w.u16At(at + 6) & 0x3fff;  // MF and the offset
  if ((fragment & 0x1fff) != 0) return {};
  transport(w, at + 4 * words, at + w.u16At(at + 2), h);
  return {at + 4 * words, fragment == 0};
}

// The length of the extension header at `at`, RFC 8200 section 4. 0: it is none, its length lies outside the window, or
// it is an AH whose length is not a multiple of 8 bytes.
u32 extensionBytes(const Window& w, u32 at, u32 number) {
  if (!w.has(at, 2)) return 0;
  switch (number) {
    case HopByHop:
    case Routing:
    case Destination:
      return 8 * (w.u8At(at + 1) + 1);
    case Fragment:
      return 8;
    case Authentication:
      return w.u8At(at + 1) % 2 == 0 ? 4 * (w.u8At(at + 1) + 2) : 0;
    default:
      return 0;
  }
}

Payload ip6(const Window& w, u32 at, u32 optionType, Headers& h) {
  if (!w.has(at, 40) || w.u8At(at) >> 4 != 6) return {};
  const u32 trafficClass = w.u16At(at) >> 4 & 0xff;
  h.is_ip6 = 1;
  h.l3_offset = at;
  const u32 payload = w.u16At(at + 4);
  h.ip_bytes = payload == 0 ? 0 : std::min(payload + 40, 0xffffu);
  h.dscp = trafficClass >> 2;
  h.ecn = trafficClass & 3;
  h.ttl = w.u8At(at + 7);
  h.proto = w.u8At(at + 6);
  addresses(w, at + 8, 4, h);
  u32 next = at + 40;
  const u32 first = extensionBytes(w, next, h.proto);
  if (h.proto == HopByHop && first != 0 && w.has(next, first)) ttlOption(w, next + 2, first - 2, optionType, h);
  bool divisible = true;
  for (int i = 0; i < MaxExtensions; i++) {
    const u32 size = extensionBytes(w, next, h.proto);
    if (size == 0 || !w.has(next, size)) break;
    const bool laterFragment = h.proto == Fragment && w.u16At(next + 2) >> 3 != 0;
    divisible = divisible && h.proto != Fragment && h.proto != Authentication;
    h.proto = w.u8At(next);
    if (laterFragment) return {};
    next += size;
  }
  transport(w, next, at + 40 + payload, h);
  return {next, divisible};
}

}  // namespace

Headers parse(const u8* frame, u32 lenBytes, VmOptionTypes types, Payload* payload) {
  Headers h{};
  h.l3_offset = 14;
  const Window w{frame, std::min(lenBytes, u32{HeaderWindow})};
  u32 at = 14;
  if (!w.has(0, at)) return h;
  const u32 outer = w.u16At(12);
  if (outer == 0x8100) at = 18;
  if ((outer == 0x8100 || outer == 0x88a8) && w.has(16, 2) && w.u16At(16) == 0x8100) at = 22;
  if (!w.has(at - 2, 2)) return h;
  const u32 etherType = w.u16At(at - 2);
  h.is_ptp_type = etherType == PtpType;
  Payload found;
  if (etherType == 0x0800) found = ip4(w, at, types.ip4, h);
  if (etherType == 0x86dd) found = ip6(w, at, types.ip6, h);
  if (payload != nullptr) *payload = found;
  const auto vlanAt = [&](u32 tag) { return w.u16At(tag + 2) & 0xfff; };
  if (!h.is_ip4 && !h.is_ip6) return h;
  if (at == 18) h.vlan = vlanAt(12);
  if (at == 22) h.vlan = vlanAt(12) << 12 | vlanAt(16);
  return h;
}

u32 ipBytes(const Headers& h, u32 lenBytes) {
  const u32 room = lenBytes > h.l3_offset ? lenBytes - h.l3_offset : 0;
  return h.ip_bytes == 0 ? room : std::min(h.ip_bytes, room);
}

}  // namespace vermilion
