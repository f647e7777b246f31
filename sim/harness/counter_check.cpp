#include "counter_check.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "build_shape.h"

namespace vermilion {

namespace {

class CounterCheck {
 public:
  CounterCheck(Registers& registers, const Results& results, Breaches& breaches)
      : registers_(registers), results_(results), breaches_(breaches) {}

  void input(u32 index, const Lost& seen) {
    const Lost lane = lostFrames(registers_, index);
    const std::string where = "input " + std::to_string(index);
    same(where, "lost frames", lane.frames, seen.frames);
    same(where, "lost bytes", lane.bytes, seen.bytes);
  }

  void queue(u32 index) {
    LaneCounters lane[Colours];
    snapshot(registers_, index, lane);
    const std::string where = "queue " + std::to_string(index);
    marked(where, index);
    for (u32 bin = 0; bin < LatencyBins; bin++)
      same(where, "packets of latency class " + std::to_string(bin), latencies(registers_, bin),
           results_.latencies(index, bin));
    const Backlog left = backlog(registers_);
    same(where, "packets in it at the end", left.packets, 0);
    same(where, "bytes in it at the end", left.bytes, 0);
    if (BuildVictims != 0) pushOuts(where, index);
    for (u32 c = 0; c < u32{Colours}; c++)
      colour(where + ", colour " + std::to_string(c), results_.counters(index, c), lane[c]);
  }

 private:
  void same(const std::string& where, const std::string& name, u64 lane, u64 seen) {
    if (lane != seen)
      breaches_.add(where + ": the lane counts " + std::to_string(lane) + " " + name + ", seen were " +
                    std::to_string(seen));
  }

  void marked(const std::string& where, u32 queue) {
    for (u32 in = 0; in < u32{Colours}; in++)
      for (u32 out = 0; out < u32{Colours}; out++)
        same(where, "packets marked from colour " + std::to_string(in) + " to " + std::to_string(out),
             markedPackets(registers_, in, out), results_.marked(queue, in, out));
  }

  void pushOuts(const std::string& where, u32 queue) {
    same(where, "push-outs", pushOutCount(registers_), results_.pushOuts(queue));
    same(where, "stale candidates", staleCount(registers_), results_.stale(queue));
    for (u32 d = 0; d < Distances; d++) {
      const std::string distance = "of distance " + std::to_string(d);
      same(where, "packets lost " + distance, lostByDistance(registers_, d), results_.lostByDistance(queue, d));
      same(where, "victims " + distance, victimsByDistance(registers_, d), results_.victimsByDistance(queue, d));
    }
  }

  void colour(const std::string& where, const VmCounters& seen, const LaneCounters& lane) {
    const auto compare = [&](const std::string& name, const u64 got[2], u64 packets, u64 bytes) {
      same(where, "packets " + name, got[0], packets);
      same(where, "bytes " + name, got[1], bytes);
    };
    const auto verdict = [&](const char* name, const u64 got[2], int v) {
      compare(name, got, seen.packets[v], seen.bytes[v]);
    };
    u64 packets = 0, bytes = 0;
    for (int v = 0; v < VM_VERDICTS; v++) {
      packets += seen.packets[v];
      bytes += seen.bytes[v];
    }
    compare("arrived", lane.arrived, packets, bytes);
    compare("enqueued", lane.enqueued, seen.packets[VM_ENQUEUE] + seen.packets[VM_MARK],
            seen.bytes[VM_ENQUEUE] + seen.bytes[VM_MARK]);
    compare("ce_chosen", lane.marked, seen.packets[VM_MARK] + seen.victim_marked_packets,
            seen.bytes[VM_MARK] + seen.victim_marked_bytes);
    verdict("early", lane.early, VM_EARLY);
    verdict("forced", lane.forced, VM_FORCED);
    verdict("tail", lane.tail, VM_TAIL);
    verdict("nobuf", lane.nobuf, VM_NOBUF);
    verdict("bad", lane.bad, VM_BAD);
    verdict("policed", lane.policed, VM_POLICED);
    compare("evicted", lane.evicted, seen.evicted_packets, seen.evicted_bytes);
    compare("flushed", lane.flushed, 0, 0);  // a run flushes nothing
    compare("dropped at departure", lane.departureDropped, seen.departure_dropped_packets,
            seen.departure_dropped_bytes);
    compare("marked at departure", lane.departureMarked, seen.departure_marked_packets, seen.departure_marked_bytes);
    compare("sent", lane.sent, seen.sent_packets, seen.sent_bytes);
    compare("ce_written", lane.ceWritten, seen.ce_written_packets, seen.ce_written_bytes);
  }

  Registers& registers_;
  const Results& results_;
  Breaches& breaches_;
};

}  // namespace

void compareCounters(Registers& registers, const VmConfig& config, const Results& results,
                     const std::vector<Lost>& lost, Breaches& breaches) {
  CounterCheck check(registers, results, breaches);
  for (u32 i = 0; i < Inputs; i++) check.input(i, lost[i]);
  for (u32 q = 0; q < config.queue_count; q++) check.queue(q);
}

void compareRefreshes(Registers& registers, const VmConfig& config, u64 shown, u64 missing, Breaches& breaches) {
  const u32 lane = refreshesSkipped(registers);
  const bool on = std::any_of(config.queues, config.queues + config.queue_count,
                              [](const VmQueue& queue) { return queue.update != 0; });
  if (!on && shown != 0)
    breaches.add("averages: " + std::to_string(shown) + " refreshes, and no queue has average.update = \"both\"");
  const u64 skipped = on ? saturate(missing, 32) : 0;
  if (lane != skipped)
    breaches.add("averages: the lane counts " + std::to_string(lane) + " skipped refreshes, missing were " +
                 std::to_string(skipped));
}

void compareRules(Registers& registers, const Results& results, Breaches& breaches) {
  for (std::size_t i = 0; i < results.rules().size(); i++) {
    const Lost lane = ruleCounts(registers, static_cast<u32>(i)), seen = results.rules()[i];
    if (lane.frames != seen.frames || lane.bytes != seen.bytes)
      breaches.add("rule " + std::to_string(i) + ": the lane counts " + std::to_string(lane.frames) + " packets and " +
                   std::to_string(lane.bytes) + " bytes, seen were " + std::to_string(seen.frames) + " and " +
                   std::to_string(seen.bytes));
  }
}

u64 compareFlowCollisions(Registers& registers, const Results& results, Breaches& breaches) {
  const u64 lane = flowCollisions(registers), seen = results.flowCollisions();
  if (lane != seen)
    breaches.add("groups of flows: the lane counts " + std::to_string(lane) + " collisions, the model " +
                 std::to_string(seen));
  return lane;
}

nlohmann::ordered_json compareFlowEvents(Registers& registers, const Results& results, Breaches& breaches) {
  u64 lane[FlowEvents];
  for (u32 i = 0; i < FlowEvents; i++) {
    lane[i] = flowEvents(registers, i);
    const u64 seen = saturate(results.flowEvents(i), 32);
    if (lane[i] != seen)
      breaches.add("flow markers: the lane counts " + std::to_string(lane[i]) + " events \"" + FlowEventNames[i] +
                   "\", the model " + std::to_string(seen));
  }
  return flowEventJson(lane);
}

}  // namespace vermilion
