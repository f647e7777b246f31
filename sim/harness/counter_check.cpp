#include "counter_check.h"

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
    if (lane.frames != seen.frames || lane.bytes != seen.bytes)
      breaches_.add("input " + std::to_string(index) + ": the lane counts " + std::to_string(lane.frames) +
                    " lost frames, " + std::to_string(lane.bytes) + " bytes, seen were " + std::to_string(seen.frames) +
                    " and " + std::to_string(seen.bytes));
  }

  void queue(u32 index) {
    LaneCounters lane[Colours];
    snapshot(registers_, index, lane);
    marked(index);
    for (u32 bin = 0; bin < LatencyBins; bin++)
      same(index, "packets of latency class " + std::to_string(bin), latencies(registers_, bin),
           results_.latencies(index, bin));
    const Backlog left = backlog(registers_);
    same(index, "packets in it at the end", left.packets, 0);
    same(index, "bytes in it at the end", left.bytes, 0);
    if (VM_VICTIMS != 0) contest(index);
    for (u32 c = 0; c < u32{Colours}; c++) colour(index, c, lane[c]);
  }

 private:
  void same(u32 queue, const std::string& name, u64 lane, u64 seen) {
    if (lane != seen)
      breaches_.add("queue " + std::to_string(queue) + ": the lane counts " + std::to_string(lane) + " " + name +
                    ", seen were " + std::to_string(seen));
  }

  void marked(u32 queue) {
    for (u32 in = 0; in < u32{Colours}; in++)
      for (u32 out = 0; out < u32{Colours}; out++)
        same(queue, "packets marked from colour " + std::to_string(in) + " to " + std::to_string(out),
             markedPackets(registers_, in, out), results_.marked(queue, in, out));
  }

  void contest(u32 queue) {
    same(queue, "contests", contests(registers_), results_.contests(queue));
    same(queue, "blind contests", blindContests(registers_), results_.blind(queue));
    for (u32 d = 0; d < Distances; d++) {
      const std::string distance = "of distance " + std::to_string(d);
      same(queue, "packets lost " + distance, lostByDistance(registers_, d), results_.lostByDistance(queue, d));
      same(queue, "victims " + distance, victimsByDistance(registers_, d), results_.victimsByDistance(queue, d));
    }
  }

  void colour(u32 queue, u32 colour, const LaneCounters& lane) {
    const VmCounters& seen = results_.counters(queue, colour);
    const auto compare = [&](const char* name, const u64 got[2], u64 packets, u64 bytes) {
      if (got[0] != packets || got[1] != bytes)
        breaches_.add("queue " + std::to_string(queue) + ", colour " + std::to_string(colour) + ": the lane counts " +
                      name + " as " + std::to_string(got[0]) + " packets, " + std::to_string(got[1]) +
                      " bytes, seen were " + std::to_string(packets) + " and " + std::to_string(bytes));
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
