// What --bench sends, and its configuration; see bench.h.
#include "bench.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "build_shape.h"

namespace vermilion {

namespace {

constexpr int Kinds = static_cast<int>(MarkerNames.size()) - 2;  // all but none and mixed

// m 2^-s nearest to x, m of `bits` bits with its top bit set.
static VmScaled scaled(double x, int bits) {
  int exponent;
  const double mantissa = std::frexp(x, &exponent);  // [0.5, 1)
  u32 m = static_cast<u32>(std::lround(std::ldexp(mantissa, bits)));
  int shift = bits - exponent;
  if (m >> bits) {
    m >>= 1;
    shift--;
  }
  return {m, static_cast<u32>(shift)};
}

// `offered`: ns a byte of what comes to the queue.
VmMarker marker(const std::string& name, bool aware, bool other, double offered, u32 frameBytes) {
  VmMarker m{};
  const auto bucket = [&](int i, double share, double packets) {
    const double cost = offered / share;
    m.cost[i] = scaled(cost, CostMantBits);
    m.burst_ns[i] = static_cast<u64>(packets * frameBytes * cost);
  };
  const auto flow = [&](u32 kind) {
    m.kind = VM_FLOW;
    m.flow = {kind, 4, 7 << 8, 5, 5, other, other, 14305, 715};
  };
  m.colour_aware = aware;
  m.out_colour = 2;
  if (name == "leaf") {
    m.kind = VM_LEAF;
    bucket(0, 0.5, 20);
  } else if (name == "srtcm") {
    m.kind = VM_SRTCM;
    bucket(0, 0.5, 20);
    bucket(1, 0.5, 220);
  } else if (name == "trtcm") {
    m.kind = VM_TRTCM;
    bucket(0, 0.75, 20);
    bucket(1, 0.5, 20);
  } else if (name == "redp") {
    m.kind = VM_REDP;
    bucket(0, 0.5, 60);
    m.low_ns = m.burst_ns[0] / 4;
    m.high_ns = m.burst_ns[0] * 3 / 4;
    m.demote = m.promote = scaled(std::ldexp(2.0 * static_cast<double>(m.low_ns), -26), CostMantBits);
    m.drop = 1u << (MarkDrawBits - 4);
    m.yellow_ns = static_cast<u64>(frameBytes * offered);
  } else if (name == "3cpm") {
    flow(VM_FLOW_THREE_COLOUR);
  } else if (name == "wpm") {
    flow(VM_FLOW_WEB);
  } else if (name == "apm") {
    flow(VM_FLOW_ADAPTIVE);
  }
  return m;
}

u32 colourOf(u32 dscp) {
  return dscp % Colours;
}

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
    put(frame.bytes, 15, dscp(flow) << 2, 1);
    put(frame.bytes, 34, 0x2000 + flow, 2);
    put(frame.bytes, 38, sequence_[flow] - (again ? 3 * payload : 0), 4);
    return std::make_shared<const Frame>(std::move(frame));
  }
  u64 done() const override { return made_; }
  u64 total() const override { return options_.packets; }

 private:
  static constexpr u32 Flows = 1024, Headers = 54, Phase = 256;
  // All of queue 0, where one flow meets a marker.
  u32 dscp(u32 flow) {
    if (options_.spreadRandom || options_.marker == "none") return flow % 64;
    const u32 of8 = static_cast<u32>(random_() % 8);
    const bool busy = made_ / Phase % 2 == 0;  // 3/4 green and 1/8 of the others; then yellow and red with 1/8 green
    const u32 colour = busy ? (of8 < 6 ? 0 : of8 - 5) : of8 == 0 ? 0 : 1 + of8 % 2;
    for (u32 d = 0; d < 64; d += VM_QUEUES)
      if (colourOf(d) == colour) return d;
    return 0;
  }
  static void put(std::vector<u8>& bytes, std::size_t at, u32 value, std::size_t size) {
    for (std::size_t i = 0; i < size && at + i < bytes.size(); i++)
      bytes[at + i] = static_cast<u8>(value >> 8 * (size - 1 - i));
  }
  const Options& options_;
  std::mt19937 random_{1};
  std::vector<u8> bytes_;
  std::vector<u32> sequence_ = std::vector<u32>(Flows);
  u64 made_ = 0;
};

}  // namespace

LoadedConfig benchConfig(const Options& o) {
  constexpr u32 Large = (1u << LenBits) - 1;
  constexpr double Weight = 1.0 / 512;
  const u32 cells = std::max(1u, (o.frameBytes + CellBytes - 1) / CellBytes);
  const u32 limit = std::max(1u, VM_CELLS / 2 / cells / (o.spreadRandom ? VM_QUEUES : 1));
  const double packetNs = static_cast<double>(ClockNs * ((o.frameBytes + BeatBytes - 1) / BeatBytes));

  LoadedConfig out{};
  VmQueue q{};
  for (int n = 1; n <= EwmaStages; n++) {
    q.weight[n - 1] = scaled(1 - std::pow(1 - Weight, n), 9);
    q.weight[n - 1].s -= 8;
  }
  q.lambda = scaled(-std::log2(1 - Weight) / packetNs * 1024, 16);
  for (u32& m : q.masks) m = 7;
  q.unit_packets = 1;
  q.spacing = VM_UNIFORM;
  q.limit_bytes = Large;
  q.limit_packets = limit;
  q.quantum = 16384;
  VmCurve curve{};
  curve.on = 1;
  curve.end_th = limit;
  curve.inv2 = scaled(256.0 / limit, 18);
  curve.base2 = ProbOne / 16;
  curve.b1_2 = ProbOne - curve.base2;
  for (VmColour& colour : q.colour) colour.drop = curve;
  out.queues.assign(VM_QUEUES, q);
  const double offered = packetNs / o.frameBytes * (o.spreadRandom ? VM_QUEUES : 1);
  for (u32 i = 0; i < VM_QUEUES; i++) {
    const bool mixed = o.marker == "mixed";
    const bool other = mixed && i >= u32{Kinds};
    out.queues[i].marker =
        marker(mixed ? MarkerNames[1 + i % Kinds] : o.marker, other || !mixed, other, offered, o.frameBytes);
  }
  out.names.resize(VM_QUEUES);
  for (u32 i = 0; i < VM_QUEUES; i++) out.names[i] = std::to_string(i);
  VmConfig& c = out.config;
  c.queue_count = VM_QUEUES;
  c.queues = out.queues.data();
  for (u32 d = 0; d < 64; d++) c.dscp[d] = {d % VM_QUEUES, colourOf(d)};
  c.fallback = {0, 0};
  c.seed = 1;
  return out;
}

std::unique_ptr<FrameSource> benchSource(const Options& o) {
  return std::make_unique<BenchSource>(o);
}

}  // namespace vermilion
