// Strict JSON reading: every value has a range, and an object lists the keys that it knows. A refusal names the place,
// the value and the legal range.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>

#include "formats.h"

namespace vermilion {

// The message is one sentence: the place, the value and what is legal.
struct ConfigError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void refuse(const std::string& where, const std::string& what) {
  throw ConfigError(where + ": " + what + ".");
}

// A value with its path.
class Value {
 public:
  Value(const nlohmann::json& j, std::string where) : j_(j), where_(std::move(where)) {}

  // A switch is 0 or 1, or false or true.
  u64 number(u64 most) const {
    if (j_.is_boolean() && most == 1) return j_.get<bool>();
    if (!j_.is_number_unsigned() || j_.get<u64>() > most)
      refuse(where_, "is " + j_.dump() + ", must be an integer from 0 to " + std::to_string(most));
    return j_.get<u64>();
  }
  u32 small(u64 most) const { return static_cast<u32>(number(most)); }
  vm_scaled scaled(int mantBits, u32 shiftMost) const {
    if (!j_.is_array() || j_.size() != 2) refuse(where_, "must be [mantissa, shift]");
    return {Value(j_[0], where_ + "[0]").small(maxOf(mantBits)), Value(j_[1], where_ + "[1]").small(shiftMost)};
  }

 private:
  const nlohmann::json& j_;
  std::string where_;
};

// An object with its path.
class Object {
 public:
  Object(const nlohmann::json& j, std::string where) : j_(j), where_(std::move(where)) {
    if (!j.is_object()) vermilion::refuse(where_, "must be an object");
  }
  Object(const nlohmann::json& j, std::string where, std::initializer_list<const char*> keys)
      : Object(j, std::move(where)) {
    knows(keys);
  }

  void knows(std::initializer_list<const char*> keys) const {
    const std::set<std::string> known(keys.begin(), keys.end());
    for (const auto& [key, value] : j_.items())
      if (!known.contains(key)) vermilion::refuse(where_, "unknown key \"" + key + "\"");
  }
  bool has(const char* key) const { return j_.contains(key); }
  std::string at(const std::string& key) const { return where_ + "." + key; }
  [[noreturn]] void refuse(const std::string& key, const std::string& what) const { vermilion::refuse(at(key), what); }
  const nlohmann::json& get(const char* key) const {
    if (!has(key)) vermilion::refuse(where_, std::string("key \"") + key + "\" is missing");
    return j_[key];
  }
  Value value(const char* key) const { return {get(key), at(key)}; }
  u64 number(const char* key, u64 most) const { return value(key).number(most); }
  u32 small(const char* key, u64 most) const { return value(key).small(most); }
  const nlohmann::json& list(const char* key, std::size_t size) const {
    const nlohmann::json& v = get(key);
    if (!v.is_array() || v.size() != size) refuse(key, "must be a list of " + std::to_string(size));
    return v;
  }

  // Calls `read(value, i)` for each of a list's `size` values.
  template <typename Read>
  void each(const char* key, std::size_t size, Read read) const {
    const nlohmann::json& values = list(key, size);
    for (std::size_t i = 0; i < size; i++) read(Value(values[i], at(key) + "[" + std::to_string(i) + "]"), i);
  }
  // Calls `read(object)` if the object is present. Otherwise all values stay 0.
  template <typename Read>
  void object(const char* key, Read read) const {
    if (has(key)) read(Object(get(key), at(key)));
  }
  // The same for each of a list's `size` objects.
  template <typename Read>
  void objects(const char* key, std::size_t size, Read read) const {
    if (!has(key)) return;
    const nlohmann::json& values = list(key, size);
    for (std::size_t i = 0; i < size; i++) read(Object(values[i], at(key) + "[" + std::to_string(i) + "]"), i);
  }

 private:
  const nlohmann::json& j_;
  std::string where_;
};

}  // namespace vermilion
