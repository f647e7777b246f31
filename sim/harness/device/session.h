// One client's connection: bytes and file descriptors in, whole messages out, replies back.
//
// A message that comes in pieces is waited for, but not longer than PieceSeconds; a header whose size cannot be right is answered
// with EINVAL, and ends the connection, since nobody knows where the next message begins.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "log.h"
#include "protocol.h"

struct msghdr;

namespace vermilion {

class Session {
 public:
  using Clock = std::chrono::steady_clock;
  // Returns a reply's payload; throws Refusal.
  using Handler = std::function<std::vector<u8>(Message&)>;
  Session(Descriptor socket, Log& log, Handler handler);

  int fd() const { return socket_.get(); }
  // Reads what has come and answers at most one message; false: the connection is over.
  bool readable();
  // By when the rest of a message has to come.
  std::optional<Clock::time_point> patience() const { return patience_; }
  bool overdue();

 private:
  static constexpr auto PieceSeconds = std::chrono::seconds(10);
  enum class Read { Whole, Part, End };
  Read fill(u8* to, std::size_t size);
  void keepFds(msghdr& head);
  bool answer();
  bool reply(u32 flags, u32 error, const std::vector<u8>& body);

  Descriptor socket_;
  Log& log_;
  Handler handler_;
  Message message_;
  std::size_t have_ = 0;  // bytes of the message, its header among them
  bool tooManyFds_ = false;
  std::optional<Clock::time_point> patience_;
};

}  // namespace vermilion
