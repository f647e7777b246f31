// The ports of the Verilated lane. Only this file pair knows their names.
//
// One cycle of the lane: set the inputs, settle(), read the outputs, edge().
#pragma once

#include <memory>
#include <string>

#include "build_shape.h"
#include "frame.h"
#include "replay.h"
#include "undefined.h"

namespace vermilion {

struct Beat {
  alignas(8) u8 data[MostBeatBytes] = {};
  u64 keep = 0;
  bool last = false, bad = false;
};

struct Left {
  u32 queue, colour, lenBytes;
  u64 arrival;
  bool flushed;                          // discarded, not sent
  bool dropped = false, marked = false;  // by the queue's verdict; only in builds with codel
};

class VerilatedLane {
 public:
  // `waves`: name of the waveform file, may be empty. Throws InputError if this build lacks a requested feature.
  explicit VerilatedLane(const std::string& waves, const Undefined& undefined = {});
  ~VerilatedLane();

  void reset(bool on);
  void setTime(u64 ns);
  void setInput(u32 input, const Beat* beat);  // null: no beat
  void setOutputReady(u32 egress, bool ready);
  void setPaused(u32 egress, bool paused);
  void setReportReady(bool ready);
  void settle();
  void edge();

  bool inputReady(u32 input) const;
  bool output(u32 egress, Beat& beat) const;
  bool report(Beat& beat) const;  // only in builds with reports
  bool decision(RtlDecision& decision) const;
  bool departed(Left& left) const;
  bool lost(u32 input, u32& lenBytes) const;  // the input has dropped a frame
  bool wake(u64& ns) const;
  bool busy() const;

  // AXI4-Lite. The handshakes of its channels are independent.
  void setWrite(bool addressValid, u32 address, bool dataValid, u32 data, u32 strobes = 15);
  void setRead(bool addressValid, u32 address);
  bool writeAddressReady() const;
  bool writeDataReady() const;
  bool writeDone() const;
  bool readAddressReady() const;
  bool readDone(u32& data) const;

 private:
  struct Ports;
  std::unique_ptr<Ports> ports_;
};

}  // namespace vermilion
