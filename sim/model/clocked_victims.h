// The victim search as the RTL runs it, one call a clock: VictimPipeline.scala, DistanceLists.scala, TailWindow.scala and QueueOrder.scala, with what
// a search does not see. Stages and names are those of VictimPipeline.scala. The rule itself stands in victims.h.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "victims.h"

namespace vermilion {

class ClockedVictims {
 public:
  struct Take {
    u32 queue, cell;
    bool emptied;  // the taker thinks it the last
  };
  // What the block says in a clock. It does not hang on what comes in the same clock.
  struct Ports {
    bool enqueued = false, enqueuedMarked = false, awake = false;  // the packet of five clocks before
    std::optional<u32> victim;  // who is evicted or marked for it: gone, or not, at the clock's end
    bool evicts = false;
    std::optional<VictimOutcome> outcome;  // of that of six clocks before
    struct Freed {
      u32 cell, cells;
    };
    std::optional<Freed> freed;
    // Behind a take.
    bool promoted = false, refilled = false, takenMarked = false;
    u32 successor = 0, newestServed = 0;
  };

  explicit ClockedVictims(const VictimShape& shape);
  const Ports& ports() const { return ports_; }  // of the clock that comes next
  void clock(const std::optional<VictimArrival>& arrival, const std::optional<Take>& take);
  u32 newest(u32 queue) const { return queues_[queue].newest; }

 private:
  static constexpr u32 Slots = WorstColour + 1;
  static constexpr std::size_t WindowPlaces = 16;  // TailWindow.scala, Places
  struct Packet {
    VictimArrival arrival;
    u32 before, behind;
    bool marked;
  };
  struct Queue {
    u32 newest = 0;
    bool awake = false;
    std::array<u64, Slots> bitmap{};  // by slot, a bit a distance
    std::deque<u32> window;           // the last packets, newest first
    u32 behind = 0;                   // packets behind the first, but for promotions of this clock and the one before
  };
  struct Stage {
    bool valid = false;
    VictimArrival arrival{};
    bool found = false;  // from s2 on
    u32 distance = 0, slot = 0, tailCell = 0;
    bool wants = false;                 // from s4 on
    std::optional<u32> candidate = {};  // from s5 on
  };
  struct Promotion {
    bool valid = false;
    u32 queue = 0, cell = 0;
  };
  std::size_t list(u32 queue, u32 distance, u32 slot) const {
    return (queue * shape_.distances + distance) * Slots + slot;
  }
  std::size_t listOf(const Packet& p) const { return list(p.arrival.queue, p.arrival.distance, rankSlot(p.arrival)); }
  bool promotedFromList() const {
    return p1_.valid && p1_.queue < shape_.indexed && !packets_[p1_.cell].marked &&
           packets_[p1_.cell].arrival.last == 0;
  }
  void findLowest(Stage& s1) const;
  void findInWindow(Stage& s1, u32 mildest) const;
  bool windowHolds(const Queue& queue, u32 cell) const;
  std::optional<u32> behindInList(std::size_t list, u32 cell) const;
  void popFront(std::size_t list, u32 cell);
  void push(u32 cell);
  void unlink(u32 cell);
  void evaluate();

  VictimShape shape_;
  std::vector<Packet> packets_;  // by head cell; grows where names are greater than the shape says
  std::vector<Queue> queues_;
  std::vector<std::deque<u32>> lists_;  // oldest first
  Stage s1_, s2_, s3_, s4_, s5_;
  std::optional<Take> t1_;
  Promotion p1_;
  // of the clock that comes next
  Ports ports_;
  VictimOutcome decided_{};  // of s5
  bool pays_ = false;        // a queued packet does
};

}  // namespace vermilion
