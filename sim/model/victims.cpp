#include "victims.h"

#include <algorithm>
#include <tuple>

namespace vermilion {

VictimOutcome Victims::arrive(const VictimArrival& arrival) {
  VictimOutcome outcome{};
  std::list<Packet>& queue = queues_[arrival.queue];
  if (arrival.action == VictimArrival::Refuse) return outcome;
  if (arrival.action == VictimArrival::PushOut) {
    const u32 mildest = WorstColour - (arrival.byColour ? worstColour(arrival.colour) : 0);
    const bool mayMark = arrival.mayMark && arrival.last == 0;
    auto victim = queue.end();
    const auto rank = [](const Packet& p) { return std::tuple(p.arrival.distance, rankSlot(p.arrival)); };
    std::size_t behind =
        arrival.queue >= shape_.indexed ? 0 : queue.size() - std::min<std::size_t>(queue.size(), shape_.places);
    if (arrival.last != 0) behind = std::min<std::size_t>(behind, arrival.last);
    // From the newest on; of equal ones the last that is seen, which is the oldest.
    for (auto p = queue.end(); behind != 0; behind--) {
      --p;
      if (p->marked || rankSlot(p->arrival) > mildest) continue;
      if ((arrival.last == 0) != (p->arrival.last == 0)) continue;
      if (victim == queue.end() || rank(*p) <= rank(*victim)) victim = p;
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
