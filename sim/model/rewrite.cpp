#include "rewrite.h"

namespace vermilion {

u16 checksumUpdate(u16 checksum, u16 before, u16 after) {
  u64 sum = truncate(~checksum, 16) + truncate(~before, 16) + after;
  sum = truncate(sum, 16) + (sum >> 16);
  sum = truncate(sum, 16) + (sum >> 16);
  return static_cast<u16>(truncate(~sum, 16));
}

bool rewrite(u8* frame, const Headers& h, bool setCe, bool setDscp, u32 dscp) {
  if (!h.is_ip4 && !h.is_ip6) return false;
  const u32 old = h.dscp << 2 | h.ecn;
  const u32 traffic = (setDscp ? dscp : h.dscp) << 2 | (setCe && h.ecn != 0 ? 3 : h.ecn);
  if (traffic == old) return false;
  u8* const ip = frame + h.l3_offset;
  if (h.is_ip4) {
    const u16 sum = checksumUpdate(static_cast<u16>(ip[10] << 8 | ip[11]), static_cast<u16>(ip[0] << 8 | ip[1]),
                                   static_cast<u16>(u32{ip[0]} << 8 | traffic));
    ip[1] = static_cast<u8>(traffic);
    ip[10] = static_cast<u8>(sum >> 8);
    ip[11] = static_cast<u8>(truncate(sum, 8));
  } else {
    ip[0] = static_cast<u8>((ip[0] & 0xf0) | traffic >> 4);
    ip[1] = static_cast<u8>((ip[1] & 0x0f) | (traffic << 4 & 0xf0));
  }
  return true;
}

bool rewrite(u8* frame, const Headers& h, const VmQueue& q, u32 colour, bool setCe) {
  return rewrite(frame, h, setCe, (q.remark >> colour & 1) != 0, q.remark_dscp[colour]);
}

}  // namespace vermilion
