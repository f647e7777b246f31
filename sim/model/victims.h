// DDRED's rule by itself (docs/distance-drops.md): who goes when a packet must go, one operation after the other, by looking at every
// queued packet. What VictimPipeline.scala does when its operations do not overlap; clocked_victims.h says what it does when they do.
//
// A push-out's victim is the queued packet with the smallest distance; of equal ones that of the worst class, then the oldest.
// The class is the colour where the switch byColour is set, else 0 for all; with it only packets of the arriving one's colour
// or a worse one may lose. The arriving packet loses if its distance is smaller, or if nobody else may. A queue's first `places` packets may not:
// they are the scheduler's already. With last = n (the tail-drop form) only the last n of the others may lose, of those that came in that form, and with
// asLong none that is shorter than the arriving one, which then loses itself. With mayMark, a loser that is ECT stays and is marked CE, and is no candidate any more.
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
  u32 last = 0;  // tail-drop form: only so many of the last packets may lose; 0: RED form
  bool asLong = false;
};

struct VictimOutcome {
  bool enqueued, marked, stale, evicted,
      victimMarked;  // stale: the arriving packet is dropped as every packet of the search had left; never here
  u32 cell, lenBytes, colour, distance;  // of the victim, where evicted or victimMarked
};

// As VictimParams.scala: only queues below `indexed` hold push-outs.
struct VictimShape {
  u32 queues = 16, cells = 4096, indexed = 16, distances = 64;
  u32 places = 4;
};

// Rank slot: 0 is the worst class and goes first.
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
