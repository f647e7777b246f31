#include "results.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "pace.h"

namespace vermilion {

using Json = nlohmann::ordered_json;

namespace {

// The lower bound of a latency's class. A class has the leading 1 and the three bits after it: 8 classes per octave.
u64 classOf(u64 ns) {
  const int drop = std::max(0, static_cast<int>(std::bit_width(ns)) - 4);
  return ns >> drop << drop;
}

Json pair(u64 packets, u64 bytes) {
  return {{"packets", packets}, {"bytes", bytes}};
}

Json colourJson(const VmCounters& c) {
  u64 packets = 0, bytes = 0;
  for (int v = 0; v < VM_VERDICTS; v++) {
    packets += c.packets[v];
    bytes += c.bytes[v];
  }
  Json j;
  j["arrived"] = pair(packets, bytes);
  j["enqueued"] = pair(c.packets[VM_ENQUEUE] + c.packets[VM_MARK], c.bytes[VM_ENQUEUE] + c.bytes[VM_MARK]);
  j["marked"] = pair(c.packets[VM_MARK] + c.victim_marked_packets, c.bytes[VM_MARK] + c.victim_marked_bytes);
  j["ce_written"] = pair(c.ce_written_packets, c.ce_written_bytes);
  for (int v = VM_EARLY; v < VM_VERDICTS; v++) j[VerdictNames[v]] = pair(c.packets[v], c.bytes[v]);
  j["sent"] = pair(c.sent_packets, c.sent_bytes);
  j["evicted"] = pair(c.evicted_packets, c.evicted_bytes);
  j["departure_dropped"] = pair(c.departure_dropped_packets, c.departure_dropped_bytes);
  j["departure_marked"] = pair(c.departure_marked_packets, c.departure_marked_bytes);
  return j;
}

}  // namespace

Results::Results(const VmConfig& config, std::vector<std::string> names)
    : names_(std::move(names)), queues_(config.queue_count), collisions_(config), rules_(config.rule_count) {
  names_.resize(config.queue_count);
  for (u32 i = 0; i < config.queue_count; i++) {
    queues_[i].marker = config.queues[i].marker;
    queues_[i].nearest = config.queues[i].victim != 0;
    queues_[i].grouped = config.queues[i].fq != 0;
  }
}

Results::Queue& Results::queue(u32 index) {
  if (index < queues_.size()) return queues_[index];
  throw std::runtime_error("the lane named queue " + std::to_string(index) + "; the run has queues 0 to " +
                           std::to_string(queues_.size() - 1));
}

void Results::ruled(const RtlDecision& d) {
  if (rules_.empty() || d.seen.bad != 0 || d.seen.no_buffer != 0) return;
  if (!d.rule) {
    unmatched_++;
    return;
  }
  if (*d.rule >= rules_.size())
    throw std::runtime_error("the lane named rule " + std::to_string(*d.rule) + "; there are " +
                             std::to_string(rules_.size()));
  rules_[*d.rule].frames++;
  rules_[*d.rule].bytes += d.seen.len_bytes;
}

void Results::decided(const Arrival& seen, const VmMark& mark, u64 time, u64 average, u64 probability, u32 verdict,
                      const PushOut& pushOut, bool travelled) {
  packets_++;
  bytes_ += seen.len_bytes;
  Queue& q = queue(seen.queue);
  if (std::max(seen.colour, mark.colour) >= u32{Colours})
    throw std::runtime_error("the lane named colour " + std::to_string(std::max(seen.colour, mark.colour)) +
                             "; there are colours 0 to " + std::to_string(Colours - 1));
  q.marked[mark.colour][seen.colour]++;
  q.counters[seen.colour].packets[verdict]++;
  q.counters[seen.colour].bytes[verdict] += seen.len_bytes;
  const VictimOutcome& o = pushOut.outcome;
  const bool evicted = pushOut.held && o.evicted;
  if (pushOut.held && (o.evicted || o.victimMarked)) {
    VmCounters& c = q.counters[std::min(o.colour, u32{Colours - 1})];
    (o.evicted ? c.evicted_packets : c.victim_marked_packets)++;
    (o.evicted ? c.evicted_bytes : c.victim_marked_bytes) += o.lenBytes;
    q.victimsByDistance[o.distance % Distances]++;
  }
  q.pushOuts += pushOut.held;
  q.stale += pushOut.held && o.stale;
  if (evicted || verdict == VM_EARLY || verdict == VM_FORCED || verdict == VM_TAIL) {
    const u32 d = (evicted ? o.distance : seen.distance) % Distances;
    q.lostByDistance[d]++;
    q.lostTravelled[d] += travelled;
  }
  const Sample s{time,
                 average,
                 probability,
                 seen.queue,
                 seen.colour,
                 seen.queued_bytes,
                 seen.queued_packets,
                 pushOut.provisionalVerdict,
                 !seen.bad && !seen.no_buffer && !seen.policed};
  q.highestBytes = std::max<u64>(q.highestBytes, s.backlogBytes);
  q.highestPackets = std::max<u64>(q.highestPackets, s.backlogPackets);
  samples_.add(s);
  if (pushOut.provisionalVerdict != VM_ENQUEUE) events_.add(s);
}

void Results::classified(u32 index, const Headers& headers) {
  Queue& q = queue(index);
  if (headers.is_ip4 || headers.is_ip6) {
    q.dscps[headers.dscp % Dscps]++;
  } else {
    q.notIp++;
  }
}

std::optional<u32> Results::flow(const Arrival& seen, const Headers& headers, const VmMark& mark) {
  Queue& q = queue(seen.queue);
  for (u32 i = 0; i < FlowEvents; i++) q.flowEvents[i] += mark.flow_events >> i & 1;
  return flows_.packet(seen, headers, mark);
}

u64 Results::flowEvents(u32 event) const {
  u64 sum = 0;
  for (const Queue& q : queues_) sum += q.flowEvents[event];
  return sum;
}

void Results::collision(const Arrival& seen, const Headers& headers, u32 verdict) {
  if (admits(verdict)) queue(seen.queue).flowCollisions += collisions_.enqueued(seen, headers);
}

bool Results::grouped() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const Queue& q) { return q.grouped; });
}

