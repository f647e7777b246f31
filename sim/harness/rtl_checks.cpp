#include "rtl_checks.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "build_shape.h"
#include "counter_check.h"

namespace vermilion {

static nlohmann::ordered_json told(const Breaches& found) {
  return {{"errors", found.count}, {"first_error", found.first}};
}

RtlChecks::RtlChecks(const VmConfig& config, Recorder& recorder)
    : config_(config),
      recorder_(recorder),
      replay_(config),
      accounting_(config, Inputs, [this](const Packet& p, const std::vector<u8>& bytes) { onWire(p, bytes); }) {}

void RtlChecks::time(u64 clock, u64 now) {
  replay_.time(clock, now);
  now_ = now;
}

void RtlChecks::arrived(u32 input, std::shared_ptr<const Frame> frame, u64 clock) {
  timing_.arrived(input, *frame, now_);
  accounting_.arrived(input, std::move(frame), clock);
}

void RtlChecks::lost(u32 input, u32 lenBytes, u64 clock) {
  const std::shared_ptr<const Frame> frame = accounting_.lost(input, lenBytes, clock);
  recorder_.lost(input, lenBytes, frame.get());
}

void RtlChecks::decided(const RtlDecision& made, u64 clock) {
  RtlDecision d = made;
  const Packet p = d.refresh ? Packet{} : accounting_.decided(d, clock);
  d.mark.flow_events = replay_.check(d, p.headers, p.marker, p.rule.drop, clock);
  recorder_.decided(d, p.headers, accounting_.lostTravelled());
  if (d.refresh) return;
  if (p.frame) recorder_.explain(p, d, accounting_.victim(), clock);
  timing_.decided(now_, p.frame ? std::optional(clock - p.inClock) : std::nullopt);
}

void RtlChecks::departed(const Left& left, u64 now, u64 clock) {
  replay_.departed(clock, now, left.queue, left.colour, left.lenBytes, left.arrival);
  const std::optional<Packet> packet = accounting_.departed(left, now, clock);
  if (!BuildCodel || !packet) return;
  const HeadVerdict verdict = left.dropped ? HeadVerdict::Drop : left.marked ? HeadVerdict::Mark : HeadVerdict::Pass;
  const std::optional<CurveMark> byCurve =
      replay_.judged(clock, left.queue, left.colour, left.lenBytes, left.arrival, packet->headers, packet->ce, verdict);
  recorder_.judged(*packet, verdict, byCurve, clock, replay_.chosen(clock), replay_.behind(left.queue));
}

void RtlChecks::wire(u32 egress, std::vector<u8> bytes, u64 firstBeatClock) {
  accounting_.wire(egress, std::move(bytes), firstBeatClock);
}

void RtlChecks::reported(const std::vector<u8>& frame, u64 clock) {
  recorder_.reported(frame, clock);
}

void RtlChecks::onWire(const Packet& p, const std::vector<u8>& bytes) {
  bool ceWritten;
  expectedBytes(config_, p, &ceWritten);
  recorder_.sent(p, ceWritten, bytes);
  timing_.sent(p.outClock - p.inClock);
}

void RtlChecks::finish(Registers& registers, nlohmann::ordered_json& json) {
  accounting_.finish();
  replay_.finish();
  compareCounters(registers, config_, recorder_.results(), accounting_.lost(), counters_);
  json["flow_events"] = compareFlowEvents(registers, recorder_.results(), counters_);
  compareRules(registers, recorder_.results(), counters_);
  const u64 collisions = compareFlowCollisions(registers, recorder_.results(), counters_);
  if (recorder_.results().grouped()) json["flow_collisions"] = collisions;
  compareRefreshes(registers, config_, replay_.refreshes(), replay_.refreshesMissing(), counters_);
  json["replay"] = {{"decisions", replay_.decisions()},
                    {"agreed", replay_.agreed()},
                    {"refreshes", replay_.refreshes()},
                    {"refreshes_agreed", replay_.refreshesAgreed()},
                    {"first_disagreement", replay_.firstDisagreement()}};
  if (BuildCodel) {
    json["replay"]["departures"] = replay_.departures();
    json["replay"]["departures_agreed"] = replay_.departuresAgreed();
  }
  if (ReportBook* reports = recorder_.reports()) {
    u32 counts[4];
    for (u32 i = 0; i < 4; i++) counts[i] = reportEvents(registers, i);
    reports->finish(counts);
    reports->write(json);
    reports_ = reports->breaches();
  }
  json["victims"] = told({replay_.victims().wrong(), replay_.victims().first()});
  json["accounting"] = told(accounting_.breaches());
  json["counters"] = told(counters_);
  json["stream"] = told(stream_);
}

u64 RtlChecks::defects() const {
  return replay_.disagreed() + accounting_.breaches().count + counters_.count + stream_.count + reports_.count;
}

}  // namespace vermilion
