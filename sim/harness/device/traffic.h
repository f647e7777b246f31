// The device's frame sources and sinks while it runs: captures that are fed one after the other, and a datagram socket
// with one frame per datagram (compatible with QEMU's `-netdev dgram`).
//
// Rate, in lane time: the times of the capture, `speed` times as fast, or back to back at `rate`, as in frame_source.h.
// A frame of the socket starts when it is read from there, or, with a rate, after the previous frame. Frames of the
// socket wait while a capture is fed.
//
// In real time both ends of the sockets run beside the device. So the receiver may come later than the device: frames
// before that are lost. A receiver that is slow for a moment loses none, up to MostKept. And the device does not read
// more frames than MostKept ahead of the lane: the rest stay at the sender, as far as the socket holds it back.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "capture_writer.h"
#include "descriptor.h"
#include "frame_source.h"
#include "log.h"

namespace vermilion {

// The address of a datagram socket: a path, or udp:HOST:PORT with a numeric IPv4 address.
struct FrameAddress {
  std::string text;  // empty: none
};

class Traffic : public FrameSource {
 public:
  Traffic(const FrameAddress& from, const FrameAddress& to, std::optional<double> rate, const std::string& out,
          bool realTime, Log& log);
  ~Traffic() override;

  // Feeds a capture. Its first frame starts at lane time `start`. Throws InputError.
  void feed(const std::string& capture, std::optional<double> rate, double speed, u64 start);
  bool feeding() const { return feed_ != nullptr; }
  int socket() const { return full() ? -1 : from_.get(); }         // -1: none to read from now
  int receiver() const { return kept_.empty() ? -1 : to_.get(); }  // -1: no frame waits for it
  // Reads the frames that wait at the socket, up to a limit. True: there were some.
  bool take(u64 now);

  std::shared_ptr<const Frame> next() override;
  u64 done() const override { return 0; }
  u64 total() const override { return 0; }

  void sent(u64 left, const std::vector<u8>& bytes, u32 wireLen);
  void flush();  // sends the frames that wait for the receiver, as far as it takes them
  void keep();   // keeps the capture of the sent frames
  u64 oddities() const { return oddities_; }

 private:
  static constexpr std::size_t MostKept = 4096;  // frames
  bool full() const { return realTime_ && waiting_.size() >= MostKept; }
  bool reach();
  struct Feed {
    Options options;
    std::unique_ptr<FrameSource> source;
    u64 start;
  };
  Log& log_;
  std::unique_ptr<Feed> feed_;
  Descriptor from_, to_;
  std::string toText_;
  bool realTime_ = false, reached_ = false;
  std::deque<std::vector<u8>> kept_;  // frames for a receiver that takes none at the moment
  std::string bound_;                 // path to remove at the end
  std::optional<double> rate_;
  std::deque<std::shared_ptr<const Frame>> waiting_;
  u64 free_ = 0;  // end of the previous frame at `rate_`
  u64 ids_ = 0, oddities_ = 0;
  std::optional<CaptureWriter> out_;
  i64 epochNs_ = 0;  // lane time 0, since 1970
  bool dated_ = false;
};

}  // namespace vermilion
