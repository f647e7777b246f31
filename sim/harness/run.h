// A run of either engine: it takes frames and returns the results.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "capture_writer.h"
#include "config_json.h"
#include "fate_times.h"
#include "frame_source.h"
#include "report_book.h"
#include "results.h"
#include "trace_writer.h"
#include "why_writer.h"

namespace vermilion {

// Records the results of both engines: counters, trace, captures of what came out and of what did not, progress lines.
class Recorder {
 public:
  Recorder(const Options& options, const LoadedConfig& loaded, FrameSource& source);
  // `headers` are the packet's, from the model's parser. `travelled`: the lost packet, if any, has a known
  // distance.
  void decided(const RtlDecision& decision, const Headers& headers, bool travelled);
  // `packet`: the one of the last decision; `victim`: the queued packet that it evicted or marked, or null.
  void explain(const Packet& packet, const RtlDecision& decision, const Packet* victim, u64 clock);
  // `byCurve`: what a curve decided, if one did. `chosen`: when the packet was chosen, and `behind`, the bytes that were
  // queued after it then.
  void judged(const Packet& packet, HeadVerdict verdict, const std::optional<CurveMark>& byCurve, u64 clock, u64 chosen,
              u32 behind);
  void reported(const std::vector<u8>& frame, u64 clock);  // RTL: of the stream of reports
  void sendReports();                                      // model
  void lost(u32 input, u32 lenBytes, const Frame* frame);  // null: unknown, a defect
  void sent(const Packet& packet, bool ceWritten, const std::vector<u8>& bytes);
  void progress(bool last = false);
  void keep();
  Results& results() { return results_; }
  const FateTimes& fates() const { return fates_; }
  ReportBook* reports() { return reports_ ? &*reports_ : nullptr; }

 private:
  i64 captured(u64 laneTime) const { return source_.startNs() + static_cast<i64>(laneTime - StartNs); }
  FrameSource& source_;
  Results results_;
  std::optional<CaptureWriter> out_;
  std::optional<TraceWriter> trace_;
  std::optional<WhyWriter> why_;
  std::optional<ReportBook> reports_;
  FateTimes fates_;
  u64 shown_ = 0;
  u64 time_;  // of the last decision or refresh, 64 bits
};

// Each fills `json` and returns the number of defects that it found.
u64 runRtl(const Options& options, const LoadedConfig& loaded, FrameSource& source, Recorder& recorder,
           nlohmann::ordered_json& json);
u64 runModel(const LoadedConfig& loaded, FrameSource& source, Recorder& recorder, nlohmann::ordered_json& json);

}  // namespace vermilion
