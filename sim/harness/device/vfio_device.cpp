#include "vfio_device.h"

#include <cerrno>
#include <nlohmann/json.hpp>

namespace vermilion {

namespace {

using Json = nlohmann::json;

std::string nameOf(u32 region) {
  return region == VFIO_PCI_CONFIG_REGION_INDEX ? "the configuration space" : "region " + std::to_string(region);
}

template <class T>
std::vector<u8> bytesOf(const T& value) {
  std::vector<u8> out;
  append(out, value);
  return out;
}

// A reply that does not fit into `argsz` is refused, as the specification says. All of these replies are short.
template <class T>
T request(const Message& message, const char* name) {
  const T out = payload<T>(message, name);
  if (out.argsz < sizeof out)
    throw Refusal(EINVAL, std::string(name) + ": argsz is " + std::to_string(out.argsz) + "; the reply has " +
                              std::to_string(sizeof out));
  return out;
}

struct DeviceInfo {
  u32 argsz, flags, regions, irqs;
};

}  // namespace

std::vector<u8> VfioDevice::handle(Message& m) {
  const auto command = static_cast<Command>(m.header.command);
  const std::string name = "command " + std::to_string(m.header.command);
  if (!agreed_ && command != Command::Version) throw Refusal(EINVAL, name + " came before VERSION");
  if (!m.fds.empty() && command != Command::DmaMap && command != Command::SetIrqs)
    throw Refusal(EINVAL, name + " brings file descriptors; legal are none");
  switch (command) {
    case Command::Version:
      return version(m);
    case Command::DmaMap:
      return dma_.map(payload<DmaMapPayload>(m, "DMA_MAP"), m.fds), std::vector<u8>{};
    case Command::DmaUnmap: {
      const auto wanted = payload<DmaUnmapPayload>(m, "DMA_UNMAP");
      dma_.unmap(wanted);
      return bytesOf(wanted);
    }
    case Command::GetInfo:
      return info(m);
    case Command::GetRegionInfo:
      return regionInfo(m);
    case Command::GetIrqInfo:
      return irqInfo(m);
    case Command::SetIrqs:
      return setIrqs(m), std::vector<u8>{};
    case Command::RegionRead:
      return regionRead(m);
    case Command::RegionWrite:
      return regionWrite(m);
    case Command::Reset:
      return reset(), std::vector<u8>{};
  }
  throw Refusal(ENOTSUP, name + " is not known, or not supported");
}

void VfioDevice::disconnected() {
  agreed_ = false;
  dma_.clear();
  interrupts_.unwire();
}

void VfioDevice::reset() {
  config_.reset();
  interrupts_.reset();
  lane_.reset();
}

std::vector<u8> VfioDevice::version(const Message& m) {
  const auto asked = payload<VersionPayload>(m, "VERSION");
  if (agreed_) throw Refusal(EINVAL, "VERSION came twice");
  if (asked.major != ProtocolMajor)
    throw Refusal(ENOTSUP, "VERSION asks for protocol " + std::to_string(asked.major) + "." +
                               std::to_string(asked.minor) + "; legal is 0");
  std::string text(m.body.begin() + sizeof asked, m.body.end());
  if (!text.empty() && text.back() != '\0') throw Refusal(EINVAL, "VERSION: its JSON does not end with a zero byte");
  Json wanted = Json::object();
  if (!text.empty()) wanted = Json::parse(text.c_str(), nullptr, false);
  if (!wanted.is_object() || (wanted.contains("capabilities") && !wanted["capabilities"].is_object()))
    throw Refusal(EINVAL, "VERSION: its JSON is no object with an object of capabilities");
  const Json offered = wanted.value("capabilities", Json::object());
  // Of these, only those that the client knows: the list must be a subset of the client's.
  const Json own = {{"max_msg_fds", MaxMessageFds},
                    {"max_data_xfer_size", MaxDataBytes},
                    {"max_dma_maps", DmaMap::MaxRegions},
                    {"pgsizes", 4096}};
  Json capabilities = Json::object();
  for (const auto& [name, value] : own.items())
    if (offered.contains(name)) capabilities[name] = value;
  agreed_ = true;
  std::vector<u8> out;
  append(out, VersionPayload{ProtocolMajor, std::min(asked.minor, ProtocolMinor)});
  text = Json{{"capabilities", capabilities}}.dump();
  out.insert(out.end(), text.begin(), text.end());
  out.push_back(0);
  return out;
}

std::vector<u8> VfioDevice::info(const Message& m) {
  request<DeviceInfo>(m, "DEVICE_GET_INFO");
  return bytesOf(DeviceInfo{sizeof(DeviceInfo), VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI, VFIO_PCI_NUM_REGIONS,
                            VFIO_PCI_NUM_IRQS});
}

std::vector<u8> VfioDevice::regionInfo(const Message& m) const {
  auto out = request<vfio_region_info>(m, "DEVICE_GET_REGION_INFO");
  if (out.index >= VFIO_PCI_NUM_REGIONS)
    throw Refusal(EINVAL, "DEVICE_GET_REGION_INFO of region " + std::to_string(out.index) + "; legal are 0 to 8");
  const u64 size = sizeOf(out.index);
  out = {sizeof out, size == 0 ? 0u : VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE, out.index, 0, size, 0};
  return bytesOf(out);
}

std::vector<u8> VfioDevice::irqInfo(const Message& m) {
  auto out = request<vfio_irq_info>(m, "DEVICE_GET_IRQ_INFO");
  if (out.index >= VFIO_PCI_NUM_IRQS)
    throw Refusal(EINVAL, "DEVICE_GET_IRQ_INFO of type " + std::to_string(out.index) + "; legal are 0 to 4");
  out = {sizeof out, VFIO_IRQ_INFO_EVENTFD, out.index, out.index == VFIO_PCI_MSIX_IRQ_INDEX ? Vectors : 0};
  return bytesOf(out);
}

void VfioDevice::setIrqs(Message& m) {
  const auto set = payload<vfio_irq_set>(m, "SET_IRQS");
  const std::string name = "SET_IRQS of type " + std::to_string(set.index) + ", " + std::to_string(set.count) +
                           " from " + std::to_string(set.start);
  const u32 data = set.flags & VFIO_IRQ_SET_DATA_TYPE_MASK, action = set.flags & VFIO_IRQ_SET_ACTION_TYPE_MASK;
  if (set.argsz < sizeof set || set.index >= VFIO_PCI_NUM_IRQS || set.flags != (data | action) ||
      std::popcount(data) != 1 || std::popcount(action) != 1)
    throw Refusal(EINVAL, name + ": bad argsz, type or flags");
  const u32 count = set.index == VFIO_PCI_MSIX_IRQ_INDEX ? Vectors : 0;
  if (data == VFIO_IRQ_SET_DATA_NONE && action == VFIO_IRQ_SET_ACTION_TRIGGER && set.count == 0 && set.start == 0) {
    if (count != 0) interrupts_.unwire();
    return;
  }
  if (set.start > count || set.count > count - set.start)
    throw Refusal(EINVAL, name + ": the device has " + std::to_string(count) + " of that type");
  if (action != VFIO_IRQ_SET_ACTION_TRIGGER)
    throw Refusal(ENOTSUP, name + ": masks are kept by the client; legal is the action TRIGGER");
  if (data != VFIO_IRQ_SET_DATA_EVENTFD && !m.fds.empty())
    throw Refusal(EINVAL, name + ": brings file descriptors it has no use for");
  if (data == VFIO_IRQ_SET_DATA_EVENTFD) {
    wire(set, m, name);
  } else {
    raise(set, m, name);
  }
}

// Gives vectors their eventfds, or takes them.
void VfioDevice::wire(const vfio_irq_set& set, Message& m, const std::string& name) {
  if (!m.fds.empty() && m.fds.size() != set.count)
    throw Refusal(EINVAL,
                  name + ": brings " + std::to_string(m.fds.size()) + " eventfds; legal are one for each, or none");
  for (u32 i = 0; i < set.count; i++)
    interrupts_.wire(set.start + i, m.fds.empty() ? Descriptor() : std::move(m.fds[i]));
}

// Raises vectors: all of the range, or those whose boolean is not 0.
void VfioDevice::raise(const vfio_irq_set& set, const Message& m, const std::string& name) {
  const bool chosen = (set.flags & VFIO_IRQ_SET_DATA_BOOL) != 0;
  if (chosen && m.body.size() - sizeof set < set.count) throw Refusal(EINVAL, name + ": brings too few booleans");
  const u8* flags = m.body.data() + sizeof set;
  for (u32 i = 0; i < set.count; i++)
    if (!chosen || flags[i] != 0) interrupts_.raise(set.start + i);
}

u64 VfioDevice::sizeOf(u32 region) const {
  static_assert(VFIO_PCI_BAR0_REGION_INDEX == 0 && VFIO_PCI_BAR2_REGION_INDEX == 2);
  if (region == config_.laneBar()) return LaneBarBytes;
  if (region == config_.interruptBar()) return InterruptBarBytes;
  return region == VFIO_PCI_CONFIG_REGION_INDEX ? ConfigBytes : 0;
}

// An access that may be made; `data` are the bytes that come with it.
RegionAccess VfioDevice::checked(const Message& message, const char* name, bool writes) const {
  const auto access = payload<RegionAccess>(message, name);
  const std::string what = std::string(name) + " of " + std::to_string(access.count) + " bytes at " +
                           std::to_string(access.offset) + " of " + nameOf(access.region);
  const u64 size = sizeOf(access.region);
  if (size == 0) throw Refusal(EINVAL, what + ": this device has no such region");
  if (access.count > size || access.offset > size - access.count)
    throw Refusal(EINVAL, what + ": the region has " + std::to_string(size) + " bytes");
  const std::size_t data = message.body.size() - sizeof access;
  if (data != (writes ? access.count : 0))
    throw Refusal(EINVAL, what + ": the message brings " + std::to_string(data) + " bytes of data");
  if (access.region == VFIO_PCI_CONFIG_REGION_INDEX) return access;
  const u32 n = access.count;
  if ((n != 1 && n != 2 && n != 4 && n != 8) || access.offset % n != 0)
    throw Refusal(EINVAL, what + ": legal are 1, 2, 4 and 8 bytes at a multiple of their number");
  return access;
}

u32 VfioDevice::readWord(u32 region, u32 address) {
  return region == config_.laneBar() ? lane_.read(address) : interrupts_.read(address);
}

void VfioDevice::writeWord(u32 region, u32 address, u32 value, u32 strobes) {
  if (region == config_.laneBar()) return lane_.write(address, value, strobes);
  u32 mask = 0;
  for (u32 i = 0; i < 4; i++) mask |= (strobes >> i & 1) * (u32{0xff} << 8 * i);
  interrupts_.write(address, value, mask);
}

std::vector<u8> VfioDevice::regionRead(const Message& m) {
  const auto access = checked(m, "REGION_READ", false);
  std::vector<u8> out = bytesOf(access);
  const u32 offset = static_cast<u32>(access.offset);
  if (access.region == VFIO_PCI_CONFIG_REGION_INDEX) {
    out.resize(out.size() + access.count);
    config_.read(offset, out.data() + sizeof access, access.count);
    return out;
  }
  for (u32 done = 0; done < access.count; done += 4) {
    const u32 at = offset + done, word = readWord(access.region, at & ~3u);
    const u32 bytes = std::min(access.count, 4u);
    for (u32 i = 0; i < bytes; i++) out.push_back(static_cast<u8>(word >> 8 * (at % 4 + i)));
  }
  return out;
}

std::vector<u8> VfioDevice::regionWrite(const Message& m) {
  const auto access = checked(m, "REGION_WRITE", true);
  const u32 offset = static_cast<u32>(access.offset);
  const u8* data = m.body.data() + sizeof access;
  if (access.region == VFIO_PCI_CONFIG_REGION_INDEX) {
    if (config_.write(offset, data, access.count)) {
      log_.say("the host asks for a function level reset");
      reset();
    }
    interrupts_.update();
    return bytesOf(access);
  }
  for (u32 done = 0; done < access.count; done += 4) {
    const u32 at = offset + done, bytes = std::min(access.count, 4u);
    u32 value = 0, strobes = 0;
    for (u32 i = 0; i < bytes; i++) {
      value |= u32{data[done + i]} << 8 * (at % 4 + i);
      strobes |= 1u << (at % 4 + i);
    }
    writeWord(access.region, at & ~3u, value, strobes);
  }
  return bytesOf(access);
}

}  // namespace vermilion
