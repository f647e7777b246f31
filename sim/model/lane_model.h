// A lane for other simulators: one event loop, from frames with arrival times to frames with departure times. The lane
// with the RTL's own times is clocked_lane.h.
//
//   arrive: send what leaves until then -> parse -> classify -> cells -> draw -> decide -> queue
//   leave:  schedule -> rewrite -> out
//
// It is the RTL with no pipeline: n is always 1, a backlog is what it is at the instant. So it gives the RTL's output
// where decisions of a queue are further apart than the pipeline is long. A packet leaves its queue, and its backlog
// and cells, at the instant it is picked; a packet that leaves at the instant another arrives has left before. Times
// that go back are taken as the latest time seen. Lengths saturate at 2^16-1 bytes, for backlog, counters and shapers.
//
// The frames themselves are kept whole: what comes out is what came in, but for header edits.
#pragma once

#include <deque>
#include <vector>

#include "decide.h"
#include "parser.h"
#include "random.h"
#include "schedule.h"

namespace vermilion {

struct SentFrame {
  VmSent record;
  std::vector<u8> bytes;
};

class LaneModel {
 public:
  explicit LaneModel(const VmConfig& config);  // copies it
  // `seen`, where not null, takes what the decision saw.
  Decision arrive(u64 time, const u8* frame, u32 lenBytes, bool bad, Arrival* seen);
  // Sends what leaves up to and including `time`.
  void advance(u64 time);
  // Sends all that is queued; returns the time of the last departure.
  u64 drain();

  std::deque<SentFrame>& sent() { return sent_; }
  const VmCounters& counters(u32 queue, u32 colour) const { return counters_[queue * Colours + colour]; }
  const DecisionModel& decisions() const { return decisions_; }
  u64 now() const { return now_; }

 private:
  struct Waiting {
    VmSent record;
    Headers headers;
    bool setCe;
    int setDscp;  // -1: leave
    std::vector<u8> bytes;
  };
  struct Queue {
    std::deque<Waiting> packets;
    u32 backlogBytes[Colours] = {}, backlogPackets[Colours] = {};
    u64 lastDeparture[Colours] = {};
  };
  Arrival look(u32 queue, u32 colour, u32 lenBytes) const;
  void leave(u32 queue);

  VmConfig config_;
  std::vector<VmQueue> profiles_;
  DecisionModel decisions_;
  Scheduler scheduler_;
  RandomSource random_;
  std::vector<Queue> queues_;
  std::vector<u32> headBytes_;
  std::vector<VmCounters> counters_;
  std::deque<SentFrame> sent_;
  u64 now_ = 0, frames_ = 0, cellsUsed_ = 0, waiting_ = 0;
};

}  // namespace vermilion
