// Checks that each frame is sent, dropped or pushed out exactly once. A sent frame differs only by header edits.
//
//   input   -> lost        The input drops the whole frame and counts it. The cycle of its last beat identifies it.
//                          Checked: length
//   input   -> verdict     In order on each input, without the lost frames. Checked: rule, length, queue, colour and ECN
//                          bits, as the model's parser finds them; `bad` is 0. A frame longer than the lane stores must
//                          get `nobuf`. Any other frame may get it only if no cells were free
//   verdict -> evicted     The victim of a push-out. Checked: it was in that queue; length and colour; it is not marked
//                          twice, nor both marked and evicted. victim_check.h checks that it is the right victim
//   verdict -> departure   In order in each queue, admitted frames only. Checked: colour, length, arrival time; not
//                          flushed
//   departure -> dropped   By its queue's verdict, which replay.h checks
//   departure -> wire      In order on each egress, at least one cycle after the departure. Checked: all bytes, which
//                          are those of the frame that entered, with the edits of the model's rewrite()
//
// At the end no frame may be left in the lane. The class counts every error and keeps the first one as a sentence.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "breaches.h"
#include "classifier.h"
#include "frame.h"
#include "parser.h"
#include "records.h"
#include "replay.h"

namespace vermilion {

struct Left;

// A frame in the lane, with what is known of it so far. Only runs of the RTL set `cell` and the cycles, which count
// from the start of the program.
struct Packet {
  std::shared_ptr<const Frame> frame;
  VmHeaders headers{};  // with the DSCP of the rule
  RuleChoice rule;
  u32 marker = 0;  // the queue whose marker marks it
  u32 queue = 0, colour = 0, lenBytes = 0, verdict = 0;
  bool ce = false;                                                 // is sent with CE
  bool travelled = false;                                          // its distance is known
  u32 cell = 0;                                                    // identifies it in the RTL
  u64 decided = 0, left = 0;                                       // ns
  u64 inClock = 0, decidedClock = 0, leftClock = 0, outClock = 0;  // last beat in, verdict, departure, first beat out
};

struct Lost {
  u64 frames = 0, bytes = 0;  // a frame counts at most 65535 bytes
};

class Accounting {
 public:
  // `sent` is called for each frame on the wire, with the bytes that came out.
  using Sent = std::function<void(const Packet&, const std::vector<u8>&)>;
  Accounting(const VmConfig& config, u32 inputs, Sent sent);

  void arrived(u32 input, std::shared_ptr<const Frame> frame, u64 clock);
  // Returns the frame; null if there is none.
  std::shared_ptr<const Frame> lost(u32 input, u32 lenBytes, u64 clock);
  Packet decided(const RtlDecision& decision, u64 clock);
  // Whether the distance of the packet that the last decision dropped or pushed out is known.
  bool lostTravelled() const { return lostTravelled_; }
  // The queued packet that the last decision evicted or marked; null if there is none.
  const Packet* victim() const { return victim_ ? &*victim_ : nullptr; }
  // Returns the packet that departs; nothing if there is none.
  std::optional<Packet> departed(const Left& left, u64 now, u64 clock);
  void wire(u32 egress, std::vector<u8> bytes, u64 firstBeatClock);
  void error(const std::string& text) { breaches_.add(text); }
  // Counts each frame that was neither sent nor dropped.
  void finish();

  const Breaches& breaches() const { return breaches_; }
  u64 errors() const { return breaches_.count; }
  const std::string& firstError() const { return breaches_.first; }
  bool empty() const { return underWay_ == 0; }
  const std::vector<Lost>& lost() const { return lost_; }  // one per input

 private:
  struct Wire {
    std::vector<u8> bytes;
    u64 clock;
  };
  // Of an egress: departed packets and frames from the wire. Each waits for its counterpart.
  struct Way {
    std::deque<Packet> left;
    std::deque<Wire> wire;
  };
  // Cells of frames in the lane: the current number, and the maximum in the current and the previous window.
  class Held {
   public:
    void add(u32 lenBytes, u64 clock) { change(cellsOf(lenBytes), clock); }
    void remove(u32 lenBytes, u64 clock) { change(-cellsOf(lenBytes), clock); }
    i64 most(u64 clock) {
      change(0, clock);
      return std::max(most_, mostBefore_);
    }

   private:
    static constexpr u64 Window = 4096;  // cycles; more than the longest frame takes to arrive
    static i64 cellsOf(u32 lenBytes) { return (lenBytes + CellBytes - 1) / CellBytes; }
    void change(i64 cells, u64 clock);
    i64 now_ = 0, most_ = 0, mostBefore_ = 0;
    u64 window_ = 0;
  };
  void checkRoom(const Packet& packet, bool noBuffer, u64 clock);
  void match(Way& way);
  void pushOut(const Packet& arriving, const VictimOutcome& outcome);

  const VmConfig& config_;
  Classifier classifier_;
  Sent sent_;
  std::vector<std::deque<Packet>> inputs_, queues_;
  std::vector<Lost> lost_;
  std::vector<Way> ways_;
  bool lostTravelled_ = false;
  std::optional<Packet> victim_;
  Held held_;
  u64 underWay_ = 0;
  Breaches breaches_;
};

// Whether the packet's distance is known (distance.h): its headers give one, and it is not sent to a group address.
bool travelled(const VmConfig& config, const Packet& packet);

// The bytes that the frame must have on the wire. `ceWritten`: the rewrite changes its ECN field to CE.
std::vector<u8> expectedBytes(const VmConfig& config, const Packet& packet, bool* ceWritten);

}  // namespace vermilion
