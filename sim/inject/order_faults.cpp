// Faults in the order of arrivals, decisions and departures: lost, doubled, early, late, swapped, or of another packet.
#include <algorithm>
#include <bit>
#include <utility>

#include "build_shape.h"
#include "faults.h"

namespace vermilion {

namespace {

using Kind = Event::Kind;

struct Order {
  std::vector<Fault>& to;
  const VmConfig& config;

  void add(const char* name, const char* what, Check check, std::vector<std::string> says,
           std::function<std::vector<std::size_t>(const Recording&)> places,
           std::function<void(Recording&, std::size_t, u32)> put) {
    to.push_back({name, what, check, std::move(says), std::move(places), std::move(put)});
  }

  static void lose(Recording& run, std::size_t place, u32) {
    run.events.erase(run.events.begin() + static_cast<i64>(place));
  }
  static void twice(Recording& run, std::size_t place, u32) {
    Event copy = run.events[place];
    copy.clock++;
    if (copy.kind == Kind::Departed) copy.now = run.times[copy.clock];
    run.insert(std::move(copy));
  }
  // Moves an event by `cycles`. A departure gets the time of its new cycle.
  static void shift(Recording& run, std::size_t place, i64 cycles) {
    const u64 clock = run.events[place].clock + static_cast<u64>(cycles);
    run.events[place].now = run.times[clock];
    run.move(place, clock);
  }
};

bool decision(const Event& e) {
  return isPacket(e);
}
bool departure(const Event& e) {
  return e.kind == Kind::Departed;
}

auto all(bool (*fits)(const Event&)) {
  return [fits](const Recording& run) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < run.events.size(); i++)
      if (fits(run.events[i])) places.push_back(i);
    return places;
  };
}
// All matching events but the last.
auto withNext(bool (*fits)(const Event&)) {
  return [fits](const Recording& run) {
    std::vector<std::size_t> places = all(fits)(run);
    if (!places.empty()) places.pop_back();
    return places;
  };
}

// Departures with a time that a later decision or refresh of the queue shows as the last departure of that colour.
std::vector<std::size_t> seenDepartures(const Recording& run) {
  return placesOf(run, Kind::Departed, [&](std::size_t i) {
    const Event& e = run.events[i];
    const u64 time = truncate(e.now, TimeBits);
    return nextEvent(run, i, [&](const Event& x) {
             return x.kind == Kind::Decided && x.decision.seen.queue == e.left.queue &&
                    x.decision.seen.last_departure[e.left.colour] == time;
           }) != run.events.size();
  });
}

// The last departure of the run: no packet's decision depends on its time.
std::vector<std::size_t> lastDeparture(const Recording& run) {
  const std::vector<std::size_t> places = placesOf(run, Kind::Departed);
  return places.empty() ? places : std::vector<std::size_t>{places.back()};
}

// A queue and colour, as queue * Colours + colour. All its departures before event `end` have their refresh, and it is
// not that of event `end` itself. None: one past the last.
u32 settled(const Recording& run, std::size_t end, const VmConfig& config) {
  std::vector<i64> open(config.queue_count * Colours);
  for (std::size_t i = 0; i < end; i++) {
    const Event& e = run.events[i];
    if (e.kind == Kind::Departed) open[e.left.queue * Colours + e.left.colour]++;
    if (e.kind == Kind::Decided && e.decision.refresh) open[e.decision.seen.queue * Colours + e.decision.seen.colour]--;
  }
  const RtlDecision& d = run.events[end].decision;
  open[d.seen.queue * Colours + d.seen.colour] = 1;  // excludes that of event `end`
  return static_cast<u32>(std::find(open.begin(), open.end(), 0) - open.begin());
}

