#include "clocked_schedule.h"

#include <algorithm>
#include <utility>

#include "timing.h"

namespace vermilion {

ClockedScheduler::ClockedScheduler(const VmConfig& config, u64 configuredNs)
    : shaper_(config.queue_count), port_(config.egress[0].port_cost, config.egress[0].port_burst_ns, configuredNs) {
  for (u32 i = 0; i < config.queue_count; i++) {
    const VmQueue& q = config.queues[i];
    const u32 level = q.strict != 0 ? 7 - std::min<u32>(q.priority, 7) : Round;
    queues_.push_back({level, std::max<u32>(q.quantum, CellBytes), 0, false, {}});
    shaper_.configure(i, q.cost, q.burst);
  }
}

// Of the list that may be served: the highest that is not empty.
u32 ClockedScheduler::level() const {
  if (shaper_.charging()) return settleLevel_;
  for (u32 i = 0; i < Levels; i++)
    if (!lists_[i].empty()) return i;
  return Round;
}

int ClockedScheduler::clock(u64 now, const std::optional<Enqueued>& enqueued, bool room) {
  // queues that become idle, are filled again, or become backlogged
  int refilled = -1, becameBacklogged = -1;
  if (emptied_) {
    Queue& q = queues_[*emptied_];
    q.backlogged = !q.packets.empty();
    if (q.backlogged) refilled = static_cast<int>(*emptied_);
  }
  if (enqueued && !queues_[enqueued->queue].backlogged) {
    queues_[enqueued->queue].backlogged = true;
    becameBacklogged = static_cast<int>(enqueued->queue);
  }

  // choice
  const u32 level = this->level();
  const bool listed = !lists_[level].empty();
  const u32 first = listed ? lists_[level].front() : 0;
  const u32 firstBytes = listed ? queues_[first].packets.front() : 0;
  const bool more = queues_[first].packets.size() >= 2;
  const bool mayServe = listed && !shaper_.charging() && refills_.empty() && room && port_.open() && settled_;
  const bool covered = level != Round || queues_[first].deficit >= firstBytes;
  const bool grant = mayServe && covered;

  // who joins
  const bool blocks = shaper_.blocks();
  const bool afterRefills = becameBacklogged < 0 && refills_.empty();
  const bool parks = blocks && afterRefills;
  const bool joinsAnew = mayServe && !covered && afterRefills && !blocks && releases_.empty();
  std::optional<Joining> event;
  bool refillGone = false, releaseGone = false;
  if (becameBacklogged >= 0) {
    event = {static_cast<u32>(becameBacklogged), 0, true, true, false};
  } else if (!refills_.empty()) {
    event = {refills_.front(), 0, true, true, false};
    refillGone = true;
  } else if (blocks) {
    event = {first, queues_[first].deficit, false, false, true};
  } else if (!releases_.empty()) {
    const Queue& q = queues_[releases_.front()];
    event = {releases_.front(), q.deficit, q.deficit < q.packets.front(), false, false};
    releaseGone = true;
  } else if (joinsAnew) {
    event = {first, queues_[first].deficit, true, false, false};
  }

  // The second packet of the queue that is served is fetched in a clock in which that queue stands first, and the one behind it with the take.
  const bool pops = (grant && !more) || joinsAnew || parks;
  const bool known =
      level == lastLevel_ && (knowsSecond_ || (arrived_ && listed && queues_[first].packets.size() == 2));
  settled_ = !(grant && more && !known);
  knowsSecond_ = listed && !pops && queues_[first].packets.size() >= (known ? 3 : 2) && (grant ? known : !known);
  knowsSecond_ = knowsSecond_ || (known && !grant && !pops);
  // A packet that joins behind the only one is the second.
  const bool joins = enqueued && listed && enqueued->queue == first && queues_[first].packets.size() == 1;
  knowsSecond_ = knowsSecond_ || (joins && !pops);
  arrived_ = pops && lists_[level].size() >= 2;
  lastLevel_ = level;
  const bool none = std::all_of(std::begin(lists_), std::end(lists_), [](const auto& list) { return list.empty(); });

  // when to come back, for this clock
  u64 ns;
  const bool quietNow = quiet() && !event && refilled < 0;
  busy_ = !quietNow || ((listed || shaper_.anyParked()) && !wake(now, ns));

  // shapers
  const int park = joining_ && (joining_->mustPark || (joining_->mayPark && shaper_.shaped(joining_->queue)))
                       ? static_cast<int>(joining_->queue)
                       : -1;
  const int charge = grant && shaper_.shaped(first) ? static_cast<int>(first) : -1;
  const int released = shaper_.released(now);
  const bool mayRelease = releases_.size() <= ReleasesBusy;
  shaper_.clock(now, charge, firstBytes, {holdsFirst_, parks}, park, mayRelease);
  port_.clock(now, grant, firstBytes);

  // lists
  emptied_.reset();
  if (grant) {
    Queue& q = queues_[first];
    q.packets.pop_front();
    if (level == Round) q.deficit -= firstBytes;
    settleLevel_ = level;
    holdsFirst_ = more;
    if (!more) emptied_ = first;
  }
  if ((grant && !more) || joinsAnew || parks) lists_[level].pop_front();
  if (joining_) {
    Queue& q = queues_[joining_->queue];
    q.deficit = joining_->deficit + (joining_->add && park < 0 ? q.quantum : 0);
    if (park < 0) lists_[q.level].push_back(joining_->queue);
    if (park < 0 && none) {
      knowsSecond_ = q.packets.size() >= 2;
      lastLevel_ = q.level;
    }
  }
  joining_ = event;
  if (refillGone) refills_.pop_front();
  if (refilled >= 0) refills_.push_back(static_cast<u32>(refilled));
  if (releaseGone) releases_.pop_front();
  if (released >= 0) releases_.push_back(static_cast<u32>(released));
  if (enqueued) queues_[enqueued->queue].packets.push_back(enqueued->lenBytes);
  return grant ? static_cast<int>(first) : -1;
}

bool ClockedScheduler::wake(u64 now, u64& ns) const {
  const bool listed = !lists_[level()].empty(), parked = shaper_.anyParked();
  if (!quiet() || (listed && !closed()) || (!listed && !parked)) return false;
  if (emptied_ || !refills_.empty() || !releases_.empty()) return false;
  u64 earliest = 0;
  if (parked && !shaper_.earliest(earliest)) return false;
  const u64 port = port_.due();
  ns = parked && !(closed() && reached(earliest, port, TimeBits)) ? earliest : port;
  return !reached(now, ns, TimeBits);
}

}  // namespace vermilion
