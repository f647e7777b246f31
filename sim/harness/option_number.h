// A number in an option of the harness's programs, checked as it is read.
#pragma once

#include <charconv>
#include <string>

#include "frame.h"

namespace vermilion {

// The number that `text` is, in [low, high]; else an InputError that names the option, the text and what is `legal`.
template <class T>
T number(const std::string& option, const std::string& text, T low, T high, const char* legal) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !(value >= low && value <= high))
    throw InputError(option + " is " + text + "; legal is " + legal);
  return value;
}

}  // namespace vermilion
