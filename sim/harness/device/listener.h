// A Unix stream socket at a path, with access for its owner only. It is removed at the end. The constructor replaces a
// socket that a dead program left. It refuses one on which a program listens, and a path that is no socket.
#pragma once

#include <string>

#include "descriptor.h"

namespace vermilion {

class Listener {
 public:
  explicit Listener(const std::string& path);  // throws InputError
  ~Listener();
  Listener(const Listener&) = delete;
  int fd() const { return socket_.get(); }
  Descriptor accept() const;  // empty: no client waits any more

 private:
  std::string path_;
  Descriptor socket_;
};

}  // namespace vermilion
