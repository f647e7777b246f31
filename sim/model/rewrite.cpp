#include "rewrite.h"

#include <algorithm>

namespace vermilion {

u16 checksumUpdate(u16 checksum, u16 before, u16 after) {
  u64 sum = truncate(~checksum, 16) + truncate(~before, 16) + after;
  sum = truncate(sum, 16) + (sum >> 16);
  sum = truncate(sum, 16) + (sum >> 16);
  return static_cast<u16>(truncate(~sum, 16));
}

static u16 wordAt(const u8* bytes) {
  return static_cast<u16>(bytes[0] << 8 | bytes[1]);
}

static void updateChecksum(u8* ip, u16 before, u16 after) {
  const u16 sum = checksumUpdate(wordAt(ip + 10), before, after);
  ip[10] = static_cast<u8>(sum >> 8);
  ip[11] = static_cast<u8>(truncate(sum, 8));
}

// At an odd offset the option's bytes lie in the opposite halves of the checksum's 16-bit words.
static bool pad(u8* frame, const Headers& h) {
  constexpr u16 Nops = 0x0101;
  u8* const ip = frame + h.l3_offset;
  u8* const option = ip + (h.is_ip4 ? 20 : 42) + h.ttl_option_at;
  if (h.is_ip6) {
    const u8 padN[4] = {1, 2, 0, 0};
    std::copy(padN, padN + 4, option);
    return true;
  }
  for (u8* pair = option; pair != option + 4; pair += 2) {
    const u16 word = wordAt(pair);
    updateChecksum(ip, h.ttl_option_at % 2 == 0 ? word : static_cast<u16>(word << 8 | word >> 8), Nops);
  }
  std::fill(option, option + 4, u8{1});
  return true;
}

static bool mark(u8* frame, const Headers& h, bool setCe, bool setDscp, u32 dscp) {
  const u32 old = h.dscp << 2 | h.ecn;
  const u32 traffic = (setDscp ? dscp : h.dscp) << 2 | (setCe && h.ecn != 0 ? 3 : h.ecn);
  if (traffic == old) return false;
  u8* const ip = frame + h.l3_offset;
  if (h.is_ip4) {
    updateChecksum(ip, wordAt(ip), static_cast<u16>(u32{ip[0]} << 8 | traffic));
    ip[1] = static_cast<u8>(traffic);
  } else {
    ip[0] = static_cast<u8>((ip[0] & 0xf0) | traffic >> 4);
    ip[1] = static_cast<u8>((ip[1] & 0x0f) | (traffic << 4 & 0xf0));
  }
  return true;
}

bool rewrite(u8* frame, const Headers& h, bool setCe, bool setDscp, u32 dscp, bool removeOption) {
  if (!h.is_ip4 && !h.is_ip6) return false;
  const bool marked = mark(frame, h, setCe, setDscp, dscp);
  return (removeOption && h.has_ttl_option && pad(frame, h)) || marked;
}

bool rewrite(u8* frame, const Headers& h, const RuleChoice& rule, const VmQueue& q, u32 colour, bool setCe) {
  const vm_remark_image& remark = q.marker.remark[colour];
  Headers came = h;
  if (rule.setsDscp) came.dscp = rule.cameDscp;
  const u32 dscp = remark.on != 0 ? remark.dscp : h.dscp;
  return rewrite(frame, came, setCe, remark.on != 0 || rule.setsDscp, dscp, q.ttl_option != 0);
}

}  // namespace vermilion
