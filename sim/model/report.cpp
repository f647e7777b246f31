#include "report.h"

#include <algorithm>

namespace vermilion {

const char* const ReasonNames[ReasonBits] = {nullptr,
                                             "marked",
                                             "early",
                                             "forced",
                                             "tail",
                                             "nobuf",
                                             "bad",
                                             "policed",
                                             "pool",
                                             "evicted",
                                             "victim_marked",
                                             "departure_dropped",
                                             "departure_marked",
                                             "flushed",
                                             nullptr,
                                             nullptr};

namespace {

constexpr u32 Version = 1;

// Numbers in network order.
class Writer {
 public:
  explicit Writer(u8* at) : at_(at) {}
  void put(u64 value, u32 bytes) {
    for (u32 i = 0; i < bytes; i++) *at_++ = static_cast<u8>(value >> 8 * (bytes - 1 - i));
  }

 private:
  u8* at_;
};

class Reader {
 public:
  explicit Reader(const u8* at) : at_(at) {}
  u64 get(u32 bytes) {
    u64 value = 0;
    for (u32 i = 0; i < bytes; i++) value = value << 8 | *at_++;
    return value;
  }
  u32 small(u32 bytes) { return static_cast<u32>(get(bytes)); }

 private:
  const u8* at_;
};

}  // namespace

std::array<u8, RecordBytes> recordOf(const ReportSettings& settings, const Report& report) {
  std::array<u8, RecordBytes> out{};
  const ReportEvent& e = report.event;
  std::copy(settings.ethernet.begin(), settings.ethernet.end(), out.begin());
  Writer to(out.data() + settings.ethernet.size());
  to.put(Version, 1);
  to.put(static_cast<u32>(e.reason), 1);
  to.put(e.queue, 2);
  to.put(e.colour, 1);
  to.put(e.input, 1);
  to.put(e.lenBytes, 2);
  to.put(e.time, 6);
  to.put(e.sojourn, 4);
  to.put(e.bytes, 4);
  to.put(e.packets, 4);
  to.put(e.average, 6);
  to.put(e.probability, 4);
  to.put(report.number, 4);
  to.put(report.lost, 4);
  return out;
}

std::optional<Report> reportOf(const std::vector<u8>& frame) {
  if (frame.size() != RecordBytes && frame.size() != RecordBytes + HeadBytes) return std::nullopt;
  Reader from(frame.data() + 14);
  if (from.get(1) != Version) return std::nullopt;
  Report out;
  ReportEvent& e = out.event;
  e.reason = static_cast<Reason>(from.small(1));
  e.queue = from.small(2);
  e.colour = from.small(1);
  e.input = from.small(1);
  e.lenBytes = from.small(2);
  e.time = from.get(6);
  e.sojourn = from.small(4);
  e.bytes = from.small(4);
  e.packets = from.small(4);
  e.average = from.get(6);
  e.probability = from.small(4);
  out.number = from.small(4);
  out.lost = from.small(4);
  const std::size_t size = std::min<std::size_t>(frame.size() - RecordBytes, e.lenBytes);
  out.head.assign(frame.begin() + RecordBytes, frame.begin() + RecordBytes + static_cast<i64>(size));
  return out;
}

}  // namespace vermilion
