// Reads a number from an option of the harness's programs, and checks it.
#pragma once

#include <charconv>
#include <string>

#include "frame.h"

namespace vermilion {

// Returns the number in `text`. Throws an InputError with option, text and `legal` if it is none or not in [low, high].
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
