// Faults in the outcome of a push-out, and another packet evicted than the victim.
#include <deque>
#include <utility>

#include "accounting.h"
#include "faults.h"

namespace vermilion {

namespace {

using D = RtlDecision;

bool contest(const D& d) {
  return !d.refresh && d.contest.held;
}
bool paid(const D& d) {
  return contest(d) && (d.contest.outcome.evicted || d.contest.outcome.victimMarked);
}

template <class Field>
void bit(std::vector<Fault>& to, const char* name, const std::string& what, Check check, const char* says, u32 width,
         bool (*fits)(const D&), Field field) {
  to.push_back({name, "one bit of " + what, check, says,
                [fits](const Recording& run) {
                  return placesOf(run, Event::Kind::Decided,
                                  [&](std::size_t i) { return fits(run.events[i].decision); });
                },
                [field, width](Recording& run, std::size_t place, u32 number) {
                  auto& value = field(run.events[place].decision);
                  value = static_cast<std::remove_reference_t<decltype(value)>>(value ^ bitOf(number, width));
                }});
}

// Packets of each queue by their decisions, before event `end`.
std::vector<std::deque<std::size_t>> standing(const Recording& run, std::size_t end, u32 queues) {
  std::vector<std::deque<std::size_t>> queued(queues);
  for (std::size_t i = 0; i < end; i++) {
    const Event& e = run.events[i];
    if (e.kind == Event::Kind::Departed && !queued[e.left.queue].empty()) queued[e.left.queue].pop_front();
    if (!isPacket(e)) continue;
    std::deque<std::size_t>& queue = queued[e.decision.seen.queue];
    if (e.decision.contest.held && e.decision.contest.outcome.evicted)
      std::erase_if(queue,
                    [&](std::size_t j) { return run.events[j].decision.cell == e.decision.contest.outcome.cell; });
    if (admits(e.decision.verdict)) queue.push_back(i);
  }
  return queued;
}

// Decisions that queued the victim of a contest and the packet after it; equal: there is none.
std::pair<std::size_t, std::size_t> victimAndNeighbour(const Recording& run, std::size_t place, u32 queues) {
  const D& d = run.events[place].decision;
  const std::deque<std::size_t> queue = standing(run, place, queues)[d.seen.queue];
  for (std::size_t i = 0; i + 1 < queue.size(); i++)
    if (run.events[queue[i]].decision.cell == d.contest.outcome.cell) return {queue[i], queue[i + 1]};
  return {0, 0};
}

// The departure of the packet that event `decision` queued; events.size(): it never leaves.
std::size_t departureOf(const Recording& run, std::size_t decision) {
  const D& d = run.events[decision].decision;
  return nextEvent(run, decision, [&](const Event& e) {
    return e.kind == Event::Kind::Departed && e.left.queue == d.seen.queue && e.left.arrival == d.seen.time;
  });
}

// The frame of the packet that event `decision` is about.
std::shared_ptr<const Frame> frameOf(const Recording& run, std::size_t decision) {
  const auto is = [&](const Event& e) {
    return isPacket(e) && e.decision.input == run.events[decision].decision.input;
  };
  std::size_t before = 0;
  for (std::size_t i = 0; i < decision; i++) before += is(run.events[i]);
  for (const Event& e : run.events)
    if (e.kind == Event::Kind::Arrived && e.input == run.events[decision].decision.input && before-- == 0)
      return e.frame;
  return nullptr;
}

// The n-th departure's frame is the n-th on the wire.
std::size_t wireOf(const Recording& run, std::size_t departure) {
  std::size_t before = 0;
  for (std::size_t i = 0; i < departure; i++) before += run.events[i].kind == Event::Kind::Departed;
  for (std::size_t i = 0; i < run.events.size(); i++)
    if (run.events[i].kind == Event::Kind::Wire && before-- == 0) return i;
  return run.events.size();
}

// The neighbour is evicted, and the victim leaves where the neighbour would have.
void evictNeighbour(Recording& run, std::size_t place, const VmConfig& config) {
  const auto [victim, neighbour] = victimAndNeighbour(run, place, config.queue_count);
  const D kept = run.events[victim].decision, gone = run.events[neighbour].decision;
  VictimOutcome& outcome = run.events[place].decision.contest.outcome;
  outcome.cell = gone.cell;
  outcome.lenBytes = gone.seen.len_bytes;
  outcome.colour = gone.seen.colour;
  outcome.distance = gone.seen.distance;
  const std::size_t departure = departureOf(run, neighbour);
  Event& left = run.events[departure];
  left.left = {left.left.queue, kept.seen.colour, kept.seen.len_bytes, kept.seen.time};
  Packet p;
  p.frame = frameOf(run, victim);
  p.headers = parse(p.frame->bytes.data(), static_cast<u32>(p.frame->bytes.size()), config.ttl_option);
  p.queue = kept.seen.queue;
  p.colour = kept.seen.colour;
  p.ce = kept.verdict == VM_MARK;
  bool written;
  run.events[wireOf(run, departure)].bytes = expectedBytes(config, p, &written);
}

void addCells(std::vector<Fault>& to, const VmConfig& config) {
  to.push_back({"cell", "one bit of the cell that names a packet, of a later victim", Check::Victims, "",
                [](const Recording& run) {
                  std::vector<std::size_t> places;
                  std::vector<std::size_t> last(1 << 20, run.events.size());  // by cell, the decision that took it
                  for (std::size_t i = 0; i < run.events.size(); i++) {
                    if (!isPacket(run.events[i])) continue;
                    const D& d = run.events[i].decision;
                    if (paid(d) && last[d.contest.outcome.cell] != run.events.size())
                      places.push_back(last[d.contest.outcome.cell]);
                    if (admits(d.verdict)) last[d.cell] = i;
                  }
                  return places;
                },
                [](Recording& run, std::size_t place, u32 number) {
                  run.events[place].decision.cell ^= static_cast<u32>(bitOf(number, 8));
                }});
  to.push_back({"victims-neighbour", "the packet after the victim is evicted, the victim leaves in its place",
                Check::Victims, "",
                [&config](const Recording& run) {
                  std::vector<std::size_t> all = placesOf(run, Event::Kind::Decided, [&](std::size_t i) {
                    return contest(run.events[i].decision) && run.events[i].decision.contest.outcome.evicted;
                  });
                  std::vector<std::size_t> places;
                  for (std::size_t i = 0; i < all.size(); i += 1 + all.size() / 40) {  // each costs a pass
                    const auto [victim, neighbour] = victimAndNeighbour(run, all[i], config.queue_count);
                    if (victim != neighbour && departureOf(run, neighbour) != run.events.size())
                      places.push_back(all[i]);
                  }
                  return places;
                },
                [&config](Recording& run, std::size_t place, u32) { evictNeighbour(run, place, config); }});
}

// What accounting sees of an outcome by itself, without the model of the search.
void addForAccounting(std::vector<Fault>& to) {
  const auto places = [](const Recording& run) {
    return placesOf(run, Event::Kind::Decided, [&](std::size_t i) { return paid(run.events[i].decision); });
  };
  to.push_back(
      {"victim-unknown", "the victim is a cell that no packet of the queue has", Check::Accounting, "not in it", places,
       [](Recording& run, std::size_t place, u32) { run.events[place].decision.contest.outcome.cell = ~u32{0}; }});
  to.push_back({"victim-other", "the victim has another length than the packet in its cell", Check::Accounting,
                "another length or colour", places,
                [](Recording& run, std::size_t place, u32) { run.events[place].decision.contest.outcome.lenBytes++; }});
}

}  // namespace

void addContestFaults(std::vector<Fault>& to, const VmConfig& config) {
  const Check victims = Check::Victims;
  const auto any = [](const D& d) { return VM_VICTIMS != 0 && !d.refresh; };
  bit(
      to, "contest", "contest: whether a push-out was held", Check::Replay, "contest", 1, any,
      [](D & d) -> auto& { return d.contest.held; });
  bit(
      to, "enqueued", "a push-out's outcome, enqueued", victims, "", 1, contest,
      [](D & d) -> auto& { return d.contest.outcome.enqueued; });
  bit(
      to, "marked", "its outcome, marked", victims, "", 1, contest,
      [](D & d) -> auto& { return d.contest.outcome.marked; });
  bit(
      to, "blind", "its outcome, stale candidate", victims, "", 1, contest,
      [](D & d) -> auto& { return d.contest.outcome.blind; });
  bit(
      to, "evicted", "its outcome, evicted", victims, "", 1, contest,
      [](D & d) -> auto& { return d.contest.outcome.evicted; });
  bit(
      to, "victim-marked", "its outcome, victim marked", victims, "", 1, contest,
      [](D & d) -> auto& { return d.contest.outcome.victimMarked; });
  bit(
      to, "victim-cell", "the victim's cell", victims, "", 12, paid,
      [](D & d) -> auto& { return d.contest.outcome.cell; });
  bit(
      to, "victim-length", "the victim's length", victims, "", 14, paid,
      [](D & d) -> auto& { return d.contest.outcome.lenBytes; });
  bit(
      to, "victim-colour", "the victim's colour", victims, "", 1, paid,
      [](D & d) -> auto& { return d.contest.outcome.colour; });
  bit(
      to, "victim-distance", "the victim's distance", victims, "", 6, paid,
      [](D & d) -> auto& { return d.contest.outcome.distance; });
  addCells(to, config);
  addForAccounting(to);
}

}  // namespace vermilion
