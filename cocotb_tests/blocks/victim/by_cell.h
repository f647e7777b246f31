// What is known of head cells, by their number: as std::unordered_map, without its hashing, which took half of the bench's time.
#pragma once

#include <optional>
#include <stdexcept>
#include <vector>

#include "formats.h"

namespace {

template <class T>
class ByCell {
 public:
  T& operator[](vermilion::u32 cell) {
    if (cell >= of_.size()) of_.resize(cell + 1);
    if (!of_[cell]) of_[cell].emplace(), held_++;
    return *of_[cell];
  }
  const T* find(vermilion::u32 cell) const { return cell < of_.size() && of_[cell] ? &*of_[cell] : nullptr; }
  const T& at(vermilion::u32 cell) const {
    if (const T* found = find(cell)) return *found;
    throw std::out_of_range("a cell of which nothing is known");
  }
  bool holds(vermilion::u32 cell) const { return find(cell) != nullptr; }
  bool erase(vermilion::u32 cell) {
    if (!holds(cell)) return false;
    of_[cell].reset(), held_--;
    return true;
  }
  bool empty() const { return held_ == 0; }

 private:
  std::vector<std::optional<T>> of_;
  std::size_t held_ = 0;
};

}  // namespace
