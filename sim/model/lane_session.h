// A lane for other simulators: frames with arrival times in, frames with departure times out, over clocked_lane.h.
//
//   arrive    runs the lane up to `time`, brings the frame in, and on until its verdict falls, up to 34 clocks behind its last beat
//   advance   runs the lane up to `time`
//   next      the time to which it is to be run next for what is in it
//   drain     until nothing is left in it
//
// One input of 512 bits, as the wire: no cell free drops a frame whole. No frame is lost before its verdict, as they come one by one. Time goes on by 4 ns a clock, and jumps
// where nothing happens but at a known time. A call's time that lies before what has run already is taken as that, so the
// second of two frames at one instant arrives behind the verdict of the first. Times are 64 bits of ns; the lane sees 48.
//
// Where a queue drops the nearest packet (push_out.h) all queues have the search, and a verdict falls 3 clocks later. A frame that came in may be
// evicted then, and never comes out: evicted() names it, as who keeps its own record of what is queued must drop it, too. The counters
// say how many of which colour.
//
// The frames themselves are kept whole: what comes out is what came in, but for header edits.
#pragma once

#include <deque>
#include <vector>

#include "clocked_lane.h"
#include "records.h"

namespace vermilion {

struct SentFrame {
  VmSent record;
  std::vector<u8> bytes;
};

class LaneSession {
 public:
  explicit LaneSession(const VmConfig& config);  // copies it
  // At least one byte. `seen`, where not null, takes what the decision saw.
  Decision arrive(u64 time, const u8* frame, u32 lenBytes, bool bad, Arrival* seen);
  void advance(u64 time);
  u64 drain();               // the time of the last departure
  bool next(u64& ns) const;  // false: nothing will happen before another frame comes

  std::deque<SentFrame>& sent() { return sent_; }
  std::deque<VmEvicted>& evicted() { return evicted_; }  // in their order; to be taken, as those sent
  const VmCounters& counters(u32 queue, u32 colour) const { return counters_[queue * Colours + colour]; }
  u32 queueCount() const { return static_cast<u32>(counters_.size()) / Colours; }

 private:
  // A frame that is in the lane.
  struct Inside {
    VmSent record{};
    Headers headers{};
    bool mark = false;
    std::vector<u8> bytes;
  };
  Inside& inside(u64 id) { return inside_[id - firstId_]; }
  bool resting() const;
  void clock();
  void decided();
  void sentFrame(u64 id);
  void release();

  VmConfig config_;
  std::vector<VmQueue> profiles_;
  ClockedLane lane_;
  std::vector<VmCounters> counters_;
  std::deque<Inside> inside_;  // by id; those whose fate is known are emptied from the front
  std::deque<SentFrame> sent_;
  std::deque<VmEvicted> evicted_;
  u64 firstId_ = 0, now_ = 0, resting_ = 0, lastSent_ = 0;
};

}  // namespace vermilion
