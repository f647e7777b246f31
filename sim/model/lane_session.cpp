#include "lane_session.h"

#include <algorithm>
#include <utility>

#include "rewrite.h"

namespace vermilion {

static constexpr u64 RestCycles = 4;   // idle cycles before time jumps
static constexpr u64 NextCycles = 64;  // most frames leave within this time, once they are due

static u64 ontoGrid(u64 ns) {
  return (ns + LaneClockNs - 1) / LaneClockNs * LaneClockNs;
}

bool judges(const VmConfig& c) {
  return std::any_of(c.queues, c.queues + c.queue_count, [](const VmQueue& q) {
    return q.codel.on != 0 || q.pie.on != 0 || q.dualpi2.on != 0 || q.mark_late != 0 || q.fq != 0;
  });
}

// The preset `network`, with the victim search if a queue uses it, or `network-aqm`, which has CoDel, PIE, DualPI2 and groups of flows.
static constexpr u32 Queues = 16;

static LaneShape shapeOf(const VmConfig& c) {
  const bool nearest = std::any_of(c.queues, c.queues + c.queue_count, [](const VmQueue& q) { return q.victim != 0; });
  return {CellBytes,
          1,
          0,
          c.buffer_cells != 0 ? c.buffer_cells : 1u << 20,
          nearest ? c.queue_count : 0,
          4,
          judges(c),
          judges(c) ? std::max(Queues, c.queue_count) : 0,
          judges(c) ? (std::max(Queues, c.queue_count) + 1) / 2 * 2 : 0,
          false,
          c.rule_count != 0,
          judges(c)};
}

LaneSession::LaneSession(const VmConfig& config)
    : config_(config),
      profiles_(config.queues, config.queues + config.queue_count),
      lane_(config, shapeOf(config)),
      counters_(std::size_t{config.queue_count} * Colours) {
  config_.queues = profiles_.data();
}

bool LaneSession::resting() const {
  return resting_ >= RestCycles && !lane_.waiting();
}

void LaneSession::clock() {
  const bool waiting = lane_.waiting();
  lane_.clock(now_);
  resting_ = waiting || lane_.busy() ? 0 : resting_ + 1;
  if (lane_.decided() && !lane_.decided()->refresh) decided();
  if (lane_.departed()) {
    Inside& frame = inside(lane_.departed()->id);
    departed(frame);
  }
  if (lane_.sent()) sentFrame(*lane_.sent());
  now_ += LaneClockNs;
}

void LaneSession::departed(Inside& frame) {
  VmSent& r = frame.record;
  r.time = lane_.departed()->time;
  VmCounters& count = counters_[r.queue * Colours + r.colour];
  if (lane_.departed()->verdict == HeadVerdict::Drop) {
    count.departure_dropped_packets++;
    count.departure_dropped_bytes += r.len_bytes;
    dropped_.push_back({r.time, r.arrival, r.id, r.queue, r.colour, r.len_bytes});
    frame.bytes.clear();
    release();
    return;
  }
  count.sent_packets++;
  count.sent_bytes += r.len_bytes;
  if (ofMarked(lane_.departed()->verdict, frame.mark) != HeadVerdict::Mark) return;
  count.departure_marked_packets++;
  count.departure_marked_bytes += r.len_bytes;
  frame.mark = true;
  r.ce_written = frame.headers.ecn != 3;
}

void LaneSession::decided() {
  const ClockedLane::Decided& d = *lane_.decided();
  Inside& frame = inside(d.id);
  const Arrival& a = d.seen;
  VmCounters& count = counters_[a.queue * Colours + a.colour];
  count.packets[d.decision.verdict]++;
  count.bytes[d.decision.verdict] += a.len_bytes;
  frame.mark = d.decision.verdict == VM_MARK;
  frame.rule = d.rule;
  frame.headers.dscp = d.dscp;
  frame.record = {0, a.time, d.id, a.queue, a.colour, a.len_bytes, frame.mark && a.ecn != 3};
  if (!admits(d.decision.verdict)) frame.bytes.clear();
  if (d.pushOut.outcome.evicted || d.pushOut.outcome.victimMarked) {
    const VictimOutcome& o = d.pushOut.outcome;
    Inside& victim = inside(d.victim);
    VmCounters& lost = counters_[a.queue * Colours + o.colour];
    (o.evicted ? lost.evicted_packets : lost.victim_marked_packets)++;
    (o.evicted ? lost.evicted_bytes : lost.victim_marked_bytes) += o.lenBytes;
    victim.mark = true;
    victim.record.ce_written = victim.headers.ecn != 3;
    if (o.evicted) {
      const VmSent& r = victim.record;
      evicted_.push_back({now_, r.arrival, r.id, d.id, r.queue, r.colour, r.len_bytes});
      victim.bytes.clear();
    }
  }
  release();
}

void LaneSession::sentFrame(u64 id) {
  Inside& frame = inside(id);
  rewrite(frame.bytes.data(), frame.headers, frame.rule, profiles_[frame.record.queue], frame.record.colour,
          frame.mark);
  VmCounters& count = counters_[frame.record.queue * Colours + frame.record.colour];
  count.ce_written_packets += frame.record.ce_written;
  count.ce_written_bytes += frame.record.ce_written ? frame.record.len_bytes : 0;
  lastSent_ = frame.record.time;
  sent_.push_back({frame.record, std::exchange(frame.bytes, {})});
  release();
}

// Removes entries from the front. An entry without bytes is a frame that has left the lane.
void LaneSession::release() {
  for (; !inside_.empty() && inside_.front().bytes.empty(); firstId_++) inside_.pop_front();
}

Decision LaneSession::arrive(u64 time, const u8* frame, u32 lenBytes, bool bad, Arrival* seen) {
  advance(time);
  const u64 id = firstId_ + inside_.size();
  inside_.push_back({{}, parse(frame, lenBytes, config_.ttl_option), {}, false, {frame, frame + lenBytes}});
  lane_.arrive(0, id, frame, lenBytes, bad);
  resting_ = 0;
  do clock();
  while (!lane_.decided() || lane_.decided()->refresh || lane_.decided()->id != id);
  if (seen != nullptr) *seen = lane_.decided()->seen;
  return lane_.decided()->decision;
}

void LaneSession::advance(u64 time) {
  while (now_ < time) {
    u64 wake;
    if (!resting()) {
      clock();
    } else if (lane_.wake(wake) && wake < time) {
      now_ = std::max(now_, ontoGrid(wake));
      clock();
    } else {
      now_ = ontoGrid(time);
    }
  }
}

bool LaneSession::next(u64& ns) const {
  u64 wake = now_;
  if (resting() && (inside_.empty() || !lane_.wake(wake))) return false;
  ns = std::max(now_, ontoGrid(wake)) + NextCycles * LaneClockNs;
  return true;
}

u64 LaneSession::drain() {
  for (u64 wake;;) {
    while (!resting()) clock();
    if (inside_.empty() || !lane_.wake(wake)) return lastSent_;
    now_ = std::max(now_, ontoGrid(wake));
    resting_ = 0;
  }
}

}  // namespace vermilion
