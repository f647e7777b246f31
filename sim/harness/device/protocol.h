// vfio-user, protocol version 0.1: headers and payloads of the messages that this device supports. The specification is
// QEMU's docs/interop/vfio-user.rst. Flags and indices that it takes from Linux are those of <linux/vfio.h>. All values
// are little-endian.
#pragma once

#include <bit>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "descriptor.h"
#include "formats.h"

namespace vermilion {

static_assert(std::endian::native == std::endian::little);

constexpr u16 ProtocolMajor = 0, ProtocolMinor = 1;
constexpr u32 MaxDataBytes = 1 << 20;  // of one read or write
constexpr u32 MaxMessageFds = 8;
constexpr u32 MaxIrqs = 2048;  // of one SET_IRQS: more than MSI-X has vectors

enum class Command : u16 {
  Version = 1,
  DmaMap = 2,
  DmaUnmap = 3,
  GetInfo = 4,
  GetRegionInfo = 5,
  GetIrqInfo = 7,
  SetIrqs = 8,
  RegionRead = 9,
  RegionWrite = 10,
  Reset = 13,
};

constexpr u32 TypeMask = 0xf, TypeCommand = 0, TypeReply = 1, NoReply = 0x10, ErrorFlag = 0x20;

struct MessageHeader {
  u16 id, command;
  u32 size;  // including the header
  u32 flags;
  u32 error;  // errno, in a reply with ErrorFlag
};
static_assert(sizeof(MessageHeader) == 16);

struct VersionPayload {  // JSON may follow
  u16 major, minor;
};

struct RegionAccess {  // data follow
  u64 offset;
  u32 region, count;
};

struct DmaMapPayload {
  u32 argsz, flags;
  u64 offset, address, size;
};

struct DmaUnmapPayload {
  u32 argsz, flags;
  u64 address, size;
};

constexpr u32 MaxMessageBytes = sizeof(MessageHeader) + sizeof(RegionAccess) + MaxDataBytes;

struct Message {
  MessageHeader header{};
  std::vector<u8> body;
  std::vector<Descriptor> fds;
};

// A message that the device refuses: the error for the client, and the text for the log.
struct Refusal : std::runtime_error {
  Refusal(int number, const std::string& why) : std::runtime_error(why), error(number) {}
  int error;
};

// Reads the fixed part of a message's payload. The payload may be longer.
template <class T>
T payload(const Message& message, const char* name) {
  T out;
  if (message.body.size() < sizeof out)
    throw Refusal(EINVAL, std::string(name) + " has " + std::to_string(message.body.size()) +
                              " bytes of payload; it needs " + std::to_string(sizeof out));
  std::memcpy(&out, message.body.data(), sizeof out);
  return out;
}

template <class T>
void append(std::vector<u8>& out, const T& value) {
  const auto* bytes = reinterpret_cast<const u8*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

}  // namespace vermilion
