// Faults in the values of the lane's registers at the end of a run: a counter off by one, counters of another queue.
#include <algorithm>

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

// Adds `step` to the value of a read of any of `count` registers. `says`: the name of the counter in the message of
// counter_check.cpp.
void add(std::vector<Fault>& to, const std::string& name, const std::string& what, const std::string& says,
         u32 (*address)(u32), u32 count, u32 step = 1) {
  to.push_back({name,
                what,
                Check::Counters,
                {says},
                [=](const Recording& run) {
                  std::vector<std::size_t> places;
                  for (std::size_t i = 0; i < run.accesses.size(); i++)
                    for (u32 k = 0; k < count; k++)
                      if (reads(run.accesses[i], address(k))) places.push_back(i);
                  return places;
                },
                [=](Recording& run, std::size_t place, u32) { run.accesses[place].value += step; }});
}

// The registers of a counter of packets and bytes, by colour. `name`: of the counter.
struct Pair {
  const char* name;
  u32 (*packets)(u32);
  u32 (*bytes)(u32);
};

// The accesses from the snapshot of one queue to that of the next.
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

// The value that a read in `span` got from an address. 0: there is no such read.
u32 valueAt(const Recording& run, Span span, u32 address) {
  for (std::size_t i = span.begin; i < span.end; i++)
    if (reads(run.accesses[i], address)) return run.accesses[i].value;
  return 0;
}

// Replaces the counters of all colours in a snapshot by those of the previous snapshot, which is of another queue.
void takeFromPrevious(Recording& run, std::size_t snapshot) {
  const std::vector<Span> spans = snapshots(run);
  const Span now = spans[snapshot], previous = spans[snapshot - 1];
  for (std::size_t i = now.begin; i < now.end; i++) {
    Access& a = run.accesses[i];
    if (!a.write && a.address >= reg::window_colour_arrived_packets_low(0) &&
        a.address <= reg::window_colour_evicted_bytes_high(Colours - 1))
      a.value = valueAt(run, previous, a.address);
  }
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
      {"ce_chosen", reg::window_colour_ce_chosen_packets_low, reg::window_colour_ce_chosen_bytes_low},
      {"ce_written", reg::window_colour_ce_written_packets_low, reg::window_colour_ce_written_bytes_low},
      {"sent", reg::window_colour_sent_packets_low, reg::window_colour_sent_bytes_low},
      {"evicted", reg::window_colour_evicted_packets_low, reg::window_colour_evicted_bytes_low}};
  for (const Pair& p : pairs) {
    const std::string counter = p.name;
    std::string name = counter;
    std::replace(name.begin(), name.end(), '_', '-');
    add(to, "count-" + name, "one packet more in the counter " + counter, "packets " + counter + ",", p.packets,
        Colours);
    add(to, "bytes-" + name, "one byte less in the counter " + counter, "bytes " + counter + ",", p.bytes, Colours,
        ~u32{0});
  }
  add(to, "count-high", "one more in the high word of the counter sent", "packets sent,",
      reg::window_colour_sent_packets_high, Colours);
  add(to, "count-marked", "one more packet marked from one colour to another", "packets marked from colour",
      reg::window_marked_low, 4 * Colours);
  add(to, "count-latency", "one more packet in a latency class", "packets of latency class", reg::window_latency_low,
      32);
  add(
      to, "backlog-left", "a queue's backlog register shows one packet although the lane is empty",
      "packets in it at the end", [](u32) { return reg::window_backlog_packets(); }, 1);
  add(to, "count-lost", "one more frame dropped at an input", "lost frames", reg::lost_frames_low, Inputs);
  add(to, "bytes-lost", "one more byte dropped at an input", "lost bytes", reg::lost_bytes_low, Inputs);
  add(to, "count-flow-events", "one more flow event", "flow markers: the lane counts", reg::flow_events, FlowEvents);
  add(
      to, "count-collisions", "one more collision of flows", "groups of flows: the lane counts",
      [](u32) { return reg::flow_collisions_low(); }, 1);
  add(
      to, "count-rules", "one more packet of a rule", ": the lane counts",
      [](u32) { return reg::rule_counts_packets_low(); }, 1);
  add(
      to, "bytes-rules", "one more byte of a rule", ": the lane counts",
      [](u32) { return reg::rule_counts_bytes_low(); }, 1);
  add(
      to, "count-skipped", "one more skipped refresh", "skipped refreshes",
      [](u32) { return reg::refreshes_skipped(); }, 1);
  add(
      to, "count-push-outs", "one more push-out", "push-outs", [](u32) { return reg::window_push_outs_low(); }, 1);
  add(
      to, "count-stale", "one more stale candidate", "stale candidates", [](u32) { return reg::window_stale_low(); },
      1);
  add(to, "count-lost-distance", "one more packet lost of a distance", "packets lost of distance",
      reg::window_lost_distance_low, Distances);
  add(to, "count-victim-distance", "one more victim of a distance", "victims of distance",
      reg::window_victim_distance_low, Distances);
  to.push_back({"counters-of-another-queue",
                "all colours' counters of a queue are those of the queue read before",
                Check::Counters,
                {"packets arrived,"},
                [](const Recording& run) {
                  const std::vector<Span> spans = snapshots(run);
                  const auto arrived = [&](std::size_t snapshot) {
                    return valueAt(run, spans[snapshot], reg::window_colour_arrived_packets_low(0));
                  };
                  std::vector<std::size_t> places;
                  for (std::size_t i = 1; i < spans.size(); i++)
                    if (arrived(i) != arrived(i - 1)) places.push_back(i);
                  return places;
                },
                [](Recording& run, std::size_t place, u32) { takeFromPrevious(run, place); }});
}

}  // namespace vermilion
