#include "victims.h"

#include <iterator>
#include <tuple>

namespace vermilion {

VictimOutcome Victims::arrive(const VictimArrival& arrival) {
  VictimOutcome outcome{};
  std::list<Packet>& queue = queues_[arrival.queue];
  if (arrival.action == VictimArrival::Refuse) return outcome;
  if (arrival.action == VictimArrival::Contest) {
    const u32 mildest = WorstColour - (arrival.byColour ? worstColour(arrival.colour) : 0);
    const bool mayMark = arrival.mayMark && arrival.last == 0;
    auto victim = queue.end();
    const auto rank = [](const Packet& p) { return std::tuple(p.arrival.distance, rankSlot(p.arrival)); };
    for (auto p = queue.begin(); p != queue.end() && arrival.queue < shape_.indexed; ++p) {
      if (p == queue.begin() || p->marked || rankSlot(p->arrival) > mildest) continue;
      if ((arrival.last == 0) != (p->arrival.last == 0)) continue;
      if (arrival.last != 0 && static_cast<u32>(std::distance(p, queue.end())) > arrival.last) continue;
      if (victim == queue.end() || rank(*p) < rank(*victim)) victim = p;
    }
    if (victim == queue.end() || arrival.distance < victim->arrival.distance ||
        (arrival.asLong && victim->arrival.lenBytes < arrival.lenBytes)) {
      outcome.marked = mayMark && arrival.ect;
      if (!outcome.marked) return outcome;
    } else {
      const VictimArrival& lost = victim->arrival;
      outcome.victimMarked = mayMark && lost.ect;
      outcome.evicted = !outcome.victimMarked;
      outcome.cell = lost.cell, outcome.lenBytes = lost.lenBytes;
      outcome.colour = lost.colour, outcome.distance = lost.distance;
      victim->marked = true;
      if (outcome.evicted) queue.erase(victim);
    }
  }
  outcome.enqueued = true;
  queue.push_back({arrival, outcome.marked});
  return outcome;
}

std::optional<Victims::Taken> Victims::take(u32 queue) {
  if (queues_[queue].empty()) return {};
  const Packet first = queues_[queue].front();
  queues_[queue].pop_front();
  return Taken{first.arrival.cell, first.marked};
}

}  // namespace vermilion
