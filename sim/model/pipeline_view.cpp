#include "pipeline_view.h"

#include <algorithm>

namespace vermilion {

static u32 cellsOf(u32 lenBytes) {
  return (lenBytes + CellBytes - 1) / CellBytes;
}

PipelineView::PipelineView(const VmConfig& config, u64 settling)
    : settling_(settling),
      profiles_(config.queues, config.queues + config.queue_count),
      queues_(config.queue_count),
      pool_(config.pool),
      egresses_(std::max(config.egress_count, 1u)),
      random_(config.seed) {}

void PipelineView::departed(u64 clock, u64 now, u32 queue, u32 colour, u32 lenBytes) {
  departures_.push_back({clock, queue, colour, lenBytes, now});
  leaving_.push_back({clock, queue, colour, lenBytes, now});
  poolReturned_.push_back({clock, queue, cellsOf(lenBytes)});
}

void PipelineView::evicted(u64 clock, u64 now, u32 queue, u32 colour, u32 lenBytes) {
  departures_.push_back({clock, queue, colour, lenBytes, now, true});
}

void PipelineView::lost(u64 clock, u32 queue, u32 lenBytes) {
  leaving_.push_back({clock, queue, 0, lenBytes, 0});
  poolReturned_.push_back({clock, queue, cellsOf(lenBytes)});
}

Arrival PipelineView::lookup(u64 clock, u64 now, u32 queue, u32 colour) {
  for (; !admissions_.empty() && admissions_.front().clock + timing::Admission + settling_ <= clock;
       admissions_.pop_front()) {
    const Event& e = admissions_.front();
    queues_[e.queue].bytes[e.colour] += e.lenBytes;
    queues_[e.queue].packets[e.colour]++;
  }
  for (; !departures_.empty() && departures_.front().clock < clock; departures_.pop_front()) {
    const Event& e = departures_.front();
    Queue& q = queues_[e.queue];
    q.bytes[e.colour] -= e.lenBytes;
    q.packets[e.colour]--;
    (e.evicted ? q.lastEviction : q.lastDeparture)[e.colour] = e.now;
  }
  while (!updates_.empty() && updates_.front().clock + timing::Averaging < clock) updates_.pop_front();

  Arrival a{};
  a.time = now;
  a.queue = queue;
  a.colour = colour;
  const Queue& q = queues_[queue];
  for (u32 c = 0; c < u32{Colours}; c++) {
    a.backlog_bytes[c] = q.bytes[c];
    a.backlog_packets[c] = q.packets[c];
    const bool evicted =
        truncate(u128{now} - q.lastEviction[c], TimeBits) < truncate(u128{now} - q.lastDeparture[c], TimeBits);
    a.last_departure[c] = evicted ? q.lastEviction[c] : q.lastDeparture[c];
    a.n[c] = 1;
  }
  for (const Update& u : updates_)
    for (u32 e = 0; e < u32{Colours}; e++)
      if (u.queue == queue) a.n[e] += u.mask >> e & 1;
  return a;
}

void PipelineView::update(u64 clock, u32 queue, u32 colour) {
  u32 mask = 0;
  for (u32 e = 0; e < u32{Colours}; e++) mask |= (profiles_[queue].masks[e] >> colour & 1) << e;
  updates_.push_back({clock, queue, mask});
}

Arrival PipelineView::packet(u64 clock, u64 now, u32 queue, u32 colour, u32 lenBytes, bool counted) {
  Arrival a = lookup(clock, now, queue, colour);
  a.len_bytes = lenBytes;
  a.draw = random_.draw();
  if (counted) update(clock, queue, colour);
  return a;
}

Arrival PipelineView::refresh(u64 clock, u64 now, u32 queue, u32 colour) {
  const Arrival a = lookup(clock, now, queue, colour);
  if (profiles_[queue].update) update(clock, queue, colour);
  return a;
}

void PipelineView::limit(u64 tokenClock, Arrival& seen) {
  const u64 clock = tokenClock + timing::Decide;
  for (; !leaving_.empty() && leaving_.front().clock + timing::LimitLag <= clock; leaving_.pop_front()) {
    const Event& e = leaving_.front();
    queues_[e.queue].totalBytes -= e.lenBytes;
    queues_[e.queue].totalPackets--;
  }
  seen.queued_bytes = queues_[seen.queue].totalBytes;
  seen.queued_packets = queues_[seen.queue].totalPackets;
  seen.pool_full = poolFull(clock, seen.queue, cellsOf(seen.len_bytes));
  verdictClock_ = clock;
}

bool PipelineView::poolFull(u64 clock, u32 queue, u32 cells) {
  for (; !poolTaken_.empty() && poolTaken_.front().clock + timing::PoolLag <= clock; poolTaken_.pop_front()) {
    queues_[poolTaken_.front().queue].cells += poolTaken_.front().cells;
    used_[egressOf(poolTaken_.front().queue)] += poolTaken_.front().cells;
  }
  for (; !poolReturned_.empty() && poolReturned_.front().clock + timing::PoolLag <= clock; poolReturned_.pop_front()) {
    queues_[poolReturned_.front().queue].cells -= poolReturned_.front().cells;
    used_[egressOf(poolReturned_.front().queue)] -= poolReturned_.front().cells;
  }
  if (pool_.size == 0) return false;
  const u32 egress = egressOf(queue), reserve = pool_.reserve[egress], with = used_[egress] + cells;
  if (pool_.cap[egress] != 0 && with > pool_.cap[egress]) return true;
  if (with <= reserve) return false;
  u32 reserved = 0, taken = 0;
  for (u32 e = 0; e < egresses_; e++) {
    reserved += pool_.reserve[e];
    taken += used_[e] > pool_.reserve[e] ? used_[e] - pool_.reserve[e] : 0;
  }
  const u32 shared = pool_.size > reserved ? pool_.size - reserved : 0;
  const u32 free = shared > taken ? shared - taken : 0;
  const u32 need = used_[egress] < reserve ? with - reserve : cells;
  const u32 alpha = profiles_[queue].alpha;
  return need > free || (alpha != 0 && queues_[queue].cells + cells > (u64{free} << alpha) >> 8);
}

void PipelineView::admitted(u64 tokenClock, const Arrival& seen) {
  admissions_.push_back({tokenClock, seen.queue, seen.colour, seen.len_bytes, 0});
}

void PipelineView::reserved(const Arrival& seen) {
  queues_[seen.queue].totalBytes += seen.len_bytes;
  queues_[seen.queue].totalPackets++;
  poolTaken_.push_back({verdictClock_, seen.queue, cellsOf(seen.len_bytes)});
}

}  // namespace vermilion
