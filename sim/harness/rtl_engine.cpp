// --engine rtl and --bench: the Verilated lane, with replay and accounting always on.
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench.h"
#include "lane_driver.h"
#include "run.h"

namespace vermilion {

namespace {

using Json = nlohmann::ordered_json;

class RtlRun : public LaneListener {
 public:
  RtlRun(const VmConfig& config, Recorder& recorder)
      : replay(config),
        accounting(config, Inputs, [this](const Packet& p, const std::vector<u8>& bytes) { onWire(p, bytes); }),
        config_(config),
        recorder_(recorder) {}

  void time(u64 clock, u64 now) override {
    replay.time(clock, now);
    now_ = now;
  }
  void arrived(u32 input, std::shared_ptr<const Frame> frame, u64 clock) override {
    timing.arrived(*frame, now_);
    accounting.arrived(input, std::move(frame), clock);
  }
  void lost(u32 input, u32 lenBytes, u64 clock) override {
    accounting.lost(input, lenBytes, clock);
    recorder_.results().lost(input, lenBytes);
  }
  void decided(const RtlDecision& made, u64 clock) override {
    RtlDecision d = made;
    const Packet p = d.refresh ? Packet{} : accounting.decided(d, clock);
    d.mark.flow_events = replay.check(d, p.headers, clock);
    recorder_.decided(d, p.headers, accounting.lostTravelled());
    if (d.refresh) return;
    timing.decided(now_, p.frame ? std::optional(clock - p.inClock) : std::nullopt);
  }
  void departed(const Left& left, u64 now, u64 clock) override {
    replay.departed(clock, now, left.queue, left.colour, left.lenBytes);
    accounting.departed(left.queue, left.colour, left.lenBytes, left.arrival, now, clock);
  }
  void wire(std::vector<u8> bytes, u64 firstBeatClock) override { accounting.wire(std::move(bytes), firstBeatClock); }
  void breach(const std::string& text) override { accounting.error(text); }

  Replay replay;
  Accounting accounting;
  BenchTiming timing;

