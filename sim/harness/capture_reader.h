// Reads captures with libpcap: pcap and pcapng, with micro- or nanoseconds.
//
// It reads one frame at a time, so a capture may have any size.
//
// Refused (InputError):
//   - a file that is no capture or cannot be read
//   - a link type other than Ethernet, Linux cooked (SLL, SLL2), raw IP and BSD loopback (NULL, LOOP)
//   - a pcapng file with several interfaces of different link types or snapshot lengths. Such a file is valid, but
//     libpcap stops at the second type or length. It is refused there, possibly after many frames
//
// Carried with a counted warning:
//   empty           The file has no frame.
//   cut_off         The file ends within a record, or a record is damaged. It is read up to there. libpcap also takes a
//                   section of another byte order for damage.
//   snapped         The frame was longer on the wire than in the capture. It is carried as captured. The output file
//                   has its length on the wire.
//   reframed        The frame has no Ethernet header. It gets one (see below) in place of the capture's pseudo-header.
//   time_back       The frame is earlier than the previous one. It gets the time of that frame. If it is earlier by
//                   over an hour, the host's clock was set, and later times count from there.
//   time_jump       The frame is over 24 hours later than the previous one, in the capture or, slowed down by --speed,
//                   in the lane. The gap is shortened to 24 hours. The lane compares its 48-bit times as serial numbers
//                   (RFC 1982), which order times up to 39 hours apart. A wait or idle time across a gap must stay
//                   below that.
//   runt            The frame has fewer than 14 bytes, so no whole Ethernet header. It is carried.
//   cut_header      The captured bytes end within a VLAN tag or an IP header. The frame is carried, but not as IP
//                   (header_check.h).
//   ip_length       The lengths in an IP header contradict that of the frame. It is carried (header_check.h).
//   zero_length     The frame has no byte. It is left out, because a stream cannot carry it.
//
// The header of a re-framed packet:
//   destination     02:00:00:00:00:02
//   source          02:00:00:00:00:01; with SLL and SLL2 the sender's address, if it has 6 bytes
//   type            from the cooked header; without one 0x0800 or 0x86dd by the IP version, or else 0x88b5 (local
//                   experimental)
// BSD loopback starts with an address family of 4 bytes: AF_INET 2 gives 0x0800, AF_INET6 0x86dd, any other 0x88b5.
// AF_INET6 is 24 (NetBSD, OpenBSD, Npcap), 28 (FreeBSD) or 30 (macOS). NULL has the family in the byte order of the
// host that captured. A value with upper 16 bits other than 0 is read in the other byte order. LOOP has it in network
// order.
#pragma once

#include <optional>
#include <string>

#include "frame.h"

struct pcap;

namespace vermilion {

constexpr u64 GapMaxNs = 24ULL * 3600 * 1'000'000'000;

class CaptureReader {
 public:
  explicit CaptureReader(const std::string& name);
  ~CaptureReader();
  CaptureReader(const CaptureReader&) = delete;

  std::optional<Frame> next();
  const Warnings& warnings() const { return warnings_; }
  i64 startNs() const { return startNs_; }  // of the first frame, since 1970
  u64 fileBytes() const { return fileBytes_; }
  u64 bytesRead() const;

 private:
  u64 timeOf(i64 stampNs);
  void stopped();  // handles libpcap's error; refuses a file that is not damaged
  void reframe(Frame& frame, const u8* data, u32 size);

  std::string name_;
  pcap* capture_;
  int link_;
  u64 fileBytes_ = 0, frames_ = 0, leftOut_ = 0, last_ = 0;
  i64 startNs_ = 0, originNs_ = 0;
  Warnings warnings_;
};

}  // namespace vermilion
