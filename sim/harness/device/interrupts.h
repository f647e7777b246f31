// MSI-X and BAR 2, which holds its table:
//
//   0x0000  table, 4 words per vector: address low, address high, data, bit 0 of the last: masked (1 after reset)
//   0x1000  pending bits, 64, read only
//   0x2000  test: writing N raises vector N, other values are ignored; reads 0
//   0x2004  number of interrupts raised since reset, pending ones included; read only
//
// `test` and the control channel raise a vector. The lane has no interrupt output yet; this is the mechanism for one.
// The interrupt is sent through the eventfd from SET_IRQS. It is a pending bit while there is no eventfd, or while the
// function may not send (PciConfig::msixOpen).
// The table is stored only for clients to read back and has no effect. A client of vfio-user turns messages into
// interrupts itself. QEMU keeps its own table, so its guest's masks never reach the device.
#pragma once

#include <array>

#include "descriptor.h"
#include "pci_config.h"

namespace vermilion {

class Interrupts {
 public:
  explicit Interrupts(const PciConfig& config) : config_(config) { reset(); }
  void reset();  // keeps the eventfds, which belong to the client
  void raise(u32 vector);
  // Sends the pending vectors if the function may send.
  void update();
  void wire(u32 vector, Descriptor eventfd);  // an empty descriptor disconnects the vector
  void unwire();

  // Aligned words of BAR 2 within InterruptBarBytes. `mask` selects the bits that are written.
  u32 read(u32 address) const;
  void write(u32 address, u32 value, u32 mask);

 private:
  const PciConfig& config_;
  std::array<Descriptor, Vectors> eventfds_;
  std::array<u32, std::size_t{4} * Vectors> table_{};
  u32 pending_ = 0, raised_ = 0;
};

}  // namespace vermilion
