// Replays every decision of the RTL in the model. Average, probability and verdict must be equal, bit for bit.
//
// The replay takes from the RTL which packet was decided in which cycle, and which departed. It computes all other
// values: times, colours and buckets (mark_stage.h), backlogs, idle times, look-ahead and draw (pipeline_view.h),
// averages, spacing, limit. It compares all of these, the averages that the decision updated, the arriving colour's
// own, probability and verdict. At a refresh it compares what the refresh saw and the averages. Average and probability
// of bad, nobuf and policed frames are not used, and not compared.
//
// The replay continues with the RTL's victim of a push-out. It compares the victim some cycles later, when all packets
// that departed before are known (victim_check.h).
#pragma once

#include <algorithm>
#include <deque>
#include <numeric>
#include <string>
#include <vector>

#include "clocked_dualpi2.h"
#include "clocked_pie.h"
#include "clocked_verdicts.h"
#include "curve_marks.h"
#include "decide.h"
#include "differences.h"
#include "mark_stage.h"
#include "pipeline_view.h"
#include "push_out.h"
#include "victim_check.h"

namespace vermilion {

// A decision as the RTL's trace port has it: `Decision` in hw/src/vermilion/policy/Bundles.scala.
struct RtlDecision {
  bool refresh = false;  // a departure updates averages; no packet
  u32 input = 0;
  Arrival seen{};
  u64 average[Colours] = {};
  u64 probability = 0;
  u32 verdict = 0;
  VmMark mark{};
  PushOut pushOut{};
  std::optional<u32> rule;  // the first that matches the packet
  u32 cell = 0;             // identifies the packet, as pushOut.outcome.cell does; RTL only
};

extern const char* const VerdictNames[VM_VERDICTS];

class Replay {
 public:
  explicit Replay(const VmConfig& config);
  // The lane's time in every cycle, before the events of that cycle.
  void time(u64 clock, u64 now);
  // Applies a commit: the queue's next decision uses this profile.
  void configure(u32 queue, const VmQueue& profile);
  // Whether averages, spacing and buckets are equal. Flows and victims are not compared.
  bool sameState(const Replay& other) const {
    return model_.sameState(other.model_) && marks_.sameBuckets(other.marks_);
  }
  // Decisions and refreshes that differ from the model so far, and departures with a time other than that of their
  // cycle, or with another verdict.
  u64 disagreed() const {
    return decisions_ - agreed() + refreshes_ - refreshesAgreed_ + departuresWrong_ + departures_ - departuresAgreed_;
  }
  // Call after the last cycle.
  void finish();
  // Call check() and departed() in the order of cycles. `clock` is the cycle in which the lane's port showed the event.
  // `headers` are those of the packet, as the model's parser finds them, `marker` the queue whose marker marks it, and
  // `drop` tells that its rule drops it.
  // check() returns the events of the packet's flow (`flow_events` in records.h). The RTL only counts them.
  u32 check(const RtlDecision& rtl, const Headers& headers, u32 marker, bool drop, u64 clock);
  // `arrival`: of the packet, as the lane has it.
  void departed(u64 clock, u64 now, u32 queue, u32 colour, u32 lenBytes, u64 arrival);

  // Compares the verdict on a packet that departs; in builds with codel, for each of them. `arrival` as the lane has it.
  // `marked`: on arrival. Returns what a curve decides, if one does.
  std::optional<CurveMark> judged(u64 clock, u32 queue, u32 colour, u32 lenBytes, u64 arrival, const Headers& headers,
                                  bool marked, HeadVerdict verdict);
  // When the packet that departs in cycle `clock` was chosen, and the bytes that were queued after it then. Call after
  // judged().
  u64 chosen(u64 clock) const { return timeAt(clock - timing::Judging); }
  u32 behind(u32 queue) const { return queuedBytes_[queue]; }
  u64 departures() const { return departures_; }
  u64 departuresAgreed() const { return departuresAgreed_; }

  u64 decisions() const { return decisions_; }
  // If both decision and victim of a push-out disagree, it is subtracted twice, but the result is never below 0.
  u64 agreed() const { return agreed_ - std::min(agreed_, victims_.wrong()); }
  u64 refreshes() const { return refreshes_; }
  u64 refreshesAgreed() const { return refreshesAgreed_; }
  // Departures so far without a refresh. The lane may skip refreshes, and counts those (counter_check.h).
  u64 refreshesMissing() const { return std::accumulate(awaited_.begin(), awaited_.end(), u64{0}); }
  // The names of the fields that differ (differences.h), then the values of RTL and model. If all decisions agree: the
  // first wrong victim.
  const std::string& firstDisagreement() const { return first_.empty() ? victims_.first() : first_; }
  const VictimCheck& victims() const { return victims_; }

 private:
  static void compareSeen(Differences& found, const Arrival& rtl, const Arrival& model, bool packet, bool updates);
  static void compareMark(Differences& found, const RtlDecision& rtl, const VmMark& model, bool sound);
  void compareAverages(Differences& found, const RtlDecision& rtl) const;
  void settle(Differences& found, const RtlDecision& rtl, const Arrival& seen, u32 provisionalVerdict, u64 clock);
  void checkRefresh(const RtlDecision& rtl, u64 lookup);
  void averaged(u64 clock, const Arrival& a, bool refresh, bool sound);
  void disagree(const std::string& names, const RtlDecision& rtl, const VmMark& mark, const Arrival& seen,
                const Decision& model);
  static constexpr u64 Times = 128;  // more cycles than the pipeline has stages
  u64 timeAt(u64 clock) const { return times_[clock % Times]; }
  u64 times_[Times] = {};
  u32 queueCount_;
  VictimCheck victims_;
  MarkStage marks_;
  PipelineView view_;
  DecisionModel model_;
  // Departures without a refresh so far, by queue and colour. An extra refresh is an error here, a missing one in
  // counter_check.h.
  std::vector<u64> awaited_;
  // For the verdicts: what came to queues and does not count yet, and what is queued.
  struct Came {
    u64 clock;
    u32 queue, bytes, packets;  // modulo 2^32: negative if more are evicted than come
  };
  std::deque<Came> came_;
  std::vector<u32> queuedBytes_, queuedPackets_;
  QueueVerdicts verdicts_;
  CurveMarks curves_;
  ClockedDualPi2 pairs_;
  ClockedPie pie_;  // some cycles behind: check() learns of a packet when it is decided
  u64 departures_ = 0, departuresAgreed_ = 0;
  u64 decisions_ = 0, agreed_ = 0, refreshes_ = 0, refreshesAgreed_ = 0, departuresWrong_ = 0;
  std::string first_;
};

}  // namespace vermilion
