#include "segmenter.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "parser.h"
#include "rewrite.h"

namespace vermilion {

namespace {

constexpr u32 PacketBytes = 1500, Ip6Bytes = 40, TcpNumber = 6, TcpHeaderWords = 5, AllOnes = 0xffff;
constexpr u32 Fin = 0x01, Syn = 0x02, Rst = 0x04, Psh = 0x08, Urg = 0x20, Cwr = 0x80;

u32 wordAt(const std::vector<u8>& bytes, u32 at) {
  return u32{bytes[at]} << 8 | bytes[at + 1];
}

void putWord(std::vector<u8>& bytes, u32 at, u32 value) {
  bytes[at] = static_cast<u8>(value >> 8);
  bytes[at + 1] = static_cast<u8>(value);
}

// The offsets of the parts of a TCP frame. `length`: of the IP packet. `four`: IPv4.
struct Layout {
  u32 ip, tcp, payload, length;
  bool four;
  u32 checksum() const { return tcp + 16; }
};

u32 folded(u64 sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<u32>(sum);
}

// RFC 9293, section 3.1: the ones' complement sum of pseudo-header and segment, without the checksum itself.
u32 tcpSum(const std::vector<u8>& bytes, const Layout& at) {
  const u32 end = at.ip + at.length, addresses = at.ip + (at.four ? 12 : 8), stop = addresses + (at.four ? 8 : 32);
  u64 sum = TcpNumber + (end - at.tcp);
  for (u32 i = addresses; i < stop; i += 2) sum += wordAt(bytes, i);
  for (u32 i = at.tcp; i + 1 < end; i += 2) sum += wordAt(bytes, i);
  if ((end - at.tcp) % 2 != 0) sum += u32{bytes[end - 1]} << 8;
  return folded(sum - wordAt(bytes, at.checksum()));
}

// Writes the IP length and, for IPv4, the identification. The IPv4 checksum is updated, so a wrong one stays wrong by
// the same difference.
void setLength(std::vector<u8>& bytes, const Layout& at, u32 id) {
  if (!at.four) return putWord(bytes, at.ip + 4, at.length - Ip6Bytes);
  u16 sum = static_cast<u16>(wordAt(bytes, at.ip + 10));
  const auto change = [&](u32 place, u32 value) {
    sum = checksumUpdate(sum, static_cast<u16>(wordAt(bytes, place)), static_cast<u16>(value));
    putWord(bytes, place, value);
  };
  change(at.ip + 2, at.length);
  change(at.ip + 4, id & 0xffff);
  putWord(bytes, at.ip + 10, sum);
}

// A segment: the headers of `frame`, and `part` bytes of its payload from offset `from` on. `error`: the sum over the
// frame's TCP checksum and the bytes that it covers.
std::vector<u8> segmentBytes(const std::vector<u8>& frame, const Layout& whole, u32 from, u32 part, u32 sequence,
                             u32 flags, u32 id, u32 error) {
  std::vector<u8> bytes(frame.begin(), frame.begin() + whole.payload);
  bytes.insert(bytes.end(), frame.begin() + whole.payload + from, frame.begin() + whole.payload + from + part);
  Layout at = whole;
  at.length = whole.payload - whole.ip + part;
  setLength(bytes, at, id);
  putWord(bytes, at.tcp + 4, sequence >> 16);
  putWord(bytes, at.tcp + 6, sequence & 0xffff);
  bytes[at.tcp + 13] = static_cast<u8>(flags);
  const u32 right = AllOnes - tcpSum(bytes, at);
  putWord(bytes, at.checksum(), error == AllOnes ? right : folded(u64{right} + error));
  return bytes;
}

}  // namespace

bool Segmenter::divide(const Frame& frame) {
  const std::vector<u8>& bytes = frame.bytes;
  const u32 size = static_cast<u32>(bytes.size());
  Payload place;
  const Headers h = parse(bytes.data(), size, {}, &place);
  if (!h.is_tcp) return false;
  const u32 words = bytes[place.at + 12] >> 4;
  Layout whole{h.l3_offset, place.at, place.at + 4 * words, 0, h.is_ip4 != 0};
  const u32 field = whole.four ? wordAt(bytes, whole.ip + 2) : wordAt(bytes, whole.ip + 4);
  const bool plain = whole.four || whole.tcp == whole.ip + Ip6Bytes;
  whole.length = field == 0 ? frame.wireLen - whole.ip : whole.four ? field : field + Ip6Bytes;
  if (words < TcpHeaderWords || whole.payload >= whole.ip + whole.length) return false;
  const u32 payload = whole.ip + whole.length - whole.payload, head = whole.payload - whole.ip;
  const u32 most = payloadBytes_ != 0 ? payloadBytes_ : PacketBytes - head;
  if (payload <= most) return false;
  if (whole.ip + whole.length > size || !place.divisible || (field == 0 && !plain) ||
      (h.tcp_flags & (Syn | Rst | Urg)) != 0) {
    whole_++;
    return false;
  }
  // If the frame's checksum is correct, the sum is all ones. That is 0 in ones' complement.
  const u32 error = folded(u64{tcpSum(bytes, whole)} + wordAt(bytes, whole.checksum()));
  for (u32 from = 0, number = 0; from < payload; from += most, number++) {
    const u32 part = std::min(most, payload - from), id = whole.four ? wordAt(bytes, whole.ip + 4) + number : 0;
    u32 flags = h.tcp_flags;
    if (from != 0) flags &= ~Cwr;
    if (from + part != payload) flags &= ~(Fin | Psh);
    Frame segment;
    segment.time = frame.time;
    segment.wireLen = whole.payload + part;
    segment.bytes = segmentBytes(bytes, whole, from, part, h.tcp_seq + from, flags, id, error);
    waiting_.push_back(std::move(segment));
    segments_++;
  }
  frames_++;
  return true;
}

std::optional<Frame> Segmenter::next(CaptureReader& reader) {
  if (waiting_.empty()) {
    std::optional<Frame> frame = reader.next();
    if (!frame) return std::nullopt;
    if (!divide(*frame)) waiting_.push_back(std::move(*frame));
  }
  Frame first = std::move(waiting_.front());
  waiting_.pop_front();
  first.id = ids_++;
  return first;
}

void Segmenter::write(nlohmann::ordered_json& json) const {
  json["split"] = {{"payload_bytes", payloadBytes_}, {"frames", frames_}, {"segments", segments_}, {"whole", whole_}};
}

}  // namespace vermilion
