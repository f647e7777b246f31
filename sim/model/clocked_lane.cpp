#include "clocked_lane.h"

#include <algorithm>
#include <utility>

namespace vermilion {

static u32 cellsOf(u32 lenBytes) {
  return (lenBytes + CellBytes - 1) / CellBytes;
}

ClockedLane::ClockedLane(const VmConfig& config, LaneShape shape)
    : config_(config),
      profiles_(config.queues, config.queues + config.queue_count),
      shape_(shape),
      decisions_(profiles_),
      scheduler_(config),
      cells_(shape),
      ingress_(shape, config.max_frame_bytes == 0 ? static_cast<u32>(maxOf(PktLenBits)) : config.max_frame_bytes,
               cells_),
      random_(config.seed),
      queues_(config.queue_count),
      waits_(config.queue_count),
      single_(config.queue_count),
      headBytes_(config.queue_count) {
  config_.queues = profiles_.data();
  for (const VmQueue& q : profiles_) departureUpdates_ |= q.update_depart != 0;
}

Arrival ClockedLane::look(u32 queue, u32 colour, u32 lenBytes) {
  Arrival a{};
  a.time = now_;
  a.queue = queue;
  a.colour = colour;
  a.len_bytes = lenBytes;
  const Queue& q = queues_[queue];
  for (u32 c = 0; c < u32{Colours}; c++) {
    a.backlog_bytes[c] = q.backlogBytes[c];
    a.backlog_packets[c] = q.backlogPackets[c];
    a.last_departure[c] = q.lastDeparture[c];
    a.n[c] = 1;
  }
  while (!updates_.empty() && updates_.front().clock + timing::Averaging < clock_) updates_.pop_front();
  for (const Update& u : updates_)
    for (u32 e = 0; e < u32{Colours}; e++)
      if (u.queue == queue && (!u.refresh || profiles_[queue].update_depart))
        a.n[e] += profiles_[queue].masks[e] >> u.colour & 1;
  return a;
}

void ClockedLane::give(Queue& q, const Packet& p) {
  q.backlogBytes[p.colour] -= p.lenBytes;
  q.backlogPackets[p.colour]--;
}

// What left in the clock before, and what was refused.
void ClockedLane::countDeparture() {
  if (counted_) {
    Queue& q = queues_[counted_->packet.queue];
    give(q, counted_->packet);
    q.lastDeparture[counted_->packet.colour] = now_;
    counted_.reset();
  }
  if (!refused_.empty() && refused_.front().clock + timing::Refusal == clock_) {
    const Packet& p = refused_.front().packet;
    if (!p.noBuffer) give(queues_[p.queue], p);
    refused_.pop_front();
  }
  if (!refused_.empty() && refused_.front().clock + timing::Verdict == clock_)
    cells_.freedByPolicy(refused_.front().packet.cells);
}

void ClockedLane::refresh() {
  const Packet p = refreshes_.front();
  refreshes_.pop_front();
  const Arrival a = look(p.queue, p.colour, 0);
  Departure d{a.time, p.queue, p.colour, {}, {}, {}};
  std::copy_n(a.backlog_bytes, Colours, d.backlog_bytes);
  std::copy_n(a.backlog_packets, Colours, d.backlog_packets);
  std::copy_n(a.n, Colours, d.n);
  decisions_.depart(d);
  updates_.push_back({clock_, p.queue, p.colour, true});
  decided_ = Decided{p.id, 0, true, a, {}, {}};
  for (u32 e = 0; e < u32{Colours}; e++) decided_->averages[e] = decisions_.average(p.queue, e);
}

void ClockedLane::decide() {
  Packet p = metaQueue_.front();
  metaQueue_.pop_front();
  frames_--;
  const bool ip = p.headers.is_ip4 || p.headers.is_ip6;
  const VmClass& target = ip ? config_.dscp[p.headers.dscp] : config_.fallback;
  p.queue = target.queue;
  p.colour = target.colour;
  Arrival a = look(p.queue, p.colour, p.lenBytes);
  a.ecn = p.headers.ecn;
  a.no_buffer = p.noBuffer;
  a.draw = random_.draw();
  const Decision d = decisions_.decide(a);
  decided_ = Decided{p.id, p.input, false, a, d, {}};
  for (u32 e = 0; e < u32{Colours}; e++) decided_->averages[e] = decisions_.average(p.queue, e);
  if (!p.noBuffer) {
    updates_.push_back({clock_, p.queue, p.colour, false});
    queues_[p.queue].backlogBytes[p.colour] += p.lenBytes;
    queues_[p.queue].backlogPackets[p.colour]++;
  }
  const bool admitted = d.verdict == VM_ENQUEUE || d.verdict == VM_MARK;
  (admitted ? admitted_ : refused_).push_back({clock_, p, now_});
}

// PacketReader, HeaderRewrite and Serializer, from the way out backwards.
void ClockedLane::transmit() {
  const bool lastBeat = sendLeft_ <= shape_.beatBytes;
  const bool sendReady = sending_.bytes == 0 || lastBeat;
  const bool ready2 = edit2_.bytes == 0 || sendReady;
  const bool ready1 = edit1_.bytes == 0 || ready2;
  if (sending_.bytes != 0 && lastBeat && sending_.last) sent_ = sending_.id;

  if (sendReady) {
    sending_ = edit2_;
    sendLeft_ = edit2_.bytes;
  } else {
    sendLeft_ -= shape_.beatBytes;
  }
  if (ready2) edit2_ = edit1_;
  if (ready1) {
    edit1_ = {};
    if (reading_) {
      const bool last = readLeft_ == 1;
      const u32 tail = read_.lenBytes % CellBytes;
      edit1_ = {last && tail != 0 ? tail : CellBytes, last, read_.id};
    }
  }
  if (reading_ && !ready1) return;
  if (reading_ && readLeft_ > 1) {
    readLeft_--;
    return;
  }
  if (reading_) cells_.freedByReader(read_.cells);
  reading_ = !chosen_.empty();
  if (!reading_) return;
  read_ = chosen_.front().packet;
  readLeft_ = cellsOf(read_.lenBytes);
  chosen_.pop_front();
}

void ClockedLane::clock(u64 now) {
  now_ = now;
  decided_.reset();
  departed_.reset();
  sent_.reset();
  busy_ = frames_ != 0 || !refreshes_.empty() || listing_ || taken_ || !chosen_.empty() || reading_ ||
          edit2_.bytes != 0 || sending_.bytes != 0 || scheduler_.busy(now, waits_) || ingress_.open();

  countDeparture();
  if (!refreshes_.empty()) {
    refresh();
    lastToken_ = clock_;
  } else if (!metaQueue_.empty()) {
    decide();
    lastToken_ = clock_;
  }
  busy_ = busy_ || (lastToken_ != 0 && clock_ - lastToken_ <= timing::Verdict);

  // What changes below is seen in the next clock.
  const bool room = chosen_.size() < timing::ChosenDepth;
  const int taken = scheduler_.clock(now, waits_, headBytes_, single_, room);
  transmit();
  ingress_.clock(clock_, metaQueue_.size() < timing::PolicyMetas);
  if (ingress_.meta()) metaQueue_.push_back(*ingress_.meta());
  frames_ += ingress_.ended();
  cells_.clock();
  if (taken_) {
    departed_ = Departed{taken_->packet.id, now};
    chosen_.push_back(*taken_);
    if (departureUpdates_) refreshes_.push_back(taken_->packet);
    counted_ = std::exchange(taken_, std::nullopt);
  }
  const auto list = [&](u32 queue) {
    const auto& packets = queues_[queue].packets;
    waits_[queue] = !packets.empty();
    single_[queue] = packets.size() == 1;
    headBytes_[queue] = packets.empty() ? 0 : packets.front().packet.lenBytes;
  };
  if (taken >= 0) {
    auto& packets = queues_[static_cast<u32>(taken)].packets;
    taken_ = packets.front();
    packets.pop_front();
    list(static_cast<u32>(taken));
  }
  if (listing_) {
    const u32 queue = listing_->packet.queue;
    queues_[queue].packets.push_back({listing_->packet, listing_->arrival});
    list(queue);
    listing_.reset();
  }
  if (!admitted_.empty() && admitted_.front().clock + timing::Verdict == clock_) {
    listing_ = admitted_.front();
    admitted_.pop_front();
  }
  clock_++;
}

}  // namespace vermilion
