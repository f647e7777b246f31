// Records the results of a run of either engine (run.h).
#include <algorithm>
#include <cstdio>

#include "pace.h"
#include "run.h"

namespace vermilion {

Recorder::Recorder(const Options& options, const LoadedConfig& loaded, FrameSource& source)
    : source_(source), results_(loaded.config, loaded.names), fates_(StartNs), time_(StartNs) {
  if (!options.out.empty()) out_.emplace(options.out);
  if (!options.trace.empty()) trace_.emplace(options.trace, loaded.config);
  if (!options.why.empty()) why_.emplace(options.why);
  if (!loaded.reports.reasons.empty()) reports_.emplace(loaded.reports, options.reports, !options.model);
}

void Recorder::decided(const RtlDecision& d, const Headers& headers, bool travelled) {
  time_ = unwrapped(d.seen.time, time_);
  const std::optional<u32> flow = d.refresh ? std::nullopt : results_.flow(d.seen, headers, d.mark);
  if (trace_) trace_->write(d, time_, flow);
  if (d.refresh) return;
  results_.classified(d.seen.queue, headers);
  results_.ruled(d);
  results_.collision(d.seen, headers, d.verdict);
  results_.decided(d.seen, d.mark, time_, d.average[d.seen.colour], d.probability, d.verdict, d.pushOut, travelled);
}

void Recorder::sent(const Packet& p, bool ceWritten, const std::vector<u8>& bytes) {
  results_.sent(p, ceWritten);
  if (out_) out_->write(captured(p.left), bytes, std::max(p.frame->wireLen, static_cast<u32>(bytes.size())));
}

void Recorder::explain(const Packet& p, const RtlDecision& d, const Packet* victim, u64 clock) {
  if (why_) why_->decided(captured(time_), p, d, victim);
  if (const auto event = eventOf(d)) fates_.add(time_, event->reason);
  if (reports_) reports_->decided(clock, d, p, victim);
}

void Recorder::reported(const std::vector<u8>& frame, u64 clock) {
  if (reports_) reports_->received(frame, clock, time_, captured(0));
}

void Recorder::sendReports() {
  if (reports_) reports_->send(time_, captured(0));
}

void Recorder::judged(const Packet& p, HeadVerdict verdict, const std::optional<CurveMark>& byCurve, u64 clock,
                      u64 chosen, u32 behind) {
  results_.judged(p, verdict);
  if (verdict != HeadVerdict::Pass)
    fates_.add(p.left, verdict == HeadVerdict::Drop ? Reason::DepartureDropped : Reason::DepartureMarked);
  if (reports_) reports_->departed(clock, chosen, behind, p, verdict);
  if (why_) why_->departed(captured(p.left), p, verdict, byCurve);
}

void Recorder::lost(u32 input, u32 lenBytes, const Frame* frame) {
  results_.lost(input, lenBytes);
  if (why_ && frame != nullptr) why_->lost(captured(frame->time), input, *frame);
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
  if (why_) why_->keep();
  if (reports_) reports_->keep();
}

}  // namespace vermilion
