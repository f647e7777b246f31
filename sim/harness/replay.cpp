#include "replay.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "build_shape.h"
#include "distance.h"
#include "timing.h"

namespace vermilion {

const char* const VerdictNames[VM_VERDICTS] = {"enqueue", "mark", "early", "forced", "tail", "nobuf", "bad", "policed"};

// `updates`: the packet or refresh updates averages. Without an update the n of the look-ahead has no meaning.
void Replay::compareSeen(Differences& found, const Arrival& rtl, const Arrival& model, bool packet, bool updates) {
  found.compare("time", rtl.time, model.time);
  if (packet) {
    found.compare("draw", rtl.draw, model.draw);
    found.compare("distance", rtl.distance, model.distance);
    found.compare("queued bytes", rtl.queued_bytes, model.queued_bytes);
    found.compare("queued packets", rtl.queued_packets, model.queued_packets);
    found.compare("pool full", rtl.pool_full, model.pool_full);
  }
  for (u32 c = 0; c < u32{Colours}; c++) {
    found.compare("backlog bytes", rtl.backlog_bytes[c], model.backlog_bytes[c]);
    found.compare("backlog packets", rtl.backlog_packets[c], model.backlog_packets[c]);
    found.compare("last departure", rtl.last_departure[c], model.last_departure[c]);
    if (updates) found.compare("n", rtl.n[c], model.n[c]);
  }
}

void Replay::compareMark(Differences& found, const RtlDecision& rtl, const VmMark& model, bool sound) {
  found.compare("colour", rtl.seen.colour, model.marked);
  found.compare("marker's time", rtl.mark.time, model.time);
  found.compare("marker's draw", rtl.mark.draw, model.draw);
  if (!sound) return;
  found.compare("policed", rtl.mark.policed, model.policed);
  found.compare("level", rtl.mark.level, model.level);
  found.compare("flow", rtl.mark.has_flow, model.has_flow);
  found.compare("flow's raised", rtl.mark.flow.raised, model.flow.raised);
  found.compare("flow's average", rtl.mark.flow.average, model.flow.average);
  found.compare("flow's burst", rtl.mark.flow.burst, model.flow.burst);
  found.compare("flow's highest sequence number", rtl.mark.flow.highest_seq, model.flow.highest_seq);
  found.compare("flow's credits", rtl.mark.flow.credits, model.flow.credits);
}

static u64 settling() {
  return timing::settling(BuildVictims);
}

Replay::Replay(const VmConfig& config)
    : queueCount_(config.queue_count),
      victims_({config.queue_count, BuildCells, std::min<u32>(BuildVictims, config.queue_count), 64,
                LaneShape{BeatBytes}.headPlaces()},
               BuildCodel),
      marks_(config),
      view_(config, settling()),
      model_(std::vector<VmQueue>(config.queues, config.queues + config.queue_count)),
      awaited_(std::size_t{config.queue_count} * Colours),
      queuedBytes_(config.queue_count),
      queuedPackets_(config.queue_count),
      verdicts_({config.queues, config.queues + config.queue_count}),
      curves_({config.queues, config.queues + config.queue_count}, config.seed),
      pairs_({config.queues, config.queues + config.queue_count}, BuildDualPi2 ? BuildQueues : 0, StartNs, config.seed),
      pie_({config.queues, config.queues + config.queue_count}, BuildPie ? BuildQueues : 0, StartNs) {}

void Replay::time(u64 clock, u64 now) {
  times_[clock % Times] = truncate(now, TimeBits);
  victims_.clock(clock);
  const u64 lag = settling() + timing::Pie;
  if (clock >= lag) pie_.clock(clock - lag, timeAt(clock - lag));
  if (const u64 taken = timing::Judging; clock >= taken) pairs_.clock(clock - taken, timeAt(clock - taken));
}

void Replay::configure(u32 queue, const VmQueue& profile) {
  model_.configure(queue, profile);
  view_.configure(queue, profile);
  marks_.configure(queue, profile.marker);
  verdicts_.configure(queue, profile);
  curves_.configure(queue, profile);
  pairs_.configure(queue, profile);
  pie_.configure(queue, profile);
}

void Replay::departed(u64 clock, u64 now, u32 queue, u32 colour, u32 lenBytes, u64 arrival) {
  if (timeAt(clock) != truncate(now, TimeBits)) {
    departuresWrong_++;
    if (first_.empty())
      first_ = "departure time: queue " + std::to_string(queue) + " at " + std::to_string(truncate(now, TimeBits)) +
               " ns, in a cycle at " + std::to_string(timeAt(clock)) + " ns";
  }
  if (queue < queueCount_ && colour < u32{Colours}) {
    const u64 taken = clock - (BuildCodel ? timing::Judging : 0);
    view_.departed(clock, truncate(now, TimeBits), queue, colour, lenBytes);
    pie_.taken(taken, timeAt(taken), queue, lenBytes, arrival);
    awaited_[queue * Colours + colour]++;
  }
  victims_.departed(queue, clock);
}

// A request sees what came in earlier cycles. Its verdict is shown timing::Judging cycles later.
std::optional<CurveMark> Replay::judged(u64 clock, u32 queue, u32 colour, u32 lenBytes, u64 arrival,
                                        const Headers& headers, bool marked, HeadVerdict verdict) {
  const u64 request = clock - timing::Judging;
  for (; !came_.empty() && came_.front().clock < request; came_.pop_front()) {
    queuedBytes_[came_.front().queue] += came_.front().bytes;
    queuedPackets_[came_.front().queue] += came_.front().packets;
  }
  queuedBytes_[queue] -= lenBytes;
  queuedPackets_[queue]--;
  const bool isIp = headers.is_ip4 || headers.is_ip6;
  const u32 dsField = headers.dscp << 2 | headers.ecn;
  const u64 now = timeAt(request);
  const u32 behind = queuedBytes_[queue], other = queue ^ 1;
  const u32 behindBoth = behind + (other < queueCount_ ? queuedBytes_[other] : 0);
  const u32 ecn = isIp ? headers.ecn : 0;
  const HeadVerdict ofPair = pairs_.judge(request, now, queue, arrival, ecn, behind, behindBoth);
  const auto byCurve = curves_.judge(request, queue, colour, ecn, behind, queuedPackets_[queue]);
  const HeadVerdict ofCurve = byCurve && byCurve->mark ? HeadVerdict::Mark : HeadVerdict::Pass;
  const Judged judged = verdicts_.judge(request, now, queue, arrival, dsField, isIp, behind);
  const HeadVerdict model = ofMarked(strongest(strongest(judged.verdict, ofPair), ofCurve), marked);
  departures_++;
  if (model == verdict) {
    departuresAgreed_++;
  } else if (first_.empty()) {
    static const char* const Names[] = {"pass", "mark", "drop"};
    first_ = "verdict at departure: queue " + std::to_string(queue) + ", " + std::to_string(lenBytes) +
             " bytes, arrived at " + std::to_string(arrival) + " ns, judged at " + std::to_string(timeAt(request)) +
             " ns with " + std::to_string(queuedBytes_[queue]) + " bytes behind it: RTL " +
             Names[static_cast<int>(verdict)] + ", model " + Names[static_cast<int>(model)];
  }
  return byCurve;
}

// The averages after a decision or a refresh, for curves that mark at departure.
void Replay::averaged(u64 clock, const Arrival& a, bool refresh, bool sound) {
  u64 averages[Colours];
  for (u32 e = 0; e < u32{Colours}; e++) averages[e] = model_.average(a.queue, e);
  curves_.averaged(clock, a.queue, updatedAverages(model_.queue(a.queue), a.colour, refresh, sound), averages);
}

// Continues the model with the packet's outcome in the RTL, and compares the verdicts.
void Replay::settle(Differences& found, const RtlDecision& rtl, const Arrival& seen, u32 provisionalVerdict,
                    u64 clock) {
  const bool held = BuildVictims != 0 && pushesOut(model_.queue(seen.queue), provisionalVerdict);
  VictimOutcome outcome = rtl.pushOut.outcome;
  if (!held) outcome = {};
  if (!held) outcome.enqueued = admits(provisionalVerdict);
  if (held || admits(provisionalVerdict)) view_.reserved(seen);
  if (outcome.enqueued) view_.admitted(clock - settling() - timing::Verdict, seen);
  if (outcome.evicted && outcome.colour < u32{Colours})
    view_.evicted(clock, timeAt(clock), seen.queue, outcome.colour, outcome.lenBytes);
  if (held && (outcome.evicted || !outcome.enqueued))
    view_.lost(clock, seen.queue, outcome.evicted ? outcome.lenBytes : seen.len_bytes);
  const u32 more = (outcome.enqueued ? seen.len_bytes : 0) - (outcome.evicted ? outcome.lenBytes : 0);
  if (BuildCodel && (outcome.enqueued || outcome.evicted))
    came_.push_back({clock, seen.queue, more, u32{outcome.enqueued} - u32{outcome.evicted}});
  pie_.came(clock, seen.queue, more);
  victims_.decided(atQueues(model_.queue(seen.queue), seen, provisionalVerdict, rtl.cell, 1), rtl.pushOut.outcome,
                   clock);
  found.compare("provisional verdict", rtl.pushOut.provisionalVerdict, provisionalVerdict);
  found.compare("push-out", rtl.pushOut.held, held);
  found.compare("verdict", rtl.verdict, verdictOf(provisionalVerdict, held, outcome));
}

void Replay::finish() {
  victims_.finish();
}

// Compares the averages that an arrival or departure of this colour updates.
void Replay::compareAverages(Differences& found, const RtlDecision& rtl) const {
  const Arrival& a = rtl.seen;
  for (u32 e = 0; e < u32{Colours}; e++)
    if (model_.queue(a.queue).masks[e] >> a.colour & 1)
      found.compare("average", rtl.average[e], model_.average(a.queue, e));
}

void Replay::checkRefresh(const RtlDecision& rtl, u64 lookup) {
  const Arrival& a = rtl.seen;
  const Arrival seen = view_.refresh(lookup, timeAt(lookup - 1), a.queue, a.colour);
  const bool updates = model_.queue(a.queue).update != 0;
  Departure d{seen.time, a.queue, a.colour, {}, {}, {}};
  std::copy_n(seen.backlog_bytes, Colours, d.backlog_bytes);
  std::copy_n(seen.backlog_packets, Colours, d.backlog_packets);
  std::copy_n(seen.n, Colours, d.n);
  model_.depart(d);
  Differences found;
  u64& awaited = awaited_[a.queue * Colours + a.colour];
  found.compare("queue and colour without a departure", awaited == 0, false);
  if (awaited != 0) awaited--;
  compareSeen(found, a, seen, false, updates);
  if (updates) compareAverages(found, rtl);
  if (found.none()) {
    refreshesAgreed_++;
  } else if (first_.empty()) {
    disagree(found.names(), rtl, {}, seen, {rtl.verdict, model_.average(a.queue, a.colour), rtl.probability, 0});
  }
}

u32 Replay::check(const RtlDecision& rtl, const Headers& headers, u32 marker, bool drop, u64 clock) {
  const Arrival& a = rtl.seen;
  const u64 lookup = clock - settling() - timing::Verdict;
  (rtl.refresh ? refreshes_ : decisions_)++;
  if (a.queue >= queueCount_ || a.colour >= u32{Colours} || (!rtl.refresh && rtl.mark.colour >= u32{Colours})) {
    if (first_.empty()) disagree("queue or colour out of range", rtl, {}, {}, {VM_VERDICTS, 0, 0, 0});
    return 0;
  }
  if (rtl.refresh) {
    checkRefresh(rtl, lookup);
    averaged(clock, a, true, true);
    return 0;
  }
  const bool sound = !a.bad && !a.no_buffer;
  const VmMark mark =
      marks_.mark(timeAt(lookup - timing::Lookup), marker, rtl.mark.colour, a.len_bytes, headers, sound, drop);
  const bool untouched = !sound || mark.policed;
  Arrival seen = view_.packet(lookup, timeAt(lookup - 1), a.queue, mark.marked, a.len_bytes, !untouched);
  seen.ecn = a.ecn;
  seen.bad = a.bad;
  seen.no_buffer = a.no_buffer;
  seen.policed = mark.policed;
  seen.distance = distance(headers, model_.queue(a.queue).distance);
  view_.limit(lookup, seen);
  const Pending pending = model_.observe(seen);
  const bool over = model_.over(pending, seen.queued_bytes, seen.queued_packets, seen.pool_full != 0);
  const ClockedPie::Seen pie = pie_.request(a.queue);
  Decision d = model_.conclude(pending, over, pie_.decide(pie, model_.queue(a.queue), seen, over));
  d.p |= pieProbability(pie, seen);
  Differences found;
  compareSeen(found, a, seen, true, !untouched);
  compareMark(found, rtl, mark, sound);
  averaged(clock, seen, false, !untouched);
  settle(found, rtl, seen, d.verdict, clock);
  if (!untouched) {
    found.compare("average", rtl.average[a.colour], d.avg);
    found.compare("probability", rtl.probability, d.p);
    compareAverages(found, rtl);
  }
  if (found.none()) {
    agreed_++;
  } else if (first_.empty()) {
    disagree(found.names(), rtl, mark, seen, d);
  }
  return mark.flow_events;
}

void Replay::disagree(const std::string& names, const RtlDecision& rtl, const VmMark& mark, const Arrival& seen,
                      const Decision& model) {
  const Arrival& a = rtl.seen;
  char text[400];
  std::snprintf(text, sizeof text,
                "%s %" PRIu64 " at %" PRIu64
                " ns, input %u, queue %u, colour %u, %u bytes, ecn %u, bad %u, no_buffer %u; RTL and model: "
                "draw 0x%08x 0x%08x, queued %u %u bytes %u %u packets",
                rtl.refresh ? "refresh" : "decision", (rtl.refresh ? refreshes_ : decisions_) - 1, a.time, rtl.input,
                a.queue, a.colour, a.len_bytes, a.ecn, a.bad, a.no_buffer, a.draw, seen.draw, a.queued_bytes,
                seen.queued_bytes, a.queued_packets, seen.queued_packets);
  first_ = names + ": " + text;
  std::snprintf(text, sizeof text,
                "; marker at %" PRIu64 " ns, colour %u to %u %u, policed %u %u, level %" PRIu64 " %" PRIu64
                ", draw 0x%08x 0x%08x",
                rtl.mark.time, rtl.mark.colour, a.colour, mark.marked, rtl.mark.policed, mark.policed, rtl.mark.level,
                mark.level, rtl.mark.draw, mark.draw);
  first_ += text + ("; distance " + std::to_string(a.distance)) + " " + std::to_string(seen.distance);
  for (u32 c = 0; c < u32{Colours}; c++) {
    const u64 average = model.verdict == VM_VERDICTS ? 0 : model_.average(a.queue, c);
    std::snprintf(text, sizeof text,
                  "; colour %u: backlog %u %u bytes %u %u packets, last departure %" PRIu64 " %" PRIu64
                  ", n %u %u, average %" PRIu64 " %" PRIu64,
                  c, a.backlog_bytes[c], seen.backlog_bytes[c], a.backlog_packets[c], seen.backlog_packets[c],
                  a.last_departure[c], seen.last_departure[c], a.n[c], seen.n[c], rtl.average[c], average);
    first_ += text;
  }
  std::snprintf(text, sizeof text, "; p %" PRIu64 " %" PRIu64 ", verdict %u, provisional verdict %u %u",
                rtl.probability, model.p, rtl.verdict, rtl.pushOut.provisionalVerdict, model.verdict);
  first_ += text;
}

}  // namespace vermilion
