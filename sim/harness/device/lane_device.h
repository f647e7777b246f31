// The Verilated lane inside the device: registers by address, and a gated clock.
//
// The clock runs for a register access. It then runs until the lane is not busy, has no commit, snapshot or clear in
// progress, and expects no frames. Otherwise lane time stands still. So a sequence of accesses and feeds has the same
// effect and takes the same number of cycles in every run.
// While traffic is in progress the clock also runs between messages, so what a read returns then depends on the speed
// of the machine. A paused clock runs only for accesses and for requests of the control channel.
//
// With `realTime` lane time follows the wall clock (real_time.h). The clock runs while there is something to do, and
// lane time jumps to the wall clock otherwise, at most to the lane's next event. Lane time is never ahead of the wall
// clock by more than the cycles of an access.
#pragma once

#include "lane_book.h"
#include "real_time.h"
#include "traffic.h"
#include "verilated_lane.h"

namespace vermilion {

class LaneDevice {
 public:
  LaneDevice(Traffic& traffic, const std::string& waves, bool paused, bool realTime);
  // Applied now, and again after every reset.
  void configure(const VmConfig& config);

  u32 read(u32 address);
  void write(u32 address, u32 value, u32 strobes);
  void reset();

  // Feeds a capture. Its first frame comes at lane time `at`, or as soon as possible; returns that time. Throws
  // InputError.
  u64 feed(const std::string& capture, std::optional<double> rate, double speed, std::optional<u64> at);
  void take();  // takes frames from the socket

  // Runs some cycles, if the clock may run. True: it could continue.
  bool slice();
  // With real time, after slice() has returned false: how long nothing happens. Empty: until a frame or an access.
  std::optional<std::chrono::nanoseconds> quietFor() const;
  const RealTime* realTime() const { return realTime_ ? &*realTime_ : nullptr; }
  void pause(bool on) { paused_ = on; }
  // Runs a paused clock until the lane is empty, or for the given time.
  void goUntil(u64 ns) { goal_ = ns; }
  bool atGoal() const { return goal_ == 0; }

  u64 now() const { return driver_.now(); }
  u64 clocks() const { return driver_.clocks(); }
  const LaneBook& book() const { return book_; }

 private:
  void writeAll();
  bool unfinished();
  bool follow();
  void catchUp();
  static constexpr u32 MostLooks = 1 << 14;
  static constexpr u32 SliceCycles = 1 << 16, TrafficSliceCycles = 512;  // between two polls of the sockets
  Traffic& traffic_;
  VerilatedLane lane_;
  LaneBook book_;
  LaneDriver driver_;
  std::optional<RealTime> realTime_;
  std::vector<RegisterWrite> writes_;  // the configuration that a reset restores
  u32 looks_ = MostLooks;              // remaining polls of whether a write has completed; 0: it has
  bool paused_;
  u64 goal_ = 0;  // lane time up to which a paused clock runs; 0: none
};

}  // namespace vermilion
