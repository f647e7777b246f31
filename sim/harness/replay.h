// Every decision of the RTL, replayed in the model: the same average, probability and verdict, bit for bit, or it is a defect.
//
// The replay takes what the RTL saw (backlogs, idle times, look-ahead, draw) and keeps averages and spacing of its own, in
// the order of decisions. Compared are the averages that the decision updated, the arriving colour's own, probability and verdict;
// at a refresh the averages. Not compared, since neither is used: average and probability of bad and nobuf frames.
#pragma once

#include <string>

#include "decide.h"

namespace vermilion {

// A decision as the RTL's trace port has it: `Decision` in hw/src/vermilion/policy/PolicyPipeline.scala.
struct RtlDecision {
  bool refresh = false;  // averages brought up to date at a departure; no packet
  u32 input = 0;
  Arrival seen{};
  u64 average[Colours] = {};
  u64 probability = 0;
  u32 verdict = 0;
};

extern const char* const VerdictNames[VM_VERDICTS];

class Replay {
 public:
  explicit Replay(const VmConfig& config);
  void check(const RtlDecision& rtl);

  u64 decisions() const { return decisions_; }
  u64 agreed() const { return agreed_; }
  u64 refreshes() const { return refreshes_; }
  u64 refreshesAgreed() const { return refreshesAgreed_; }
  const std::string& firstDisagreement() const { return first_; }

 private:
  bool sameAverages(const RtlDecision& rtl) const;
  void disagree(const RtlDecision& rtl, const Decision& model);
  DecisionModel model_;
  u64 decisions_ = 0, agreed_ = 0, refreshes_ = 0, refreshesAgreed_ = 0;
  std::string first_;
};

}  // namespace vermilion
