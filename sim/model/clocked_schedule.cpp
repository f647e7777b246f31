#include "clocked_schedule.h"

#include <algorithm>
#include <bit>

#include "timing.h"

namespace vermilion {

constexpr int ClockBits = TimeBits + ShaperFrac;
static_assert(ClockBits == 64);  // a u64 wraps as the virtual clock does

static bool any(const Flags& flags) {
  return std::any_of(flags.begin(), flags.end(), [](u8 f) { return f != 0; });
}

// Serial-number order; formats.h reached() is for less than 64 bits.
static bool before(u64 a, u64 b) {
  return (a - b) >> (ClockBits - 1) != 0;
}

bool ClockedShaper::Due::paid(u64 now) const {
  const u64 ahead = next - (now << ShaperFrac);
  return ahead == 0 || ahead >> debtBits != 0;
}

ClockedShaper::ClockedShaper(u32 entries)
    : entries_(entries), blocked_(entries), interestingBefore_(entries), last_(std::max(entries, 2u) - 1) {}

void ClockedShaper::configure(u32 entry, VmScaled cost, u64 burstNs) {
  entries_[entry] = {cost, burstNs, false, {}};
}

ClockedShaper::Scanned ClockedShaper::choose(const Flags& interesting) const {
  const u32 count = static_cast<u32>(entries_.size());
  for (u32 i = last_ + 1; i < count; i++)
    if (candidate(interesting, i)) return {true, false, i, {}};
  for (u32 i = 0; i < count; i++)
    if (candidate(interesting, i)) return {true, true, i, {}};
  return {};
}

bool ClockedShaper::earliest(const Flags& interesting, u64& ns) const {
  ns = truncate((u128{result_} + maxOf(ShaperFrac)) >> ShaperFrac, TimeBits);
  return resultValid_ && choose(interesting).valid && interesting == interestingBefore_;
}

void ClockedShaper::clock(u64 now, int charged, u32 lenBytes, const Flags& interesting) {
  const bool s0 = charged >= 0 && entries_[static_cast<u32>(charged)].cost.m != 0;
  const u32 s0Entry = s0 ? static_cast<u32>(charged) : 0;

  // scan: p0 choose, p1 read, p2 compare
  const Scanned p0 = choose(interesting);
  const bool inFlight = (s0 && s0Entry == p2_.entry) || (stage_ != 0 && charged_ == p2_.entry);
  const bool p2Valid = p2_.valid && blocked_[p2_.entry] && !inFlight;
  const bool p2Release = p2Valid && p2_.due.paid(now);
  const bool disturbed = p2Release || s0 || settling() || interesting != interestingBefore_;
  if (p2_.wrapped) {
    if (whole_) {
      result_ = least_;
      resultValid_ = leastValid_;
    }
    least_ = p2_.due.next;
    leastValid_ = p2Valid;
    whole_ = true;
  } else if (p2Valid && (!leastValid_ || before(p2_.due.next, least_))) {
    least_ = p2_.due.next;
    leastValid_ = true;
  }
  if (disturbed || disturbed1_ || disturbed2_) whole_ = resultValid_ = false;
  disturbed2_ = disturbed1_;
  disturbed1_ = disturbed;
  interestingBefore_ = interesting;

  // the charge
  if (stage_ == timing::ChargeFloor) {
    const Entry& e = entries_[charged_];
    const u64 clock = now << ShaperFrac, burst = e.burstNs << ShaperFrac, age = clock - e.due.next;
    const bool ahead = before(clock, e.due.next);
    const u64 base = !e.stamped || (!ahead && age > burst) ? clock - burst : ahead ? clock : e.due.next;
    const u64 cost = static_cast<u64>(scale(u64{chargedBytes_} << ShaperFrac, e.cost.m, e.cost.s));
    chargedDue_ = {base + cost, static_cast<u32>(std::bit_width(cost))};
  }
  if (stage_ == timing::ChargeWritten) {
    entries_[charged_].due = chargedDue_;
    entries_[charged_].stamped = true;
  }
  if (p2Release) blocked_[p2_.entry] = 0;
  if (stage_ == timing::ChargeDone && chargedDue_.paid(now)) blocked_[charged_] = 0;
  if (stage_ != 0) stage_ = stage_ == timing::ChargeDone ? 0 : stage_ + 1;
  if (s0) {
    blocked_[s0Entry] = 1;
    stage_ = 1;
    charged_ = s0Entry;
    chargedBytes_ = lenBytes;
  }

  p2_ = p1_;
  p2_.wrapped = p1_.valid && p1_.wrapped;
  p2_.due = entries_[p1_.entry].due;
  p1_ = p0;
  if (p0.valid) last_ = p0.entry;
}

ClockedScheduler::ClockedScheduler(const VmConfig& config)
    : queueShaper_(config.queue_count), portShaper_(1), roundLast_(config.queue_count - 1) {
  portShaper_.configure(0, config.port_cost, config.port_burst_ns);
  for (u32 i = 0; i < config.queue_count; i++) {
    const VmQueue& q = config.queues[i];
    queues_.push_back({q.strict != 0, q.priority, std::max<u32>(q.quantum, CellBytes)});
    queueShaper_.configure(i, q.cost, q.burst_ns);
  }
}

bool ClockedScheduler::anyEligible(const Flags& waiting) const {
  for (u32 i = 0; i < queues_.size(); i++)
    if (eligible(waiting, i)) return true;
  return false;
}

// A strict queue's priority with a bit on top.
u32 ClockedScheduler::key(const Flags& waiting, u32 i) const {
  return eligible(waiting, i) && queues_[i].strict ? 16 + queues_[i].priority : 0;
}

bool ClockedScheduler::pick(const Flags& waiting) {
  const u32 count = static_cast<u32>(queues_.size());
  const bool strict = topKey_ >= 16;
  const auto atLevel = [&](u32 i) {
    return eligible(waiting, i) && queues_[i].strict == strict && (!strict || queues_[i].priority == topKey_ - 16);
  };
  const bool stay = !strict && visiting_ && atLevel(roundLast_);
  const u32 from = strict ? count - 1 : roundLast_;
  u32 found = count;
  for (u32 k = 1; k <= count && found == count; k++)
    if (atLevel((from + k) % count)) found = (from + k) % count;
  if (found == count) return false;
  queue_ = stay ? roundLast_ : found;
  queueStrict_ = strict;
  newVisit_ = !stay;
  return true;
}

int ClockedScheduler::clock(u64 now, const Flags& waiting, const std::vector<u32>& headBytes, const Flags& single,
                            bool room) {
  const bool portBlocked = portShaper_.blocked()[0];
  const bool settling = queueShaper_.settling() || portShaper_.settling();
  int taken = -1;
  switch (state_) {
    case State::Level:
      if (!portBlocked && !settling && room && anyEligible(waiting)) {
        topKey_ = 0;
        for (u32 i = 0; i < queues_.size(); i++) topKey_ = std::max(topKey_, key(waiting, i));
        state_ = State::Pick;
      }
      break;
    case State::Pick:
      state_ = pick(waiting) && !portBlocked && room ? State::Look : State::Level;
      break;
    case State::Look:
      state_ = State::Decide;
      break;
    case State::Decide: {
      Queue& q = queues_[queue_];
      const u64 head = headBytes[queue_];
      const u64 credited = q.deficit + (newVisit_ && q.deficit < head ? q.quantum : 0);
      const bool covered = credited >= head, last = single[queue_];
      if (queueStrict_ || covered) taken = static_cast<int>(queue_);
      if (!queueStrict_) {
        q.deficit = !covered ? credited : last ? 0 : credited - head;
        roundLast_ = queue_;
        visiting_ = covered && !last;
      }
      state_ = State::Level;
    }
  }
  portWaiting_[0] = any(waiting);
  const u32 lenBytes = taken < 0 ? 0 : headBytes[static_cast<u32>(taken)];
  queueShaper_.clock(now, taken, lenBytes, waiting);
  portShaper_.clock(now, taken < 0 ? -1 : 0, lenBytes, portWaiting_);
  return taken;
}

bool ClockedScheduler::wake(u64 now, const Flags& waiting, u64& ns) const {
  const bool portBlocked = portShaper_.blocked()[0], sendable = anyEligible(waiting);
  const bool quiet = state_ == State::Level && !queueShaper_.settling() && !portShaper_.settling();
  if (!any(waiting) || !quiet || (!portBlocked && sendable)) return false;
  u64 queueTime = now, portTime = now;
  if (!sendable && !queueShaper_.earliest(waiting, queueTime)) return false;
  if (portBlocked && !portShaper_.earliest({1}, portTime)) return false;
  ns = reached(queueTime, portTime, TimeBits) ? queueTime : portTime;
  return !reached(now, ns, TimeBits);
}

bool ClockedScheduler::busy(u64 now, const Flags& waiting) const {
  u64 ns;
  const bool quiet = state_ == State::Level && !queueShaper_.settling() && !portShaper_.settling();
  return !quiet || (any(waiting) && !wake(now, waiting, ns));
}

}  // namespace vermilion
