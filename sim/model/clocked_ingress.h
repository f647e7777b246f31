// The inputs of a lane clock by clock: CellGather.scala, Ingress.scala and IngressArbiter.scala.
//
//   frames -> beats -> cells, each with its turn and, unless none is free, a cell of the buffer -> one descriptor a frame, when its headers are parsed
//
// A turn is one at the write port and at the parser; a frame's first two cells have it even if no cell is free for them.
//
// A frame of an input that cannot be stalled is lost where its first cell finds no place for its descriptor; it has no beat that
// waits. An input that can be stalled waits for a place, for its turn and for a cell. There is no reset here.
//
// No bytes: a frame is its length and its headers. Frames that come while others are on an input wait there.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "clocked_free.h"
#include "parser.h"
#include "timing.h"

namespace vermilion {

// A frame that is in; queue and colour are the decision's.
struct ClockedPacket {
  u64 id = 0;
  Headers headers{};
  u32 lenBytes = 0;  // saturated
  u32 input = 0, queue = 0, colour = 0, cells = 0;
  bool noBuffer = false, bad = false;
};

class ClockedIngress {
 public:
  ClockedIngress(LaneShape shape, u32 maxFrameBytes, VmOptionTypes types, ClockedFreeCells& cells);

  // Frame `id` comes on an input, behind those that wait there; its first beat can be in the next clock.
  void arrive(u32 input, u64 id, const u8* frame, u32 lenBytes, bool bad);
  // `descriptorRoom`: a descriptor can be chosen in this clock; `descriptorTaken`: the policy pipeline takes one of this input.
  void clock(u64 clock, bool descriptorRoom, std::optional<u32> descriptorTaken);

  // What the clock brought.
  const std::optional<ClockedPacket>& descriptor() const { return descriptor_; }
  const std::vector<ClockedPacket>& lost() const { return lost_; }
  u32 ended() const { return ended_; }  // frames whose last beat came in

  bool waiting() const;  // frames or beats have not come in yet
  std::size_t waiting(u32 input) const { return inputs_[input].frames.size(); }
  bool open() const;  // between a frame's first and last beat

 private:
  struct Coming {
    u64 id;
    Headers headers;
    u32 left, lenBytes;
    bool bad;
  };
  struct GatheredCell {
    u32 lenBytes = 0;
    bool first = false, second = false, last = false;
  };
  struct Input {
    std::deque<Coming> frames;         // on the wire; the first may be partly in
    std::deque<ClockedPacket> inside;  // all beats in, not yet a descriptor
    u32 slot = 0, cellIndex = 0, length = 0, taken = 0;
    bool cellValid = false, stopped = false, leavingOut = false;
    GatheredCell cell;
    std::optional<GatheredCell> kept;  // came before it, where the input can be stalled: stream/SkidBuffer.scala
    u32 places = 0;                    // for descriptors, taken
    std::deque<ClockedPacket> finished;
    std::deque<u64> headers;  // clocks at which they stand in the queue
    bool open = false;
  };
  void gather(Input& in, bool cellTaken);
  struct Fate {
    bool leaveOut, waits, stored, asks;  // waits: for a place or a cell; asks: for its turn
  };
  static bool offers(const Input& in) { return in.kept || in.cellValid; }
  static const GatheredCell& offered(const Input& in) { return in.kept ? *in.kept : in.cell; }
  Fate fate(u32 input) const;
  bool takeCell(u32 input, bool hasTurn);  // false: it waits
  bool stallable(u32 input) const { return (shape_.stallable >> input & 1) != 0; }

  LaneShape shape_;
  u32 maxFrameBytes_;
  VmOptionTypes types_;
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
