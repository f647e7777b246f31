// The stage between the classifier and the queues: each queue's marker, one packet at a time, and its random source.
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
  // Marks a packet to which the classifier gave `colour`, and returns the trace's record. `sound`: the packet is not
  // bad and has a buffer; only then is it marked. `drop`: by its rule, so that it is policed and not marked. Every packet
  // takes a draw. `timeNs` is the time of the packet's slot, `queue` that whose marker marks the packet.
  VmMark mark(u64 timeNs, u32 queue, u32 colour, u32 lenBytes, const Headers& headers, bool sound, bool drop);
  // A commit. The marker takes effect at the queue's next packet.
  void configure(u32 queue, const VmMarker& marker) { profiles_[queue] = marker; }
  // Whether buckets and meters are equal. Flows are not compared.
  bool sameBuckets(const MarkStage& other) const { return markers_ == other.markers_; }

 private:
  std::vector<VmMarker> profiles_;
  std::vector<TokenMarker> markers_;
  FlowMarker flows_;
  RandomSource random_;
};

}  // namespace vermilion
