// What --bench sends; see bench.h.
#include "bench.h"

#include <algorithm>
#include <random>
#include <vector>

#include "build_shape.h"

namespace vermilion {

namespace {

class BenchSource : public FrameSource {
 public:
  explicit BenchSource(const Options& o) : options_(o) {
    static const u8 head[] = {2, 0, 0,  0, 0, 2, 2,  0, 0, 0, 0,    1, 8,    0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64,   6,
                              0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x20, 0, 0x20, 1, 0,    0, 0, 0, 0, 0, 0, 0, 0x50, 16};
    bytes_.assign(o.frameBytes, 0);
    std::copy_n(head, std::min(sizeof head, bytes_.size()), bytes_.begin());
    put(bytes_, 16, std::min(o.frameBytes - 14, 65535u), 2);
  }
  std::shared_ptr<const Frame> next() override {
    if (made_ == options_.packets) return nullptr;
    Frame frame;
    frame.id = made_++;
    frame.time = StartNs;
    frame.wireLen = options_.frameBytes;
    frame.bytes = bytes_;
    const u32 flow = options_.spreadRandom ? static_cast<u32>(random_() % Flows) : 0;
    const u32 payload = std::max(options_.frameBytes, Headers + 1) - Headers;
    const bool again = random_() % 16 == 0;
    if (!again) sequence_[flow] += payload;
    put(frame.bytes, 15, dscp(flow) << 2 | Ect0 * (farAway_() % 2), 1);
    put(frame.bytes, 22, InitialTtl - farAway_() % 64, 1);
    put(frame.bytes, 34, 0x2000 + flow, 2);
    put(frame.bytes, 38, sequence_[flow] - (again ? 3 * payload : 0), 4);
    return std::make_shared<const Frame>(std::move(frame));
  }
  u64 done() const override { return made_; }
  u64 total() const override { return options_.packets; }

 private:
  static constexpr u32 Flows = 1024, Headers = 54, Phase = 256, Ect0 = 2, InitialTtl = 128;
  u32 dscp(u32 flow) {
    if (!options_.colours) return flow % 64;
    const u32 of8 = static_cast<u32>(random_() % 8);
    const bool busy = made_ / Phase % 2 == 0;  // 3/4 green and 1/8 of the others; then yellow and red with 1/8 green
    const u32 colour = busy ? (of8 < 6 ? 0 : of8 - 5) : of8 == 0 ? 0 : 1 + of8 % 2;
    for (u32 d = 0; d < 64; d += VM_QUEUES)
      if (d % Colours == colour) return d;
    return 0;
  }
  static void put(std::vector<u8>& bytes, std::size_t at, u32 value, std::size_t size) {
    for (std::size_t i = 0; i < size && at + i < bytes.size(); i++)
      bytes[at + i] = static_cast<u8>(value >> 8 * (size - 1 - i));
  }
  const Options& options_;
  std::mt19937 random_{1}, farAway_{2};
  std::vector<u8> bytes_;
  std::vector<u32> sequence_ = std::vector<u32>(Flows);
  u64 made_ = 0;
};

}  // namespace

std::unique_ptr<FrameSource> benchSource(const Options& o) {
  return std::make_unique<BenchSource>(o);
}

}  // namespace vermilion
