// --engine model: runs the lane of sim/model cycle by cycle, driven like the Verilated lane in lane_driver.cpp.
#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>

#include "accounting.h"
#include "build_shape.h"
#include "clocked_lane.h"
#include "pace.h"
#include "run.h"

namespace vermilion {

static_assert(ClockNs == LaneClockNs);

namespace {

class ModelRun {
 public:
  ModelRun(const VmConfig& config, Recorder& recorder)
      : config_(config),
        recorder_(recorder),
        lane_(config,
              {BeatBytes, Inputs, Stallable, BuildCells, BuildVictims, 0, BuildCodel, BuildPie ? BuildQueues : 0,
               BuildDualPi2 ? BuildQueues : 0, BuildReports, BuildRules != 0, BuildFq},
              StartNs) {}

  void run(FrameSource& source) {
    next_ = source.next();
    for (;;) {
      fill(source);
      if (!lane_.waiting() && resting_ >= RestCycles && !jump()) return;
      fill(source);
      clock();
    }
  }
  u64 now() const { return now_; }
  u64 clocks() const { return clocks_; }
  u64 left() const { return underWay_.size(); }

 private:
  Packet& packet(u64 id) { return underWay_[id - firstId_]; }

  void fill(FrameSource& source) {
    for (; next_ && next_->time <= now_; next_ = source.next()) {
      const std::vector<u8>& bytes = next_->bytes;
      const u32 size = static_cast<u32>(bytes.size()), input = inputOf(*next_);
      if (lane_.waiting(input) >= WaitingFrames) return;
      lane_.arrive(input, firstId_ + underWay_.size(), bytes.data(), size);
      Packet p;
      p.headers = parse(bytes.data(), size, config_.ttl_option);
      p.frame = next_;
      underWay_.push_back(std::move(p));
      recorder_.progress();
    }
  }

  // Without frames only updates of PIE are left, which go on for ever.
  bool jump() {
    u64 to = next_ ? next_->time : ~u64{0}, wake;
    if (!next_ && underWay_.empty()) return false;
    if (lane_.wake(wake)) to = std::min(to, unwrapped(wake, now_));
    if (to == ~u64{0}) return false;
    now_ = std::max(now_, ontoGrid(to));
    return true;
  }

  void clock() {
    const bool waiting = lane_.waiting();
    lane_.clock(wrapped(now_));
    resting_ = waiting || lane_.busy() ? 0 : resting_ + 1;
    for (const ClockedLane::Lost& l : lane_.lost()) {
      Packet& p = packet(l.id);
      recorder_.lost(l.input, l.lenBytes, p.frame.get());
      finish(p);
    }
    if (lane_.decided()) decided(*lane_.decided());
    if (lane_.departed()) departed(*lane_.departed());
    if (lane_.sent()) {
      Packet& p = packet(*lane_.sent());
      bool ceWritten;
      const std::vector<u8> bytes = expectedBytes(config_, p, &ceWritten);
      recorder_.sent(p, ceWritten, bytes);
      finish(p);
    }
    recorder_.sendReports();
    clocks_++;
    now_ += ClockNs;
  }

  void decided(const ClockedLane::Decided& made) {
    RtlDecision d;
    d.rule = made.rule.rule;
    d.refresh = made.refresh;
    d.input = made.input;
    d.seen = made.seen;
    std::copy_n(made.averages, Colours, d.average);
    d.probability = made.decision.p;
    d.verdict = made.decision.verdict;
    d.mark = made.mark;
    d.pushOut = made.pushOut;
    if (made.refresh) return recorder_.decided(d, {}, false);
    Packet& p = packet(made.id);
    p.rule = made.rule;
    p.headers.dscp = made.dscp;
    p.queue = made.seen.queue;
    p.travelled = travelled(config_, p);
    const VictimOutcome& o = made.pushOut.outcome;
    recorder_.decided(d, p.headers, o.evicted ? packet(made.victim).travelled : p.travelled);
    p.colour = made.seen.colour;
    p.lenBytes = made.seen.len_bytes;
    p.verdict = made.decision.verdict;
    p.decided = made.seen.time;
    p.ce = p.verdict == VM_MARK;
    recorder_.explain(p, d, o.evicted || o.victimMarked ? &packet(made.victim) : nullptr, clocks_);
    if (o.victimMarked) packet(made.victim).ce = true;
    if (o.evicted) packet(made.victim).frame = nullptr;
    if (!admits(p.verdict)) p.frame = nullptr;
    forget();
  }

  void departed(const ClockedLane::Departed& gone) {
    Packet& p = packet(gone.id);
    p.left = unwrapped(gone.time, now_);
    recorder_.judged(p, ofMarked(gone.verdict, p.ce), gone.byCurve, clocks_, gone.chosen, gone.behind);
    if (gone.verdict == HeadVerdict::Mark) p.ce = true;
    if (gone.verdict == HeadVerdict::Drop) finish(p);
  }

  void finish(Packet& p) {
    p.frame = nullptr;
    forget();
  }

  void forget() {
    for (; !underWay_.empty() && !underWay_.front().frame; firstId_++) underWay_.pop_front();
  }

  const VmConfig& config_;
  Recorder& recorder_;
  ClockedLane lane_;
  std::shared_ptr<const Frame> next_;
  std::deque<Packet> underWay_;  // by id; packets with a known fate are removed from the front
  u64 firstId_ = 0, now_ = StartNs, clocks_ = 0, resting_ = 0;
};

}  // namespace

u64 runModel(const LoadedConfig& loaded, FrameSource& source, Recorder& recorder, nlohmann::ordered_json& json) {
  if (Egresses > 1)
    throw InputError("--engine model runs lanes with one egress, this build has " + std::to_string(Egresses));
  ModelRun run(loaded.config, recorder);
  run.run(source);
  const u64 errors = run.left();
  json["clocks"] = run.clocks();
  json["seconds"] = static_cast<double>(run.now() - StartNs) / 1e9;
  u64 events[FlowEvents];
  for (u32 i = 0; i < FlowEvents; i++) events[i] = saturate(recorder.results().flowEvents(i), 32);
  json["flow_events"] = flowEventJson(events);
  if (recorder.results().grouped()) json["flow_collisions"] = recorder.results().flowCollisions();
  if (ReportBook* reports = recorder.reports()) {
    reports->finish(nullptr);
    recorder.sendReports();
    reports->write(json);
  }
  json["accounting"] = {{"errors", errors}, {"first_error", errors ? "a frame did not come out of the model" : ""}};
  return errors;
}

}  // namespace vermilion
