// The reports of a run: which the lane owes, which it sent, and what they say.
//
// sim/model/report.h says which events are offered for a report, and in which order. The RTL may lose some of them, if
// they find no place. It numbers them, so each frame of its stream is compared with the event of that number: all bytes
// of the record, and the packet's first bytes. --engine model sends all.
//
// Reports can be written as a capture, the packet's first bytes with a comment of words `name=value`:
//
//   reason         a name of report.h
//   report         number of the report
//   queue, colour, input
//   average, probability, backlog_bytes, backlog_packets, sojourn_ns
//                  as in why_writer.h, where they have a meaning
//   lost           reports that were lost before it
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "accounting.h"
#include "breaches.h"
#include "capture_writer.h"
#include "codel.h"
#include "replay.h"
#include "report.h"

namespace vermilion {

// Of the packet that arrives, or of the queued one that was its victim; nothing if it was just enqueued.
std::optional<ReportEvent> eventOf(const RtlDecision& decision);

class ReportBook {
 public:
  // `out`: the capture, may be empty. `isRtl`: frames of the lane's stream are compared; else each offered event is
  // sent.
  ReportBook(const ReportSettings& settings, const std::string& out, bool isRtl);

  // Packets as they were when the event was shown, in cycle `clock`. `victim`: as in why_writer.h.
  void decided(u64 clock, const RtlDecision& decision, const Packet& packet, const Packet* victim);
  // `chosen`: time of the choice, ns; `behind`: bytes that were queued after it then.
  void departed(u64 clock, u64 chosen, u32 behind, const Packet& packet, HeadVerdict verdict);
  // A frame of the stream, complete in cycle `clock`. `now`: lane time, 64 bits; `startNs`: of lane time 0, since 1970.
  void received(const std::vector<u8>& frame, u64 clock, u64 now, i64 startNs);
  // --engine model: sends what was offered.
  void send(u64 now, i64 startNs);
  // Call at the end. `counts`: the lane's registers report_events; null for --engine model.
  void finish(const u32* counts);

  void write(nlohmann::ordered_json& json) const;
  void keep();
  const Breaches& breaches() const { return breaches_; }

 private:
  using Tag = std::shared_ptr<const Frame>;
  void take(const Report& report, u64 now, i64 startNs, u32 wireLen);
  void compare(const Report& got, const ReportSelector<Tag>::Offered& expected, const std::vector<u8>& frame);

  const ReportSettings& settings_;
  bool isRtl_;
  std::optional<CaptureWriter> out_;
  ReportSelector<Tag> selector_;
  std::map<std::pair<u32, u32>, u64> sent_;  // reports by queue and reason
  u64 next_ = 0, skipped_ = 0, taken_ = 0;
  u64 headless_ = 0, gone_ = 0;  // reports without bytes, and those of them whose packet had a cell for sure
  Breaches breaches_;
};

}  // namespace vermilion
