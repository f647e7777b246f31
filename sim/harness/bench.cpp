// The frames of --bench; see bench.h.
#include "bench.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "build_shape.h"
#include "pace.h"

namespace vermilion {

namespace {

class BenchSource : public FrameSource {
 public:
  explicit BenchSource(const Options& o) : options_(o) {
    static const u8 head[] = {2, 0, 0,  0, 0, 2, 2,  0, 0, 0, 0,    1, 8,    0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64,   6,
                              0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x20, 0, 0x20, 1, 0,    0, 0, 0, 0, 0, 0, 0, 0x50, 16};
    bytes_.assign(o.imix ? 1518 : o.frameBytes, 0);
    std::copy_n(head, std::min(sizeof head, bytes_.size()), bytes_.begin());
    ports_.resize(o.allInputs ? Inputs : 1);
    for (u32 i = 0; i < ports_.size(); i++)
      while (o.allInputs && inputOf(withStation(ports_[i].station)) != i) ports_[i].station++;
  }
  std::shared_ptr<const Frame> next() override {
    if (made_ == options_.packets) return nullptr;
    // The port with the earliest next frame or, without a rate, the port with the fewest frames so far.
    Port& port = *std::min_element(ports_.begin(), ports_.end(), [&](const Port& a, const Port& b) {
      return options_.lineRate ? a.wireNs < b.wireNs : a.made < b.made;
    });
    const u32 size = options_.imix ? imix(port) : options_.frameBytes;
    Frame frame = withStation(port.station);
    frame.id = made_++;
    port.made++;
    frame.time = StartNs + static_cast<u64>(port.wireNs);
    if (options_.lineRate) port.wireNs += (size + WireOverhead) * 8e9 / (*options_.lineRate * options_.load);
    frame.wireLen = size;
    frame.bytes.resize(size);
    put(frame.bytes, 16, std::min(size - 14, 65535u), 2);
    const u32 flow = options_.spreadRandom ? static_cast<u32>(random_() % Flows) : 0;
    const u32 payload = std::max(size, Headers + 1) - Headers;
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
  static constexpr u32 Flows = 1024, Headers = 54, Phase = 256, Ect0 = 2, InitialTtl = 128, WireOverhead = 24;
  u32 dscp(u32 flow) {
    if (!options_.colours) return flow % 64;
    const u32 of8 = static_cast<u32>(random_() % 8);
    const bool busy = made_ / Phase % 2 == 0;  // 3/4 green, 1/8 of each other colour; then 1/8 green
    const u32 colour = busy ? (of8 < 6 ? 0 : of8 - 5) : of8 == 0 ? 0 : 1 + of8 % 2;
    for (u32 d = 0; d < 64; d += std::min<u32>(BuildQueues, 16))
      if (d % Colours == colour) return d;
    return 0;
  }
  struct Port {
    double wireNs = 0;  // of the next frame
    u64 made = 0;
    u8 station = 1;  // last byte of the source MAC address; inputOf() derives the input from it
    std::array<u32, 12> mix = {64, 64, 64, 64, 64, 64, 64, 594, 594, 594, 594, 1518};
  };
  Frame withStation(u8 station) const {
    Frame frame;
    frame.bytes = bytes_;
    frame.bytes[11] = station;
    return frame;
  }
  // Each group of twelve frames has the same lengths in a new random order.
  u32 imix(Port& port) {
    const u64 place = port.made % port.mix.size();
    if (place == 0) std::shuffle(port.mix.begin(), port.mix.end(), random_);
    return port.mix[place];
  }
  static void put(std::vector<u8>& bytes, std::size_t at, u32 value, std::size_t size) {
    for (std::size_t i = 0; i < size && at + i < bytes.size(); i++)
      bytes[at + i] = static_cast<u8>(value >> 8 * (size - 1 - i));
  }
  const Options& options_;
  std::mt19937 random_{1}, farAway_{2};
  std::vector<Port> ports_;
  std::vector<u8> bytes_;
  std::vector<u32> sequence_ = std::vector<u32>(Flows);
  u64 made_ = 0;
};

}  // namespace

std::unique_ptr<FrameSource> benchSource(const Options& o) {
  return std::make_unique<BenchSource>(o);
}

void BenchTiming::Span::add(u64 now) {
  if (count++ == 0) first = now;
  last = now;
}

u64 BenchTiming::Span::clocks() const {
  return (last - first) / ClockNs;
}

void BenchTiming::arrived(u32 input, const Frame& frame, u64 now) {
  arrivals_.add(now);
  const u64 beats = (frame.bytes.size() + BeatBytes - 1) / BeatBytes;
  const u64 due = frame.time / ClockNs + beats;
  behind_[input] = now / ClockNs > due ? now / ClockNs - due : 0;
}

void BenchTiming::decided(u64 now, std::optional<u64> latency) {
  decisions_.add(now);
  if (latency) toVerdict_[*latency]++;
}

void BenchTiming::write(const Options& o, nlohmann::ordered_json& json) const {
  const auto each = [](const Span& s) {
    return s.count > 1 ? static_cast<double>(s.clocks()) / static_cast<double>(s.count - 1) : 0.0;
  };
  const u64 beats = (o.frameBytes + BeatBytes - 1) / BeatBytes, took = decisions_.clocks();
  const u64 line = o.lineRate ? arrivals_.clocks() : decisions_.count == 0 ? 0 : (decisions_.count - 1) * beats;
  json["clocks_per_decision"] = each(decisions_);
  json["bubbles"] = o.lineRate && took < line ? 0 : took - line;
  if (o.lineRate) {
    json["offered_clocks"] = each(arrivals_);
    json["behind_clocks"] = behind_;
  }
  const auto latency = [&](const char* name, const char* list, const Histogram& seen) {
    u64 all = 0, below = 0;
    for (const auto& [clocks, count] : seen) all += count;
    const auto at = [&](u64 part) {  // the lowest latency that `part` % of the packets do not exceed
      below = 0;
      for (const auto& [clocks, count] : seen) {
        below += count;
        if (below * 100 >= part * all) return clocks;
      }
      return u64{0};
    };
    const u64 least = seen.empty() ? 0 : seen.begin()->first, most = seen.empty() ? 0 : seen.rbegin()->first;
    json[name] = least;
    json[std::string(name) + "_max"] = most;
    json[list] = {least, at(50), at(99), most};
  };
  latency("latency_verdict_clocks", "latency_verdict", toVerdict_);
  latency("latency_total_clocks", "latency_total", toWire_);
}

}  // namespace vermilion
