// Each frame that enters is sent, dropped or pushed out exactly once, and a sent frame is unchanged except for header edits.
//
//   input   -> lost        dropped at the input as a whole, and counted: found by the cycle of its last beat; length
//   input   -> verdict     in order on each input, those that were not lost; length, queue, colour and ECN bits are those that the model's parser
//                          finds; `nobuf` only if the frame is longer than the lane stores, which always gives `nobuf`, or no cells were free
//   verdict -> evicted     the victim of a push-out: it was in that queue, and not the head of line, or head of line for no more than the one
//                          cycle before the verdict, in which an eviction wins; length and colour are those that the lane shows
//   verdict -> departure   in order in each queue, admitted frames only
//   departure -> wire      in order, and never before the departure; byte for byte the frame that entered, with the edits of the model's rewrite()
//
// At the end no frame may be left in the lane. Every error is counted, and the first one is kept as a sentence.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "breaches.h"
#include "frame.h"
#include "parser.h"
#include "records.h"
#include "replay.h"

namespace vermilion {

struct Left;

// A frame in the lane, with all that is known of it so far. Cycles count from the start; RTL only.
struct Packet {
  std::shared_ptr<const Frame> frame;
  VmHeaders headers{};
  u32 queue = 0, colour = 0, lenBytes = 0, verdict = 0;
  bool ce = false;                                                 // is sent with CE
  bool travelled = false;                                          // its distance is known
  u32 cell = 0;                                                    // names it in the RTL
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
  void lost(u32 input, u32 lenBytes, u64 clock);
  Packet decided(const RtlDecision& decision, u64 clock);
  // Whether the distance of the packet that the last decision dropped or pushed out is known.
  bool lostTravelled() const { return lostTravelled_; }
  void departed(const Left& left, u64 now, u64 clock);
  void wire(u32 egress, std::vector<u8> bytes, u64 firstBeatClock);
  void error(const std::string& text) { breaches_.add(text); }
  // Counts each frame that was neither sent nor dropped.
  void finish();

  const Breaches& breaches() const { return breaches_; }
  u64 errors() const { return breaches_.count; }
  const std::string& firstError() const { return breaches_.first; }
  bool empty() const { return underWay_ == 0; }
  const std::vector<Lost>& lost() const { return lost_; }  // one an input

 private:
  struct Wire {
    std::vector<u8> bytes;
    u64 clock;
  };
  // Of an egress: packets that left their queues, and frames that came out, until both meet.
  struct Way {
    std::deque<Packet> left;
    std::deque<Wire> wire;
  };
  // Cells of frames that are in the lane: now, and the most of the last thousands of cycles.
  class Held {
   public:
    void add(u32 lenBytes, u64 clock) { change(cellsOf(lenBytes), clock); }
    void remove(u32 lenBytes, u64 clock) { change(-cellsOf(lenBytes), clock); }
    i64 most(u64 clock) {
      change(0, clock);
      return std::max(most_, mostBefore_);
    }

   private:
    static constexpr u64 Window = 4096;  // cycles; the longest frame takes fewer to come in
    static i64 cellsOf(u32 lenBytes) { return (lenBytes + CellBytes - 1) / CellBytes; }
    void change(i64 cells, u64 clock);
    i64 now_ = 0, most_ = 0, mostBefore_ = 0;
    u64 window_ = 0;
  };
  void checkRoom(const Packet& packet, bool noBuffer, u64 clock);
  void match(Way& way);
  void pushOut(const Packet& arriving, const VictimOutcome& outcome);

  const VmConfig& config_;
  Sent sent_;
  std::vector<std::deque<Packet>> inputs_, queues_;
  std::vector<Lost> lost_;
  std::vector<Way> ways_;
  bool lostTravelled_ = false;
  Held held_;
  u64 underWay_ = 0;
  Breaches breaches_;
};

// Whether a frame has a distance that it has travelled (distance.h), by its headers and its Ethernet address.
bool travelled(const VmConfig& config, const Packet& packet);

// What the frame must look like on the wire.
std::vector<u8> expectedBytes(const VmConfig& config, const Packet& packet, bool* ceWritten);

}  // namespace vermilion
