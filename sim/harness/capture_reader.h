// Reads captures by libpcap: pcap and pcapng, micro- and nanoseconds. It reads one frame at a time, so a capture may have any size.
//
// Refused (InputError): not a capture, unreadable, a link type other than Ethernet, Linux cooked (SLL, SLL2), raw IP and BSD
// loopback (NULL, LOOP); a pcapng file whose interfaces have different link types or snapshot lengths, which is valid, but libpcap
// stops there. Such a file is refused at the second of them, which may come after many frames.
//
// Carried with a counted warning:
//   empty           no frame in it
//   cut_off         ends within a record, or a record is damaged (libpcap takes a section of another byte order for that, too);
//                   read as far as it goes
//   snapped         captured shorter than it was on the wire; carried as captured, the length on the wire goes to the output
//   reframed        no Ethernet header of its own: given one, see below; the capture's own pseudo-header is taken off
//   time_back       earlier than the previous frame: takes the time of that frame. Earlier by over an hour: the clock was set,
//                   and later times count from there
//   time_jump       over 24 hours later than the previous frame, in the capture or, slowed down by --speed, in the lane: the gap
//                   is shortened to 24 hours. The lane orders its 48-bit times as serial numbers (RFC 1982), which tell
//                   earlier from later up to 39 hours apart: a wait or idle time across a gap must stay below that
//   runt            below 14 bytes, no whole Ethernet header; carried
//   cut_header      the captured bytes end within a VLAN tag or an IP header; carried, not as IP; header_check.h
//   ip_length       an IP header's lengths contradict the frame's; carried; header_check.h
//   zero_length     no byte at all; left out, since a stream cannot carry it
//
// The header of re-framed packets: destination 02:00:00:00:00:02, source 02:00:00:00:00:01 (SLL, SLL2: the sender's address where
// it has 6 bytes), type from the cooked header, or 0x0800 and 0x86dd by the IP version, 0x88b5 (local experimental) if neither.
// BSD loopback has an address family of 4 bytes first: AF_INET 2 gives 0x0800, AF_INET6 0x86dd, any other 0x88b5. AF_INET6 is
// 24 (NetBSD, OpenBSD, Npcap), 28 (FreeBSD) or 30 (macOS). NULL has it in the byte order of the host that captured: a value
// with its upper 16 bits set is read in the other byte order. LOOP has it in network order.
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
  void stopped();  // by an error; refuses a file that is not damaged
  void reframe(Frame& frame, const u8* data, u32 size);

  std::string name_;
  pcap* capture_;
  int link_;
  u64 fileBytes_ = 0, frames_ = 0, leftOut_ = 0, last_ = 0;
  i64 startNs_ = 0, originNs_ = 0;
  Warnings warnings_;
};

}  // namespace vermilion
