// VictimPipeline against its models, clock by clock, at the pace of C++: the Verilated block, ClockedVictims and (where operations do not
// overlap) the brute force of Victims get the same packets and takes. The bench plays the scheduler: it takes from the heads what the block has
// made head.
//
//   victims_bench SCENARIO SEED CELLS PLACES [measure]   prints one line of figures a run, "ok" at the end; exits 1 with the first difference
//
// SCENARIO: spaced, full-pace, resets; or line-rate, which prints the share of push-outs that are stale at the pace of a wire, and with no `measure` ends where
// one is over its bound.
//
// An audit of its own follows every outcome and every new head with plain lists (audit.h).
#include "victims_bench.h"

#include <sstream>

#include "line_rate.h"

namespace {

constexpr u32 AnyForm = 99;

struct Mix {
  const char* name;
  u32 queues, distances, colours;
  double pushOut, refuse, ect;
  bool byColour, mayMark;
  std::size_t target;  // bodies wander below it
  u32 last = 0;        // tail-drop form among so many; AnyForm: a form of its own for each packet
};

VictimArrival draw(Bench& b, const Mix& mix) {
  const double kind = static_cast<double>(b.pick(1000)) / 1000;
  const u32 action = kind < mix.pushOut                ? VictimArrival::PushOut
                     : kind < mix.pushOut + mix.refuse ? VictimArrival::Refuse
                                                       : VictimArrival::Admit;
  const u32 queue = static_cast<u32>(b.pick(mix.queues));
  VictimArrival a = action == VictimArrival::Refuse && b.chance(0.3)
                        ? b.refused(queue)
                        : b.packet(queue, action, static_cast<u32>(b.pick(mix.distances)));
  a.colour = static_cast<u32>(b.pick(mix.colours));
  a.lenBytes = static_cast<u32>(1 + b.pick(1500));
  if (a.cells != 0) a.cells = (a.lenBytes + CellBytes - 1) / CellBytes;
  a.ect = b.chance(mix.ect);
  a.byColour = mix.byColour, a.mayMark = mix.mayMark;
  const u32 forms[] = {0, 1, 5, 16};
  a.last = mix.last == AnyForm ? forms[b.pick(4)] : mix.last;
  a.asLong = a.last != 0 && b.chance(0.3);
  return a;
}

void print(const char* name, const Tally& t, u64 spent) {
  std::printf(
      "%-22s clocks %llu arrivals %llu push-outs %llu evicted %llu marked-there %llu arriving %llu arriving-marked "
      "%llu "
      "stale %llu made head %llu taken %llu\n",
      name, static_cast<unsigned long long>(spent), static_cast<unsigned long long>(t.arrivals),
      static_cast<unsigned long long>(t.pushOuts), static_cast<unsigned long long>(t.evicted),
      static_cast<unsigned long long>(t.victimMarked), static_cast<unsigned long long>(t.arrivingLost),
      static_cast<unsigned long long>(t.arrivingMarked), static_cast<unsigned long long>(t.stale),
      static_cast<unsigned long long>(t.newHeads), static_cast<unsigned long long>(t.taken));
}

const Mix mixes[] = {
    {"few distances", 3, 4, 3, 0.5, 0.1, 0, false, false, 12},
    {"one distance", 2, 1, 1, 0.5, 0, 0, false, false, 40},
    {"many distances", 2, 64, 3, 0.5, 0.1, 0, false, false, 100},
    {"by colour", 2, 8, 3, 0.6, 0, 0, true, false, 60},
    {"marks", 2, 16, 3, 0.6, 0.1, 0.5, true, true, 60},
    {"long queues", 1, 64, 3, 0.3, 0, 0.1, true, false, 3000},
    {"short, by colour", 1, 2, 3, 0.6, 0, 0, true, false, 5},
    {"short queues", 16, 8, 3, 0.7, 0.1, 0.2, true, true, 3},
    {"last 16", 2, 64, 3, 0.5, 0.1, 0.5, false, true, 60, 16},
    {"last 5, equal", 2, 2, 3, 0.5, 0.1, 0, true, false, 20, 5},
    {"last 1", 3, 64, 3, 0.5, 0.1, 0, false, false, 12, 1},
    {"last 16, short queues", 8, 16, 3, 0.6, 0.1, 0, true, false, 4, 16},
    {"push-outs alone", 16, 4, 1, 1, 0, 1, false, true, 6},  // marked, so that all places are asked for at once
    {"forms that change", 2, 16, 3, 0.6, 0.1, 0.3, true, true, 40, AnyForm},
};

// Operations as close as possible without overlap, in cycles. An arrival comes after the new heads that the arrivals and takes before it
// ask for. A take comes after the packet that arrived before it is in its body.
constexpr u64 ArrivalAfterArrival = 9, ArrivalAfterTake = 6, TakeAfterArrival = 4;

void spaced(const VictimShape& shape, u64 seed, u64 operations) {
  for (const Mix& mix : mixes) {
    Bench b(shape, seed);
    b.spaced = true;
    const u64 before = clocks;
    std::vector<bool> drains(mix.queues);
    u64 arrived = clocks, took = clocks;
    const auto wait = [&](u64 until) { b.idle(until > clocks ? until - clocks : 0); };
    for (u64 i = 0; i < operations / std::size(mixes); i++) {
      const u32 q = static_cast<u32>(b.pick(mix.queues));
      if (b.body(q) == 0) drains[q] = false;
      if (b.body(q) >= std::min<std::size_t>(mix.target, shape.cells / 2) || !b.hasRoom()) drains[q] = true;
      if (b.hasRoom() && b.chance(drains[q] ? 0.45 : 0.85)) {
        wait(std::max(arrived + ArrivalAfterArrival, took + ArrivalAfterTake));
        arrived = clocks;
        b.clock(draw(b, mix), {});
      } else {
        wait(arrived + TakeAfterArrival);
        took = clocks;
        b.clock({}, q);
      }
      if (i % 64 == 0) b.rest(), b.audit.inOrder();
    }
    b.drain();
    print(mix.name, b.audit.tally, clocks - before);
  }
}

// Everything at once, as fast as it goes, with stalls: against the clocked model.
void fullPace(const VictimShape& shape, u64 seed, u64 each) {
  const double paces[][2] = {{1, 1}, {1, 0.4}, {0.6, 0.2}, {0.6, 1}, {1, 0.05}, {0.3, 0.1}};
  for (const Mix& mix : mixes) {
    Bench b(shape, seed);
    const u64 before = clocks;
    for (const auto& pace : paces) {
      bool stalled = false;
      for (u64 i = 0; i < each; i++) {
        if (b.chance(0.02)) stalled = !stalled && pace[1] < 1;
        if (b.chance(0.001)) b.rest();
        const bool arrives = b.hasRoom() && b.chance(pace[0]);
        const u32 q = static_cast<u32>(b.pick(mix.queues));
        const bool full = b.body(q) > mix.target;
        b.clock(arrives ? std::optional(draw(b, mix)) : std::nullopt,
                (full || (!stalled && b.chance(pace[1]))) ? std::optional(q) : std::nullopt);
      }
    }
    b.drain();
    print(mix.name, b.audit.tally, clocks - before);
  }
}

// Resets of one clock in the midst of everything: what was on its way is gone, and what comes behind meets empty queues.
void resets(const VictimShape& shape, u64 seed, u64 times) {
  auto block = std::make_unique<VVictimPipeline>();
  Tally sum;
  for (u64 i = 0; i < times; i++) {
    Bench b(shape, seed + i, std::move(block), i == 0 ? 2 : 1);
    const Mix& mix = mixes[i % std::size(mixes)];
    const u64 until = 60 + b.pick(100);
    for (u64 c = 0; c < until; c++)
      b.clock(b.hasRoom() ? std::optional(draw(b, mix)) : std::nullopt,
              b.chance(0.3) ? std::optional(static_cast<u32>(b.pick(mix.queues))) : std::nullopt);
    if (i + 1 == times) b.drain();
    const Tally& t = b.audit.tally;
    sum.pushOuts += t.pushOuts, sum.evicted += t.evicted, sum.arrivals += t.arrivals, sum.newHeads += t.newHeads;
    block = b.release();
  }
  print("resets of a clock", sum, clocks);
}

void lineRate(const VictimShape& shape, u64 seed, const Load& load, bool measure) {
  Tally sum;
  u64 spent = 0, takes = 0;
  Bench b(shape, seed);
  double credit = 0, takeCredit = 0;
  const auto distance = [&] { return load.equal ? 7 : static_cast<u32>(b.pick(64)); };
  const auto packet = [&](u32 action) {
    VictimArrival a = b.packet(0, action, distance());
    a.last = load.last;
    return a;
  };
  while (spent < 30000) {
    while (b.length(0) < load.length) b.clock(packet(VictimArrival::Admit), {}), b.idle(6);
    b.audit.tally = {};
    const u64 before = clocks;
    for (u64 i = 0; i < (load.stands ? 30000 : 3000) && (load.stands || b.length(0) > load.length / 2); i++) {
      credit += 1 / load.arrivals, takeCredit += load.takes != 0 ? 1 / load.takes : 0;
      const bool arrives = credit >= 1 && b.hasRoom();
      const bool taking = takeCredit >= 1;
      credit -= arrives, takeCredit -= taking;
      takes += taking;
      const u32 action = load.stands && b.length(0) < load.length ? VictimArrival::Admit : VictimArrival::PushOut;
      b.clock(arrives ? std::optional(packet(action)) : std::nullopt, taking ? std::optional(0u) : std::nullopt);
    }
    spent += clocks - before;
    b.idle(8);
    const Tally& t = b.audit.tally;
    sum.arrivals += t.arrivals, sum.pushOuts += t.pushOuts, sum.evicted += t.evicted;
    sum.arrivingLost += t.arrivingLost, sum.stale += t.stale, sum.taken += t.taken;
  }
  b.drain();
  if ((!load.stands && sum.arrivals != sum.pushOuts) || sum.evicted + sum.arrivingLost != sum.pushOuts)
    fail("push-outs without a loser");
  const double stale = static_cast<double>(sum.stale) / static_cast<double>(sum.pushOuts);
  const std::string form = load.last != 0 ? "tail, last " + std::to_string(load.last) : "RED";
  const double empty = takes != 0 ? 1 - static_cast<double>(sum.taken) / static_cast<double>(takes) : 0;
  std::printf("| %s | %zu%s | %g | %s | %s | %.2f %% | %.2f %% |\n", form.c_str(), load.length,
              load.stands ? ", stands" : "", load.arrivals,
              load.takes != 0 ? (std::ostringstream() << load.takes).str().c_str() : "none",
              load.equal ? "one" : "random", 100 * stale, 100 * empty);
  if (!measure && stale > load.bound) fail("more push-outs are stale than " + std::to_string(100 * load.bound) + " %");
  if (!measure && takes != 0 && 1 / load.arrivals + 1 / load.takes < Slots && sum.taken != takes)
    fail("a take finds no packet in the head");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return std::fprintf(stderr, "usage: victims_bench SCENARIO SEED CELLS PLACES\n"), 2;
  const std::string scenario = argv[1];
  const u64 seed = std::strtoull(argv[2], nullptr, 10);
  VictimShape shape;
  shape.cells = static_cast<u32>(std::strtoul(argv[3], nullptr, 10));
  shape.places = static_cast<u32>(std::strtoul(argv[4], nullptr, 10));
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  if (scenario == "spaced") spaced(shape, seed, 1000000);
  // Each mix for a short time first: a fault that only one of the last shows ends the run soon.
  if (scenario == "full-pace") fullPace(shape, seed + 1, 500), fullPace(shape, seed, 20000);
  if (scenario == "resets") resets(shape, seed, 300);
  if (scenario == "line-rate")
    std::printf(
        "| form | queue | an arrival each | a take each | distances | stale | empty head |\n| --- | ---: | ---: "
        "| ---: | --- | ---: | ---: |\n");
  if (scenario == "line-rate")
    for (const Load& load : Loads) lineRate(shape, seed, load, argc > 5);
  std::printf("ok %llu clocks\n", static_cast<unsigned long long>(clocks));
}
