#include "lane_device.h"

#include "register_map.h"

namespace vermilion {

LaneDevice::LaneDevice(Traffic& traffic, const std::string& waves, bool paused, bool realTime)
    : traffic_(traffic),
      lane_(waves),
      book_([this](u64 left, const std::vector<u8>& bytes, u32 wireLen) {
        if (realTime_) realTime_->sent(left);
        traffic_.sent(left, bytes, wireLen);
      }),
      driver_(lane_, book_, false, false),
      paused_(paused) {
  driver_.reset();
  driver_.attach(traffic_);
  if (realTime) realTime_.emplace(driver_.now());
}

void LaneDevice::configure(const VmConfig& config) {
  writes_ = registerWrites(config);
  writeAll();
}

void LaneDevice::writeAll() {
  for (const RegisterWrite& w : writes_) driver_.control().write(w.address, w.value);
}

// Before an access: a lane at rest has lane time of when it was last looked at.
void LaneDevice::catchUp() {
  if (realTime_ && driver_.nextEvent().value_or(~u64{0}) > driver_.now()) slice();
}

u32 LaneDevice::read(u32 address) {
  catchUp();
  return driver_.control().read(address);
}

void LaneDevice::write(u32 address, u32 value, u32 strobes) {
  catchUp();
  driver_.control().write(address, value, strobes);
  looks_ = MostLooks;
}

void LaneDevice::reset() {
  catchUp();
  driver_.reset();
  book_.reset();
  writeAll();
  looks_ = MostLooks;
}

u64 LaneDevice::feed(const std::string& capture, std::optional<double> rate, double speed, std::optional<u64> at) {
  if (at && *at < driver_.now())
    throw InputError("at_ns is " + std::to_string(*at) + ", and it is " + std::to_string(driver_.now()) +
                     " ns already");
  const u64 start = ontoGrid(at.value_or(std::max(driver_.now(), StartNs)));
  traffic_.feed(capture, rate, speed, start);
  driver_.more();
  return start;
}

void LaneDevice::take() {
  if (!traffic_.take(realTime_ ? std::max(realTime_->now(), driver_.now()) : driver_.now())) return;
  driver_.more();
}

// Whether a commit (of a queue or of rules), a snapshot or a clear is in progress, which the lane's `busy` does not show. The poll also runs the
// clock.
bool LaneDevice::unfinished() {
  if (looks_ == 0) return false;
  constexpr u32 Pending = registers::kStatusCommitPending.mask() | registers::kStatusSnapshotPending.mask() |
                          registers::kStatusClearPending.mask() | registers::kStatusRulesPending.mask();
  const bool pending = (driver_.control().read(registers::status()) & Pending) != 0;
  looks_ = pending ? looks_ - 1 : 0;
  return true;
}

// True: lane time is behind the wall clock.
bool LaneDevice::follow() {
  const u64 goal = realTime_->now();
  for (u32 i = 0; i < TrafficSliceCycles && driver_.now() < goal; i++)
    if (!driver_.advance(traffic_, goal) && !unfinished()) driver_.idleUntil(goal);
  realTime_->followed(driver_.now());
  return driver_.now() < goal;
}

std::optional<std::chrono::nanoseconds> LaneDevice::quietFor() const {
  if (!realTime_) return std::nullopt;
  const std::optional<u64> event = driver_.nextEvent();
  if (!event) return std::nullopt;
  return realTime_->until(*event);
}

bool LaneDevice::slice() {
  if (realTime_) return follow();
  if (paused_ && goal_ == 0) return false;
  const u64 until = goal_ == 0 ? ~u64{0} : goal_;
  const bool traffic = traffic_.feeding() || book_.underWay() != 0;
  const u32 most = traffic ? TrafficSliceCycles : SliceCycles;
  for (u32 i = 0; i < most && driver_.now() < until; i++) {
    if (driver_.advance(traffic_, until) || unfinished()) continue;
    if (goal_ != 0 && goal_ != ~u64{0}) driver_.idleUntil(goal_);
    goal_ = 0;
    return false;
  }
  if (driver_.now() >= until) {
    goal_ = 0;
    return !paused_;
  }
  return true;
}

}  // namespace vermilion
