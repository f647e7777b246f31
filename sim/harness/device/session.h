// The connection of one client: receives bytes and file descriptors, assembles whole messages, sends replies.
//
// The session waits at most PieceSeconds for the rest of a message. If a header has an impossible size, it replies
// EINVAL and closes the connection, since the start of the next message is unknown.
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
  // Reads what has arrived and answers at most one message. False: the connection has ended.
  bool readable();
  // The deadline for the rest of a message.
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
  std::size_t have_ = 0;  // bytes of the message so far, including its header
  bool tooManyFds_ = false;
  std::optional<Clock::time_point> patience_;
};

}  // namespace vermilion
