// Reports of drops and marks: hw/src/vermilion/report. ReportStream.scala has the format, docs/reports.md its use.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "formats.h"

namespace vermilion {

// The names of a mask's bits; null: there is no such reason.
constexpr u32 ReasonBits = 16;
extern const char* const ReasonNames[ReasonBits];

enum class Reason : u32 {
  Marked = 1,
  Early,
  Forced,
  Tail,
  NoBuffer,
  Bad,
  Policed,
  Pool,
  Evicted,
  VictimMarked,
  DepartureDropped,
  DepartureMarked,
  Flushed
};

struct ReportSettings {
  u32 every = 1, interval = 0, burst = 0;  // ns
  std::array<u8, 14> ethernet{};
  std::vector<u32> reasons;  // of each queue, a mask; empty: nothing is reported
};

// Fields as in ReportEvent (report/Bundles.scala).
struct ReportEvent {
  Reason reason = Reason::Marked;
  u32 queue = 0, colour = 0, input = 0, lenBytes = 0;
  u64 time = 0;  // ns, 48 bits
  u32 sojourn = 0, bytes = 0, packets = 0;
  u64 average = 0;
  u32 probability = 0;
  bool operator==(const ReportEvent&) const = default;
};

constexpr u32 RecordBytes = CellBytes, HeadBytes = CellBytes;

// A report as it leaves the lane. `head`: the packet's first bytes, or none.
struct Report {
  ReportEvent event;
  u32 number = 0, lost = 0;
  std::vector<u8> head;
};

// The first 64 bytes of a report's frame.
std::array<u8, RecordBytes> recordOf(const ReportSettings& settings, const Report& report);
// Reads a frame. Nothing if its length, or the version of its format, is another. The head has no more bytes than the
// packet.
std::optional<Report> reportOf(const std::vector<u8>& frame);

// report/ReportSelector.scala, bit by bit and cycle by cycle. `Tag` follows each event through.
template <typename Tag>
class ReportSelector {
 public:
  struct Offered {
    ReportEvent event;
    Tag tag;
  };
  explicit ReportSelector(const ReportSettings& settings) : settings_(settings) {}

  // An event that the lane's ports show in cycle `clock`: at most one on arrival and one at departure per cycle. Call in
  // the order of cycles.
  void arrival(u64 clock, const ReportEvent& event, Tag tag) { add(arrival_, clock, event, std::move(tag)); }
  void departure(u64 clock, const ReportEvent& event, Tag tag) { add(departure_, clock, event, std::move(tag)); }
  // Processes the events of all cycles before `clock`.
  void settle(u64 clock) { advance(clock); }
  void finish() { advance(clock_ + Waiting + 2); }

  // Events that were offered and not taken yet, the oldest first.
  std::deque<Offered>& offered() { return offered_; }
  u64 offeredCount() const { return offeredCount_; }
  u64 missed() const { return missed_; }
  u64 limited() const { return limited_; }

 private:
  static constexpr std::size_t Waiting = 8;

  void add(std::optional<Offered>& to, u64 clock, const ReportEvent& event, Tag tag) {
    if ((settings_.reasons[event.queue] >> static_cast<u32>(event.reason) & 1) == 0) return;
    advance(clock);
    to = Offered{event, std::move(tag)};
  }

  // Up to the cycle after which the events of `clock` are processed.
  void advance(u64 clock) {
    for (; clock_ < clock && (arrival_ || departure_ || !waiting_.empty()); clock_++) {
      const bool full = waiting_.size() == Waiting;
      if (departure_) {
        sample(std::move(*departure_));
      } else if (!waiting_.empty()) {
        sample(std::move(waiting_.front()));
        waiting_.pop_front();
      }
      if (arrival_ && full) missed_++;
      if (arrival_ && !full) waiting_.push_back(std::move(*arrival_));
      arrival_.reset();
      departure_.reset();
    }
    clock_ = clock;
  }

  void sample(Offered&& offered) {
    const u64 time = offered.event.time;
    if (skips_ != 0 && skips_ < settings_.every) {
      skips_--;
      return;
    }
    skips_ = settings_.every == 0 ? 0 : settings_.every - 1;
    if (settings_.interval != 0) {
      const auto isReached = [](u64 a, u64 b) { return (truncate(a - b, TimeBits) >> (TimeBits - 1)) == 0; };
      const u64 span = u64{settings_.burst} + settings_.interval;
      const bool late = isReached(time, due_) || !isReached(time + span, due_);
      if (!late && !isReached(time + settings_.burst, due_)) {
        limited_++;
        return;
      }
      due_ = truncate((late ? time : due_) + settings_.interval, TimeBits);
    }
    offeredCount_++;
    offered_.push_back(std::move(offered));
  }

  const ReportSettings& settings_;
  std::optional<Offered> arrival_, departure_;  // of cycle clock_
  std::deque<Offered> waiting_, offered_;
  u64 clock_ = 0, due_ = 0, offeredCount_ = 0, missed_ = 0, limited_ = 0;
  u32 skips_ = 0;
};

}  // namespace vermilion
