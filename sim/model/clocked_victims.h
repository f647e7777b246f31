// The victim search cycle by cycle, one call per cycle: VictimPipeline.scala, DistanceLists.scala, TailWindow.scala,
// QueueOrder.scala and HeadPlaces.scala. It includes what a search in progress does not see. Stages and names are those
// of VictimPipeline.scala. victims.h has the rule itself.
//
// A queue consists of a head, which belongs to the scheduler, and a body. Every packet enters the body. It becomes head
// of line when a place is requested. Two events request a place:
//   - a packet is enqueued while fewer than `places` are occupied or requested;
//   - the scheduler takes a packet while the body holds more packets than places are requested.
// Requests of the two kinds are served alternately, each in a slot without a push-out. After a request has waited for
// `Patience` push-outs, it gets the slot of the next push-out, which then has no victim. A request is void if the body
// is empty at that time. Each event sees its queue as of the end of the previous cycle.
//
// What a search sees when. It begins in cycle t, its packet comes in t + 3, and the packet is dropped or pushes another
// one out in t + 5 (RED form):
//   t      the ranks of the packets in the queue's body: the lowest and the second lowest of the candidates. The lists
//          hold the packets that were enqueued before. A packet that becomes head of line leaves its list in t + 5 of
//          its slot, as a victim does.
//   t + 3  whether a list is empty, and its oldest packet, the list's head. Packets that left in slots at least two
//          before this one are already removed.
//   t + 4  the selected packet: of the lowest rank's list the oldest that does not leave in the previous slot. If there
//          is none, that of the second list.
//   t + 5  the victim has left the queue, or is marked.
// A packet that is pushed in a cycle is visible in the same cycle if its list holds another packet. If its list is
// empty, it is visible from the next cycle on.
//
// The arriving packet is dropped by the rule in two cases:
//   - its distance is smaller than the lowest;
//   - the lowest rank's list was empty, and there is no second, or the distance is smaller than the second's.
// The candidate is stale, and the arriving packet is dropped, if both lists have no packet left or if a new head uses
// the slot. Otherwise the victim is the packet selected in t + 4.
//
// Tail-drop form: the nearest of the body's last n packets as of t. The candidate is stale if it leaves in t + 4 or
// before.
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
  // The block's outputs in a cycle. They do not depend on the inputs of the same cycle.
  struct Ports {
    std::optional<VictimOutcome> outcome;  // of the packet that was in s5
    struct Freed {
      u32 cell, cells;
    };
    std::optional<Freed> freed;
    std::optional<NewHead> newHead;  // becomes head of line, in the slot that was in s5
    bool busy = false;               // a new head is requested or in the pipeline
  };

  explicit ClockedVictims(const VictimShape& shape);
  const Ports& ports() const { return ports_; }  // of the next cycle
  // `ahead` begins a search. `arrival` is the packet of the search that began three cycles before; only now is its
  // action used. The scheduler takes a packet from the head of queue `taken` in this cycle.
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
    u32 asked = 0, heldOrAsked = 0;   // places, requested and occupied: HeadPlaces.scala
    std::array<u64, Slots> bitmap{};  // by slot, one bit per distance
    std::deque<u32> window;           // the last packets, newest first
    u32 behind = 0;                   // packets of the body, less new heads of this and the previous cycle
  };
  struct Rank {
    bool found = false;
    u32 distance = 0, slot = 0;
  };
  struct Stage {
    bool valid = false;
    VictimArrival arrival{};
    std::array<Rank, 2> ranks{};  // from s2 on: the lowest, the second lowest; in tail-drop form the one found
    u32 tailCell = 0;             // the packet found
    u64 tailSerial = 0;
    std::array<bool, 2> wants{};                   // from s4 on: the arriving packet is not nearer
    std::array<std::optional<u32>, 2> heads = {};  // from s4 on: of the lists
    std::optional<u32> candidate;                  // from s5 on
    Rank chosen{};                                 // rank of the candidate
    bool emptied = false;                          // no packet was left
    bool yields = false;                           // from s4 on: its slot serves a new head
    bool tail() const { return arrival.last != 0; }
  };
  struct Service {
    bool valid = false;
    u32 queue = 0;
    std::optional<u32> cell;  // from s5 on: the packet that becomes head of line
  };
  std::size_t list(u32 queue, u32 distance, u32 slot) const {
    return (queue * shape_.distances + distance) * Slots + slot;
  }
  std::size_t listOf(const Packet& p) const { return list(p.arrival.queue, p.arrival.distance, rankSlot(p.arrival)); }
  std::size_t listOf(const Stage& s, const Rank& r) const { return list(s.arrival.queue, r.distance, r.slot); }
  bool isListed(const Packet& p) const { return p.arrival.queue < shape_.indexed && !p.marked && p.arrival.last == 0; }
  void findLowest(Stage& s1) const;
  void findInWindow(Stage& s1, u32 mildest) const;
  std::optional<u32> pops() const;  // the packet that leaves the front of its list in s5
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
  std::vector<Packet> packets_;  // by head cell; grows if a name exceeds shape.cells
  std::vector<Queue> queues_;
  std::vector<std::deque<u32>> lists_;  // oldest first
  Stage s1_, s2_, s3_, s4_, s5_;
  Service p3_, p4_, p5_;  // the queue of which a packet becomes head of line in the slot
  u64 enqueued_ = 0;
  std::optional<u32> t1_, t2_;            // queues from which the scheduler took a packet one and two cycles before
  std::optional<u32> p6_;                 // queue of the packet that became head of line in the previous cycle
  std::deque<u32> byEnqueued_, byTaken_;  // requests
  bool servesTaken_ = false;              // byTaken_ has priority
  u32 waited_ = 0;                        // push-outs for which the first request has waited
  // of the next cycle
  Ports ports_;
  VictimOutcome decided_{};  // of s5
  bool hasVictim_ = false;   // a queued packet is evicted or marked
};

}  // namespace vermilion
