// The configuration space of the device: a PCI Express endpoint of 4096 bytes.
//
//   0x00  header, type 0: a network controller of class "other" (0x028000) with BAR 0 and BAR 2, both 64 bits, not
//         prefetchable
//   0x40  power management: D0 and D3hot, state kept
//   0x50  MSI-X: table and pending bits in BAR 2
//   0x60  PCI Express, version 2: endpoint, function level reset
//
// For the NIC of docs/nic.md the two BARs are exchanged, since BAR 2 has the registers of Corundum's application.
//
// Identity: vendor 0x1af4, device 0x10f5. Numbers 1af4:10f0 to 1af4:10ff are open to experiments without registration
// (QEMU's docs/specs/pci-ids.rst, Red Hat's own range). So no other product and no driver of Linux uses them. A card
// that is sold needs a number of its own. Subsystem 1af4:564d, "VM" as in the register block_type, distinguishes this
// experiment from others. The NIC has Corundum's 1234:1001 in both places.
//
// Writes change only what the specification lets a host write. The device does not decode memory addresses: the client
// names BARs by index.
#pragma once

#include <array>
#include <functional>

#include "formats.h"

namespace vermilion {

constexpr u32 ConfigBytes = 4096;
constexpr u64 LaneBarBytes = u64{1} << 24;       // the lane's register space, BAR 0
constexpr u64 InterruptBarBytes = u64{1} << 14;  // interrupts.h, BAR 2
constexpr u32 MsixTableAt = 0x0000, MsixPendingAt = 0x1000;
constexpr u32 Vectors = 4;

class PciConfig {
 public:
  explicit PciConfig(bool nic) : nic_(nic) { reset(); }
  void reset();
  // Both accesses lie within ConfigBytes.
  void read(u32 offset, u8* to, u32 count) const;
  // True: the host requests a function level reset.
  [[nodiscard]] bool write(u32 offset, const u8* from, u32 count);
  // Whether the function may send MSI-X messages: enabled, no function mask, and a bus master.
  bool msixOpen() const;
  u32 laneBar() const { return nic_ ? 2 : 0; }
  u32 interruptBar() const { return nic_ ? 0 : 2; }

 private:
  void put(u32 at, u32 value, u32 bytes, u32 writable = 0);
  u32 word(u32 at, u32 bytes) const;
  bool nic_;
  std::array<u8, ConfigBytes> value_{}, writable_{};
};

}  // namespace vermilion
