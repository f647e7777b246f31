// The sources of frames. Each frame has the time at which its first byte reaches the lane.
//
//   capture, --speed X    (time in the capture) / X
//   capture, --rate R     back to back: each frame begins when the previous one has ended at R bits/s of frame bytes.
//                         Like the shapers, this counts no preamble, gap or FCS
//   capture, --split N    long TCP frames become segments (segmenter.h) with the frame's time; with --rate back to back
//   capture, --front F    the front then sets DSCPs by rules or by flow (front.h)
//   --bench (bench.h)     all at time 0, so back to back at the width of the stream; with --line-rate at a port's rate
//
// Lane time has 64 bits here and in all outputs. The lane keeps it modulo 2^48 ns (78 hours). So a run may last up to a
// century, and a longer one is refused. No gap between frames is longer than 24 hours: see time_jump in
// capture_reader.h.
//
// A capture's warnings are those of capture_reader.h, and
//   oversize        longer than the lane stores, after --split. The frame is carried, and the lane drops it (`nobuf`)
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "capture_reader.h"
#include "options.h"

namespace vermilion {

class FrameSource {
 public:
  virtual ~FrameSource() = default;
  virtual std::shared_ptr<const Frame> next() = 0;  // null at the end; Frame::time is lane time
  virtual u64 done() const = 0;                     // how much of total(), for progress
  virtual u64 total() const = 0;
  virtual i64 startNs() const { return 0; }  // ns since 1970 at lane time StartNs
  virtual Warnings warnings() const { return {}; }
  virtual void write(nlohmann::ordered_json&) const {}  // how it changed frames: results.h
};

std::unique_ptr<FrameSource> captureSource(const Options& options);

}  // namespace vermilion
