// Time in which at least one packet waited in the lane: the union of the packets' waiting times.
//
// A packet waits from `Unloaded` ns after its verdict until it departs. Departures must come in order of time. Verdicts
// need not.
#pragma once

#include <algorithm>
#include <vector>

#include "formats.h"

namespace vermilion {

class WaitingTime {
 public:
  // A packet that nothing delays departs within 64 cycles of its verdict.
  static constexpr u64 Unloaded = 256;  // ns

  void departed(u64 left, u64 latency) {
    first_ = std::min(first_, left - latency);
    last_ = left;
    if (latency <= Unloaded) return;
    u64 from = left - latency + Unloaded;
    while (!spans_.empty() && spans_.back().to >= from) {
      from = std::min(from, spans_.back().from);
      waited_ -= spans_.back().to - spans_.back().from;
      spans_.pop_back();
    }
    spans_.push_back({from, left});
    waited_ += left - from;
  }
  u64 waitedNs() const { return waited_; }
  // From the first verdict of a packet that departed to the last departure.
  u64 spanNs() const { return last_ >= first_ ? last_ - first_ : 0; }

 private:
  struct Span {
    u64 from, to;
  };
  std::vector<Span> spans_;  // in order of time, apart from each other
  u64 waited_ = 0, first_ = ~u64{0}, last_ = 0;
};

}  // namespace vermilion
