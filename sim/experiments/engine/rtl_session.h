// The Verilated lane served as LaneSession (sim/model/lane_session.h) serves the model's: the same calls, the same jumps over silence, so
// the same verdicts and departures at the same times.
//
// The lane is whole, from beats to beats: what a frame's verdict was, when it left and with which DSCP and ECN bits is read at its ports. It is
// configured through its registers while lane time stands at 0; then time is the caller's. Frames are named by their order, so what the
// lane must keep - one verdict a frame, a queue's order, no frame more or less - is checked, and its breach thrown.
#pragma once

#include <deque>
#include <vector>

#include "../../harness/verilated_lane.h"

namespace vermilion {

class RtlSession {
 public:
  struct Gone {
    u64 id, time;
    u32 queue, colour, lenBytes;
    std::vector<u8> bytes;
  };

  explicit RtlSession(const VmConfig& config);
  RtlDecision arrive(u64 time, const u8* frame, u32 lenBytes);  // at least one byte
  void advance(u64 time);
  bool next(u64& ns) const;  // false: nothing will happen before another frame comes
  std::deque<Gone>& sent() { return sent_; }

 private:
  struct Inside {
    u64 id;
    u32 lenBytes;
  };
  void clock();
  void present();
  void sample();
  void takeOutput();
  bool waiting() const { return offset_ < in_.size(); }
  bool resting() const;

  VerilatedLane lane_;
  std::vector<std::deque<Inside>> queues_;
  std::deque<Gone> left_, sent_;  // without bytes yet; with them
  std::vector<u8> in_, out_;      // the frame that is going in; the one that is coming out
  std::size_t offset_ = 0;        // of the next beat in in_
  bool decided_ = false;          // the frame that came last
  RtlDecision decision_;
  u64 frames_ = 0, now_ = 0, resting_ = 0;
};

}  // namespace vermilion
