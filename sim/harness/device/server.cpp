#include "server.h"

#include <algorithm>
#include <cstdio>

namespace vermilion {

Server::Server(const DeviceOptions& options, Descriptor signals, LaneDevice& lane, VfioDevice& device, Traffic& traffic,
               Log& log)
    : options_(options),
      signals_(std::move(signals)),
      lane_(lane),
      device_(device),
      traffic_(traffic),
      log_(log),
      listener_(options.socket),
      control_(lane, device, log, traffic) {
  if (!options.control.empty()) controlListener_ = std::make_unique<Listener>(options.control);
}

Server::End Server::run() {
  std::printf("listening %s\n", options_.socket.c_str());
  std::fflush(stdout);
  waitsSince_ = Clock::now();
  while (turn()) {
  }
  leave();
  return end_;
}

void Server::join() {
  Descriptor socket = listener_.accept();
  if (!socket) return;
  if (session_) {
    log_.say("a second client is turned away while one is served");
    return;
  }
  session_ = std::make_unique<Session>(std::move(socket), log_, [this](Message& m) { return device_.handle(m); });
}

void Server::leave() {
  if (!session_) return;
  session_.reset();
  device_.disconnected();
  waitsSince_ = Clock::now();
}

// The time for which the loop may sleep.
std::optional<std::chrono::nanoseconds> Server::patience(bool busy) const {
  using Span = std::chrono::nanoseconds;
  if (busy) return Span(0);
  std::optional<Clock::time_point> until;
  if (session_)
    until = session_->patience();
  else if (options_.waitSeconds != 0)
    until = waitsSince_ + std::chrono::seconds(options_.waitSeconds);
  std::optional<Span> quiet = lane_.quietFor();
  if (until) quiet = std::min(quiet.value_or(Span::max()), Span(*until - Clock::now()));
  if (!quiet) return std::nullopt;
  return std::clamp<Span>(*quiet, Span(0), std::chrono::seconds(1000));
}

// Waits, and returns what is readable: the sources in the order of `Source`, then the clients of the control channel.
std::vector<pollfd> Server::poll(bool busy) {
  std::vector<pollfd> fds = {{signals_.get(), POLLIN, 0},
                             {listener_.fd(), POLLIN, 0},
                             {session_ ? session_->fd() : -1, POLLIN, 0},
                             {controlListener_ ? controlListener_->fd() : -1, POLLIN, 0},
                             {traffic_.socket(), POLLIN, 0},
                             {traffic_.receiver(), POLLOUT, 0}};
  for (const ControlChannel::Client& client : control_.clients())
    fds.push_back({client.waits ? -1 : client.socket.get(), POLLIN, 0});
  timespec span{};
  const std::optional<std::chrono::nanoseconds> most = patience(busy);
  if (most) span = {most->count() / 1'000'000'000, most->count() % 1'000'000'000};
  if (::ppoll(fds.data(), fds.size(), most ? &span : nullptr, nullptr) < 0 && errno != EINTR)
    throw std::runtime_error(std::string("poll fails: ") + std::strerror(errno));
  return fds;
}

// Serves the clients of the control channel and accepts new ones.
void Server::serveControl(const std::vector<pollfd>& fds) {
  std::size_t i = Sources;
  for (ControlChannel::Client& client : control_.clients())
    if (fds[i++].revents != 0) control_.readable(client);
  if (!controlListener_ || fds[NewControl].revents == 0) return;
  if (Descriptor socket = controlListener_->accept()) control_.join(std::move(socket));
}

bool Server::turn() {
  const bool busy = lane_.slice();
  control_.tend();
  const std::vector<pollfd> fds = poll(busy);
  const auto ready = [&](Source source) { return fds[source].revents != 0; };
  if (ready(Signals)) return false;
  if (ready(Receiver)) traffic_.flush();
  if (ready(Frames)) lane_.take();
  serveControl(fds);
  if (control_.stopped()) return false;
  const bool goesOn = !session_ || ((!ready(Client) || session_->readable()) && !session_->overdue());
  if (!goesOn) {
    leave();
    if (!options_.keep) return false;
  }
  if (ready(NewClient)) join();
  if (session_ || options_.waitSeconds == 0 || Clock::now() < waitsSince_ + std::chrono::seconds(options_.waitSeconds))
    return true;
  end_ = End::NobodyCame;
  return false;
}

}  // namespace vermilion
