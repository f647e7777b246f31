// A lane for other simulators: takes frames with arrival times, returns frames with departure times. It uses
// clocked_lane.h.
//
//   arrive    runs the lane up to `time`, feeds the frame, and runs until its verdict, up to 34 cycles after its last
//             beat
//   advance   runs the lane up to `time`
//   next      the time up to which the caller is to run the lane next, for the frames in it
//   drain     runs the lane until it is empty
//
// The lane has one input of 512 bits that cannot be stalled: if no cell is free, the frame is dropped whole. No frame
// is lost before its verdict, since frames come one by one. Time advances by 4 ns per cycle. It jumps where nothing
// happens before a known time.
// A call whose time has already passed takes effect at once. So the second of two frames with the same time arrives
// after the verdict of the first. Times are 64 bits of ns; the lane sees 48.
//
// If a queue drops the nearest packet (push_out.h), all queues have the search, and a verdict comes 3 cycles later. A
// frame that was admitted may then be evicted, and is never sent. evicted() reports it, so that a caller with its own
// record of the queues can remove it. The counters give the number by colour.
//
// The session keeps the frames whole: the output is the input, except for header edits.
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

// Whether a queue has CoDel, PIE, DualPI2 or a ce_threshold, or marks at departure: the session is then a build with all of them.
bool judges(const VmConfig& config);

class LaneSession {
 public:
  explicit LaneSession(const VmConfig& config);  // copies it
  // `frame` has at least one byte. If `seen` is not null, it receives what the decision saw.
  Decision arrive(u64 time, const u8* frame, u32 lenBytes, bool bad, Arrival* seen);
  void advance(u64 time);
  u64 drain();               // the time of the last departure
  bool next(u64& ns) const;  // false: nothing happens before another frame arrives

  std::deque<SentFrame>& sent() { return sent_; }
  std::deque<VmEvicted>& evicted() { return evicted_; }        // in order of eviction; the caller removes them
  std::deque<VmDepartureDrop>& dropped() { return dropped_; }  // at departure, likewise
  const VmCounters& counters(u32 queue, u32 colour) const { return counters_[queue * Colours + colour]; }
  u32 queueCount() const { return static_cast<u32>(counters_.size()) / Colours; }

 private:
  // A frame in the lane.
  struct Inside {
    VmSent record{};
    Headers headers{};
    RuleChoice rule;
    bool mark = false;
    std::vector<u8> bytes;
  };
  Inside& inside(u64 id) { return inside_[id - firstId_]; }
  bool resting() const;
  void clock();
  void decided();
  void departed(Inside& frame);
  void sentFrame(u64 id);
  void release();

  VmConfig config_;
  std::vector<VmQueue> profiles_;
  ClockedLane lane_;
  std::vector<VmCounters> counters_;
  std::deque<Inside> inside_;  // by id; frames that were sent or dropped are removed from the front
  std::deque<SentFrame> sent_;
  std::deque<VmEvicted> evicted_;
  std::deque<VmDepartureDrop> dropped_;
  u64 firstId_ = 0, now_ = 0, resting_ = 0, lastSent_ = 0;
};

}  // namespace vermilion