u64 Results::flowCollisions() const {
  u64 sum = 0;
  for (const Queue& q : queues_) sum += q.flowCollisions;
  return sum;
}

void Results::sent(const Packet& p, bool ceWritten) {
  Queue& q = queue(p.queue);
  VmCounters& c = q.counters[p.colour];
  c.sent_packets++;
  c.sent_bytes += p.lenBytes;
  c.ce_written_packets += ceWritten;
  c.ce_written_bytes += ceWritten ? p.lenBytes : 0;
  const u64 latency = wrapped(p.left - p.decided);
  waiting_.departed(p.left, latency);
  q.latency[classOf(latency)]++;
  q.latencies[std::clamp<u32>(static_cast<u32>(std::bit_width(latency)), 1, LatencyBins) - 1]++;
  q.latencyMax = std::max(q.latencyMax, latency);
}

void Results::judged(const Packet& p, HeadVerdict verdict) {
  VmCounters& c = queue(p.queue).counters[p.colour];
  c.departure_dropped_packets += verdict == HeadVerdict::Drop;
  c.departure_dropped_bytes += verdict == HeadVerdict::Drop ? p.lenBytes : 0;
  c.departure_marked_packets += verdict == HeadVerdict::Mark;
  c.departure_marked_bytes += verdict == HeadVerdict::Mark ? p.lenBytes : 0;
}

void Results::lost(u32 input, u32 lenBytes) {
  if (lost_.size() <= input) lost_.resize(input + 1);
  lost_[input].frames++;
  lost_[input].bytes += lenBytes;
}

Json Results::list(const Decimator<Sample>& samples) {
  Json j = Json::array();
  const auto ratio = [](const Sample& s, u64 value, u64 one) {
    return s.evaluated ? Json(static_cast<double>(value) / static_cast<double>(one)) : Json();
  };
  for (const Sample& s : samples.kept())
    j.push_back({s.time, s.queue, s.colour, ratio(s, s.average, u64{1} << AvgFrac), s.backlogBytes, s.backlogPackets,
                 ratio(s, s.probability, ProbOne), s.verdict});
  return j;
}

void Results::losses(const Queue& q, Json& json) {
  u64 slots = 0, others = 0;
  Json& list = json["lost_by_distance"] = Json::array();
  for (u64 d = 0; d < Distances; d++) {
    slots += d * q.lostTravelled[d];
    others += q.lostByDistance[d] - q.lostTravelled[d];
    if (q.lostTravelled[d] != 0) list.push_back({d, q.lostTravelled[d]});
  }
  json["wasted_hops"] = slots;
  json["lost_without_distance"] = others;
  if (!q.nearest) return;
  json["push_outs"] = q.pushOuts;
  json["stale"] = q.stale;
  Json& victims = json["victims_by_distance"] = Json::array();
  for (u64 d = 0; d < Distances; d++)
    if (q.victimsByDistance[d] != 0) victims.push_back({d, q.victimsByDistance[d]});
}

void Results::write(Json& json) const {
  json["packets"] = packets_;
  json["bytes"] = bytes_;
  json["span_ns"] = waiting_.spanNs();
  json["waited_ns"] = waiting_.waitedNs();
  for (const Lost& l : lost_) json["lost"].push_back(pair(l.frames, l.bytes));
  for (const Lost& r : rules_) json["rules"].push_back(pair(r.frames, r.bytes));
  if (!rules_.empty()) json["unmatched"] = unmatched_;
  Json& queues = json["queues"] = Json::array();
  for (std::size_t i = 0; i < queues_.size(); i++) {
    const Queue& q = queues_[i];
    Json colours = Json::array(), dscps = Json::array(), latency = Json::array();
    for (const VmCounters& c : q.counters) colours.push_back(colourJson(c));
    for (u32 d = 0; d < Dscps; d++)
      if (q.dscps[d] != 0) dscps.push_back({d, q.dscps[d]});
    for (const auto& [from, count] : q.latency) latency.push_back({from, count});
    queues.push_back({{"index", i},
                      {"name", names_[i].empty() ? std::to_string(i) : names_[i]},
                      {"colours", colours},
                      {"colours_in_out", q.marked},
                      {"dscps", dscps},
                      {"not_ip", q.notIp},
                      {"latency", latency},
                      {"latency_max_ns", q.latencyMax},
                      {"highest_backlog_bytes", q.highestBytes},
                      {"highest_backlog_packets", q.highestPackets}});
    losses(q, queues.back());
    if (q.grouped) queues.back()["flow_collisions"] = q.flowCollisions;
    if (q.marker.kind == VM_MARKS_NONE) continue;
    Json& marker = queues.back()["marker"] = {{"kind", vm_marker_word(q.marker.kind, q.marker.flow.kind)}};
    if (q.marker.kind != VM_MARKS_FLOW || q.marker.flow.kind == VM_FLOW_NONE) continue;
    marker["flow_events"] = flowEventJson(q.flowEvents);
    flows_.write(marker, static_cast<u32>(i), q.marker.flow.alpha);
  }
  json["sample_every"] = samples_.every();
  json["event_every"] = events_.every();
  json["samples"] = list(samples_);
  json["events"] = list(events_);
}

}  // namespace vermilion
