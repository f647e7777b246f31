// A Unix stream socket under a path: created for its owner alone, taken away at the end. What a dead program left there is replaced, what
// a living one listens at, or is no socket, is refused.
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
  Descriptor accept() const;  // empty: nobody waits any more

 private:
  std::string path_;
  Descriptor socket_;
};

}  // namespace vermilion
