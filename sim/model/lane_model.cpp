#include "lane_model.h"

#include <algorithm>
#include <utility>

#include "rewrite.h"

namespace vermilion {

static u64 cellsOf(u64 lenBytes) {
  return (lenBytes + CellBytes - 1) / CellBytes;
}

LaneModel::LaneModel(const VmConfig& config)
    : config_(config),
      profiles_(config.queues, config.queues + config.queue_count),
      decisions_(profiles_),
      scheduler_(config),
      random_(config.seed),
      queues_(config.queue_count),
      headBytes_(config.queue_count),
      counters_(config.queue_count * Colours) {
  config_.queues = profiles_.data();
  if (config_.max_frame_bytes == 0) config_.max_frame_bytes = static_cast<u32>(maxOf(PktLenBits));
}

Arrival LaneModel::look(u32 queue, u32 colour, u32 lenBytes) const {
  Arrival a{};
  a.time = now_;
  a.queue = queue;
  a.colour = colour;
  a.len_bytes = lenBytes;
  const Queue& q = queues_[queue];
  for (int c = 0; c < Colours; c++) {
    a.backlog_bytes[c] = q.backlogBytes[c];
    a.backlog_packets[c] = q.backlogPackets[c];
    a.last_departure[c] = q.lastDeparture[c];
    a.n[c] = 1;
    a.queued_bytes += q.backlogBytes[c];
    a.queued_packets += q.backlogPackets[c];
  }
  return a;
}

Decision LaneModel::arrive(u64 time, const u8* frame, u32 frameBytes, bool bad, Arrival* seen) {
  advance(time);
  const Headers headers = parse(frame, frameBytes);
  const bool ip = headers.is_ip4 || headers.is_ip6;
  const VmClass& target = ip ? config_.dscp[headers.dscp] : config_.fallback;
  const u32 lenBytes = static_cast<u32>(saturate(frameBytes, PktLenBits));

  Arrival a = look(target.queue, target.colour, lenBytes);
  a.ecn = headers.ecn;
  a.bad = bad || frameBytes == 0;
  a.no_buffer = frameBytes > config_.max_frame_bytes ||
                (config_.buffer_cells != 0 && cellsUsed_ + cellsOf(frameBytes) > config_.buffer_cells);
  a.draw = random_.draw();
  if (seen != nullptr) *seen = a;
  const Decision d = decisions_.decide(a);

  VmCounters& count = counters_[a.queue * Colours + a.colour];
  count.packets[d.verdict]++;
  count.bytes[d.verdict] += lenBytes;
  const u64 id = frames_++;
  if (d.verdict != VM_ENQUEUE && d.verdict != VM_MARK) return d;

  Queue& q = queues_[a.queue];
  q.backlogBytes[a.colour] += lenBytes;
  q.backlogPackets[a.colour]++;
  cellsUsed_ += cellsOf(frameBytes);
  waiting_++;
  const bool mark = d.verdict == VM_MARK;
  q.packets.push_back({{0, now_, id, a.queue, a.colour, lenBytes, mark && headers.ecn != 3},
                       headers,
                       mark,
                       ip ? target.set_dscp : -1,
                       {frame, frame + frameBytes}});
  headBytes_[a.queue] = q.packets.front().record.len_bytes;
  return d;
}

void LaneModel::leave(u32 index) {
  Queue& q = queues_[index];
  Waiting w = std::move(q.packets.front());
  q.packets.pop_front();
  waiting_--;
  headBytes_[index] = q.packets.empty() ? 0 : q.packets.front().record.len_bytes;

  const u32 colour = w.record.colour, lenBytes = w.record.len_bytes;
  q.backlogBytes[colour] -= lenBytes;
  q.backlogPackets[colour]--;
  q.lastDeparture[colour] = now_;
  cellsUsed_ -= cellsOf(w.bytes.size());
  const Arrival a = look(index, colour, lenBytes);
  Departure d{a.time, index, colour, {}, {}, {1, 1, 1}};
  std::copy_n(a.backlog_bytes, Colours, d.backlog_bytes);
  std::copy_n(a.backlog_packets, Colours, d.backlog_packets);
  decisions_.depart(d);

  VmCounters& count = counters_[index * Colours + colour];
  count.sent_packets++;
  count.sent_bytes += lenBytes;
  count.ce_written_packets += w.record.ce_written;
  count.ce_written_bytes += w.record.ce_written ? lenBytes : 0;
  rewrite(w.bytes.data(), w.headers, w.setCe, w.setDscp >= 0, static_cast<u32>(w.setDscp));
  w.record.time = now_;
  sent_.push_back({w.record, std::move(w.bytes)});
  scheduler_.sent(now_, index, lenBytes, q.packets.empty());
}

void LaneModel::advance(u64 time) {
  while (waiting_ != 0) {
    const u64 next = scheduler_.nextTime(now_, headBytes_);
    if (next > time) break;
    now_ = next;
    const int queue = scheduler_.pick(now_, headBytes_);
    if (queue < 0) break;  // only queues without a quantum are left: refused by the configuration check
    leave(static_cast<u32>(queue));
  }
  now_ = std::max(now_, time);
}

u64 LaneModel::drain() {
  while (waiting_ != 0) {
    const u64 next = scheduler_.nextTime(now_, headBytes_), before = waiting_;
    advance(next);
    if (waiting_ == before) break;
  }
  return now_;
}

}  // namespace vermilion
