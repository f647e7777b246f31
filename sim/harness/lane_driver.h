// Runs the Verilated lane cycle by cycle. It turns frames into beats and beats into frames.
//
// It passes verdicts and departures to a listener, and checks the rules of the streams at the lane's ports:
//   - An input that cannot be stalled is always ready.
//   - An output beat has at least one byte and no gaps in keep. All its bytes are valid unless it is the frame's last
//     beat.
//   - No frame comes out with `bad`.
//   - A paused egress sends no packet.
//   - The lane does not hang.
//
// Lane time advances by 4 ns per cycle. If the lane is not busy and no frame waits at an input, lane time jumps. It
// jumps to the next frame or to the lane's `wake`, whichever is earlier. It stays on the 4 ns grid, and the cycle count
// does not jump. So every event has the same time as without the jump.
//
// The two MAC addresses of a frame select its input, so all frames between two MAC addresses keep their order. A frame
// starts in the first cycle at or after its time, or after the previous frame of that input.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "control_access.h"
#include "frame_source.h"
#include "pace.h"
#include "verilated_lane.h"

namespace vermilion {

// Receives the events of a run. `clock` counts cycles from the start of the program, `now` is lane time.
struct LaneListener {
  virtual ~LaneListener() = default;
  virtual void time(u64 clock, u64 now) = 0;                                           // at the start of each cycle
  virtual void arrived(u32 input, std::shared_ptr<const Frame> frame, u64 clock) = 0;  // its last beat is in
  virtual void lost(u32 input, u32 lenBytes,
                    u64 clock) = 0;  // the input dropped a frame, LostCycles after its last beat
  virtual void decided(const RtlDecision& decision, u64 clock) = 0;
  virtual void departed(const Left& left, u64 now, u64 clock) = 0;
  virtual void wire(u32 egress, std::vector<u8> bytes, u64 firstBeatClock) = 0;
  virtual void reported(const std::vector<u8>& /*frame*/, u64 /*clock*/) {}  // in builds with reports
  virtual void breach(const std::string& text) = 0;                          // of the rules above
};

// Changes what the driver sees at the lane's stream ports, to test the driver's own checks.
struct StreamTap {
  virtual ~StreamTap() = default;
  virtual void output(Beat& beat) = 0;            // an accepted beat of any egress
  virtual bool ready(u32 input, bool ready) = 0;  // returns what the driver sees as the input's ready
};

class LaneDriver {
 public:
  static constexpr u32 ResetCycles = 8;  // one is enough; tests with random power-up state use 1 to 8

  LaneDriver(VerilatedLane& lane, LaneListener& listener, bool stalls, bool oneInput);

  // Resets the lane for at least one cycle; frames continue to arrive. Reset is synchronous: it takes effect at the
  // first edge. Before that the driver ignores the lane's outputs.
  void reset(u32 clocks = ResetCycles);
  // Resets the lane and writes its registers. Lane time stays at StartNs until the lane is ready for frames.
  // `more`: after those of the configuration.
  void start(const VmConfig& config, u32 resetCycles = ResetCycles, const std::vector<RegisterWrite>& more = {});
  // Runs until all frames of `source` have entered and the lane is idle. Calls `progress` every 1,024 cycles.
  void run(FrameSource& source, const std::function<void()>& progress);
  // From this call on, frames of `source` that are due also enter the lane during register accesses and reset.
  void attach(FrameSource& source) { source_ = &source; }
  // Call when a source that had ended has more frames.
  void more() { sourceEnded_ = false; }
  // Runs one cycle. Before it, lane time may jump, at most to `until`. False: nothing is left to wait for.
  bool advance(FrameSource& source, u64 until = ~u64{0});
  // The lane time of the next cycle that has something to do: now() while the lane or an input is busy, else that of the
  // next frame or of the lane's `wake`. Empty: nothing to do before the next frame or register access.
  std::optional<u64> nextEvent() const;
  // Moves lane time to `ns`. Legal only after advance() has returned false.
  void idleUntil(u64 ns) { now_ = std::max(now_, ontoGrid(ns)); }
  ControlAccess& control() { return control_; }
  void tap(StreamTap* tap) { tap_ = tap; }

  u64 clocks() const { return clocks_; }
  u64 runCycles() const { return clocks_ - startClock_ - drained_; }  // since the first frame was due
  u64 now() const { return now_; }
  // Pauses these egresses (a bit each) until no other egress has a packet to send and the source has ended.
  void hold(u32 egresses) { held_ = egresses; }
  // Takes no report until the run ends.
  void holdReports() { reportsHeld_ = true; }
  // While this many frames wait for one input (default: WaitingFrames), the driver reads no more frames, for any input.
  // So a stalled input delays the others.
  void readAhead(std::size_t frames) { readAhead_ = frames; }
  u64 stalledCycles() const { return stalledCycles_; }  // stalled beats, summed over cycles and inputs

 private:
  struct Input {
    std::deque<std::shared_ptr<const Frame>> frames;
    std::size_t offset = 0;  // of the current beat in the first frame
    Beat beat;
    bool shown = false;
  };
  struct Output {
    bool ready = false;
    std::vector<u8> bytes;  // of the frame that is coming out
    u64 clock = 0;          // of its first beat
    u32 paused = 0;         // cycles for which the egress has been paused
    u32 pauseLength = 0;    // cycles that the pause lasts
  };
  bool inputReady(u32 input) const;
  void clock(const std::function<void()>& look);
  void clockAmidTraffic(const std::function<void()>& look);  // with beats of the attached source
  bool open() const;                                         // all inputs are ready
  void present();
  void sample();
  void takeOutput(u32 egress);
  void takeReport();
  bool gather(Output& out, const Beat& beat);
  void pause(Output& out, u32 egress);
  bool release();
  void drain();
  bool resting() const;  // lane and inputs are idle, so lane time may jump
  void fill(FrameSource& source);
  bool jump(u64 until);  // false: nothing is left to wait for

  VerilatedLane& lane_;
  LaneListener& listener_;
  StreamTap* tap_ = nullptr;
  ControlAccess control_;
  bool stalls_, oneInput_;
  std::size_t readAhead_ = WaitingFrames;
  u32 held_ = 0;  // egresses that are paused until all others are idle
  std::mt19937 random_{1};
  std::vector<Input> inputs_;
  FrameSource* source_ = nullptr;      // attached
  std::shared_ptr<const Frame> next_;  // read from the source, not yet due
  bool sourceEnded_ = false;
  bool defined_ = false;  // reset has taken effect, so the lane's outputs are defined
  std::vector<Output> outputs_;
  Output reports_;
  bool reportsHeld_ = false;
  u64 clocks_ = 0, startClock_ = 0, drained_ = 0, now_ = 0, stalledCycles_ = 0;
  u64 step_ = ClockNs;  // ns of lane time per cycle
  u64 quiet_ = 0;       // cycles without a beat, a verdict or a departure
  u64 moved_ = 0;       // lane time of the last of these
  u64 underWay_ = 0;    // frames that have arrived and have not left
  u64 resting_ = 0;     // cycles since the lane was last busy
};

}  // namespace vermilion
