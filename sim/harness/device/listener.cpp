#include "listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "frame.h"

namespace vermilion {

namespace {

sockaddr_un addressOf(const std::string& path) {
  sockaddr_un address{};
  if (path.empty() || path.size() >= sizeof address.sun_path)
    throw InputError("the socket's path has " + std::to_string(path.size()) + " bytes; legal are 1 to " +
                     std::to_string(sizeof address.sun_path - 1));
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

Descriptor fresh(int type) {
  Descriptor out(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!out) throw std::runtime_error(std::string("no socket can be had: ") + std::strerror(errno));
  return out;
}

}  // namespace

Listener::Listener(const std::string& path) : path_(path), socket_(fresh(SOCK_STREAM)) {
  const sockaddr_un address = addressOf(path);
  const auto* at = reinterpret_cast<const sockaddr*>(&address);
  struct stat about {};
  if (::lstat(path.c_str(), &about) == 0) {
    if (!S_ISSOCK(about.st_mode)) throw InputError(path + ": is there and is no socket; give another path");
    // A socket of the other type cannot connect, so a listening program does not notice it. ECONNREFUSED: none listens.
    if (::connect(fresh(SOCK_DGRAM).get(), at, sizeof address) == 0 || errno != ECONNREFUSED)
      throw InputError(path + ": another program listens there; give another path");
    ::unlink(path.c_str());
  }
  const mode_t before = ::umask(0177);
  const bool bound = ::bind(socket_.get(), at, sizeof address) == 0;
  const int error = errno;
  ::umask(before);
  if (!bound) throw InputError(path + ": cannot be had as a socket: " + std::strerror(error));
  if (::listen(socket_.get(), 8) != 0) throw InputError(path + ": cannot be listened at: " + std::strerror(errno));
}

Listener::~Listener() {
  if (socket_) ::unlink(path_.c_str());
}

Descriptor Listener::accept() const {
  return Descriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

}  // namespace vermilion
