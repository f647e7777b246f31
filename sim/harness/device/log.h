// The device's messages, one sentence per line on standard error. A limit keeps a faulty client from filling the disk.
#pragma once

#include <cstdio>
#include <string>

#include "frame.h"

namespace vermilion {

class Log {
 public:
  // NOLINTNEXTLINE(readability-convert-member-functions-to-static): callers use the log that they are given
  void say(const std::string& text) const { std::fprintf(stderr, "vermilion-device: %s\n", text.c_str()); }
  // Reports a refused message.
  void refused(const std::string& text) {
    if (refused_++ < MostRefused) say(text);
    if (refused_ == MostRefused) say("so many messages were refused that further ones are not told of");
  }
  u64 refused() const { return refused_; }

 private:
  static constexpr u64 MostRefused = 10'000;
  u64 refused_ = 0;
};

}  // namespace vermilion
