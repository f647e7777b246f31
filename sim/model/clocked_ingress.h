// The inputs of a lane, cycle by cycle: CellGather.scala, Ingress.scala and IngressArbiter.scala.
//
//   frames -> beats -> cells -> one descriptor per frame, when its headers are parsed
//
// The arbiter grants each cell the write port and the parser for one cycle. A cell also takes a cell of the buffer, if
// one is free. A frame's first two cells need the grant even if no cell is free for them.
//
// An input that cannot be stalled has no stalled beats. It loses a frame if the frame's first cell finds no place for
// its descriptor. An input that can be stalled waits for a place, for its grant and for a cell. The model has no reset.
//
// The model holds no bytes: a frame is its length and its headers. Frames that arrive while another one is being
// received wait at their input.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "clocked_free.h"
#include "parser.h"
#include "rules.h"
#include "timing.h"

namespace vermilion {

// A frame that has been received. The decision sets queue and colour.
struct ClockedPacket {
  u64 id = 0;
  Headers headers{};  // with the DSCP of the rule
  RuleChoice rule;
  u32 lenBytes = 0;  // saturated
  u32 input = 0, queue = 0, colour = 0, cells = 0;
  bool noBuffer = false, bad = false;
};

class ClockedIngress {
 public:
  ClockedIngress(LaneShape shape, u32 maxFrameBytes, VmOptionTypes types, const RuleTable& rules,
                 ClockedFreeCells& cells);

  // Frame `id` arrives at an input, after those that wait there. Its first beat can come in the next cycle.
  void arrive(u32 input, u64 id, const u8* frame, u32 lenBytes, bool bad);
  // `descriptorRoom`: a descriptor can be chosen in this cycle.
  // `descriptorTaken`: the input from which the policy pipeline takes a descriptor.
  void clock(u64 clock, bool descriptorRoom, std::optional<u32> descriptorTaken);

  // Results of the cycle.
  const std::optional<ClockedPacket>& descriptor() const { return descriptor_; }
  const std::vector<ClockedPacket>& lost() const { return lost_; }
  u32 ended() const { return ended_; }  // frames whose last beat was received

  bool waiting() const;  // frames or beats are not yet received
  std::size_t waiting(u32 input) const { return inputs_[input].frames.size(); }
  bool open() const;  // between a frame's first and last beat

 private:
  struct Coming {
    u64 id;
    Headers headers;
    RuleChoice rule;
    u32 left, lenBytes;
    bool bad;
  };
  struct GatheredCell {
    u32 lenBytes = 0;
    bool first = false, second = false, last = false;
  };
  struct Input {
    std::deque<Coming> frames;         // on the wire; the first may be partly received
    std::deque<ClockedPacket> inside;  // all beats received, no descriptor yet
    u32 slot = 0, cellIndex = 0, length = 0, taken = 0;
    bool cellValid = false, stopped = false, leavingOut = false;
    GatheredCell cell;
    std::optional<GatheredCell> kept;  // older than `cell`, where the input can be stalled: stream/SkidBuffer.scala
    u32 places = 0;                    // for descriptors, occupied
    std::deque<ClockedPacket> finished;
    std::deque<u64> headers;  // cycles in which they are in the queue
    bool open = false;
  };
  void gather(Input& in, bool cellTaken);
  struct Fate {
    bool leaveOut, waits, stored, asks;  // waits: for a place or a cell; asks: requests a grant
  };
  static bool offers(const Input& in) { return in.kept || in.cellValid; }
  static const GatheredCell& offered(const Input& in) { return in.kept ? *in.kept : in.cell; }
  Fate fate(u32 input) const;
  bool takeCell(u32 input, bool hasTurn);  // false: the cell waits
  bool stallable(u32 input) const { return (shape_.stallable >> input & 1) != 0; }

  LaneShape shape_;
  u32 maxFrameBytes_;
  VmOptionTypes types_;
  const RuleTable& rules_;
  ClockedFreeCells& cells_;
  u64 clock_ = 0;
  std::vector<Input> inputs_;
  InputArbiter cellArbiter_, descriptorArbiter_;
  std::vector<u8> asks_, descriptors_;
  std::optional<ClockedPacket> descriptor_;
  std::vector<ClockedPacket> lost_;
  u32 ended_ = 0;
};

}  // namespace vermilion
