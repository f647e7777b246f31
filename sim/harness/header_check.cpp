#include "header_check.h"

#include <algorithm>

namespace vermilion {

namespace {

constexpr u32 EthernetBytes = 14, TagBytes = 4, Ip4Bytes = 20, Ip6Bytes = 40;
constexpr u32 CheckBytes = 4, PaddedBytes = 68;
const char* const CutHeader = "cut_header";
const char* const IpLength = "ip_length";

// Whether a packet of `bytes` from offset `at` on contradicts a frame with `wire` bytes on the wire.
bool lies(u64 at, u64 bytes, u64 wire) {
  return at + bytes > wire || (wire > PaddedBytes && wire - (at + bytes) > CheckBytes);
}

using Bytes = std::vector<u8>;

u32 word(const Bytes& data, u64 i) {
  return u32{data[i]} << 8 | data[i + 1];
}

// The offset of a frame's payload, after its tags. The frame may end before it.
u64 payloadAt(const Bytes& data) {
  const u32 outer = word(data, 12);
  if (outer != 0x8100 && outer != 0x88a8) return EthernetBytes;
  if (data.size() < EthernetBytes + TagBytes) return EthernetBytes + TagBytes;
  if (word(data, 16) == 0x8100) return EthernetBytes + TagBytes + TagBytes;
  return outer == 0x8100 ? EthernetBytes + TagBytes : EthernetBytes;
}

const char* ip4Warning(const Bytes& data, u64 at, u64 wire) {
  if (data.size() < at + Ip4Bytes) return CutHeader;
  const u64 header = u64{4} * (data[at] & 15), total = word(data, at + 2);
  if (header < Ip4Bytes || at + header > wire) return IpLength;
  if (data.size() < at + header) return CutHeader;
  return total < header || lies(at, total, wire) ? IpLength : nullptr;
}

const char* ip6Warning(const Bytes& data, u64 at, u64 wire) {
  if (data.size() < at + Ip6Bytes) return CutHeader;
  const u64 payload = word(data, at + 4);
  return payload != 0 && lies(at, Ip6Bytes + payload, wire) ? IpLength : nullptr;
}

}  // namespace

const char* headerWarning(const Frame& frame) {
  const Bytes& data = frame.bytes;
  const u64 wire = std::max<u64>(frame.wireLen, data.size());
  if (data.size() < EthernetBytes) return nullptr;
  const u64 at = payloadAt(data);
  if (data.size() < at) return CutHeader;
  const u32 type = word(data, at - 2);
  if (type == 0x0800) return ip4Warning(data, at, wire);
  return type == 0x86dd ? ip6Warning(data, at, wire) : nullptr;
}

}  // namespace vermilion
