// The program's main loop: it serves signals, the client, the control channel and frames, and runs the lane's clock.
#pragma once

#include <poll.h>

#include <memory>
#include <vector>

#include "control_channel.h"
#include "device_options.h"
#include "listener.h"
#include "session.h"

namespace vermilion {

class Server {
 public:
  // `signals`: a signalfd. Any signal from it ends the loop.
  Server(const DeviceOptions& options, Descriptor signals, LaneDevice& lane, VfioDevice& device, Traffic& traffic,
         Log& log);
  enum class End { Done, NobodyCame };
  End run();

 private:
  using Clock = Session::Clock;
  enum Source { Signals, NewClient, Client, NewControl, Frames, Receiver, Sources };
  std::vector<pollfd> poll(bool busy);
  void serveControl(const std::vector<pollfd>& fds);
  bool turn();  // false: `end_` gives the reason
  std::optional<std::chrono::nanoseconds> patience(bool busy) const;
  void join();
  void leave();

  const DeviceOptions& options_;
  Descriptor signals_;
  LaneDevice& lane_;
  VfioDevice& device_;
  Traffic& traffic_;
  Log& log_;
  Listener listener_;
  std::unique_ptr<Listener> controlListener_;
  ControlChannel control_;
  std::unique_ptr<Session> session_;
  Clock::time_point waitsSince_ = Clock::now();
  End end_ = End::Done;
};

}  // namespace vermilion
