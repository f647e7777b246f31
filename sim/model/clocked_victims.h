// The victim search as the RTL runs it, one call a clock: VictimPipeline.scala, DistanceLists.scala, TailWindow.scala and QueueOrder.scala, with what
// a search does not see. Stages and names are those of VictimPipeline.scala. The rule itself stands in victims.h.
//
// What is seen when, for a packet whose search begins in clock t, which comes in t + 3 and pays, or has another pay, in clock t + 5 (RED form):
//   t      which ranks the queue's packets have, but its first: the lowest and the second lowest that may lose. In the lists is who was enqueued before;
//          a packet that became first leaves its list in the second clock behind the take, a victim in its t + 5.
//   t + 3  whether a list holds anything; its oldest, the head. The victim of the packet two ahead is out by then, and who became first up to t + 2.
//   t + 4  who goes: of the lowest rank's list the oldest that has not become first up to and including t + 4, and is no victim of the packet
//          one ahead. If there is none, of the second's: its head; or, if the packet one ahead has its victim there, the oldest behind that. Not its
//          head where that became first in t + 3 or t + 4.
//   t + 5  the victim is out of the queue, or marked. If the take of t + 4 would make it the first, the packet behind it is first in its stead.
// Who is pushed in a clock is seen behind another packet of its list in the same clock, in a list without any from the next on.
// Who pays: the arriving packet by the rule, if its distance is smaller than the lowest's, or if the lowest's list was found empty and
// there is no second or its distance is smaller than the second's; by being blind, if nobody of both lists can go. Else who was chosen in t + 4.
//
// Tail-drop form: the nearest of the last n as they stood in t. It is blind if that one has been evicted, or has become first, up to and including t + 4; if it
// would become first in t + 5, the packet behind it does.
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
    bool enqueued = false, enqueuedMarked = false, awake = false, joined = false;  // the packet in s5
    std::optional<u32> victim;  // who is evicted or marked for it: gone, or not, at the clock's end
    bool evicts = false;
    bool mayReplace = false;               // it has a victim, who may be the packet behind the one just taken
    std::optional<VictimOutcome> outcome;  // of the packet that was in s5
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
  // `ahead` begins a search; `arrival` is the packet of the search of three clocks before, with its action, which is not looked at until then.
  void clock(const std::optional<VictimArrival>& ahead, const std::optional<VictimArrival>& arrival,
             const std::optional<Take>& take);
  u32 newest(u32 queue) const { return queues_[queue].newest; }

 private:
  static constexpr u32 Slots = WorstColour + 1;
  static constexpr std::size_t WindowPlaces = 16;  // TailWindow.scala, Places
  struct Packet {
    VictimArrival arrival;
    u32 before, behind;
    bool marked;
    u64 serial;         // of all that were ever enqueued
    bool left = false;  // evicted, or its queue's first
  };
  struct Queue {
    u32 newest = 0;
    bool awake = false;
    std::array<u64, Slots> bitmap{};  // by slot, a bit a distance
    std::deque<u32> window;           // the last packets, newest first
    u32 behind = 0;                   // packets behind the first, but for promotions of this clock and the one before
  };
  struct Rank {
    bool found = false;
    u32 distance = 0, slot = 0;
  };
  struct Stage {
    bool valid = false;
    VictimArrival arrival{};
    std::array<Rank, 2> ranks{};  // from s2 on: the lowest, the second lowest; in tail-drop form the one found
    u32 tailCell = 0;             // and who it is
    u64 tailSerial = 0;
    std::array<bool, 2> wants{};                   // from s4 on: the arriving packet is not nearer
    std::array<std::optional<u32>, 2> heads = {};  // from s4 on: of the lists
    std::optional<u32> candidate = {};             // from s5 on
    Rank chosen{};                                 // its rank
    bool emptied = false;                          // none was left
    bool tail() const { return arrival.last != 0; }
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
  std::size_t listOf(const Stage& s, const Rank& r) const { return list(s.arrival.queue, r.distance, r.slot); }
  // The list that loses its first by an eviction in s5.
  bool popsFrom(std::size_t list) const { return s5_.candidate && !s5_.tail() && listOf(s5_, s5_.chosen) == list; }
  void seeHeads();
  void choose();
  std::optional<u32> chooseFrom(int which) const;
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
  u64 enqueued_ = 0;
  std::optional<Take> t1_;
  Promotion p1_;
  // of the clock that comes next
  Ports ports_;
  VictimOutcome decided_{};  // of s5
  bool pays_ = false;        // a queued packet does
};

}  // namespace vermilion
