#include "clocked_shaper.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "timing.h"

namespace vermilion {

constexpr int ClockBits = TimeBits + ShaperFrac;
static_assert(ClockBits == 64);  // a u64 wraps as the virtual clock does

// Serial-number order; formats.h reached() is for less than 64 bits.
static bool before(u64 a, u64 b) {
  return (a - b) >> (ClockBits - 1) != 0;
}

static u64 costOf(u32 lenBytes, VmScaled cost) {
  return static_cast<u64>(scale(u64{lenBytes} << ShaperFrac, cost.mant, cost.shift));
}

bool DueTime::paid(u64 now) const {
  const u64 ahead = next - (now << ShaperFrac);
  return ahead == 0 || ahead >> debtBits != 0;
}

u64 DueTime::wholeNs() const {
  return truncate((u128{next} + maxOf(ShaperFrac)) >> ShaperFrac, TimeBits);
}

DueTime DueTime::charged(u64 now, u64 burstNs, u64 cost) const {
  const u64 clock = now << ShaperFrac, burst = burstNs << ShaperFrac;
  const u64 base = before(clock, next) ? clock : clock - next > burst ? clock - burst : next;
  return {base + cost, static_cast<u32>(std::bit_width(cost))};
}

ClockedPortShaper::ClockedPortShaper(VmScaled cost, u64 burstNs, u64 configuredNs, bool judges)
    : cost_(cost),
      burstNs_(burstNs),
      shortCost_(costOf(timing::ShortBytes, cost)),
      judges_(judges),
      due_(DueTime::fresh(configuredNs, burstNs)),
      credit_(burstNs << ShaperFrac) {}

bool ClockedPortShaper::open() const {
  if (cost_.mant == 0) return true;
  return longs_ == 0 && (!pending() ? paid_ : behind_ && credit_ >= reserve_);
}

void ClockedPortShaper::clock(u64 now, bool charge, u32 lenBytes, bool dropped) {
  const u64 age = (now << ShaperFrac) - due_.next;
  behind_ = age >> (ClockBits - 1) == 0;
  credit_ = std::min(age, burstNs_ << ShaperFrac);
  paid_ = due_.paid(now);
  const auto reserve = [&](const Stage& s, u64 sign) {
    if (!s.valid) return;
    if (s.lenBytes <= timing::ShortBytes)
      reserve_ += sign * shortCost_;
    else
      longs_ += sign;
  };
  const Stage p0{charge && cost_.mant != 0, lenBytes};
  reserve(p0, 1);
  reserve(p_[3], ~u64{0});
  restoring_ = judges_ && pending();
  if (dropped && p_[3].valid) due_ = saved_;
  saved_ = due_;
  if (p_[2].valid) due_ = due_.charged(now, burstNs_, costOf(p_[2].lenBytes, cost_));
  std::copy_backward(p_, p_ + 3, p_ + 4);
  p_[0] = p0;
}

void ClockedQueueShaper::configure(u32 queue, VmScaled cost, u64 burstNs) {
  queues_[queue] = {cost, burstNs, false, {}, false};
}

int ClockedQueueShaper::released(u64 now) const {
  return waits() && (!q2_.stamped || q2_.due.paid(now)) ? static_cast<int>(q2_.queue) : -1;
}

bool ClockedQueueShaper::earliest(u64& ns) const {
  ns = result_.wholeNs();
  return resultValid_;
}

void ClockedQueueShaper::clock(u64 now, int charge, u32 lenBytes, Charged charged, int park, bool mayRelease) {
  const int free = released(now);
  const bool disturbed = free >= 0 || park >= 0 || charge >= 0 || charging() || s4_ >= 0 || s5_ >= 0;
  const bool cancel = cancels(charged.dropped);
  findEarliest(disturbed);
  turn(free, park, mayRelease);
  writeCharge(now, cancel);
  charged.parks |= cancel;
  stepCharge(charge, lenBytes, charged);
  charges_ = charges_ << 1 | static_cast<u32>(charge >= 0);
}

// Finds the earliest of all waiting queues by scanning them one by one. `disturbed`: the set of waiting queues has
// changed since.
void ClockedQueueShaper::findEarliest(bool disturbed) {
  if (q2_.valid && q2_.queue == 0) {
    if (whole_) {
      result_ = least_;
      resultValid_ = leastValid_;
    }
    least_ = q2_.due;
    leastValid_ = waits();
    whole_ = true;
  } else if (waits() && (!leastValid_ || before(q2_.due.next, least_.next))) {
    least_ = q2_.due;
    leastValid_ = true;
  }
  if (disturbed || disturbed1_ || disturbed2_) whole_ = resultValid_ = false;
  disturbed2_ = disturbed1_;
  disturbed1_ = disturbed;
}

// Steps the scan to the next queue, and applies releases and parking.
void ClockedQueueShaper::turn(int free, int park, bool mayRelease) {
  q2_ = q1_;
  q2_.waits = q1_.valid && queues_[q1_.queue].parked;
  q2_.stamped = queues_[q1_.queue].stamped;
  q2_.due = queues_[q1_.queue].due;
  q1_ = {};
  q1_.valid = mayRelease && parked_ != 0;
  q1_.queue = q0_;
  if (parked_ == 0)
    q0_ = 0;
  else if (mayRelease)
    q0_ = q0_ + 1 == queues_.size() ? 0 : q0_ + 1;
  if (free >= 0) {
    queues_[static_cast<u32>(free)].parked = false;
    parked_--;
  }
  if (park >= 0) {
    queues_[static_cast<u32>(park)].parked = true;
    parked_++;
  }
}

// Writes the record of the queue that is charged, in s4, unless its packet is dropped.
void ClockedQueueShaper::writeCharge(u64 now, bool cancels) {
  if (s4_ >= 0 && !cancels) {
    queues_[static_cast<u32>(s4_)].due = chargedDue_;
    queues_[static_cast<u32>(s4_)].stamped = true;
  }
  s5_ = std::exchange(s4_, stage_ == timing::ChargeCompared ? static_cast<int>(charged_) : -1);
  Queue& q = queues_[charged_];
  if (stage_ == timing::ChargeFloor) {
    const DueTime from = q.stamped ? q.due : DueTime::fresh(now, q.burstNs);
    chargedDue_ = from.charged(now, q.burstNs, costOf(chargedBytes_, q.cost));
    chargedPaid_ = chargedDue_.paid(now);
  }
}

// Moves the charge to its next stage, or starts a new one.
void ClockedQueueShaper::stepCharge(int charge, u32 lenBytes, Charged charged) {
  if (charge >= 0) {
    stage_ = 1;
    charged_ = static_cast<u32>(charge);
    chargedBytes_ = lenBytes;
  } else if (stage_ == timing::ChargeCompared) {
    stage_ = chargedPaid_ || !charged.holdsFirst ? 0 : timing::ChargeBlocks;
  } else if (stage_ == timing::ChargeBlocks) {
    if (charged.parks) stage_ = 0;
  } else if (stage_ != 0) {
    stage_++;
  }
}

}  // namespace vermilion
