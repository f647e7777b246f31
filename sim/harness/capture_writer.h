// Writes captures: pcapng with nanoseconds (draft-ietf-opsawg-pcapng), one Ethernet interface, little-endian.
//
// libpcap cannot write pcapng. Three block types are enough: section header, interface description with if_tsresol = 9,
// enhanced packet. keep() makes the whole file appear under its name.
#pragma once

#include <string>
#include <vector>

#include "atomic_file.h"

namespace vermilion {

class CaptureWriter {
 public:
  explicit CaptureWriter(const std::string& name);
  // `timeNs`: since 1970. A comment has at most 65535 bytes; an empty one is not written.
  void write(i64 timeNs, const std::vector<u8>& bytes, u32 wireLen, const std::string& comment = {});
  void keep() { file_.keep(); }

 private:
  void block(u32 type, const std::vector<u8>& body);
  AtomicFile file_;
};

}  // namespace vermilion
