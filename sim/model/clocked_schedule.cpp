#include "clocked_schedule.h"

#include <algorithm>
#include <utility>

#include "timing.h"

namespace vermilion {

ClockedScheduler::ClockedScheduler(const VmConfig& config, u64 configuredNs, bool judges, bool waits)
    : shaper_(config.queue_count),
      port_(config.egress[0].port_cost, config.egress[0].port_burst_ns, configuredNs, judges),
      waits_(waits) {
  for (u32 i = 0; i < config.queue_count; i++) {
    const VmQueue& q = config.queues[i];
    const u32 level = q.strict != 0 ? 7 - std::min<u32>(q.priority, 7) : Drr;
    Queue queue{};
    queue.level = level;
    queue.quantum = std::max<u32>(q.quantum, CellBytes);
    queue.judged = judges && (q.codel.on != 0 || q.dualpi2.on != 0);
    queue.flows = q.fq != 0 && q.strict == 0;
    queues_.push_back(queue);
    shaper_.configure(i, q.cost, q.burst);
  }
}

// The level that may be served: that of the highest list that is not empty.
u32 ClockedScheduler::level() const {
  if (shaper_.charging()) return settleLevel_;
  for (u32 i = 0; i < Levels; i++)
    if (!lists_[i].empty()) return i;
  return Drr;
}

// The queue that the previous cycle's dequeue emptied becomes idle. If a packet has arrived since, it is reactivated.
std::optional<u32> ClockedScheduler::reactivated() {
  if (!emptied_) return {};
  Queue& q = queues_[*emptied_];
  q.backlogged = !q.packets.empty();
  return q.backlogged ? emptied_ : std::nullopt;
}

// The queue that becomes backlogged with this packet.
std::optional<u32> ClockedScheduler::awaken(const std::optional<Enqueued>& enqueued) {
  if (!enqueued || queues_[enqueued->queue].backlogged) return {};
  queues_[enqueued->queue].backlogged = true;
  return enqueued->queue;
}

// Only one queue is in the lists.
bool ClockedScheduler::alone() const {
  std::size_t listed = 0;
  for (const auto& list : lists_) listed += list.size();
  return listed == 1;
}

ClockedScheduler::Choice ClockedScheduler::choose(const Egress& egress) const {
  Choice c{};
  c.level = level();
  c.listed = !lists_[c.level].empty();
  c.first = c.listed ? lists_[c.level].front() : 0;
  const Queue& q = queues_[c.first];
  c.firstBytes = c.listed && !q.place ? q.packets.front() : 0;
  c.more = !q.place && q.packets.size() >= 2;
  const bool waits = egress.settling && shaper_.shaped(c.first) && alone();
  const bool covered = !hasDeficit(c.level) || q.deficit >= c.firstBytes,
             moves = c.listed && !shaper_.charging() && settled_;
  c.ends = moves && q.place && !(insertion_ && insertion_->mayPark && insertion_->queue == c.first);
  c.mayServe = moves && !q.place && reactivations_.empty() && egress.room && port_.open() && !waits &&
               (waiting_.size() <= MostWaiting || !hasDeficit(c.level));
  c.grant = c.mayServe && covered;
  c.restores = moves && !q.place && !covered && claimOf(c.level).bytes != 0;
  return c;
}

// One queue per cycle is inserted into a list or parks, the most urgent first.
ClockedScheduler::Next ClockedScheduler::next(const Choice& c, const std::optional<u32>& becameBacklogged,
                                              bool blocks) const {
  if (becameBacklogged) return {Source::Backlogged, {{*becameBacklogged, 0, true, true, false}}};
  if (!reactivations_.empty()) return {Source::Reactivated, {{reactivations_.front(), 0, true, true, false}}};
  if (blocks) {
    const u64 claimed = hasDeficit(c.level) ? claimOf(c.level).bytes : 0;
    return {Source::Blocked, {{c.first, queues_[c.first].deficit + claimed, false, false, true}}};
  }
  if (!releases_.empty()) {
    const Queue& q = queues_[releases_.front()];
    return {Source::Release, {{releases_.front(), q.deficit, q.deficit < q.packets.front(), false, false}}};
  }
  if (offersPlace()) return {Source::Place, {{waiting_.front().queue, 0, false, false, false, true}}};
  if (c.mayServe && !c.grant && claimOf(c.level).open == 0 && !c.restores)
    return {Source::Uncovered, {{c.first, queues_[c.first].deficit, true, false, false}}};
  return {};
}

// The successor of the served queue is read in a cycle in which that queue is first. The dequeue reads the packet after
// the successor.
void ClockedScheduler::fetchSecond(const Choice& c, bool pops, const std::optional<Enqueued>& enqueued) {
  const std::size_t packets = queues_[c.first].place ? 0 : queues_[c.first].packets.size();
  const bool known = c.level == lastLevel_ && (knowsSecond_ || (arrived_ && c.listed && packets == 2));
  settled_ = !(c.grant && c.more && !known);
  // A packet appended to a queue of length one is the successor.
  const bool joins = enqueued && c.listed && enqueued->queue == c.first && packets == 1;
  const bool fetched = c.listed && packets >= (known ? 3 : 2) && c.grant == known;
  knowsSecond_ = !pops && !c.restores && (fetched || (known && !c.grant) || joins);
  arrived_ = pops && lists_[c.level].size() >= 2;
  lastLevel_ = c.level;
}

// Whether the scheduler is busy in this cycle.
bool ClockedScheduler::goesOn(u64 now, const Choice& c, bool changes) const {
  if (!quiet() || changes) return true;
  u64 ns = 0;
  return (c.listed || shaper_.anyParked()) && !wake(now, ns);
}

// The queue that is to be inserted has used up its tokens, and parks instead.
bool ClockedScheduler::parksInstead() const {
  return insertion_ &&
         (insertion_->mustPark || (insertion_->mayPark && shaper_.shaped(insertion_->queue) && !filled()));
}

void ClockedScheduler::take(const Choice& c) {
  Queue& q = queues_[c.first];
  q.packets.pop_front();
  if (hasDeficit(c.level)) q.deficit -= c.firstBytes;
  settleLevel_ = c.level;
  holdsFirst_ = c.more;
  if (!c.more) emptied_ = c.first;
}

// The queue that becomes backlogged has a place in the DRR list.
bool ClockedScheduler::filled() const {
  return insertion_ && insertion_->mayPark && queues_[insertion_->queue].place;
}

// The packet that arrives makes an end of the queue's waiting for a place.
bool ClockedScheduler::cancelPlace(u32 queue) {
  if (kept_ == queue) {
    kept_.reset();
    return true;
  }
  for (Waiting& each : waiting_)
    if (each.queue == queue && !each.cancelled) return each.cancelled = true;
  return false;
}

// The queue, which sends its last packet, goes to the end of the DRR list.
bool ClockedScheduler::keepsPlace(const Choice& c) const {
  const Queue& q = queues_[c.first];
  if (!c.grant || c.more || !hasDeficit(c.level) || !q.flows || shaper_.shaped(c.first)) return false;
  return waits_ || c.level == New || q.deficit == c.firstBytes;
}

// `kept`: the queue that has just sent its last packet. `arrives`: a queue becomes backlogged, or is reactivated.
void ClockedScheduler::placesClock(const std::optional<u32>& kept, bool arrives, const Next& n) {
  const bool leaves = !waiting_.empty() && (waiting_.front().cancelled || n.from == Source::Place);
  if (arrives && insertion_) insertion_->waited = cancelPlace(insertion_->queue);
  if (leaves) waiting_.pop_front();
  if (kept_) waiting_.push_back({*kept_, false});
  kept_ = kept;
}

// The first queue leaves its list.
void ClockedScheduler::leave(const Choice& c) {
  lists_[c.level].pop_front();
  if (c.ends) queues_[c.first].place = false;
}

// `none`: all lists were empty, so the inserted queue is first. `holdsOld`: the DRR list was not empty; otherwise no place is kept in it.
void ClockedScheduler::insert(bool parked, bool none, bool holdsOld) {
  Queue& q = queues_[insertion_->queue];
  if (insertion_->place && (!q.flows || shaper_.shaped(insertion_->queue) || !holdsOld)) return;
  q.deficit = insertion_->deficit + (insertion_->add && !parked ? q.quantum : 0);
  if (parked) return;
  if (filled()) {
    q.place = false;
    return;
  }
  const u32 level = insertion_->mayPark && q.flows && !insertion_->waited ? New : q.level;
  lists_[level].push_back(insertion_->queue);
  q.place = insertion_->place;
  if (none) {
    knowsSecond_ = !q.place && q.packets.size() >= 2;
    lastLevel_ = level;
  }
}

// Follows the verdicts on the packets of a DRR turn in one of the two lists.
void ClockedScheduler::claim(u32 list, const Choice& c, bool pops, const std::optional<Enqueued>& dropped) {
  Claim& claim = claimOf(list);
  const bool here = c.level == list, takes = c.grant && here && queues_[c.first].judged, ends = pops && here;
  const bool own = dropped && claim.turns && dropped->queue == claim.queue;
  if (c.restores && here) queues_[c.first].deficit += std::exchange(claim.bytes, 0);
  if (own) claim.bytes += dropped->lenBytes;
  if (ends) claim.bytes = 0;
  claim.open = (claim.open << 1 | static_cast<u32>(takes)) & ((2U << timing::Judging) - 1);
  claim.turns = !ends && (takes || claim.turns);
  if (takes) claim.queue = c.first;
}

int ClockedScheduler::clock(u64 now, const std::optional<Enqueued>& enqueued, const Egress& egress) {
  const std::optional<u32> reactivatedNow = reactivated();
  const std::optional<u32> becameBacklogged = awaken(enqueued);
  const Choice c = choose(egress);
  const Next n = next(c, becameBacklogged, shaper_.blocks(egress.dropped.has_value()));
  const bool blocked = n.from == Source::Blocked;
  const bool pops = (c.grant && !c.more) || c.ends || blocked || n.from == Source::Uncovered;
  const std::optional<u32> kept = keepsPlace(c) ? std::optional<u32>(c.first) : std::nullopt;
  fetchSecond(c, pops, enqueued);
  const bool none = std::all_of(std::begin(lists_), std::end(lists_), [](const auto& list) { return list.empty(); });
  busy_ = goesOn(now, c, n.insertion || reactivatedNow);

  // shapers
  const bool parks = parksInstead();
  const int park = parks ? static_cast<int>(insertion_->queue) : -1;
  const int charge = c.grant && shaper_.shaped(c.first) ? static_cast<int>(c.first) : -1;
  const int released = shaper_.released(now);
  const bool mayRelease = releases_.size() <= ReleasesBusy;
  shaper_.clock(now, charge, c.firstBytes, {holdsFirst_, blocked, egress.dropped.has_value()}, park, mayRelease);
  port_.clock(now, c.grant, c.firstBytes, egress.dropped.has_value());
  for (const u32 list : {New, Drr}) claim(list, c, pops, egress.dropped);

  // lists
  emptied_.reset();
  if (c.grant) take(c);
  if (insertion_) insert(parks, none, !lists_[Drr].empty());
  if (pops) leave(c);
  insertion_ = n.insertion;
  placesClock(kept, n.from == Source::Backlogged || n.from == Source::Reactivated, n);
  if (n.from == Source::Reactivated) reactivations_.pop_front();
  if (reactivatedNow) reactivations_.push_back(*reactivatedNow);
  if (n.from == Source::Release) releases_.pop_front();
  if (released >= 0) releases_.push_back(static_cast<u32>(released));
  if (enqueued) queues_[enqueued->queue].packets.push_back(enqueued->lenBytes);
  return c.grant ? static_cast<int>(c.first) : -1;
}

bool ClockedScheduler::wake(u64 now, u64& ns) const {
  const bool listed = !lists_[level()].empty(), parked = shaper_.anyParked();
  if (!quiet() || (listed && !closed()) || (!listed && !parked)) return false;
  if (emptied_ || !reactivations_.empty() || !releases_.empty()) return false;
  u64 earliest = 0;
  if (parked && !shaper_.earliest(earliest)) return false;
  const u64 port = port_.due();
  ns = parked && !(closed() && reached(earliest, port, TimeBits)) ? earliest : port;
  return !reached(now, ns, TimeBits);
}

}  // namespace vermilion
