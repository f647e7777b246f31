// The effect of each vfio-user command on the device: its configuration space, its two BARs, interrupts and memory.
//
// BARs are accessed in naturally aligned units of 1, 2, 4 or 8 bytes, as a processor does. The lane accepts words of 32
// bits with byte strobes, so 8 bytes are two accesses, the lower address first. The configuration space accepts any
// length.
#pragma once

#include <linux/vfio.h>

#include "dma_map.h"
#include "interrupts.h"
#include "lane_device.h"
#include "log.h"
#include "pci_config.h"
#include "protocol.h"

namespace vermilion {

class VfioDevice {
 public:
  VfioDevice(LaneDevice& lane, Log& log, bool nic) : lane_(lane), log_(log), config_(nic), interrupts_(config_) {}
  // A reply's payload; throws Refusal.
  std::vector<u8> handle(Message& message);
  // The client has disconnected. Releases its memory and eventfds; the rest of the device's state stays.
  void disconnected();
  void reset();

  Interrupts& interrupts() { return interrupts_; }
  const DmaMap& dma() const { return dma_; }

 private:
  std::vector<u8> version(const Message& message);
  static std::vector<u8> info(const Message& message);
  std::vector<u8> regionInfo(const Message& message) const;
  static std::vector<u8> irqInfo(const Message& message);
  void setIrqs(Message& message);
  void wire(const vfio_irq_set& set, Message& message, const std::string& name);
  void raise(const vfio_irq_set& set, const Message& message, const std::string& name);
  u64 sizeOf(u32 region) const;
  RegionAccess checked(const Message& message, const char* name, bool writes) const;
  std::vector<u8> regionRead(const Message& message);
  std::vector<u8> regionWrite(const Message& message);
  u32 readWord(u32 region, u32 address);
  void writeWord(u32 region, u32 address, u32 value, u32 strobes);

  LaneDevice& lane_;
  Log& log_;
  PciConfig config_;
  Interrupts interrupts_;
  DmaMap dma_;
  bool agreed_ = false;  // on a version, with this client
};

}  // namespace vermilion
