// Faults in what the lane's registers answer at the end of a run: a counter off by one, a snapshot of two instants.
#include "faults.h"
#include "flow_book.h"
#include "register_map.h"
#include "results.h"

namespace vermilion {

namespace {

namespace reg = registers;

bool reads(const Access& a, u32 address) {
  return !a.write && a.address == address;
}

// Reads of any of `count` registers.
void add(std::vector<Fault>& to, const std::string& name, const std::string& what, u32 (*address)(u32), u32 count,
         u32 step = 1) {
  to.push_back({name, what, Check::Counters, "",
                [=](const Recording& run) {
                  std::vector<std::size_t> places;
                  for (std::size_t i = 0; i < run.accesses.size(); i++)
                    for (u32 k = 0; k < count; k++)
                      if (reads(run.accesses[i], address(k))) places.push_back(i);
                  return places;
                },
                [=](Recording& run, std::size_t place, u32) { run.accesses[place].value += step; }});
}

// Packets and bytes of each colour.
struct Pair {
  const char* name;
  u32 (*packets)(u32);
  u32 (*bytes)(u32);
};

// Accesses from one snapshot to the next.
struct Span {
  std::size_t begin, end;
};
std::vector<Span> snapshots(const Recording& run) {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < run.accesses.size(); i++) {
    if (!run.accesses[i].write || run.accesses[i].address != reg::snapshot()) continue;
    if (!spans.empty()) spans.back().end = i;
    spans.push_back({i, run.accesses.size()});
  }
  return spans;
}

// From the counters of yellow on, what the snapshot before had; returns whether anything changes.
bool tear(Recording& run, std::size_t snapshot) {
  const std::vector<Span> spans = snapshots(run);
  const Span now = spans[snapshot], before = spans[snapshot - 1];
  bool changes = false;
  for (std::size_t i = now.begin; i < now.end; i++) {
    Access& a = run.accesses[i];
    if (a.write || a.address < reg::window_colour_arrived_packets_low(1) ||
        a.address > reg::window_colour_evicted_bytes_high(2))
      continue;
    for (std::size_t j = before.begin; j < before.end; j++)
      if (reads(run.accesses[j], a.address)) {
        changes |= a.value != run.accesses[j].value;
        a.value = run.accesses[j].value;
      }
  }
  return changes;
}

}  // namespace

void addCounterFaults(std::vector<Fault>& to) {
  static const Pair pairs[] = {
      {"arrived", reg::window_colour_arrived_packets_low, reg::window_colour_arrived_bytes_low},
      {"enqueued", reg::window_colour_enqueued_packets_low, reg::window_colour_enqueued_bytes_low},
      {"early", reg::window_colour_early_packets_low, reg::window_colour_early_bytes_low},
      {"forced", reg::window_colour_forced_packets_low, reg::window_colour_forced_bytes_low},
      {"tail", reg::window_colour_tail_packets_low, reg::window_colour_tail_bytes_low},
      {"nobuf", reg::window_colour_nobuf_packets_low, reg::window_colour_nobuf_bytes_low},
      {"bad", reg::window_colour_bad_packets_low, reg::window_colour_bad_bytes_low},
      {"policed", reg::window_colour_policed_packets_low, reg::window_colour_policed_bytes_low},
      {"ce-chosen", reg::window_colour_ce_chosen_packets_low, reg::window_colour_ce_chosen_bytes_low},
      {"ce-written", reg::window_colour_ce_written_packets_low, reg::window_colour_ce_written_bytes_low},
      {"sent", reg::window_colour_sent_packets_low, reg::window_colour_sent_bytes_low},
      {"evicted", reg::window_colour_evicted_packets_low, reg::window_colour_evicted_bytes_low}};
  for (const Pair& p : pairs) {
    add(to, std::string("count-") + p.name, std::string("the counter ") + p.name + " has a packet more", p.packets,
        Colours);
    add(to, std::string("bytes-") + p.name, std::string("the counter ") + p.name + " has a byte less", p.bytes, Colours,
        ~u32{0});
  }
  add(to, "count-high", "one more in the high word of a counter", reg::window_colour_sent_packets_high, Colours);
  add(to, "count-marked", "one more packet marked from one colour to another", reg::window_marked_low, 4 * Colours);
  add(to, "count-latency", "one more packet in a class of latencies", reg::window_latency_low, 32);
  to.push_back({"backlog-left", "the register of a queue's backlog has a packet, with the lane empty", Check::Counters,
                "",
                [](const Recording& run) {
                  std::vector<std::size_t> places;
                  for (std::size_t i = 0; i < run.accesses.size(); i++)
                    if (reads(run.accesses[i], reg::window_backlog_packets())) places.push_back(i);
                  return places;
                },
                [](Recording& run, std::size_t place, u32) { run.accesses[place].value++; }});
  add(to, "count-lost", "one more frame left out at an input", reg::lost_frames_low, Inputs);
  add(to, "bytes-lost", "one more byte left out at an input", reg::lost_bytes_low, Inputs);
  add(to, "count-flow-events", "one more event of flows", reg::flow_events, FlowEvents);
  add(
      to, "count-contests", "one more push-out", [](u32) { return reg::window_contests_low(); }, 1);
  add(
      to, "count-blind", "one more stale candidate", [](u32) { return reg::window_blind_low(); }, 1);
  add(to, "count-lost-distance", "one more packet lost of a distance", reg::window_lost_distance_low, Distances);
  add(to, "count-victim-distance", "one more victim of a distance", reg::window_victim_distance_low, Distances);
  to.push_back({"snapshot-torn", "yellow's and red's counters are those of the snapshot before", Check::Counters, "",
                [](const Recording& run) {
                  std::vector<std::size_t> places;
                  for (std::size_t i = 1; i < snapshots(run).size(); i++)
                    if (Recording copy{{}, {}, run.accesses}; tear(copy, i)) places.push_back(i);
                  return places;
                },
                [](Recording& run, std::size_t place, u32) { tear(run, place); }});
}

}  // namespace vermilion
