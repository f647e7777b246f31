#include "frame_source.h"

#include <algorithm>

#include "build_shape.h"
#include "front.h"
#include "segmenter.h"

namespace vermilion {

namespace {

constexpr u64 LongestNs = 100ULL * 365 * 24 * 3600 * 1'000'000'000;  // so that sums fit 63 bits

class CaptureSource : public FrameSource {
 public:
  explicit CaptureSource(const Options& o) : options_(o), reader_(o.in) {
    if (o.split) segmenter_.emplace(*o.split);
    if (!o.front.empty()) front_.emplace(o.front);
  }

  std::shared_ptr<const Frame> next() override {
    std::optional<Frame> frame = segmenter_ ? segmenter_->next(reader_) : reader_.next();
    if (!frame) return nullptr;
    if (frame->bytes.size() > BuildMaxFrameBytes) oversize_++;
    if (front_) front_->apply(*frame);
    if (options_.rate) {
      frame->time = static_cast<u64>(static_cast<long double>(bytes_) * 8e9L / *options_.rate);
      bytes_ += frame->bytes.size();
    } else {
      frame->time = atSpeed(frame->time);
    }
    if (frame->time > LongestNs) throw InputError(options_.in + ": lasts longer than a century at this pace");
    frame->time += StartNs;
    return std::make_shared<const Frame>(std::move(*frame));
  }
  u64 done() const override { return std::min(reader_.bytesRead(), total()); }
  u64 total() const override { return reader_.fileBytes(); }
  i64 startNs() const override { return reader_.startNs(); }
  Warnings warnings() const override {
    Warnings all = reader_.warnings();
    if (jumps_ != 0) all["time_jump"] += jumps_;
    if (oversize_ != 0) all["oversize"] = oversize_;
    return all;
  }
  void write(nlohmann::ordered_json& json) const override {
    if (segmenter_) segmenter_->write(json);
    if (front_) front_->write(json);
  }

 private:
  // A --speed below 1 can make a gap longer than GapMaxNs. Then the gap is shortened again.
  u64 atSpeed(u64 captured) {
    const long double ns = captured / static_cast<long double>(options_.speed);
    if (ns - before_ > GapMaxNs) {
      cut_ += ns - before_ - GapMaxNs;
      jumps_++;
    }
    before_ = ns;
    return static_cast<u64>(ns - cut_);
  }

  const Options& options_;
  CaptureReader reader_;
  std::optional<Segmenter> segmenter_;
  std::optional<Front> front_;
  u64 bytes_ = 0, jumps_ = 0, oversize_ = 0;
  long double before_ = 0, cut_ = 0;  // ns at this speed: time of the previous frame; removed so far
};

}  // namespace

std::unique_ptr<FrameSource> captureSource(const Options& o) {
  return std::make_unique<CaptureSource>(o);
}

}  // namespace vermilion
