#include "why_writer.h"

#include <algorithm>
#include <cstdio>

#include "pace.h"
#include "words.h"

namespace vermilion {

std::string word(const char* name, u64 value) {
  return std::string(" ") + name + "=" + std::to_string(value);
}

std::string word(const char* name, double value) {
  char text[64];
  std::snprintf(text, sizeof text, " %s=%.6f", name, value);
  return text;
}

namespace {

std::string begin(const char* reason, const Packet& p) {
  static const char* const colours[Colours] = {"green", "yellow", "red"};
  return std::string("reason=") + reason + word("frame", p.frame->id) + word("queue", u64{p.queue}) +
         " colour=" + colours[p.colour];
}

}  // namespace

void WhyWriter::decided(i64 time, const Packet& p, const RtlDecision& d, const Packet* victim) {
  const Arrival& a = d.seen;
  if (d.verdict != VM_ENQUEUE) {
    std::string text =
        begin(d.verdict == VM_MARK ? "marked" : VerdictNames[d.verdict], p) + word("input", u64{d.input});
    if (d.verdict == d.pushOut.provisionalVerdict &&
        (d.verdict == VM_EARLY || d.verdict == VM_FORCED || d.verdict == VM_MARK)) {
      text += word("average", static_cast<double>(d.average[p.colour]) / (1 << AvgFrac));
      text += word("probability", static_cast<double>(d.probability) / 4294967296.0);
    }
    text += word("backlog_bytes", u64{a.queued_bytes}) + word("backlog_packets", u64{a.queued_packets});
    if (d.verdict == VM_TAIL && a.pool_full) text += word("pool", u64{1});
    write(time, *p.frame, text);
  }
  if (victim == nullptr || !victim->frame) return;
  const VictimOutcome& o = d.pushOut.outcome;
  write(time, *victim->frame,
        begin(o.evicted ? "evicted" : "marked", *victim) + word("distance", u64{o.distance}) +
            word("for", p.frame->id) + " provisional=" + VerdictNames[d.pushOut.provisionalVerdict]);
}

void WhyWriter::departed(i64 time, const Packet& p, HeadVerdict verdict, const std::optional<CurveMark>& byCurve) {
  if (verdict == HeadVerdict::Pass) return;
  std::string text = begin(verdict == HeadVerdict::Drop ? "departure_dropped" : "departure_marked", p) +
                     word("sojourn_ns", wrapped(p.left - p.decided));
  if (verdict == HeadVerdict::Mark && byCurve && byCurve->mark)
    text += " by=curve" + word("level", static_cast<double>(byCurve->level) / (1 << AvgFrac)) +
            word("threshold", static_cast<double>(byCurve->threshold) / (1 << MarkShareBits));
  write(time, *p.frame, text);
}

void WhyWriter::lost(i64 time, u32 input, const Frame& frame) {
  write(time, frame, "reason=lost frame=" + std::to_string(frame.id) + word("input", u64{input}));
}

void WhyWriter::write(i64 time, const Frame& frame, const std::string& comment) {
  file_.write(time, frame.bytes, std::max(frame.wireLen, static_cast<u32>(frame.bytes.size())), comment);
}

}  // namespace vermilion
