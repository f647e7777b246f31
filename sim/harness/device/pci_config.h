// The configuration space of the device: a PCI Express endpoint of 4096 bytes.
//
//   0x00  header, type 0: a network controller of class "other" (0x028000) with BAR 0 and BAR 2, both 64 bits, not prefetchable
//   0x40  power management: D0 and D3hot, state kept
//   0x50  MSI-X: table and pending bits in BAR 2
//   0x60  PCI Express, version 2: endpoint, function level reset
//
// Identity: vendor 0x1af4, device 0x10f5. Numbers 1af4:10f0 to 1af4:10ff are open to experiments without registration (QEMU's
// docs/specs/pci-ids.rst, Red Hat's own range), so no other product answers to them and no driver of Linux does. Whoever ships a card
// needs a number of his own. Subsystem 1af4:564d, "VM" as in the register block_type, tells this experiment from others.
//
// Writes change only what the specification lets a host write. Where memory is decoded is the client's affair: it names BARs by index.
#pragma once

#include <array>
#include <functional>

#include "formats.h"

namespace vermilion {

constexpr u32 ConfigBytes = 4096;
constexpr u64 Bar0Bytes = u64{1} << 24;  // the lane's register space
constexpr u64 Bar2Bytes = u64{1} << 14;  // interrupts.h
constexpr u32 MsixTableAt = 0x0000, MsixPendingAt = 0x1000;
constexpr u32 Vectors = 4;

class PciConfig {
 public:
  PciConfig() { reset(); }
  void reset();
  // Both within ConfigBytes.
  void read(u32 offset, u8* to, u32 count) const;
  // True: the host asks for a function level reset.
  [[nodiscard]] bool write(u32 offset, const u8* from, u32 count);
  // The host lets the function send MSI-X messages: enabled, not masked as a whole, and a bus master.
  bool msixOpen() const;

 private:
  void put(u32 at, u32 value, u32 bytes, u32 writable = 0);
  u32 word(u32 at, u32 bytes) const;
  std::array<u8, ConfigBytes> value_{}, writable_{};
};

}  // namespace vermilion
