// A recording of one run of the Verilated lane: all events for its listener, and all register accesses at its end.
//
// It can be replayed to other checkers, unchanged or with a fault in it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "control_access.h"
#include "lane_driver.h"

namespace vermilion {

struct Event {
  enum class Kind { Arrived, Lost, Decided, Departed, Wire, Breach };
  Kind kind = Kind::Breach;
  u64 clock = 0;                       // the cycle in which the listener received it
  u32 input = 0, lenBytes = 0;         // of Arrived and Lost; of Wire, the egress
  std::shared_ptr<const Frame> frame;  // of Arrived
  RtlDecision decision{};
  Left left{};
  u64 now = 0;  // ns, of Departed
  std::vector<u8> bytes;
  u64 firstBeat = 0;  // cycle, of Wire
  std::string text;
};

struct Access {
  bool write = false;
  u32 address = 0, value = 0;
};

struct Recording {
  std::vector<u64> times;     // lane time in ns, by cycle
  std::vector<Event> events;  // in order of cycles
  std::vector<Access> accesses;
  // Replays all events in the order of `events`, which is sorted by cycle.
  void play(LaneListener& to) const;
  // Moves an event to another cycle, after the events of that cycle.
  void move(std::size_t event, u64 clock);
  void insert(Event event);
};

// Writes the recording of a run.
class EventRecorder : public LaneListener {
 public:
  explicit EventRecorder(Recording& to) : to_(to) {}
  void time(u64 clock, u64 now) override;
  void arrived(u32 input, std::shared_ptr<const Frame> frame, u64 clock) override;
  void lost(u32 input, u32 lenBytes, u64 clock) override;
  void decided(const RtlDecision& decision, u64 clock) override;
  void departed(const Left& left, u64 now, u64 clock) override;
  void wire(u32 egress, std::vector<u8> bytes, u64 firstBeatClock) override;
  void breach(const std::string& text) override;
  void stop() { stopped_ = true; }  // later events are not part of the run

 private:
  Event& add(Event::Kind kind, u64 clock);
  Recording& to_;
  bool stopped_ = false;
};

// Forwards register accesses and records them.
class RegisterRecorder : public Registers {
 public:
  RegisterRecorder(Registers& inside, std::vector<Access>& to) : inside_(inside), to_(to) {}
  void write(u32 address, u32 value, u32 strobes) override;
  u32 read(u32 address) override;

 private:
  Registers& inside_;
  std::vector<Access>& to_;
};

// Answers register accesses from a recording. Throws std::logic_error if an access is not the next one of the
// recording.
class RecordedRegisters : public Registers {
 public:
  explicit RecordedRegisters(const std::vector<Access>& from) : from_(from) {}
  void write(u32 address, u32 value, u32 strobes) override;
  u32 read(u32 address) override;

 private:
  const Access& next(bool write, u32 address);
  const std::vector<Access>& from_;
  std::size_t next_ = 0;
};

}  // namespace vermilion
