#include "capture_reader.h"

#include <pcap/pcap.h>
#include <pcap/sll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "header_check.h"

namespace vermilion {

namespace {

constexpr i64 HourNs = 3600LL * 1'000'000'000, DayNs = static_cast<i64>(GapMaxNs);
constexpr i64 StampMaxSeconds = 4'500'000'000;  // the difference of two stamps fits 63 bits of nanoseconds
constexpr u32 EthernetBytes = 14, SllBytes = 16, Sll2Bytes = 20, FamilyBytes = 4;
constexpr u32 Ip4Type = 0x0800, Ip6Type = 0x86dd, OtherType = 0x88b5;
constexpr u8 OwnAddress[6] = {2, 0, 0, 0, 0, 1};

// The link types that are carried: Ethernet, and those for which reframe() adds an Ethernet header.
bool isRaw(int link) {
  return link == DLT_RAW || link == DLT_IPV4 || link == DLT_IPV6;
}
bool isLoopback(int link) {
  return link == DLT_NULL || link == DLT_LOOP;
}
bool isKnown(int link) {
  return link == DLT_EN10MB || link == DLT_LINUX_SLL || link == DLT_LINUX_SLL2 || isRaw(link) || isLoopback(link);
}

// The Ethernet type for an address family of BSD loopback, see capture_reader.h.
u32 typeOfFamily(const u8* family, bool hostOrder) {
  u32 number = u32{family[0]} << 24 | u32{family[1]} << 16 | u32{family[2]} << 8 | family[3];
  if (hostOrder && number >> 16 != 0) number = __builtin_bswap32(number);
  switch (number) {
    case 2:
      return Ip4Type;
    case 24:
    case 28:
    case 30:
      return Ip6Type;
    default:
      return OtherType;
  }
}

}  // namespace

CaptureReader::CaptureReader(const std::string& name) : name_(name) {
  std::FILE* file = std::fopen(name.c_str(), "rb");
  if (file == nullptr) throw InputError(name + ": cannot be read: " + std::strerror(errno));
  // A source without seek, such as a pipe, has no length. It is read from its current position.
  if (std::fseek(file, 0, SEEK_END) == 0) fileBytes_ = static_cast<u64>(std::max(0L, std::ftell(file)));
  if (std::fseek(file, 0, SEEK_SET) != 0) std::clearerr(file);
  char error[PCAP_ERRBUF_SIZE] = "";
  capture_ = pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, error);
  if (capture_ == nullptr) {
    std::fclose(file);
    throw InputError(name + ": is not a capture (" + error + "); legal are pcap and pcapng files");
  }
  link_ = pcap_datalink(capture_);  // NOLINT(clang-analyzer-unix.Stream): pcap closes the file with the capture
  if (isKnown(link_)) return;
  const char* text = pcap_datalink_val_to_description(link_);
  const std::string what = "link type " + std::to_string(link_) + (text ? std::string(" (") + text + ")" : "");
  pcap_close(capture_);
  throw InputError(name + ": " + what + " is not carried; legal are Ethernet, Linux cooked, raw IP and BSD loopback");
}

CaptureReader::~CaptureReader() {
  pcap_close(capture_);
}

u64 CaptureReader::bytesRead() const {
  return static_cast<u64>(std::max(0L, std::ftell(pcap_file(capture_))));
}

u64 CaptureReader::timeOf(i64 stampNs) {
  if (frames_ == 0) startNs_ = originNs_ = stampNs;
  const i64 last = static_cast<i64>(last_);
  const i64 step = stampNs - originNs_ - last;
  if (step < 0) warnings_["time_back"]++;
  if (step > DayNs) warnings_["time_jump"]++;
  if (step < -HourNs) originNs_ = stampNs - last;
  if (step > DayNs) originNs_ = stampNs - last - DayNs;
  last_ += static_cast<u64>(std::clamp(step, i64{0}, DayNs));
  return last_;
}

void CaptureReader::reframe(Frame& frame, const u8* data, u32 size) {
  u32 head = 0, type = OtherType;
  const u8* address = OwnAddress;
  if (link_ == DLT_LINUX_SLL && size >= SllBytes) {
    head = SllBytes;
    type = data[14] << 8 | data[15];
    if (data[4] == 0 && data[5] == 6) address = data + 6;
  } else if (link_ == DLT_LINUX_SLL2 && size >= Sll2Bytes) {
    head = Sll2Bytes;
    type = data[0] << 8 | data[1];
    if (data[11] == 6) address = data + 12;
  } else if (isRaw(link_) && size != 0) {
    if (data[0] >> 4 == 4) type = Ip4Type;
    if (data[0] >> 4 == 6) type = Ip6Type;
  } else if (isLoopback(link_) && size >= FamilyBytes) {
    head = FamilyBytes;
    type = typeOfFamily(data, link_ == DLT_NULL);
  }
  frame.bytes = {2, 0, 0, 0, 0, 2};
  frame.bytes.insert(frame.bytes.end(), address, address + 6);
  frame.bytes.push_back(static_cast<u8>(type >> 8));
  frame.bytes.push_back(static_cast<u8>(type));
  frame.bytes.insert(frame.bytes.end(), data + head, data + size);
  frame.wireLen += EthernetBytes - head;
  warnings_["reframed"]++;
}

// libpcap stops within some valid files. They are refused, because the run would lose their other frames. A damaged
// record is only a warning. Nothing but libpcap's text distinguishes the two.
void CaptureReader::stopped() {
  const std::string error = pcap_geterr(capture_);
  for (const char* what : {"an interface has a type", "an interface has a snapshot length"})
    if (error.find(what) != std::string::npos)
      throw InputError(name_ + ": behind frame " + std::to_string(frames_ + leftOut_) + ", before byte " +
                       std::to_string(bytesRead()) + ", " + error +
                       "; legal are files whose interfaces all have one link type and one snapshot length: split it by "
                       "interface, one file each");
  warnings_["cut_off"] = 1;
}

std::optional<Frame> CaptureReader::next() {
  pcap_pkthdr* header;
  const u8* data;
  for (;;) {
    const int status = pcap_next_ex(capture_, &header, &data);
    if (status != 1) {
      if (status == PCAP_ERROR) stopped();
      if (frames_ == 0) warnings_["empty"] = 1;
      return std::nullopt;
    }
    // A damaged pcapng file can hold seconds of up to 64 bits. They are limited to 142 years before or after 1970.
    const i64 seconds = std::clamp<i64>(header->ts.tv_sec, -StampMaxSeconds, StampMaxSeconds);
    Frame frame;
    frame.wireLen = std::max(header->len, header->caplen);
    if (link_ == DLT_EN10MB) {
      frame.bytes.assign(data, data + header->caplen);
    } else {
      reframe(frame, data, header->caplen);
    }
    if (frame.bytes.empty()) {
      warnings_["zero_length"]++;
      leftOut_++;
      continue;
    }
    frame.time = timeOf(seconds * 1'000'000'000 + header->ts.tv_usec);
    frame.id = frames_++;
    if (header->caplen < header->len) warnings_["snapped"]++;
    if (frame.bytes.size() < EthernetBytes) warnings_["runt"]++;
    if (const char* name = headerWarning(frame)) warnings_[name]++;
    return frame;
  }
}

}  // namespace vermilion
