#include "replay.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <vector>

namespace vermilion {

const char* const VerdictNames[VM_VERDICTS] = {"enqueue", "mark", "early", "forced", "tail", "nobuf", "bad"};

Replay::Replay(const VmConfig& config)
    : model_(std::vector<VmQueue>(config.queues, config.queues + config.queue_count)) {}

// Of the estimators that colour's arrival or departure updates.
bool Replay::sameAverages(const RtlDecision& rtl) const {
  const Arrival& a = rtl.seen;
  for (u32 e = 0; e < u32{Colours}; e++)
    if ((model_.queue(a.queue).masks[e] >> a.colour & 1) && model_.average(a.queue, e) != rtl.average[e]) return false;
  return true;
}

void Replay::check(const RtlDecision& rtl) {
  const Arrival& a = rtl.seen;
  static const u32 one[Colours] = {1, 1, 1};
  const bool untouched = !rtl.refresh && (a.bad || a.no_buffer);
  const bool legal = model_.legal(a.queue, a.colour, untouched ? one : a.n);
  if (rtl.refresh) {
    refreshes_++;
    Departure d{a.time, a.queue, a.colour, {}, {}, {}};
    std::copy_n(a.backlog_bytes, Colours, d.backlog_bytes);
    std::copy_n(a.backlog_packets, Colours, d.backlog_packets);
    std::copy_n(a.n, Colours, d.n);
    if (legal) model_.depart(d);
    if (legal && (!model_.queue(a.queue).update_depart || sameAverages(rtl))) {
      refreshesAgreed_++;
    } else if (first_.empty()) {
      disagree(rtl, {rtl.verdict, legal ? model_.average(a.queue, a.colour) : 0, rtl.probability, 0});
    }
    return;
  }
  decisions_++;
  const Decision d = legal ? model_.decide(a) : Decision{VM_VERDICTS, 0, 0, 0};
  const bool same = legal && d.avg == rtl.average[a.colour] && d.p == rtl.probability && sameAverages(rtl);
  if (d.verdict == rtl.verdict && (untouched || same)) {
    agreed_++;
  } else if (first_.empty()) {
    disagree(rtl, d);
  }
}

void Replay::disagree(const RtlDecision& rtl, const Decision& model) {
  const Arrival& a = rtl.seen;
  char text[300];
  std::snprintf(text, sizeof text,
                "%s %" PRIu64 " at %" PRIu64
                " ns, input %u, queue %u, colour %u, %u bytes, ecn %u, bad %u, no_buffer %u, "
                "draw 0x%08x",
                rtl.refresh ? "refresh" : "decision", (rtl.refresh ? refreshes_ : decisions_) - 1, a.time, rtl.input,
                a.queue, a.colour, a.len_bytes, a.ecn, a.bad, a.no_buffer, a.draw);
  first_ = text;
  for (int c = 0; c < Colours; c++) {
    std::snprintf(text, sizeof text,
                  "; colour %d: backlog %u bytes %u packets, last departure %" PRIu64 ", n %u, average %" PRIu64, c,
                  a.backlog_bytes[c], a.backlog_packets[c], a.last_departure[c], a.n[c], rtl.average[c]);
    first_ += text;
  }
  std::snprintf(text, sizeof text,
                "; RTL p %" PRIu64 " verdict %u; model average %" PRIu64 " p %" PRIu64 " verdict %u%s", rtl.probability,
                rtl.verdict, model.avg, model.p, model.verdict,
                model.verdict == VM_VERDICTS ? " (queue, colour or n out of range)" : "");
  first_ += text;
}

}  // namespace vermilion
