#include "frame_source.h"

#include <algorithm>
#include <random>

#include "build_shape.h"

namespace vermilion {

namespace {

class CaptureSource : public FrameSource {
 public:
  explicit CaptureSource(const Options& o) : options_(o), reader_(o.in, VM_MAX_FRAME_BYTES) {}

  std::shared_ptr<const Frame> next() override {
    std::optional<Frame> frame = reader_.next();
    if (!frame) return nullptr;
    long double ns = frame->time / static_cast<long double>(options_.speed);
    if (options_.rate) {
      ns = static_cast<long double>(bytes_) * 8e9L / *options_.rate;
      bytes_ += frame->bytes.size();
    }
    if (ns > static_cast<long double>(maxOf(TimeBits) / 2))
      throw InputError(options_.in + ": lasts longer than 39 hours at this pace; take a greater --speed or --rate");
    frame->time = StartNs + static_cast<u64>(ns);
    return std::make_shared<const Frame>(std::move(*frame));
  }
  u64 done() const override { return std::min(reader_.bytesRead(), total()); }
  u64 total() const override { return reader_.fileBytes(); }
  i64 startNs() const override { return reader_.startNs(); }
  Warnings warnings() const override { return reader_.warnings(); }

 private:
  const Options& options_;
  CaptureReader reader_;
  u64 bytes_ = 0;
};

// UDP over IPv4 as far as it fits. Random DSCPs come from a generator of fixed seed: every run is the same.
class BenchSource : public FrameSource {
 public:
  explicit BenchSource(const Options& o) : options_(o) {
    static const u8 head[] = {2, 0, 0, 0,  0,  2, 2, 0,  0, 0, 0, 1,  8, 0, 0x45, 0,    0, 50,   0,
                              0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,    0x20, 0, 0x20, 1};
    bytes_.assign(o.frameBytes, 0);
    std::copy_n(head, std::min(sizeof head, bytes_.size()), bytes_.begin());
  }
  std::shared_ptr<const Frame> next() override {
    if (made_ == options_.packets) return nullptr;
    Frame frame;
    frame.id = made_++;
    frame.time = StartNs;
    frame.wireLen = options_.frameBytes;
    frame.bytes = bytes_;
    if (options_.spreadRandom && bytes_.size() > 15) frame.bytes[15] = static_cast<u8>(random_() << 2);
    return std::make_shared<const Frame>(std::move(frame));
  }
  u64 done() const override { return made_; }
  u64 total() const override { return options_.packets; }

 private:
  const Options& options_;
  std::mt19937 random_{1};
  std::vector<u8> bytes_;
  u64 made_ = 0;
};

}  // namespace

std::unique_ptr<FrameSource> captureSource(const Options& o) {
  return std::make_unique<CaptureSource>(o);
}
std::unique_ptr<FrameSource> benchSource(const Options& o) {
  return std::make_unique<BenchSource>(o);
}

}  // namespace vermilion
