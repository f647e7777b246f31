// The client's memory, as given by DMA_MAP: stored and mapped, for a device that is a bus master. The lane does not use
// it yet. The control channel reads through it (control_channel.h).
//
// A client may shorten the file of its memory later. This must not end the program, so the kernel makes the copies and
// returns EFAULT.
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
  // Reads `bytes` from `address`, within one readable region.
  std::vector<u8> read(u64 address, u64 bytes) const;
  void clear();

  struct Region {
    u64 size;
    u32 flags;
    void* at;  // null: the client sent no file
  };
  const std::map<u64, Region>& regions() const { return regions_; }
  static constexpr std::size_t MaxRegions = 1024;

 private:
  static constexpr u64 Page = 4096;
  static void release(const Region& region);
  std::map<u64, Region> regions_;  // by address; none overlap
};

}  // namespace vermilion
