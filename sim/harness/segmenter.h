// --split: long TCP frames become segments, as TCP segmentation offload (TSO) makes them of what a host gives its NIC.
//
// A capture that was taken above the offloads (GRO, TSO) has frames that no wire carried. Each TCP frame with more payload than
// `payloadBytes` becomes segments of so many bytes, the last one shorter. `payloadBytes` 0: as many as fit an IP packet of 1500 bytes.
//
//   every segment   the frame's headers up to the payload, TCP options too; its time; no bytes from after the IP packet
//   IPv4            total length; identification of the frame, one more with each segment, modulo 2^16
//   IPv6            payload length
//   TCP             sequence number; FIN and PSH on the last segment alone, CWR on the first alone
//   checksums       of IPv4 and TCP: right where the frame's was right. Otherwise wrong by as much, which is what a capture above
//                   checksum offload has
//
// An IP length of 0 stands for the frame's own length, as some hosts write it; with IPv6 extension headers it is a jumbogram's.
// A frame stays whole, and is counted, if its IP packet reaches beyond what was captured of it, it is a fragment or a jumbogram, has
// an authentication header, or SYN, RST or URG. UDP is never split: each datagram is a message, and its receiver would see other ones.
#pragma once

#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "capture_reader.h"

namespace vermilion {

class Segmenter {
 public:
  explicit Segmenter(u32 payloadBytes) : payloadBytes_(payloadBytes) {}
  // The next frame or segment of `reader`, numbered anew.
  std::optional<Frame> next(CaptureReader& reader);
  // split {payload_bytes, frames, segments, whole}: results.h
  void write(nlohmann::ordered_json& json) const;

 private:
  bool divide(const Frame& frame);

  u32 payloadBytes_;
  u64 frames_ = 0, segments_ = 0, whole_ = 0, ids_ = 0;
  std::deque<Frame> waiting_;
};

}  // namespace vermilion
