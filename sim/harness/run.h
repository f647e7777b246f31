// One run of either engine: frames in, and everything that is known at the end.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "capture_writer.h"
#include "config_json.h"
#include "frame_source.h"
#include "results.h"
#include "trace_writer.h"

namespace vermilion {

// What both engines feed: counters, trace, output capture, progress lines.
class Recorder {
 public:
  Recorder(const Options& options, const LoadedConfig& loaded, FrameSource& source);
  void decided(const RtlDecision& decision, const Headers& headers);  // of the packet, as the model's parser finds them
  void sent(const Packet& packet, bool ceWritten, const std::vector<u8>& bytes);
  void progress(bool last = false);
  void keep();
  Results& results() { return results_; }

 private:
  FrameSource& source_;
  Results results_;
  std::optional<CaptureWriter> out_;
  std::optional<TraceWriter> trace_;
  u64 shown_ = 0;
  u64 time_;  // of the last decision, all 64 bits
};

// Each fills `json` and returns the number of defects it found: disagreements, frames unaccounted for.
u64 runRtl(const Options& options, const LoadedConfig& loaded, FrameSource& source, Recorder& recorder,
           nlohmann::ordered_json& json);
u64 runModel(const LoadedConfig& loaded, FrameSource& source, Recorder& recorder, nlohmann::ordered_json& json);

// What --bench takes without a configuration: all DSCPs over all queues, every stage at work on every frame, nothing shaped.
//
//   averages   of packets, w = 1/512, idle ageing by the time a frame takes on the stream
//   curve      p = 1/16 at an empty queue and a line to 1 at the limit (the upper part of gentle RED), uniform spacing: some early
//              drops at every pace, and where the scheduler is slower than the stream the curve holds the queue below its limit
//   limit      in packets, together half of the buffer's cells, so that these never run out: a `nobuf` frame would skip the rest
LoadedConfig benchConfig(const Options& options);

}  // namespace vermilion
