// Runs the Verilated lane with the interface of LaneSession (sim/model/lane_session.h): the same calls and the same
// jumps over idle time. So it gives the same verdicts and departures at the same times.
//
// The session runs the whole lane, from beats to beats. It reads verdicts, departure times, and DSCP and ECN bits at
// the lane's ports. It configures the lane through its registers while lane time is 0. After that the caller sets the
// time. It identifies frames by their order. So it can check that the lane gives one verdict per frame, and keeps the
// order of each queue and the number of frames. It throws on a breach.
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
  bool next(u64& ns) const;  // false: nothing happens before another frame arrives
  std::deque<Gone>& sent() { return sent_; }
  std::deque<u64>& dropped() { return dropped_; }  // at departure, by id

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
  std::deque<u64> dropped_;
  std::deque<Gone> left_, sent_;  // departed, bytes not known yet; departed and sent
  std::vector<u8> in_, out_;      // the frame that is being received; the one that is being sent
  std::size_t offset_ = 0;        // of the next beat in in_
  bool decided_ = false;          // the last frame has its verdict
  RtlDecision decision_;
  u64 frames_ = 0, now_ = 0, resting_ = 0;
};

}  // namespace vermilion
