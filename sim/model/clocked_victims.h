// The victim search as the RTL runs it, one call a clock: VictimPipeline.scala, DistanceLists.scala, TailWindow.scala, QueueOrder.scala and
// HeadPlaces.scala, with what a search does not see. Stages and names are those of VictimPipeline.scala. The rule itself stands in victims.h.
//
// A queue is a head, the scheduler's, and a body. Every packet comes into the body and moves to the head when a place is asked for: by a packet that is enqueued
// while fewer than `places` are taken or asked for, or by one that is taken while more packets wait than places are asked for. A request is served, of
// both kinds in turn, in a slot without a push-out, or in that of a push-out behind `Patience` others, which finds no victim then; it is void if the body is empty then. Each event sees its queue as the clocks before have left it.
//
// What is seen when, for a packet whose search begins in clock t, which comes in t + 3 and is dropped, or pushes another out, in clock t + 5 (RED form):
//   t      which ranks the packets of the queue's body have: the lowest and the second lowest that may lose. In the lists is who was enqueued before;
//          the packet that becomes head leaves its list in the t + 5 of its slot, as a victim does.
//   t + 3  whether a list holds anything; its oldest, the head. Who went in the slots up to two ahead is out by then.
//   t + 4  who goes: of the lowest rank's list the oldest that does not go in the slot ahead. If there is none, of the second's.
//   t + 5  the victim is out of the queue, or marked.
// Who is pushed in a clock is seen behind another packet of its list in the same clock, in a list without any from the next on.
// The victim: the arriving packet by the rule, if its distance is smaller than the lowest's, or if the lowest's list was found empty and
// there is no second or its distance is smaller than the second's; with a stale candidate, if no packet of both lists can go. Else the one chosen in t + 4.
//
// Tail-drop form: the nearest of the body's last n as they stood in t. It is stale if that one has left up to and including t + 4.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "victims.h"

namespace vermilion {

class ClockedVictims {
 public:
  struct NewHead {
    u32 queue, cell;
    bool marked;
  };
  // What the block says in a clock. It does not hang on what comes in the same clock.
  struct Ports {
    std::optional<VictimOutcome> outcome;  // of the packet that was in s5
    struct Freed {
      u32 cell, cells;
    };
    std::optional<Freed> freed;
    std::optional<NewHead> newHead;  // to the head, in the slot that was in s5
    bool busy = false;               // a new head is asked for, or on its way
  };

  explicit ClockedVictims(const VictimShape& shape);
  const Ports& ports() const { return ports_; }  // of the clock that comes next
  // `ahead` begins a search; `arrival` is the packet of the search of three clocks before, with its action, which is not looked at until then; from
  // the head of `taken` the scheduler takes a packet in this clock.
  void clock(const std::optional<VictimArrival>& ahead, const std::optional<VictimArrival>& arrival,
             const std::optional<u32>& taken);

 private:
  static constexpr u32 Slots = WorstColour + 1;
  static constexpr std::size_t WindowPlaces = 16;  // TailWindow.scala, Places
  static constexpr u32 Patience = 8;               // VictimPipeline.scala
  struct Packet {
    VictimArrival arrival;
    bool marked;
    u64 serial;         // of all that were ever enqueued
    bool left = false;  // evicted, or in the head
  };
  struct Queue {
    std::deque<u32> body;             // oldest first
    u32 asked = 0, heldOrAsked = 0;   // places: HeadPlaces.scala
    std::array<u64, Slots> bitmap{};  // by slot, a bit a distance
    std::deque<u32> window;           // the last packets, newest first
    u32 behind = 0;                   // packets of the body, but for new heads of this clock and the one before
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
    std::optional<u32> candidate;                  // from s5 on
    Rank chosen{};                                 // its rank
    bool emptied = false;                          // none was left
    bool yields = false;                           // from s4 on: its slot goes to a new head
    bool tail() const { return arrival.last != 0; }
  };
  struct Service {
    bool valid = false;
    u32 queue = 0;
    std::optional<u32> cell;  // from s5 on: the packet that becomes head
  };
  std::size_t list(u32 queue, u32 distance, u32 slot) const {
    return (queue * shape_.distances + distance) * Slots + slot;
  }
  std::size_t listOf(const Packet& p) const { return list(p.arrival.queue, p.arrival.distance, rankSlot(p.arrival)); }
  std::size_t listOf(const Stage& s, const Rank& r) const { return list(s.arrival.queue, r.distance, r.slot); }
  bool isListed(const Packet& p) const { return p.arrival.queue < shape_.indexed && !p.marked && p.arrival.last == 0; }
  void findLowest(Stage& s1) const;
  void findInWindow(Stage& s1, u32 mildest) const;
  std::optional<u32> pops() const;  // who leaves the head of its list in s5
  bool popsFrom(std::size_t list) const { return pops() && listOf(packets_[*pops()]) == list; }
  std::optional<u32> left(std::size_t list) const;
  void readHeads();
  void correctHeads();
  void leaveBody(u32 cell);
  void show();
  void choose();
  void serve();
  void popFront(u32 cell);
  void push(u32 cell);
  void enqueue();
  void evaluate();

  VictimShape shape_;
  std::vector<Packet> packets_;  // by head cell; grows where names are greater than the shape says
  std::vector<Queue> queues_;
  std::vector<std::deque<u32>> lists_;  // oldest first
  Stage s1_, s2_, s3_, s4_, s5_;
  Service p3_, p4_, p5_;  // whose packet becomes head in the slot
  u64 enqueued_ = 0;
  std::optional<u32> t1_, t2_;            // queues from which packets were taken one and two clocks before
  std::optional<u32> p6_;                 // queue from which one became head in the clock before
  std::deque<u32> byEnqueued_, byTaken_;  // requests
  bool takensTurn_ = false;               // the second list goes first
  u32 waited_ = 0;                        // push-outs for which the first of them has waited
  // of the clock that comes next
  Ports ports_;
  VictimOutcome decided_{};  // of s5
  bool hasVictim_ = false;   // a queued packet is evicted or marked
};

}  // namespace vermilion
