#include <algorithm>
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

void Recorder::decided(const RtlDecision& d) {
  time_ = unwrapped(d.seen.time, time_);
  if (trace_) trace_->write(d, time_);
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

LoadedConfig benchConfig() {
  constexpr u32 Large = (1u << LenBits) - 1;
  LoadedConfig out{};
  VmQueue q{};
  for (VmScaled& w : q.weight) w = {256, 7};
  q.lambda = {1, 20};
  for (u32& m : q.masks) m = 7;
  q.limit_bytes = q.limit_packets = Large;
  q.quantum = 16384;
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
