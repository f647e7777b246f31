// The client's memory, as DMA_MAP gave it: kept and mapped, for a device that masters the bus. The lane does not yet; the control
// channel reads through it (control_channel.h).
//
// Memory whose file the client makes shorter later must not end this program: copies go through the kernel, which says EFAULT.
#pragma once

#include <map>
#include <vector>

#include "protocol.h"

namespace vermilion {

class DmaMap {
 public:
  ~DmaMap() { clear(); }
  // All throw Refusal.
  void map(const DmaMapPayload& wanted, std::vector<Descriptor>& fds);
  void unmap(const DmaUnmapPayload& wanted);
  // `bytes` from `address`, within one region that may be read.
  std::vector<u8> read(u64 address, u64 bytes) const;
  void clear();

  struct Region {
    u64 size;
    u32 flags;
    void* at;  // null: no file came with it
  };
  const std::map<u64, Region>& regions() const { return regions_; }
  static constexpr std::size_t MaxRegions = 1024;

 private:
  static constexpr u64 Page = 4096;
  static void release(const Region& region);
  std::map<u64, Region> regions_;  // by address; none overlap
};

}  // namespace vermilion
