// --split cuts long TCP frames into segments, as TCP segmentation offload (TSO) of a NIC does.
//
// A capture taken above the offloads (GRO, TSO) has frames that no wire carried. Each TCP frame with more payload than
// `payloadBytes` becomes segments of `payloadBytes`; the last may be shorter. With `payloadBytes` 0, a segment has as
// many as fit an IP packet of 1500 bytes.
//
//   every segment   the frame's headers up to the payload, with TCP options; its time; no bytes from after the IP
//                   packet
//   IPv4            total length; identification of the frame, plus 1 per segment, modulo 2^16
//   IPv6            payload length
//   TCP             sequence number; FIN and PSH on the last segment only, CWR on the first only
//   checksums       of IPv4 and TCP: correct if the frame's was correct. Otherwise wrong by the same difference, as in
//                   a capture above checksum offload
//
// An IP length of 0 means the frame's own length. Some hosts write it. With IPv6 extension headers it is that of a
// jumbogram.
//
// These long frames stay whole, and are counted:
//   - frames with an IP packet that is longer than its captured bytes
//   - fragments and jumbograms
//   - frames with an authentication header
//   - frames with SYN, RST or URG
// UDP is never split: each datagram is a message, and the receiver would see different messages.
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
