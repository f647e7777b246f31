#include "capture_writer.h"

namespace vermilion {

namespace {

void put(std::vector<u8>& out, u64 value, int bytes) {
  for (int i = 0; i < bytes; i++) out.push_back(static_cast<u8>(value >> (8 * i)));
}

}  // namespace

CaptureWriter::CaptureWriter(const std::string& name) : file_(name) {
  std::vector<u8> section;
  put(section, 0x1a2b3c4d, 4);  // byte order
  put(section, 1, 2);           // version 1.0
  put(section, 0, 2);
  put(section, ~u64{0}, 8);  // section length not given
  block(0x0a0d0d0a, section);
  std::vector<u8> interface;
  put(interface, 1, 2);  // LINKTYPE_ETHERNET
  put(interface, 0, 2);
  put(interface, 0, 4);  // no snap length
  put(interface, 9, 2);  // if_tsresol, 1 byte: 10^-9
  put(interface, 1, 2);
  put(interface, 9, 4);
  put(interface, 0, 4);  // end of options
  block(1, interface);
}

void CaptureWriter::block(u32 type, const std::vector<u8>& body) {
  const u32 padded = (static_cast<u32>(body.size()) + 3) / 4 * 4, total = padded + 12;
  std::vector<u8> out;
  put(out, type, 4);
  put(out, total, 4);
  out.insert(out.end(), body.begin(), body.end());
  out.resize(8 + padded);
  put(out, total, 4);
  file_.write(out.data(), out.size());
}

void CaptureWriter::write(i64 timeNs, const std::vector<u8>& bytes, u32 wireLen, const std::string& comment) {
  const u64 time = static_cast<u64>(timeNs);
  std::vector<u8> body;
  put(body, 0, 4);  // interface
  put(body, time >> 32, 4);
  put(body, time, 4);
  put(body, bytes.size(), 4);
  put(body, wireLen, 4);
  body.insert(body.end(), bytes.begin(), bytes.end());
  if (!comment.empty()) {
    body.resize((body.size() + 3) / 4 * 4);
    put(body, 1, 2);  // opt_comment
    put(body, comment.size(), 2);
    body.insert(body.end(), comment.begin(), comment.end());
    body.resize((body.size() + 3) / 4 * 4);
    put(body, 0, 4);  // end of options
  }
  block(6, body);
}

}  // namespace vermilion
