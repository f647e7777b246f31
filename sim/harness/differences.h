// The fields in which the lane's values differ from those that a check expects.
//
// The message of such a check begins with the names of these fields, separated by ", " and ended by ":". Values follow.
#pragma once

#include <string>
#include <string_view>

#include "formats.h"

namespace vermilion {

// Whether `name` is one of the names at the beginning of `message`. A part of a name does not count.
constexpr bool namesField(std::string_view message, std::string_view name) {
  std::string_view names = message.substr(0, message.find(':'));
  for (;;) {
    const std::size_t end = names.find(", ");
    if (names.substr(0, end) == name) return true;
    if (end == std::string_view::npos) return false;
    names.remove_prefix(end + 2);
  }
}

static_assert(namesField("time, queued bytes: draw 1 2, n 3", "queued bytes") && namesField("time", "time"));
static_assert(!namesField("time, queued bytes: draw 1 2, n 3", "draw") && !namesField("queued bytes: 1", "bytes"));

class Differences {
 public:
  void compare(const char* name, u64 shown, u64 expected) {
    if (shown != expected) add(name);
  }
  // Each name once, in the order of the first difference.
  void add(const std::string& name) {
    if (namesField(names_, name)) return;
    if (!names_.empty()) names_ += ", ";
    names_ += name;
  }
  bool none() const { return names_.empty(); }
  const std::string& names() const { return names_; }

 private:
  std::string names_;
};

}  // namespace vermilion
