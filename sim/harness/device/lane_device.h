// The Verilated lane as the device's inside: registers by address, and a clock that is gated.
//
// The clock runs for register access, and behind it until the lane is not busy, has no commit, snapshot or clear under way, and no frames
// are to come; else time stands. So what a sequence of
// accesses and feeds does, and how many clocks it takes, is the same in every run. While traffic is under way the clock runs by
// itself between messages, so what then is read depends on the machine's pace; paused, it runs only for accesses and where the
// control channel asks.
#pragma once

#include "lane_book.h"
#include "traffic.h"
#include "verilated_lane.h"

namespace vermilion {

class LaneDevice {
 public:
  LaneDevice(Traffic& traffic, const std::string& waves, bool paused);
  // Now, and again behind every reset.
  void configure(const VmConfig& config);

  u32 read(u32 address);
  void write(u32 address, u32 value, u32 strobes);
  void reset();

  // A capture, its first frame at lane time `at`, or as soon as may be; returns that time. Throws InputError.
  u64 feed(const std::string& capture, std::optional<double> rate, double speed, std::optional<u64> at);
  void take();  // frames of the socket

  // Some clocks, if the clock may run: true where it could go on.
  bool slice();
  void pause(bool on) { paused_ = on; }
  // Lets a paused clock run until nothing is left, or for so long.
  void goUntil(u64 ns) { goal_ = ns; }
  bool atGoal() const { return goal_ == 0; }

  u64 now() const { return driver_.now(); }
  u64 clocks() const { return driver_.clocks(); }
  const LaneBook& book() const { return book_; }

 private:
  void writeAll();
  bool unfinished();
  static constexpr u32 MostLooks = 1 << 14;
  static constexpr u32 SliceClocks = 1 << 16, TrafficSliceClocks = 512;  // between two looks at the sockets
  Traffic& traffic_;
  VerilatedLane lane_;
  LaneBook book_;
  LaneDriver driver_;
  std::vector<RegisterWrite> writes_;  // of the configuration that a reset leads to
  u32 looks_ = MostLooks;              // how often to ask still whether a write's work is done; 0: it is
  bool paused_;
  u64 goal_ = 0;  // lane time up to which a paused clock runs; 0: not
};

}  // namespace vermilion