void addArrivals(Order& order) {
  order.add(
      "frame-unseen", "the arrival of a frame is not recorded", Check::Accounting,
      {"no frame waiting", "the lane says", "came out with", "shows a lost frame"},
      [](const Recording& run) { return placesOf(run, Kind::Arrived); }, Order::lose);
  order.add(
      "loss-unseen", "an input drops a frame and does not report it", Check::Accounting,
      {"the lane says", "came out with", "without a verdict"},
      [](const Recording& run) { return placesOf(run, Kind::Lost); }, Order::lose);
  order.add(
      "loss-untrue", "an input reports a dropped frame, but none was dropped", Check::Accounting,
      {"shows a lost frame"}, [](const Recording& run) { return placesOf(run, Kind::Decided); },
      [](Recording& run, std::size_t place, u32) {
        Event lost;
        lost.kind = Kind::Lost;
        lost.clock = run.events[place].clock;
        while (nextEvent(run, 0, [&](const Event& e) {
                 return e.kind == Kind::Arrived && e.clock + 1 == lost.clock;
               }) != run.events.size())
          lost.clock++;
        lost.lenBytes = 64;
        run.insert(std::move(lost));
      });
  order.add(
      "loss-length", "one bit of the length of a frame that an input drops", Check::Accounting, {"lost with"},
      [](const Recording& run) { return placesOf(run, Kind::Lost); },
      [](Recording& run, std::size_t place, u32 number) {
        run.events[place].lenBytes ^= static_cast<u32>(bitOf(number, 14));
      });
}

void addDecisions(Order& order) {
  order.add("decision-lost", "a decision is not shown", Check::Accounting,
            {"which is empty", "the lane says", "left queue", "came out with", "without a verdict"}, all(decision),
            Order::lose);
  order.add("decision-doubled", "a decision is shown again in the next cycle", Check::Accounting,
            {"no frame waiting", "the lane says", "left queue", "came out with"}, all(decision), Order::twice);
  order.add("decisions-swapped", "a decision and the next one are swapped", Check::Replay, {"time"}, withNext(decision),
            [](Recording& run, std::size_t place, u32) {
              std::swap(run.events[place].decision, run.events[nextEvent(run, place, isPacket)].decision);
            });
  order.add(
      "decision-late", "a decision is shown a cycle late", Check::Replay, {"time"},
      [](const Recording& run) {  // only if the new cycle has no decision: the two would change places
        return placesOf(run, Kind::Decided, [&](std::size_t i) {
          const u64 late = run.events[i].clock + 1;
          for (std::size_t next = i + 1; next < run.events.size() && run.events[next].clock <= late; next++)
            if (run.events[next].kind == Kind::Decided) return false;
          return isPacket(run.events[i]);
        });
      },
      [](Recording& run, std::size_t place, u32) { Order::shift(run, place, 1); });
  order.add("decision-early", "a decision is shown a cycle early", Check::Replay, {"time"}, all(decision),
            [](Recording& run, std::size_t place, u32) { Order::shift(run, place, -1); });
  const VmConfig& config = order.config;
  order.add(
      "refresh-lost", "a refresh at a departure is not shown", Check::Counters, {"skipped refreshes"},
      [](const Recording& run) {
        return placesOf(run, Kind::Decided, [&](std::size_t i) { return run.events[i].decision.refresh; });
      },
      Order::lose);
  order.add(
      "refresh-queue", "an average refresh for a queue and colour without a departure", Check::Replay,
      {"queue and colour without a departure"},
      [&config](const Recording& run) {
        return placesOf(run, Kind::Decided, [&](std::size_t i) {
          return run.events[i].decision.refresh && settled(run, i, config) != config.queue_count * Colours;
        });
      },
      [&config](Recording& run, std::size_t place, u32) {
        const u32 other = settled(run, place, config);
        RtlDecision& d = run.events[place].decision;
        d.seen.queue = other / Colours;
        d.seen.colour = other % Colours;
      });
  order.add(
      "room-denied", "a queue's last packet gets `nobuf` although cells are free", Check::Accounting,
      {"found no buffer"},
      [](const Recording& run) {
        if (Inputs - std::popcount(Stallable) > 1) return std::vector<std::size_t>{};  // not checked there
        return placesOf(run, Kind::Decided, [&](std::size_t i) {
          const Event& e = run.events[i];
          return isPacket(e) && admits(e.decision.verdict) && nextEvent(run, i, [&](const Event& x) {
                                                                return x.kind == Kind::Decided &&
                                                                       x.decision.seen.queue == e.decision.seen.queue &&
                                                                       !x.decision.refresh;
                                                              }) == run.events.size();
        });
      },
      [](Recording& run, std::size_t place, u32) {
        RtlDecision& d = run.events[place].decision;
        d.seen.no_buffer = 1;
        d.verdict = d.pushOut.provisionalVerdict = VM_NOBUF;
      });
  order.add(
      "long-stored", "a frame longer than the lane stores is stored", Check::Accounting,
      {"longer than the lane stores"},
      [](const Recording& run) {
        return placesOf(run, Kind::Decided, [&](std::size_t i) {
          const RtlDecision& d = run.events[i].decision;
          return !d.refresh && d.seen.no_buffer && d.seen.len_bytes > BuildMaxFrameBytes;
        });
      },
      [](Recording& run, std::size_t place, u32) { run.events[place].decision.seen.no_buffer = 0; });
}