 private:
  void onWire(const Packet& p, const std::vector<u8>& bytes) {
    bool ceWritten;
    expectedBytes(config_, p, &ceWritten);
    recorder_.sent(p, ceWritten, bytes);
    timing.sent(p.outClock - p.inClock);
  }
  const VmConfig& config_;
  Recorder& recorder_;
  u64 now_ = 0;
};

// What the lane counts of contests, of the queue of the last snapshot.
void compareContests(ControlAccess& control, u32 queue, const Results& results, Accounting& accounting) {
  const auto compare = [&](const std::string& name, u64 lane, u64 seen) {
    if (lane != seen)
      accounting.error("queue " + std::to_string(queue) + ": the lane counts " + std::to_string(lane) + " " + name +
                       ", seen were " + std::to_string(seen));
  };
  compare("contests", contests(control), results.contests(queue));
  compare("blind contests", blindContests(control), results.blind(queue));
  for (u32 d = 0; d < Distances; d++) {
    compare("packets lost of distance " + std::to_string(d), lostByDistance(control, d),
            results.lostByDistance(queue, d));
    compare("victims of distance " + std::to_string(d), victimsByDistance(control, d),
            results.victimsByDistance(queue, d));
  }
}

// The lane's registers against what the harness saw.
void compareCounters(LaneDriver& driver, const VmConfig& config, const Results& results, Accounting& accounting) {
  for (u32 i = 0; i < Inputs; i++) {
    const Lost lane = lostFrames(driver.control(), i), seen = accounting.lost()[i];
    if (lane.frames != seen.frames || lane.bytes != seen.bytes)
      accounting.error("input " + std::to_string(i) + ": the lane counts " + std::to_string(lane.frames) +
                       " lost frames, seen were " + std::to_string(seen.frames) + ", or other bytes");
  }
  for (u32 q = 0; q < config.queue_count; q++) {
    LaneCounters lane[Colours];
    snapshot(driver.control(), q, lane);
    for (u32 in = 0; in < u32{Colours}; in++)
      for (u32 out = 0; out < u32{Colours}; out++)
        if (const u64 got = markedPackets(driver.control(), in, out); got != results.marked(q, in, out))
          accounting.error("queue " + std::to_string(q) + ": the lane counts " + std::to_string(got) +
                           " packets marked from colour " + std::to_string(in) + " to " + std::to_string(out) +
                           ", seen were " + std::to_string(results.marked(q, in, out)));
    if (VM_VICTIMS != 0) compareContests(driver.control(), q, results, accounting);
    for (u32 c = 0; c < u32{Colours}; c++) {
      const VmCounters& seen = results.counters(q, c);
      const auto compare = [&](const char* name, const u64 got[2], u64 packets, u64 bytes) {
        if (got[0] != packets || got[1] != bytes)
          accounting.error("queue " + std::to_string(q) + ", colour " + std::to_string(c) + ": the lane counts " +
                           name + " as " + std::to_string(got[0]) + " packets, " + std::to_string(got[1]) +
                           " bytes, seen were " + std::to_string(packets) + " and " + std::to_string(bytes));
      };
      u64 packets = 0, bytes = 0;
      for (int v = 0; v < VM_VERDICTS; v++) {
        packets += seen.packets[v];
        bytes += seen.bytes[v];
      }
      const auto verdict = [&](const char* name, const u64 got[2], int v) {
        compare(name, got, seen.packets[v], seen.bytes[v]);
      };
      compare("arrived", lane[c].arrived, packets, bytes);
      compare("enqueued", lane[c].enqueued, seen.packets[VM_ENQUEUE] + seen.packets[VM_MARK],
              seen.bytes[VM_ENQUEUE] + seen.bytes[VM_MARK]);
      compare("ce_chosen", lane[c].marked, seen.packets[VM_MARK] + seen.victim_marked_packets,
              seen.bytes[VM_MARK] + seen.victim_marked_bytes);
      verdict("early", lane[c].early, VM_EARLY);
      verdict("forced", lane[c].forced, VM_FORCED);
      verdict("tail", lane[c].tail, VM_TAIL);
      verdict("nobuf", lane[c].nobuf, VM_NOBUF);
      verdict("bad", lane[c].bad, VM_BAD);
      verdict("policed", lane[c].policed, VM_POLICED);
      compare("evicted", lane[c].evicted, seen.evicted_packets, seen.evicted_bytes);
      compare("sent", lane[c].sent, seen.sent_packets, seen.sent_bytes);
      compare("ce_written", lane[c].ceWritten, seen.ce_written_packets, seen.ce_written_bytes);
    }
  }
}

// The lane's count of what happened to flows against the replay's; its own goes into the JSON.
Json compareFlowEvents(LaneDriver& driver, const Results& results, Accounting& accounting) {
  u64 lane[FlowEvents];
  for (u32 i = 0; i < FlowEvents; i++) {
    lane[i] = flowEvents(driver.control(), i);
    const u64 seen = saturate(results.flowEvents(i), 32);
    if (lane[i] != seen)
      accounting.error("flow markers: the lane counts " + std::to_string(lane[i]) + " events \"" + FlowEventNames[i] +
                       "\", the model " + std::to_string(seen));
  }
  return flowEventJson(lane);
}

// Names of the file of --bench beside those of BenchTiming: `verdicts` {name: packets}; `marked`: packets by the colour that their marker
// gave, green first.
void benchJson(const VmConfig& config, const Results& results, Json& json) {
  for (int v = 0; v < VM_VERDICTS; v++) {
    u64 packets = 0;
    for (u32 q = 0; q < config.queue_count; q++)
      for (u32 c = 0; c < u32{Colours}; c++) packets += results.counters(q, c).packets[v];
    json["verdicts"][VerdictNames[v]] = packets;
  }
  u64 gave[Colours] = {};
  for (u32 q = 0; q < config.queue_count; q++)
    for (u32 in = 0; in < u32{Colours}; in++)
      for (u32 c = 0; c < u32{Colours}; c++) gave[c] += results.marked(q, in, c);
  json["marked"] = gave;
}

}  // namespace

u64 runRtl(const Options& o, const LoadedConfig& loaded, FrameSource& source, Recorder& recorder, Json& json) {
  const VmConfig& config = loaded.config;
  VerilatedLane lane(o.waves);
  RtlRun run(config, recorder);
  LaneDriver driver(lane, run, o.stalls, o.bench);
  driver.start(config);
  const auto began = std::chrono::steady_clock::now();
  driver.run(source, [&] { recorder.progress(); });
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  run.accounting.finish();
  run.replay.finish();
  json["clocks"] = driver.runClocks();
  json["seconds"] = static_cast<double>(driver.now() - StartNs) / 1e9;
  json["clocks_per_second"] = static_cast<double>(driver.runClocks()) / std::max(wall, 1e-9);
  json["input_stalled_clocks"] = driver.stalledClocks();
  compareCounters(driver, config, recorder.results(), run.accounting);
  json["flow_events"] = compareFlowEvents(driver, recorder.results(), run.accounting);
  if (o.bench) {
    run.timing.write(o, json);
    benchJson(config, recorder.results(), json);
  }
  json["replay"] = {{"decisions", run.replay.decisions()},
                    {"agreed", run.replay.agreed()},
                    {"refreshes", run.replay.refreshes()},
                    {"refreshes_agreed", run.replay.refreshesAgreed()},
                    {"first_disagreement", run.replay.firstDisagreement()}};
  json["accounting"] = {{"errors", run.accounting.errors()}, {"first_error", run.accounting.firstError()}};
  return run.accounting.errors() + run.replay.decisions() - run.replay.agreed() + run.replay.refreshes() -
         run.replay.refreshesAgreed();
}

}  // namespace vermilion
