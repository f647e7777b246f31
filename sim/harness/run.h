// A run of either engine: it takes frames and returns the results.
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

// Records the results of both engines: counters, trace, output capture, progress lines.
class Recorder {
 public:
  Recorder(const Options& options, const LoadedConfig& loaded, FrameSource& source);
  // `headers` are the packet's, from the model's parser. `travelled`: the lost packet, if any, has a known
  // distance.
  void decided(const RtlDecision& decision, const Headers& headers, bool travelled);
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
  u64 time_;  // of the last decision or refresh, 64 bits
};

// Each fills `json` and returns the number of defects that it found.
u64 runRtl(const Options& options, const LoadedConfig& loaded, FrameSource& source, Recorder& recorder,
           nlohmann::ordered_json& json);
u64 runModel(const LoadedConfig& loaded, FrameSource& source, Recorder& recorder, nlohmann::ordered_json& json);

}  // namespace vermilion
