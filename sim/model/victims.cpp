#include "victims.h"

#include <algorithm>
#include <tuple>

namespace vermilion {

// The candidate of the queue with the lowest rank, or the list's end.
Victims::Place Victims::victimOf(const VictimArrival& arrival) {
  std::list<Packet>& queue = queues_[arrival.queue];
  const u32 mildest = WorstColour - (arrival.byColour ? worstColour(arrival.colour) : 0);
  const auto rank = [](const Packet& p) { return std::tuple(p.arrival.distance, rankSlot(p.arrival)); };
  std::size_t behind =
      arrival.queue >= shape_.indexed ? 0 : queue.size() - std::min<std::size_t>(queue.size(), shape_.places);
  if (arrival.last != 0) behind = std::min<std::size_t>(behind, arrival.last);
  auto victim = queue.end();
  // From the newest to the oldest. Of equal ranks it selects the last one, which is the oldest.
  for (auto p = queue.end(); behind != 0; behind--) {
    --p;
    if (p->marked || rankSlot(p->arrival) > mildest) continue;
    if ((arrival.last == 0) != (p->arrival.last == 0)) continue;
    if (victim == queue.end() || rank(*p) <= rank(*victim)) victim = p;
  }
  return victim;
}

// Drops or marks one packet: a queued one, or the arriving one.
VictimOutcome Victims::pushOut(const VictimArrival& arrival) {
  VictimOutcome outcome{};
  std::list<Packet>& queue = queues_[arrival.queue];
  const bool mayMark = arrival.mayMark && arrival.last == 0;
  const Place victim = victimOf(arrival);
  if (victim == queue.end() || arrival.distance < victim->arrival.distance ||
      (arrival.asLong && victim->arrival.lenBytes < arrival.lenBytes)) {
    outcome.marked = mayMark && arrival.ect;
    outcome.enqueued = outcome.marked;
    return outcome;
  }
  const VictimArrival& lost = victim->arrival;
  outcome.enqueued = true;
  outcome.victimMarked = mayMark && lost.ect;
  outcome.evicted = !outcome.victimMarked;
  outcome.cell = lost.cell, outcome.lenBytes = lost.lenBytes;
  outcome.colour = lost.colour, outcome.distance = lost.distance;
  victim->marked = true;
  if (outcome.evicted) queue.erase(victim);
  return outcome;
}

VictimOutcome Victims::arrive(const VictimArrival& arrival) {
  VictimOutcome outcome{};
  if (arrival.action == VictimArrival::PushOut) {
    outcome = pushOut(arrival);
  } else {
    outcome.enqueued = arrival.action != VictimArrival::Refuse;
  }
  if (outcome.enqueued) queues_[arrival.queue].push_back({arrival, outcome.marked});
  return outcome;
}

std::optional<Victims::Taken> Victims::take(u32 queue) {
  if (queues_[queue].empty()) return {};
  const Packet first = queues_[queue].front();
  queues_[queue].pop_front();
  return Taken{first.arrival.cell, first.marked};
}

}  // namespace vermilion
