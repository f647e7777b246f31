#include "clocked_lane.h"

#include <algorithm>
#include <utility>

#include "distance.h"

namespace vermilion {

static u32 cellsOf(u32 lenBytes) {
  return (lenBytes + CellBytes - 1) / CellBytes;
}

ClockedLane::ClockedLane(const VmConfig& config, LaneShape shape, u64 configuredNs)
    : config_(config),
      profiles_(config.queues, config.queues + config.queue_count),
      shape_(shape),
      classifier_(config_),
      decisions_(profiles_),
      scheduler_(config, configuredNs, shape.codel, shape.victims != 0),
      cells_(shape),
      ingress_(shape, config.max_frame_bytes == 0 ? static_cast<u32>(maxOf(PktLenBits)) : config.max_frame_bytes,
               config.ttl_option, classifier_.rules(), cells_),
      marks_(config),
      view_(config, timing::settling(shape.victims)),
      queues_(config.queue_count),
      bodies_(config.queue_count),
      pie_(profiles_, shape.pieQueues, configuredNs),
      pairs_(profiles_, shape.pairQueues, configuredNs, config.seed),
      verdicts_(profiles_),
      curves_(profiles_, config.seed),
      queuedBytes_(config.queue_count),
      queuedPackets_(config.queue_count) {
  config_.queues = profiles_.data();
  for (const VmQueue& q : profiles_) departureUpdates_ |= q.update != 0;
  if (shape.victims == 0) return;
  // Names are assigned from 0 on, so the records of victims_ grow with the largest number of queued packets.
  victims_.emplace(
      VictimShape{config.queue_count, 0, std::min(shape.victims, config.queue_count), 64, shape.headPlaces()});
}

// Fills the cycle's slot: with a packet, or else with a refresh.
void ClockedLane::takeSlot() {
  Deciding d{};
  d.clock = clock_ + timing::Lookup;
  std::optional<Packet> next;
  if (!descriptorQueue_.empty()) {
    next = descriptorQueue_.front();
    descriptorQueue_.pop_front();
  }
  if (shape_.fq) std::swap(next, held_);
  if (next) {
    Packet& p = d.packet = *next;
    frames_--;
    const PacketClass made = classifier_.of(0, p.rule, p.headers);
    p.queue = made.queue;
    d.mark = marks_.mark(now_, made.marker, made.colour, p.lenBytes, p.headers, !p.bad && !p.noBuffer, p.rule.drop);
    p.colour = d.mark.marked;
  } else if (!refreshes_.empty()) {
    d.refresh = true;
    d.packet = refreshes_.front();
    refreshes_.pop_front();
  } else {
    return;
  }
  marking_.push_back(d);
}

// Queue state lookup, averages and curve.
void ClockedLane::observe() {
  if (marking_.empty() || marking_.front().clock != clock_) return;
  Deciding& d = marking_.front();
  const Packet& p = d.packet;
  if (d.refresh) {
    const Arrival& a = d.seen = view_.refresh(clock_, before_, p.queue, p.colour);
    Departure left{a.time, a.queue, a.colour, {}, {}, {}};
    std::copy_n(a.backlog_bytes, Colours, left.backlog_bytes);
    std::copy_n(a.backlog_packets, Colours, left.backlog_packets);
    std::copy_n(a.n, Colours, left.n);
    decisions_.depart(left);
  } else {
    const bool counted = !p.bad && !p.noBuffer && !d.mark.policed;
    d.seen = view_.packet(clock_, before_, p.queue, p.colour, p.lenBytes, counted);
    d.seen.ecn = p.headers.ecn;
    d.seen.bad = p.bad;
    d.seen.no_buffer = p.noBuffer;
    d.seen.policed = d.mark.policed;
    d.seen.distance = distance(p.headers, profiles_[p.queue].distance);
    d.pending = decisions_.observe(d.seen);
  }
  for (u32 e = 0; e < u32{Colours}; e++) d.averages[e] = decisions_.average(p.queue, e);
  deciding_.push_back(d);
  marking_.pop_front();
}

// The packet in PIE's first stage sees its queue's state.
void ClockedLane::requestPie() {
  for (Deciding& d : deciding_)
    if (d.clock + timing::Verdict == clock_ + timing::Pie && !d.refresh) d.pie = pie_.request(d.seen.queue);
}

// Makes the provisional verdict.
void ClockedLane::rule() {
  provisional_.reset();
  if (deciding_.empty() || deciding_.front().clock + timing::Verdict != clock_) return;
  Settling s{clock_, deciding_.front(), {}};
  deciding_.pop_front();
  if (!s.deciding.refresh) {
    Arrival& seen = s.deciding.seen;
    view_.limit(s.deciding.clock, seen);
    const Pending& pending = s.deciding.pending;
    const bool over = decisions_.over(pending, seen.queued_bytes, seen.queued_packets, seen.pool_full != 0);
    s.decision = decisions_.conclude(pending, over, pie_.decide(s.deciding.pie, profiles_[seen.queue], seen, over));
    s.decision.p |= pieProbability(s.deciding.pie, seen);
    const u32 provisionalVerdict = s.decision.verdict;
    s.pushOut = shape_.victims != 0 && pushesOut(profiles_[seen.queue], provisionalVerdict);
    if (s.pushOut || admits(provisionalVerdict)) view_.reserved(seen);
    if (victims_) {
      // A free name stays unused for longer than any stage refers to a packet that has left.
      if (names_.size() < 64) names_.push_back(nameCount_++);
      s.name = names_.front();
      names_.pop_front();
      provisional_ = atQueues(profiles_[seen.queue], seen, provisionalVerdict, s.name, s.deciding.packet.cells);
    }
  }
  settling_.push_back(s);
}

// Applies the final outcome of a packet. It enters its queue's body (without the victim search, its queue in the next
// cycle), or its cells are freed.
void ClockedLane::settle() {
  const u64 settling = timing::settling(shape_.victims);
  if (settling_.empty() || settling_.front().clock + settling != clock_) return;
  Settling& s = settling_.front();
  const Deciding& d = s.deciding;
  const Arrival& a = d.seen;
  decided_ = Decided{d.packet.id,   d.packet.input,       d.refresh, a, s.decision, {}, d.mark, {}, {},
                     d.packet.rule, d.packet.headers.dscp};
  std::copy_n(d.averages, Colours, decided_->averages);
  const bool counted = !a.bad && !a.no_buffer && !a.policed;
  curves_.averaged(clock_, a.queue, updatedAverages(profiles_[a.queue], a.colour, d.refresh, counted), d.averages);
  if (!d.refresh) {
    const VictimOutcome outcome = outcomeOf(s);
    count(s, outcome);
    list(s, outcome);
  }
  settling_.pop_front();
}

// The final outcome of a packet, also for the trace.
VictimOutcome ClockedLane::outcomeOf(const Settling& s) {
  const u32 provisionalVerdict = s.decision.verdict, queue = s.deciding.seen.queue;
  VictimOutcome outcome{};
  outcome.enqueued = admits(provisionalVerdict);
  if (victims_) outcome = *victims_->ports().outcome;
  if (outcome.enqueued && victims_) bodies_[queue].push_back({s.deciding.packet, s.name, s.deciding.seen.time});
  if (outcome.evicted || outcome.victimMarked) decided_->victim = removeVictim(queue, outcome);
  decided_->pushOut = {provisionalVerdict, s.pushOut, outcome};
  decided_->decision.verdict = verdictOf(provisionalVerdict, s.pushOut, outcome);
  return outcome;
}

// Updates the backlogs that later packets see.
void ClockedLane::count(const Settling& s, const VictimOutcome& outcome) {
  const Arrival& a = s.deciding.seen;
  if (outcome.enqueued) view_.admitted(s.deciding.clock, a);
  const u32 more = (outcome.enqueued ? a.len_bytes : 0) - (outcome.evicted ? outcome.lenBytes : 0);
  queuedBytes_[a.queue] += more;
  queuedPackets_[a.queue] += u32{outcome.enqueued} - u32{outcome.evicted};
  pie_.came(clock_, a.queue, more);
  if (outcome.evicted) view_.evicted(clock_, now_, a.queue, outcome.colour, outcome.lenBytes);
  if (s.pushOut && (outcome.evicted || !outcome.enqueued))
    view_.lost(clock_, a.queue, outcome.evicted ? outcome.lenBytes : a.len_bytes);
}

// Puts the packet into its queue or body, or frees its cells.
void ClockedLane::list(const Settling& s, const VictimOutcome& outcome) {
  if (victims_) {
    if (!outcome.enqueued) names_.push_back(s.name);
    if (victims_->ports().freed) cells_.freedByPolicy(victims_->ports().freed->cells);
  } else if (outcome.enqueued) {
    listing_ = Leaving{s.deciding.packet, s.name, s.deciding.seen.time};
  } else {
    cells_.freedByPolicy(s.deciding.packet.cells);
  }
}

// A packet that becomes head of line enters the scheduler's queue in the next cycle.
void ClockedLane::makeHead() {
  if (!victims_ || !victims_->ports().newHead) return;
  std::deque<Leaving>& body = bodies_[victims_->ports().newHead->queue];
  listing_ = body.front();
  body.pop_front();
}

// Finds the victim in its queue's body and, if it is evicted, removes it.
u64 ClockedLane::removeVictim(u32 queue, const VictimOutcome& outcome) {
  auto& packets = bodies_[queue];
  const auto victim =
      std::find_if(packets.begin(), packets.end(), [&](const Leaving& x) { return x.name == outcome.cell; });
  const u64 id = victim->packet.id;
  if (outcome.evicted) {
    names_.push_back(victim->name);
    packets.erase(victim);
  }
  return id;
}

// Steps the victim search, at the end of a cycle.
void ClockedLane::pushOut(int taken) {
  std::optional<u32> from;
  if (taken >= 0) {
    from = static_cast<u32>(taken);
    names_.push_back(taken_->name);
  }
  // The search of a packet begins SearchAhead cycles before its verdict.
  std::optional<VictimArrival> ahead;
  for (const Deciding& d : deciding_)
    if (!d.refresh && d.clock + timing::Verdict == clock_ + timing::SearchAhead)
      ahead = atQueues(profiles_[d.seen.queue], d.seen, VM_ENQUEUE, 0, d.packet.cells);
  victims_->clock(ahead, provisional_, from);
}

// PacketReader, HeaderRewrite and Serializer, from the output upstream.
void ClockedLane::transmit() {
  const bool lastBeat = sendLeft_ <= shape_.beatBytes;
  const bool sendReady = sending_.bytes == 0 || lastBeat;
  const bool ready2 = edit2_.bytes == 0 || sendReady;
  const bool ready1 = edit1_.bytes == 0 || (shape_.beatBytes == CellBytes && ready2);
  if (sending_.bytes != 0 && lastBeat && sending_.last) sent_ = sending_.id;

  if (sendReady) {
    sending_ = edit2_;
    sendLeft_ = edit2_.bytes;
  } else {
    sendLeft_ -= shape_.beatBytes;
  }
  if (ready2) edit2_ = std::exchange(edit1_, OutCell{});
  cellRead_ = ready1 && reading_;
  if (cellRead_) {
    const bool last = readLeft_ == 1;
    const u32 tail = read_.lenBytes % CellBytes;
    edit1_ = {last && tail != 0 ? tail : CellBytes, last, read_.id};
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
  aheadCells_ -= readLeft_;
  chosen_.pop_front();
}

// A packet leaves its queue, and goes to the reader unless it is dropped.
void ClockedLane::depart(const Leaving& leaving, HeadVerdict verdict, const std::optional<CurveMark>& byCurve) {
  const Packet& p = leaving.packet;
  departed_ = Departed{p.id, now_, verdict, byCurve, leaving.chosen, leaving.behind};
  view_.departed(clock_, now_, p.queue, p.colour, p.lenBytes);
  if (verdict != HeadVerdict::Drop) chosen_.push_back(leaving);
  if (departureUpdates_ && refreshRoom_) refreshes_.push_back(p);
}

// The packet that was taken in the cycle before departs, in builds with codel 3 cycles later.
void ClockedLane::leave() {
  if (taken_) {
    const Packet& p = taken_->packet;
    taken_->chosen = now_;
    pie_.taken(clock_, now_, p.queue, p.lenBytes, taken_->decided);
  }
  if (!shape_.codel) {
    if (taken_) depart(*taken_, HeadVerdict::Pass, {});
    taken_.reset();
    return;
  }
  if (const std::optional<Judging>& last = judging_[timing::Judging - 1])
    depart(last->leaving, last->judged.verdict, last->byCurve);
  std::copy_backward(judging_, judging_ + timing::Judging - 1, judging_ + timing::Judging);
  judging_[0].reset();
  if (taken_) judging_[0] = judge(*taken_);
  taken_.reset();
}

// A queue has CoDel, is one of a pair or marks by its curves; the others let all packets pass.
ClockedLane::Judging ClockedLane::judge(const Leaving& leaving) {
  const Packet& p = leaving.packet;
  const bool isIp = p.headers.is_ip4 || p.headers.is_ip6;
  const u32 dsField = p.headers.dscp << 2 | p.headers.ecn;
  const u32 ecn = isIp ? p.headers.ecn : 0;
  const HeadVerdict ofPair =
      pairs_.judge(clock_, now_, p.queue, leaving.decided, ecn, leaving.behind, leaving.behindBoth);
  const auto byCurve = curves_.judge(clock_, p.queue, p.colour, ecn, leaving.behind, leaving.packetsBehind);
  const Judged judged = verdicts_.judge(clock_, now_, p.queue, leaving.decided, dsField, isIp, leaving.behind);
  const HeadVerdict ofCurve = byCurve && byCurve->mark ? HeadVerdict::Mark : HeadVerdict::Pass;
  return {leaving, {strongest(strongest(judged.verdict, ofPair), ofCurve), judged.again}, byCurve};
}

bool ClockedLane::wake(u64& ns) const {
  bool wakes = scheduler_.wake(now_, ns);
  for (const ClockedSweep* updates : {&pie_.updates(), &pairs_.updates()}) {
    u64 at;
    if (!updates->wake(now_, at)) continue;
    const u64 behind = truncate(ns - at, TimeBits);  // serial-number order
    if (!wakes || (behind != 0 && behind >> (TimeBits - 1) == 0)) ns = at;
    wakes = true;
  }
  return wakes;
}

void ClockedLane::clock(u64 now) {
  before_ = std::exchange(now_, now);
  decided_.reset();
  departed_.reset();
  sent_.reset();
  lost_.clear();
  busy_ = (victims_ && victims_->ports().busy) || frames_ != 0 || !refreshes_.empty() || !marking_.empty() ||
          !deciding_.empty() || !settling_.empty() || listing_ || taken_ || !chosen_.empty() || reading_ ||
          edit1_.bytes != 0 || edit2_.bytes != 0 || sending_.bytes != 0 || ingress_.open() || discards_.holds() ||
          std::any_of(std::begin(judging_), std::end(judging_), [](const auto& j) { return j.has_value(); }) ||
          verdicts_.settling(clock_) || pie_.updates().busy(now_) || pairs_.updates().busy(now_) || cells_.holds();
  pie_.clock(clock_, now_);
  pairs_.clock(clock_, now_);
  auto listed = std::exchange(listing_, std::nullopt);
  const bool refreshRoom = refreshes_.size() < timing::Refreshes;
  const bool descriptorRoom = descriptorQueue_.size() < timing::DescriptorsChosen;
  const std::optional<u32> descriptorTaken =
      descriptorQueue_.empty() ? std::nullopt : std::optional(descriptorQueue_.front().input);
  takeSlot();
  observe();
  requestPie();
  rule();
  settle();
  makeHead();
  busy_ = busy_ || !marking_.empty() || !deciding_.empty();

  // verdict
  const std::optional<Judging>& judged = judging_[timing::Judging - 1];
  const bool drops = judged && judged->judged.verdict == HeadVerdict::Drop;
  const bool late = drops && judged->judged.again, settling = discards_.settling(late);
  ClockedScheduler::Egress egress{aheadCells_ < timing::AheadCells, false, {}};
  if (shape_.codel) egress = {discards_.room(aheadCells_, settling, scheduler_.shapedPort()), settling, {}};
  if (drops) egress.dropped = {judged->leaving.packet.queue, judged->leaving.packet.lenBytes};

  // The changes below are visible in the next cycle.
  std::optional<ClockedScheduler::Enqueued> enqueued;
  if (listed) enqueued = {listed->packet.queue, listed->packet.lenBytes};
  const int taken = scheduler_.clock(now, enqueued, egress);
  busy_ = busy_ || scheduler_.busy();
  transmit();
  aheadCells_ -= discards_.droppedBefore();
  if (const u32 freed = discards_.clock(!cellRead_, late, drops ? judged->leaving.packet.cells : 0); freed != 0)
    cells_.freedByReader(freed);
  ingress_.clock(clock_, descriptorRoom, descriptorTaken);
  if (ingress_.descriptor()) descriptorQueue_.push_back(*ingress_.descriptor());
  frames_ += ingress_.ended();
  for (const Packet& p : ingress_.lost()) {
    lost_.push_back({p.id, p.input, p.lenBytes});
    frames_--;
  }
  cells_.clock();
  refreshRoom_ = refreshRoom;
  leave();
  if (taken >= 0) {
    auto& packets = queues_[static_cast<u32>(taken)];
    taken_ = packets.front();
    packets.pop_front();
    aheadCells_ += cellsOf(taken_->packet.lenBytes);
    u32& behind = queuedBytes_[static_cast<u32>(taken)];
    behind -= taken_->packet.lenBytes;
    taken_->behind = taken_->behindBoth = behind;
    taken_->packetsBehind = --queuedPackets_[static_cast<u32>(taken)];
    if (const u32 other = static_cast<u32>(taken) ^ 1; other < queuedBytes_.size())
      taken_->behindBoth += queuedBytes_[other];
  }
  if (listed) queues_[listed->packet.queue].push_back(*listed);
  if (victims_) pushOut(taken);
  clock_++;
}

}  // namespace vermilion
