#include "recording.h"

#include <algorithm>
#include <stdexcept>

namespace vermilion {

static void tell(const Event& e, LaneListener& to) {
  switch (e.kind) {
    case Event::Kind::Arrived:
      return to.arrived(e.input, e.frame, e.clock);
    case Event::Kind::Lost:
      return to.lost(e.input, e.lenBytes, e.clock);
    case Event::Kind::Decided:
      return to.decided(e.decision, e.clock);
    case Event::Kind::Departed:
      return to.departed(e.left, e.now, e.clock);
    case Event::Kind::Wire:
      return to.wire(e.input, e.bytes, e.firstBeat);
    case Event::Kind::Breach:
      return to.breach(e.text);
  }
}

void Recording::play(LaneListener& to) const {
  auto event = events.begin();
  for (u64 clock = 0; clock < times.size(); clock++) {
    to.time(clock, times[clock]);
    for (; event != events.end() && event->clock == clock; ++event) tell(*event, to);
  }
}

void Recording::insert(Event event) {
  const auto at = std::upper_bound(events.begin(), events.end(), event.clock,
                                   [](u64 clock, const Event& e) { return clock < e.clock; });
  events.insert(at, std::move(event));
}

void Recording::move(std::size_t event, u64 clock) {
  Event moved = std::move(events[event]);
  events.erase(events.begin() + static_cast<i64>(event));
  moved.clock = clock;
  insert(std::move(moved));
}

Event& EventRecorder::add(Event::Kind kind, u64 clock) {
  Event& e = to_.events.emplace_back();
  e.kind = kind;
  e.clock = clock;
  return e;
}

void EventRecorder::time(u64, u64 now) {
  if (!stopped_) to_.times.push_back(now);
}

void EventRecorder::arrived(u32 input, std::shared_ptr<const Frame> frame, u64 clock) {
  Event& e = add(Event::Kind::Arrived, clock);
  e.input = input;
  e.frame = std::move(frame);
}

void EventRecorder::lost(u32 input, u32 lenBytes, u64 clock) {
  Event& e = add(Event::Kind::Lost, clock);
  e.input = input;
  e.lenBytes = lenBytes;
}

void EventRecorder::decided(const RtlDecision& decision, u64 clock) {
  add(Event::Kind::Decided, clock).decision = decision;
}

void EventRecorder::departed(const Left& left, u64 now, u64 clock) {
  Event& e = add(Event::Kind::Departed, clock);
  e.left = left;
  e.now = now;
}

void EventRecorder::wire(u32 egress, std::vector<u8> bytes, u64 firstBeatClock) {
  Event& e = add(Event::Kind::Wire, to_.times.size() - 1);
  e.bytes = std::move(bytes);
  e.firstBeat = firstBeatClock;
  e.input = egress;
}

void EventRecorder::breach(const std::string& text) {
  add(Event::Kind::Breach, to_.times.size() - 1).text = text;
}

void RegisterRecorder::write(u32 address, u32 value, u32 strobes) {
  to_.push_back({true, address, value});
  inside_.write(address, value, strobes);
}

u32 RegisterRecorder::read(u32 address) {
  const u32 value = inside_.read(address);
  to_.push_back({false, address, value});
  return value;
}

const Access& RecordedRegisters::next(bool write, u32 address) {
  if (next_ == from_.size() || from_[next_].write != write || from_[next_].address != address)
    throw std::logic_error("register " + std::to_string(address) + " is not the recording's next");
  return from_[next_++];
}

void RecordedRegisters::write(u32 address, u32, u32) {
  next(true, address);
}

u32 RecordedRegisters::read(u32 address) {
  return next(false, address).value;
}

}  // namespace vermilion
