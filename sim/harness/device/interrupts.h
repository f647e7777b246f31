// MSI-X, and BAR 2, in which it lives:
//
//   0x0000  table, 4 words a vector: address low, address high, data, bit 0 of the last: masked (1 after reset)
//   0x1000  pending bits, 64, read only
//   0x2000  test: writing N raises vector N, others are ignored; reads 0
//   0x2004  how many interrupts have been raised since reset, pending ones among them; read only
//
// A vector is raised by `test` and by the control channel: the lane has no interrupt output yet, so this is the mechanism for one.
// It goes out through the eventfd that SET_IRQS gave, and waits as a pending bit while there is none, or while the function may not
// send (PciConfig::msixOpen). The table is kept for clients to read back and decides nothing: a client of vfio-user turns messages
// into interrupts itself, and QEMU keeps the table to itself, so that its guest's masks never come here.
#pragma once

#include <array>

#include "descriptor.h"
#include "pci_config.h"

namespace vermilion {

class Interrupts {
 public:
  explicit Interrupts(const PciConfig& config) : config_(config) { reset(); }
  void reset();  // eventfds stay: they are the client's wiring
  void raise(u32 vector);
  // Sends what is pending and may go.
  void update();
  void wire(u32 vector, Descriptor eventfd);  // without one: unwired
  void unwire();

  // Of BAR 2, aligned words within InterruptBarBytes; `mask` has the bits that are written.
  u32 read(u32 address) const;
  void write(u32 address, u32 value, u32 mask);

 private:
  const PciConfig& config_;
  std::array<Descriptor, Vectors> eventfds_;
  std::array<u32, std::size_t{4} * Vectors> table_{};
  u32 pending_ = 0, raised_ = 0;
};

}  // namespace vermilion
