#include "pci_config.h"

#include <cstring>

namespace vermilion {

namespace {

constexpr u32 CommandAt = 0x04, PowerAt = 0x40, MsixAt = 0x50, ExpressAt = 0x60;
constexpr u32 BusMaster = 1 << 2;
constexpr u32 MsixEnable = 1 << 15, MsixFunctionMask = 1 << 14;
constexpr u32 InitiateReset = 1 << 15;  // of Device Control
constexpr u32 CardIdentity = 0x10f51af4, CardSubsystem = 0x564d1af4, NicIdentity = 0x10011234;

}  // namespace

void PciConfig::put(u32 at, u32 value, u32 bytes, u32 writable) {
  std::memcpy(&value_[at], &value, bytes);
  std::memcpy(&writable_[at], &writable, bytes);
}

u32 PciConfig::word(u32 at, u32 bytes) const {
  u32 value = 0;
  std::memcpy(&value, &value_[at], bytes);
  return value;
}

void PciConfig::reset() {
  value_.fill(0);
  writable_.fill(0);
  put(0x00, nic_ ? NicIdentity : CardIdentity, 4);
  put(CommandAt, 0, 2, 0x0546);  // memory, bus master, parity, SERR, INTx off
  put(0x06, 0x0010, 2);          // capability list
  put(0x08, 0x02800001, 4);      // class, revision 1
  put(0x0c, 0, 1, 0xff);         // cache line, no meaning in PCI Express
  const auto bar = [&](u32 index, u64 size) {
    put(0x10 + 4 * index, 4, 4, static_cast<u32>(~(size - 1)));
    put(0x14 + 4 * index, 0, 4, static_cast<u32>(~(size - 1) >> 32));
  };
  bar(laneBar(), LaneBarBytes);
  bar(interruptBar(), InterruptBarBytes);
  put(0x2c, nic_ ? NicIdentity : CardSubsystem, 4);
  put(0x34, PowerAt, 1);
  put(0x3c, 0, 1, 0xff);  // interrupt line, the host's notebook; no INTx pin

  put(PowerAt, 0x0003 << 16 | MsixAt << 8 | 0x01, 4);
  put(PowerAt + 4, 0x0008, 2, 0x0003);  // no reset on the way back to D0

  put(MsixAt, (Vectors - 1) << 16 | ExpressAt << 8 | 0x11, 4, (MsixEnable | MsixFunctionMask) << 16);
  put(MsixAt + 4, MsixTableAt | interruptBar(), 4);
  put(MsixAt + 8, MsixPendingAt | interruptBar(), 4);

  put(ExpressAt, 0x0002 << 16 | 0x10, 4);         // version 2, endpoint, end of the list
  put(ExpressAt + 0x04, 1u << 28 | 1u << 15, 4);  // function level reset, role-based errors, payloads of 128 bytes
  put(ExpressAt + 0x08, 0x2810, 2, 0x78ff);       // relaxed ordering, no snoop, requests of 512 bytes
  put(ExpressAt + 0x0c, 8 << 4 | 3, 4);           // 8 lanes at 8 GT/s
  put(ExpressAt + 0x10, 0, 2, 0x00c8);            // link control
  put(ExpressAt + 0x12, 8 << 4 | 3, 2);           // as it came up
  put(ExpressAt + 0x2c, 0x0e, 4);                 // 2.5, 5 and 8 GT/s
  put(ExpressAt + 0x30, 3, 2, 0x000f);            // target speed
}

void PciConfig::read(u32 offset, u8* to, u32 count) const {
  std::memcpy(to, &value_[offset], count);
}

bool PciConfig::write(u32 offset, const u8* from, u32 count) {
  const u32 state = word(PowerAt + 4, 1) & 3;
  bool asksReset = false;
  for (u32 i = 0; i < count; i++) {
    const u32 at = offset + i;
    value_[at] = static_cast<u8>((value_[at] & ~writable_[at]) | (from[i] & writable_[at]));
    if (at == ExpressAt + 0x09 && (from[i] & InitiateReset >> 8) != 0) asksReset = true;
  }
  const u32 wanted = word(PowerAt + 4, 1) & 3;
  if (wanted == 1 || wanted == 2) value_[PowerAt + 4] = static_cast<u8>((value_[PowerAt + 4] & ~3u) | state);  // D1, D2
  return asksReset;
}

bool PciConfig::msixOpen() const {
  const u32 control = word(MsixAt + 2, 2);
  return (control & MsixEnable) != 0 && (control & MsixFunctionMask) == 0 && (word(CommandAt, 2) & BusMaster) != 0;
}

}  // namespace vermilion
