// What both engines feed (run.h), and the configuration of --bench.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "build_shape.h"
#include "pace.h"
#include "run.h"

namespace vermilion {

Recorder::Recorder(const Options& options, const LoadedConfig& loaded, FrameSource& source)
    : source_(source), results_(loaded.config, loaded.names), time_(StartNs) {
  if (!options.out.empty()) out_.emplace(options.out);
  if (!options.trace.empty()) trace_.emplace(options.trace, loaded.config);
}

void Recorder::decided(const RtlDecision& d, const Headers& headers) {
  time_ = unwrapped(d.seen.time, time_);
  const std::optional<u32> flow = d.refresh ? std::nullopt : results_.flow(d.seen, headers, d.mark);
  if (trace_) trace_->write(d, time_, flow);
  if (d.refresh) return;
  results_.decided(d.seen, d.mark, time_, d.average[d.seen.colour], d.probability, d.verdict);
}

void Recorder::sent(const Packet& p, bool ceWritten, const std::vector<u8>& bytes) {
  results_.sent(p, ceWritten);
  if (out_)
    out_->write(source_.startNs() + static_cast<i64>(p.left - StartNs), bytes,
                std::max(p.frame->wireLen, static_cast<u32>(bytes.size())));
}

void Recorder::progress(bool last) {
  const u64 total = source_.total(), done = last ? total : source_.done();
  if (!last && (total == 0 || done * 100 / total == shown_)) return;
  shown_ = total == 0 ? 0 : done * 100 / total;
  std::printf("progress %llu %llu\n", static_cast<unsigned long long>(done), static_cast<unsigned long long>(total));
  std::fflush(stdout);
}

void Recorder::keep() {
  if (out_) out_->keep();
  if (trace_) trace_->keep();
}

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
  out.names.resize(VM_QUEUES);
  for (u32 i = 0; i < VM_QUEUES; i++) out.names[i] = std::to_string(i);
  VmConfig& c = out.config;
  c.queue_count = VM_QUEUES;
  c.queues = out.queues.data();
  for (u32 d = 0; d < 64; d++) c.dscp[d] = {d % VM_QUEUES, d % Colours};
  c.fallback = {0, 0};
  c.seed = 1;
  return out;
}

}  // namespace vermilion
