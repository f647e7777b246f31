// Faults in the outcome of a push-out, and push-outs of a packet other than the victim.
#include <bit>
#include <deque>
#include <utility>

#include "accounting.h"
#include "faults.h"
#include "pace.h"

namespace vermilion {

namespace {

using D = RtlDecision;

const u32 CellBits = std::bit_width(BuildCells - 1);

bool isPushOut(const D& d) {
  return !d.refresh && d.pushOut.held;
}
bool hasVictim(const D& d) {
  return isPushOut(d) && (d.pushOut.outcome.evicted || d.pushOut.outcome.victimMarked);
}
bool evicts(const D& d) {
  return isPushOut(d) && d.pushOut.outcome.evicted;
}

template <class Field>
void bit(std::vector<Fault>& to, const char* name, const std::string& what, Check check, const char* says, u32 width,
         bool (*fits)(const D&), Field field) {
  to.push_back({name,
                "one bit of " + what,
                check,
                {says},
                [fits](const Recording& run) {
                  return placesOf(run, Event::Kind::Decided,
                                  [&](std::size_t i) { return fits(run.events[i].decision); });
                },
                [field, width](Recording& run, std::size_t place, u32 number) {
                  auto& value = field(run.events[place].decision);
                  value = static_cast<std::remove_reference_t<decltype(value)>>(value ^ bitOf(number, width));
                }});
}

// The packets in `queue` before event `end`, as indices of their decisions, head of line first.
std::deque<std::size_t> queued(const Recording& run, std::size_t end, u32 queue) {
  std::deque<std::size_t> packets;
  for (std::size_t i = 0; i < end; i++) {
    const Event& e = run.events[i];
    if (e.kind == Event::Kind::Departed && e.left.queue == queue && !packets.empty()) packets.pop_front();
    if (!isPacket(e) || e.decision.seen.queue != queue) continue;
    if (evicts(e.decision))
      std::erase_if(packets,
                    [&](std::size_t j) { return run.events[j].decision.cell == e.decision.pushOut.outcome.cell; });
    if (admits(e.decision.verdict)) packets.push_back(i);
  }
  return packets;
}

// The decisions that queued the victim of a push-out and its successor. Equal: there is no successor.
std::pair<std::size_t, std::size_t> victimAndSuccessor(const Recording& run, std::size_t place) {
  const D& d = run.events[place].decision;
  const std::deque<std::size_t> queue = queued(run, place, d.seen.queue);
  for (std::size_t i = 0; i + 1 < queue.size(); i++)
    if (run.events[queue[i]].decision.cell == d.pushOut.outcome.cell) return {queue[i], queue[i + 1]};
  return {0, 0};
}

// The departure of the packet that event `decision` queued. events.size(): the packet does not depart.
std::size_t departureOf(const Recording& run, std::size_t decision) {
  const D& d = run.events[decision].decision;
  return nextEvent(run, decision, [&](const Event& e) {
    return e.kind == Event::Kind::Departed && e.left.queue == d.seen.queue && e.left.arrival == d.seen.time;
  });
}

// The frame of the packet in event `decision`.
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

// The frame of a departure: that of the n-th departure is the n-th on the wire.
std::size_t wireOf(const Recording& run, std::size_t departure) {
  std::size_t before = 0;
  for (std::size_t i = 0; i < departure; i++) before += run.events[i].kind == Event::Kind::Departed;
  for (std::size_t i = 0; i < run.events.size(); i++)
    if (run.events[i].kind == Event::Kind::Wire && before-- == 0) return i;
  return run.events.size();
}

// Changes the recording: the successor is evicted, and the victim departs in its place.
void evictSuccessor(Recording& run, std::size_t place, const VmConfig& config) {
  const auto [victim, successor] = victimAndSuccessor(run, place);
  const D kept = run.events[victim].decision, gone = run.events[successor].decision;
  VictimOutcome& outcome = run.events[place].decision.pushOut.outcome;
  outcome.cell = gone.cell;
  outcome.lenBytes = gone.seen.len_bytes;
  outcome.colour = gone.seen.colour;
  outcome.distance = gone.seen.distance;
  const std::size_t departure = departureOf(run, successor);
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

// Whether all registers count the two packets alike if one departs in place of the other. Length, colour, distance, CE
// and class of latency must be equal.
bool countAlike(const Recording& run, std::size_t one, std::size_t other, std::size_t departure) {
  const D &a = run.events[one].decision, &b = run.events[other].decision;
  const auto latencyClass = [&](const D& d) {
    return std::bit_width(wrapped(run.events[departure].now - d.seen.time));
  };
  return a.seen.len_bytes == b.seen.len_bytes && a.seen.colour == b.seen.colour && a.seen.distance == b.seen.distance &&
         a.seen.ecn == b.seen.ecn && a.verdict == b.verdict && latencyClass(a) == latencyClass(b);
}

// Whether a later push-out marks the packet before it departs.
bool isMarkedLater(const Recording& run, std::size_t place, std::size_t packet, std::size_t departure) {
  const u32 cell = run.events[packet].decision.cell;
  return nextEvent(run, place, [&](const Event& e) {
           return isPacket(e) && hasVictim(e.decision) && e.decision.pushOut.outcome.cell == cell;
         }) < departure;
}

void addCells(std::vector<Fault>& to, const VmConfig& config) {
  to.push_back({"cell",
                "one bit of the cell that names a packet, of a later victim",
                Check::Victims,
                {"cell"},
                [](const Recording& run) {
                  std::vector<std::size_t> places;
                  std::vector<std::size_t> last(1 << 20, run.events.size());  // by cell: the decision that took it
                  for (std::size_t i = 0; i < run.events.size(); i++) {
                    if (!isPacket(run.events[i])) continue;
                    const D& d = run.events[i].decision;
                    if (hasVictim(d) && last[d.pushOut.outcome.cell] != run.events.size())
                      places.push_back(last[d.pushOut.outcome.cell]);
                    if (admits(d.verdict)) last[d.cell] = i;
                  }
                  return places;
                },
                [](Recording& run, std::size_t place, u32 number) {
                  run.events[place].decision.cell ^= static_cast<u32>(bitOf(number, CellBits));
                }});
  // Evictions in which the successor of the victim departs. With `alike`, only those in which registers and accounting
  // cannot distinguish the two packets.
  const auto places = [](bool alike) {
    return [alike](const Recording& run) {
      return placesOf(run, Event::Kind::Decided, [&](std::size_t i) {
        if (!evicts(run.events[i].decision)) return false;
        const auto [victim, successor] = victimAndSuccessor(run, i);
        const std::size_t departure = victim == successor ? run.events.size() : departureOf(run, successor);
        if (departure == run.events.size()) return false;
        return !alike ||
               (countAlike(run, victim, successor, departure) && !isMarkedLater(run, i, successor, departure));
      });
    };
  };
  const auto put = [&config](Recording& run, std::size_t place, u32) { evictSuccessor(run, place, config); };
  to.push_back({"victims-successor",
                "the victim and its successor are swapped: the successor is pushed out, the victim departs",
                Check::Victims,
                {"cell"},
                places(false),
                put});
  to.push_back({"younger-victim",
                "the same, with a successor that has the victim's length, colour and distance and is younger",
                Check::Victims,
                {"cell"},
                places(true),
                put});
}

// Faults in an outcome that accounting finds without the model of the search.
void addForAccounting(std::vector<Fault>& to) {
  const auto places = [](const Recording& run) {
    return placesOf(run, Event::Kind::Decided, [&](std::size_t i) { return hasVictim(run.events[i].decision); });
  };
  to.push_back(
      {"victim-unknown",
       "the victim is a cell that no packet of the queue has",
       Check::Accounting,
       {"is not in its queue"},
       places,
       [](Recording& run, std::size_t place, u32) { run.events[place].decision.pushOut.outcome.cell = ~u32{0}; }});
  to.push_back({"victim-other",
                "the victim has another length than the packet in its cell",
                Check::Accounting,
                {"has length"},
                places,
                [](Recording& run, std::size_t place, u32) { run.events[place].decision.pushOut.outcome.lenBytes++; }});
}

}  // namespace

void addPushOutFaults(std::vector<Fault>& to, const VmConfig& config) {
  const Check victims = Check::Victims;
  const auto any = [](const D& d) { return BuildVictims != 0 && !d.refresh; };
  bit(
      to, "push-out", "the push-out flag", Check::Replay, "push-out", 1, any,
      [](D & d) -> auto& { return d.pushOut.held; });
  bit(
      to, "enqueued", "a push-out's outcome, enqueued", victims, "enqueued", 1, isPushOut,
      [](D & d) -> auto& { return d.pushOut.outcome.enqueued; });
  bit(
      to, "marked", "its outcome, marked", victims, "marked", 1, isPushOut,
      [](D & d) -> auto& { return d.pushOut.outcome.marked; });
  bit(
      to, "stale", "its outcome, stale candidate", victims, "stale candidate", 1, isPushOut,
      [](D & d) -> auto& { return d.pushOut.outcome.stale; });
  bit(
      to, "evicted", "its outcome, evicted", victims, "evicted", 1, isPushOut,
      [](D & d) -> auto& { return d.pushOut.outcome.evicted; });
  bit(
      to, "victim-marked", "its outcome, victim marked", victims, "victim marked", 1, isPushOut,
      [](D & d) -> auto& { return d.pushOut.outcome.victimMarked; });
  bit(
      to, "victim-cell", "the victim's cell", victims, "cell", CellBits, hasVictim,
      [](D & d) -> auto& { return d.pushOut.outcome.cell; });
  bit(
      to, "victim-length", "the victim's length", victims, "length", 14, hasVictim,
      [](D & d) -> auto& { return d.pushOut.outcome.lenBytes; });
  bit(
      to, "victim-colour", "the victim's colour", victims, "colour", 2, hasVictim,
      [](D & d) -> auto& { return d.pushOut.outcome.colour; });
  bit(
      to, "victim-distance", "the victim's distance", victims, "distance", 6, hasVictim,
      [](D & d) -> auto& { return d.pushOut.outcome.distance; });
  addCells(to, config);
  addForAccounting(to);
}

}  // namespace vermilion
