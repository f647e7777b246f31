// DDRED's rule alone (docs/distance-drops.md): selects the victim by comparing all queued packets, one operation after
// the other. VictimPipeline.scala gives the same results if its operations do not overlap. clocked_victims.h describes
// what happens if they do.
//
//   - The victim is the queued packet with the smallest distance. Of equal distances it is one of the worst class, then
//     the oldest. The class is the colour if the switch byColour is set, else 0 for all packets.
//   - With byColour, only packets of the arriving packet's colour or a worse one can be the victim.
//   - The arriving packet itself is dropped if its distance is smaller than the victim's, or if there is no candidate.
//   - A queue's first `places` packets are not candidates: they belong to the scheduler.
//   - With last = n (the tail-drop form), only the last n of the others are candidates, and only those that arrived in
//     that form. With asLong, if the victim is shorter than the arriving packet, the arriving one is dropped.
//   - With mayMark, an ECT packet is marked CE instead of dropped. A marked packet is no longer a candidate.
#pragma once

#include <list>
#include <optional>
#include <vector>

#include "formats.h"

namespace vermilion {

struct VictimArrival {
  enum Action : u32 { Admit, Refuse, PushOut };
  u32 queue, cell, cells, lenBytes, colour, distance;
  bool ect;
  u32 action;
  bool byColour, mayMark;
  u32 last = 0;  // tail-drop form: only this many of the last packets are candidates; 0: RED form
  bool asLong = false;
};

struct VictimOutcome {
  bool enqueued, marked, stale, evicted, victimMarked;  // stale: the selected packet had left; never here
  u32 cell, lenBytes, colour, distance;                 // of the victim, if evicted or victimMarked
};

// As VictimParams.scala: only queues below `indexed` have push-outs.
struct VictimShape {
  u32 queues = 16, cells = 4096, indexed = 16, distances = 64;
  u32 places = 4;
};

// Rank slot: 0 is the worst class, which is selected first.
constexpr u32 WorstColour = 2;
inline u32 worstColour(u32 colour) {
  return colour > WorstColour ? WorstColour : colour;
}
inline u32 rankSlot(const VictimArrival& a) {
  return WorstColour - (a.byColour ? worstColour(a.colour) : 0);
}

class Victims {
 public:
  explicit Victims(const VictimShape& shape) : shape_(shape), queues_(shape.queues) {}
  VictimOutcome arrive(const VictimArrival& arrival);
  struct Taken {
    u32 cell;
    bool marked;
  };
  std::optional<Taken> take(u32 queue);
  std::size_t length(u32 queue) const { return queues_[queue].size(); }

 private:
  struct Packet {
    VictimArrival arrival;
    bool marked;
  };
  using Place = std::list<Packet>::iterator;
  Place victimOf(const VictimArrival& arrival);
  VictimOutcome pushOut(const VictimArrival& arrival);

  VictimShape shape_;
  std::vector<std::list<Packet>> queues_;  // oldest first
};

}  // namespace vermilion
