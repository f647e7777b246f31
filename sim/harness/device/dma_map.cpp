#include "dma_map.h"

#include <linux/vfio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cerrno>

namespace vermilion {

namespace {

std::string hex(u64 value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

void DmaMap::map(const DmaMapPayload& w, std::vector<Descriptor>& fds) {
  const std::string name = "DMA_MAP of " + hex(w.size) + " bytes at " + hex(w.address);
  if (w.argsz < sizeof w) throw Refusal(EINVAL, name + ": argsz is " + std::to_string(w.argsz) + "; legal is 32");
  if ((w.flags & ~u32{3}) != 0 || (w.flags & 3) == 0)
    throw Refusal(EINVAL, name + ": flags are " + hex(w.flags) + "; legal are 1 read, 2 write, 3 both");
  if (w.size == 0 || w.size % Page != 0 || w.address % Page != 0 || w.offset % Page != 0)
    throw Refusal(EINVAL, name + ": address, size and offset must be multiples of 4096, and the size not 0");
  if (w.address + (w.size - 1) < w.address || w.offset + w.size < w.offset || w.size > u64{1} << 52)
    throw Refusal(EINVAL, name + ": goes beyond the end of the address space");
  if (fds.size() > 1) throw Refusal(EINVAL, name + ": came with several file descriptors; legal is one, or none");
  if (regions_.size() >= MaxRegions) throw Refusal(ENOSPC, name + ": all places for regions are taken");
  const auto next = regions_.upper_bound(w.address + (w.size - 1));
  if (next != regions_.begin()) {
    const auto& [address, region] = *std::prev(next);
    if (address + (region.size - 1) >= w.address) throw Refusal(EEXIST, name + ": overlaps a region that is mapped");
  }
  void* at = nullptr;
  if (!fds.empty()) {
    struct stat about {};
    if (::fstat(fds[0].get(), &about) != 0 || !S_ISREG(about.st_mode))
      throw Refusal(EINVAL, name + ": its file descriptor is no file that can be mapped");
    if (static_cast<u64>(about.st_size) < w.offset + w.size)
      throw Refusal(EINVAL, name + ": its file ends before the region does");
    const int protection = ((w.flags & 1) != 0 ? PROT_READ : 0) | ((w.flags & 2) != 0 ? PROT_WRITE : 0);
    at = ::mmap(nullptr, w.size, protection, MAP_SHARED, fds[0].get(), static_cast<off_t>(w.offset));
    if (at == MAP_FAILED) throw Refusal(errno, name + ": cannot be mapped: " + std::strerror(errno));
  }
  regions_[w.address] = {w.size, w.flags, at};
}

void DmaMap::unmap(const DmaUnmapPayload& w) {
  const std::string name = "DMA_UNMAP of " + hex(w.size) + " bytes at " + hex(w.address);
  if (w.argsz < sizeof w) throw Refusal(EINVAL, name + ": argsz is " + std::to_string(w.argsz) + "; legal is 24");
  if (w.flags == VFIO_DMA_UNMAP_FLAG_ALL && w.address == 0 && w.size == 0) return clear();
  if (w.flags != 0)
    throw Refusal(EINVAL, name + ": flags are " + hex(w.flags) + "; legal are 0, and 2 with nothing else: all");
  const auto found = regions_.find(w.address);
  if (found == regions_.end() || found->second.size != w.size)
    throw Refusal(ENOENT, name + ": no such region is mapped");
  release(found->second);
  regions_.erase(found);
}

std::vector<u8> DmaMap::read(u64 address, u64 bytes) const {
  const std::string name = "a read of " + hex(bytes) + " bytes of client memory at " + hex(address);
  const auto next = regions_.upper_bound(address);
  if (bytes > MaxDataBytes || next == regions_.begin()) throw Refusal(EFAULT, name + ": is too long, or not mapped");
  const auto& [start, region] = *std::prev(next);
  const u64 offset = address - start;
  if (offset >= region.size || bytes > region.size - offset || region.at == nullptr || (region.flags & 1) == 0)
    throw Refusal(EFAULT, name + ": is not mapped for reading");
  std::vector<u8> out(bytes);
  const iovec to{out.data(), bytes}, from{static_cast<u8*>(region.at) + offset, bytes};
  if (::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) != static_cast<ssize_t>(bytes))
    throw Refusal(EFAULT, name + ": the client's file has become shorter");
  return out;
}

void DmaMap::release(const Region& region) {
  if (region.at != nullptr) ::munmap(region.at, region.size);
}

void DmaMap::clear() {
  for (const auto& [address, region] : regions_) release(region);
  regions_.clear();
}

}  // namespace vermilion
