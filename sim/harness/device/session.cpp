#include "session.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>

namespace vermilion {

Session::Session(Descriptor socket, Log& log, Handler handler)
    : socket_(std::move(socket)), log_(log), handler_(std::move(handler)) {
  const timeval patience{5, 0};  // for a client that reads no replies
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

void Session::keepFds(msghdr& head) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&head); part != nullptr; part = CMSG_NXTHDR(&head, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; i++) {
      int number;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
      Descriptor fd(number);
      if (message_.fds.size() < MaxMessageFds)
        message_.fds.push_back(std::move(fd));
      else
        tooManyFds_ = true;
    }
  }
  if ((head.msg_flags & MSG_CTRUNC) != 0) tooManyFds_ = true;
}

// Receives until `size` bytes of the message have arrived. `to` receives the next bytes.
Session::Read Session::fill(u8* to, std::size_t size) {
  while (have_ < size) {
    alignas(cmsghdr) char control[CMSG_SPACE(MaxMessageFds * sizeof(int))];
    iovec part{to, size - have_};
    msghdr head{};
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    head.msg_control = control;
    head.msg_controllen = sizeof control;
    const ssize_t got = ::recvmsg(socket_.get(), &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Read::Part;
    if (got <= 0) return Read::End;
    keepFds(head);
    have_ += static_cast<std::size_t>(got);
    to += got;
  }
  return Read::Whole;
}

bool Session::readable() {
  constexpr std::size_t Head = sizeof(MessageHeader);
  Read state = Read::Whole;
  if (have_ < Head) {
    state = fill(reinterpret_cast<u8*>(&message_.header) + have_, Head);
    if (state == Read::Whole) {
      const u32 size = message_.header.size;
      if (size < Head || size > MaxMessageBytes) {
        log_.refused("a message says that it has " + std::to_string(size) + " bytes; legal are " +
                     std::to_string(Head) + " to " + std::to_string(MaxMessageBytes) + ", so the connection is closed");
        reply(ErrorFlag, EINVAL, {});
        return false;
      }
      message_.body.resize(size - Head);
    }
  }
  if (state == Read::Whole) state = fill(message_.body.data() + (have_ - Head), message_.header.size);
  if (state == Read::End) {
    if (have_ != 0) log_.refused("the client went away within a message");
    return false;
  }
  if (state == Read::Part) {
    if (have_ != 0 && !patience_) patience_ = Clock::now() + PieceSeconds;
    return true;
  }
  const bool goesOn = answer();
  message_ = {};
  have_ = 0;
  tooManyFds_ = false;
  patience_.reset();
  return goesOn;
}

bool Session::overdue() {
  if (!patience_ || Clock::now() < *patience_) return false;
  log_.refused("the rest of a message did not come, so the connection is closed");
  return true;
}

bool Session::answer() {
  const bool silent = (message_.header.flags & NoReply) != 0;
  try {
    if ((message_.header.flags & TypeMask) != TypeCommand)
      throw Refusal(EINVAL, "a message is of type " + std::to_string(message_.header.flags & TypeMask) +
                                "; legal is 0, a command, as this device asks nothing that could be replied to");
    if (tooManyFds_)
      throw Refusal(EINVAL, "a message brings too many file descriptors; legal are " + std::to_string(MaxMessageFds));
    const std::vector<u8> body = handler_(message_);
    return silent || reply(0, 0, body);
  } catch (const Refusal& refusal) {
    log_.refused(refusal.what());
    return silent || reply(ErrorFlag, static_cast<u32>(refusal.error), {});
  }
}

bool Session::reply(u32 flags, u32 error, const std::vector<u8>& body) {
  MessageHeader header = message_.header;
  header.size = static_cast<u32>(sizeof header + body.size());
  header.flags = TypeReply | flags;
  header.error = error;
  std::vector<u8> bytes;
  bytes.reserve(header.size);
  append(bytes, header);
  bytes.insert(bytes.end(), body.begin(), body.end());
  for (std::size_t sent = 0; sent < bytes.size();) {
    const ssize_t some = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) {
      log_.say("the client takes no replies, so the connection is closed");
      return false;
    }
    sent += static_cast<std::size_t>(some);
  }
  return true;
}

}  // namespace vermilion
