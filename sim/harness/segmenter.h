// --split cuts long TCP frames into segments, as TCP segmentation offload (TSO) of a NIC does.
//
// A capture that was taken above the offloads (GRO, TSO) has frames that no wire carried. Each TCP frame with more payload than
// `payloadBytes` becomes segments of `payloadBytes`; the last may be shorter. `payloadBytes` 0: as many as fit an IP packet of 1500 bytes.
//
//   every segment   the frame's headers up to the payload, TCP options too; its time; no bytes from after the IP packet
//   IPv4            total length; identification of the frame, plus 1 per segment, modulo 2^16
//   IPv6            payload length
//   TCP             sequence number; FIN and PSH on the last segment only, CWR on the first only
//   checksums       of IPv4 and TCP: correct where the frame's was correct. Otherwise wrong by the same difference, as in a
//                   capture above checksum offload
//
// An IP length of 0 stands for the frame's own length, as some hosts write it; with IPv6 extension headers it is a jumbogram's.
// A frame stays whole, and is counted, if its IP packet reaches beyond what was captured of it, it is a fragment or a jumbogram, has
// an authentication header, or SYN, RST or URG. UDP is never split: each datagram is a message, and the receiver would see different messages.
#pragma once

#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "capture_reader.h"

namespace vermilion {

class Segmenter {
 public:
  explicit Segmenter(u32 payloadBytes) : payloadBytes_(payloadBytes) {}
  // The next frame or segment of `reader`. Frames and segments are renumbered in one sequence.
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
