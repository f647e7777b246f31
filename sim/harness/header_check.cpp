#include "header_check.h"

#include <algorithm>

namespace vermilion {

namespace {

constexpr u32 EthernetBytes = 14, TagBytes = 4, Ip4Bytes = 20, Ip6Bytes = 40;
constexpr u32 CheckBytes = 4, PaddedBytes = 68;
const char* const CutHeader = "cut_header";
const char* const IpLength = "ip_length";

// Does a packet of `bytes` from offset `at` on contradict a frame that was `wire` bytes long?
bool lies(u64 at, u64 bytes, u64 wire) {
  return at + bytes > wire || (wire > PaddedBytes && wire - (at + bytes) > CheckBytes);
}

}  // namespace

const char* headerWarning(const Frame& frame) {
  const std::vector<u8>& data = frame.bytes;
  const u64 size = data.size(), wire = std::max<u64>(frame.wireLen, size);
  const auto word = [&](u64 i) { return u32{data[i]} << 8 | data[i + 1]; };
  if (size < EthernetBytes) return nullptr;
  u64 at = EthernetBytes;
  const u32 outer = word(12);
  if (outer == 0x8100 || outer == 0x88a8) {
    if (size < at + TagBytes) return CutHeader;
    if (word(16) == 0x8100) {
      at += 2 * TagBytes;
    } else if (outer == 0x8100) {
      at += TagBytes;
    }
    if (size < at) return CutHeader;
  }
  const u32 type = word(at - 2);
  if (type == 0x0800) {
    if (size < at + Ip4Bytes) return CutHeader;
    const u64 header = 4 * (data[at] & 15), total = word(at + 2);
    if (header < Ip4Bytes || at + header > wire) return IpLength;
    if (size < at + header) return CutHeader;
    if (total < header || lies(at, total, wire)) return IpLength;
  }
  if (type == 0x86dd) {
    if (size < at + Ip6Bytes) return CutHeader;
    const u64 payload = word(at + 4);
    if (payload != 0 && lies(at, Ip6Bytes + payload, wire)) return IpLength;
  }
  return nullptr;
}

}  // namespace vermilion