template <class Field>
void departureBit(Order& order, const char* name, const char* what, std::vector<std::string> says, u32 width,
                  Field field) {
  order.add(name, what, Check::Accounting, std::move(says), all(departure),
            [=](Recording& run, std::size_t place, u32 number) {
              auto& value = field(run.events[place].left);
              value = static_cast<std::remove_reference_t<decltype(value)>>(value ^ bitOf(number, width));
            });
}

void addDepartures(Order& order) {
  order.add("departure-lost", "a departure is not shown", Check::Accounting,
            {"left queue", "came out with", "in its queue at the end"}, all(departure), Order::lose);
  order.add("departure-doubled", "a departure is shown again in the next cycle", Check::Accounting,
            {"which is empty", "left queue"}, all(departure), Order::twice);
  order.add("departures-swapped", "a departure and the next one are swapped", Check::Accounting,
            {"left queue", "came out with", "which is empty"}, withNext(departure),
            [](Recording& run, std::size_t place, u32) {
              std::swap(run.events[place].left, run.events[nextEvent(run, place, departure)].left);
            });
  order.add("departure-late", "a departure is shown a cycle late", Check::Replay, {"last departure", "queued bytes"},
            seenDepartures, [](Recording& run, std::size_t place, u32) { Order::shift(run, place, 1); });
  order.add("departure-early", "a departure is shown a cycle early", Check::Replay, {"last departure", "queued bytes"},
            seenDepartures, [](Recording& run, std::size_t place, u32) { Order::shift(run, place, -1); });
  order.add("last-departure-late", "the run's last packet departs a cycle late", Check::Engines, {"span_ns"},
            lastDeparture, [](Recording& run, std::size_t place, u32) { Order::shift(run, place, 1); });
  order.add("departure-time", "a departure's time, and so the output's timestamp, is 4 ns late", Check::Replay,
            {"departure time"}, all(departure),
            [](Recording& run, std::size_t place, u32) { run.events[place].now += ClockNs; });
  departureBit(
      order, "departure-queue", "one bit of a departure's queue", {"which is empty", "left queue"}, 4,
      [](Left & l) -> auto& { return l.queue; });
  departureBit(
      order, "departure-colour", "one bit of a departure's colour", {"with colour"}, 2,
      [](Left & l) -> auto& { return l.colour; });
  departureBit(
      order, "departure-length", "one bit of a departure's length", {"with length"}, 14,
      [](Left & l) -> auto& { return l.lenBytes; });
  departureBit(
      order, "departure-arrival", "one bit of a departure's arrival time", {"with arrival time"}, 48,
      [](Left & l) -> auto& { return l.arrival; });
  order.add(
      "served-out-of-turn", "packets of two queues depart in swapped order", Check::Engines, {"output capture"},
      [](const Recording& run) {
        std::vector<std::size_t> places = withNext(departure)(run);
        std::erase_if(places, [&](std::size_t i) {
          return run.events[i].left.queue == run.events[nextEvent(run, i, departure)].left.queue;
        });
        return places;
      },
      [](Recording& run, std::size_t place, u32) {
        std::size_t before = 0;
        for (std::size_t i = 0; i < place; i++) before += departure(run.events[i]);
        std::swap(run.events[place].left, run.events[nextEvent(run, place, departure)].left);
        const std::vector<std::size_t> wires = placesOf(run, Kind::Wire);
        std::swap(run.events[wires[before]].bytes, run.events[wires[before + 1]].bytes);
      });
}

}  // namespace

void addOrderFaults(std::vector<Fault>& to, const VmConfig& config) {
  Order order{to, config};
  addArrivals(order);
  addDecisions(order);
  addDepartures(order);
}

}  // namespace vermilion
