// An output file that appears as a whole or not at all. It is written as NAME.part, and keep() renames it.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>

#include "frame.h"

namespace vermilion {

class AtomicFile {
 public:
  explicit AtomicFile(std::string name) : name_(std::move(name)), part_(name_ + ".part") {
    // Renaming onto a device file would remove the device for the whole machine.
    std::error_code none;
    if (std::filesystem::exists(name_, none) && !std::filesystem::is_regular_file(name_, none))
      throw InputError(name_ + ": is no regular file; give a file's name");
    file_ = std::fopen(part_.c_str(), "wb");
    if (file_ == nullptr)
      throw InputError(name_ + ": cannot be written; give a file in a folder that can be written to");
  }
  ~AtomicFile() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    std::remove(part_.c_str());
  }
  AtomicFile(const AtomicFile&) = delete;

  void write(const void* bytes, std::size_t size) {
    if (std::fwrite(bytes, 1, size, file_) != size)
      throw InputError(name_ + ": cannot be written to its end; is the disk full?");
  }
  void write(const std::string& text) { write(text.data(), text.size()); }
  void keep() {
    const bool written = std::fclose(file_) == 0;
    file_ = nullptr;
    if (!written || std::rename(part_.c_str(), name_.c_str()) != 0) {
      std::remove(part_.c_str());
      throw InputError(name_ + ": cannot be written to its end; is the disk full?");
    }
  }

 private:
  std::string name_, part_;
  std::FILE* file_;
};

}  // namespace vermilion
