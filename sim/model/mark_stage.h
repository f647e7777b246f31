// What comes between the classifier and the queue: each queue's marker, one packet at a time, and its random source.
#pragma once

#include <vector>

#include "flow_marker.h"
#include "random.h"
#include "records.h"
#include "token_marker.h"

namespace vermilion {

class MarkStage {
 public:
  explicit MarkStage(const VmConfig& config);
  // A packet that the classifier gave `colour`; `sound`: neither bad nor without buffer, so that it is marked. Every packet
  // takes a draw. The answer is the trace's record. `timeNs` is that of its slot.
  VmMark mark(u64 timeNs, u32 queue, u32 colour, u32 lenBytes, const Headers& headers, bool sound);
  // A commit: the queue's next packet meets this marker.
  void configure(u32 queue, const VmMarker& marker) { profiles_[queue] = marker; }
  // Whether buckets and meters are alike; flows are not looked at.
  bool sameBuckets(const MarkStage& other) const { return markers_ == other.markers_; }

 private:
  std::vector<VmMarker> profiles_;
  std::vector<TokenMarker> markers_;
  FlowMarker flows_;
  RandomSource random_;
};

}  // namespace vermilion
