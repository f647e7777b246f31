// Runs the Verilated lane cycle by cycle: frames to beats, beats to frames, verdicts and departures to a listener. Checks the rules of the
// streams at the lane's ports: an input that cannot be stalled is always ready; an output beat has no gaps in keep, all its bytes unless it is
// the frame's last, and at least one; no frame comes out with `bad`; a paused egress sends no packet; the lane does not hang.
//
// Lane time advances by 4 ns per cycle. Where the lane is not busy and no frame waits at an input, time jumps to the next frame or the lane's `wake`, whichever
// is earlier, on the 4 ns grid; the cycle count does not jump. So nothing happens at another time than without the jump.
//
// A frame takes the input that its two MAC addresses choose, so all frames between two MAC addresses keep their order. It starts in the first
// cycle at or after its time, or after the previous frame of that input.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "control_access.h"
#include "frame_source.h"
#include "pace.h"
#include "verilated_lane.h"

namespace vermilion {

// Events of the run; `clock` counts cycles from the start of the program, `now` is lane time.
struct LaneListener {
  virtual ~LaneListener() = default;
  virtual void time(u64 clock, u64 now) = 0;                                           // of every cycle, first
  virtual void arrived(u32 input, std::shared_ptr<const Frame> frame, u64 clock) = 0;  // its last beat is in
  virtual void lost(u32 input, u32 lenBytes,
                    u64 clock) = 0;  // the input dropped a frame, LostCycles after its last beat
  virtual void decided(const RtlDecision& decision, u64 clock) = 0;
  virtual void departed(const Left& left, u64 now, u64 clock) = 0;
  virtual void wire(u32 egress, std::vector<u8> bytes, u64 firstBeatClock) = 0;
  virtual void breach(const std::string& text) = 0;  // of the rules above
};

// Stands between the lane's stream ports and the driver, for tests of the driver's own checks.
struct StreamTap {
  virtual ~StreamTap() = default;
  virtual void output(Beat& beat) = 0;            // a beat that is taken, of any egress
  virtual bool ready(u32 input, bool ready) = 0;  // what the driver takes for the input's ready
};

class LaneDriver {
 public:
  static constexpr u32 ResetCycles = 8;  // one is enough; tests with random power-up state take 1 to 8

  LaneDriver(VerilatedLane& lane, LaneListener& listener, bool stalls, bool oneInput);

  // Resets the lane for at least one cycle; frames continue to arrive. Reset is synchronous: it takes effect at the first edge. Before that the
  // driver ignores the lane's outputs.
  void reset(u32 clocks = ResetCycles);
  // Reset and registers. Lane time stands at StartNs meanwhile, so that is when the lane is configured.
  void start(const VmConfig& config, u32 resetCycles = ResetCycles);
  // Until all frames of `source` are in and the lane is idle; `progress` is called now and then.
  void run(FrameSource& source, const std::function<void()>& progress);
  // From now on frames of `source` that are due also enter the lane during register accesses and in advance().
  void attach(FrameSource& source) { source_ = &source; }
  // `source`, which had ended, has more frames.
  void more() { sourceEnded_ = false; }
  // One cycle, after a jump of time where nothing moves; the jump ends at `until`. False: nothing is left to wait for.
  bool advance(FrameSource& source, u64 until = ~u64{0});
  // No frame until then; only where advance() has nothing left.
  void idleUntil(u64 ns) { now_ = std::max(now_, ontoGrid(ns)); }
  ControlAccess& control() { return control_; }
  void tap(StreamTap* tap) { tap_ = tap; }

  u64 clocks() const { return clocks_; }
  u64 runCycles() const { return clocks_ - startClock_; }  // since the first frame was due
  u64 now() const { return now_; }
  // Pauses these egresses (a bit each) until no other egress has a packet to send and the source has ended.
  void hold(u32 egresses) { held_ = egresses; }
  // While this many frames wait for one input (default: WaitingFrames), the driver reads no more frames, for any input. So a stalled input
  // delays the others.
  void readAhead(std::size_t frames) { readAhead_ = frames; }
  u64 stalledCycles() const { return stalledCycles_; }  // an input that can be stalled had a beat and was not ready

 private:
  struct Input {
    std::deque<std::shared_ptr<const Frame>> frames;
    std::size_t offset = 0;  // of the beat in the first frame
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
  void clockAmidTraffic(const std::function<void()>& look);  // with the beats of an attached source
  bool open() const;                                         // all inputs are ready
  void present();
  void sample();
  void takeOutput(u32 egress);
  void pause(Output& out, u32 egress);
  bool release();
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
  bool defined_ = false;  // the lane's outputs are: reset has taken effect
  std::vector<Output> outputs_;
  u64 clocks_ = 0, startClock_ = 0, now_ = 0, stalledCycles_ = 0;
  u64 step_ = ClockNs;  // ns of lane time per cycle
  u64 quiet_ = 0;       // cycles without a beat, a verdict or a departure
  u64 resting_ = 0;     // cycles since the lane was last busy
};

}  // namespace vermilion
