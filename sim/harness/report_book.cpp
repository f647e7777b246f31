#include "report_book.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pace.h"
#include "words.h"

namespace vermilion {

std::optional<ReportEvent> eventOf(const RtlDecision& d) {
  const VictimOutcome& o = d.pushOut.outcome;
  const bool evicts = d.pushOut.held && o.evicted, marks = d.pushOut.held && o.victimMarked && !o.evicted;
  if (d.verdict == VM_ENQUEUE && !evicts && !marks) return std::nullopt;
  ReportEvent e;
  e.queue = d.seen.queue;
  e.input = d.input;
  e.time = d.seen.time;
  e.colour = d.seen.colour;
  e.lenBytes = d.seen.len_bytes;
  e.reason = d.verdict == VM_TAIL && d.seen.pool_full ? Reason::Pool : static_cast<Reason>(d.verdict);
  if (evicts || marks) {
    e.reason = evicts ? Reason::Evicted : Reason::VictimMarked;
    e.colour = o.colour;
    e.lenBytes = o.lenBytes;
  } else if (d.verdict == VM_NOBUF || d.verdict == VM_BAD || d.verdict == VM_POLICED) {
    return e;
  } else {
    e.average = d.average[d.seen.colour];
    e.probability = static_cast<u32>(saturate(d.probability, ProbFrac));
  }
  e.bytes = d.seen.queued_bytes;
  e.packets = d.seen.queued_packets;
  return e;
}

namespace {

bool isOnArrival(Reason reason) {
  return reason < Reason::DepartureDropped;
}

std::string comment(const Report& r) {
  static const char* const colours[] = {"green", "yellow", "red", "red"};
  const ReportEvent& e = r.event;
  const char* name = static_cast<u32>(e.reason) < ReasonBits ? ReasonNames[static_cast<u32>(e.reason)] : nullptr;
  std::string text = std::string("reason=") + (name == nullptr ? "unknown" : name) + word("report", u64{r.number}) +
                     word("queue", u64{e.queue}) + " colour=" + colours[e.colour & 3];
  const bool counted =
      isOnArrival(e.reason) && e.reason != Reason::NoBuffer && e.reason != Reason::Bad && e.reason != Reason::Policed;
  if (isOnArrival(e.reason)) text += word("input", u64{e.input});
  if (e.reason == Reason::Early || e.reason == Reason::Forced || e.reason == Reason::Marked) {
    text += word("average", static_cast<double>(e.average) / (1 << AvgFrac));
    text += word("probability", static_cast<double>(e.probability) / 4294967296.0);
  }
  if (counted) text += word("backlog_bytes", u64{e.bytes}) + word("backlog_packets", u64{e.packets});
  if (!isOnArrival(e.reason)) text += word("backlog_bytes", u64{e.bytes}) + word("sojourn_ns", u64{e.sojourn});
  return text + word("lost", u64{r.lost});
}

}  // namespace

ReportBook::ReportBook(const ReportSettings& settings, const std::string& out, bool isRtl)
    : settings_(settings), isRtl_(isRtl), selector_(settings) {
  if (!out.empty()) out_.emplace(out);
}

void ReportBook::decided(u64 clock, const RtlDecision& d, const Packet& p, const Packet* victim) {
  const std::optional<ReportEvent> event = eventOf(d);
  if (!event) return;
  const bool ofVictim = event->reason == Reason::Evicted || event->reason == Reason::VictimMarked;
  selector_.arrival(clock, *event, ofVictim && victim != nullptr ? victim->frame : p.frame);
}

void ReportBook::departed(u64 clock, u64 chosen, u32 behind, const Packet& p, HeadVerdict verdict) {
  if (verdict == HeadVerdict::Pass) return;
  ReportEvent e;
  e.reason = verdict == HeadVerdict::Drop ? Reason::DepartureDropped : Reason::DepartureMarked;
  e.queue = p.queue;
  e.colour = p.colour;
  e.lenBytes = p.lenBytes;
  e.time = wrapped(chosen);
  e.sojourn = static_cast<u32>(saturate(wrapped(chosen - p.decided), 32));
  e.bytes = behind;
  selector_.departure(clock, e, p.frame);
}

void ReportBook::received(const std::vector<u8>& frame, u64 clock, u64 now, i64 startNs) {
  selector_.settle(clock);
  const std::optional<Report> got = reportOf(frame);
  if (!got) return breaches_.add("a report of " + std::to_string(frame.size()) + " bytes is not in the format");
  std::deque<ReportSelector<Tag>::Offered>& offered = selector_.offered();
  for (; !offered.empty() && static_cast<u32>(next_) != got->number; next_++) {
    offered.pop_front();
    skipped_++;
  }
  if (offered.empty())
    return breaches_.add("report " + std::to_string(got->number) + " is of no event that the model offers");
  const ReportSelector<Tag>::Offered expected = std::move(offered.front());
  offered.pop_front();
  next_++;
  compare(*got, expected, frame);
  take(*got, now, startNs, expected.tag ? expected.tag->wireLen : 0);
}

void ReportBook::compare(const Report& got, const ReportSelector<Tag>::Offered& expected,
                         const std::vector<u8>& frame) {
  const std::string name = "report " + std::to_string(got.number);
  const Report wanted{expected.event, got.number, got.lost, {}};
  const std::array<u8, RecordBytes> record = recordOf(settings_, wanted);
  const auto at = std::mismatch(record.begin(), record.end(), frame.begin());
  if (at.first != record.end())
    breaches_.add(name + " has " + comment(got) + "; the model has " + comment(wanted) +
                  "; the first byte that differs is " + std::to_string(at.first - record.begin()));
  // The events that were not even sampled have no number, so their place among the others is not known here.
  if (got.lost < skipped_ || got.lost > skipped_ + selector_.missed())
    breaches_.add(name + " says that " + std::to_string(got.lost) + " were lost before it; " +
                  std::to_string(skipped_) + " numbers are missing");
  if (frame.size() == RecordBytes) {
    headless_++;
    if (got.event.reason != Reason::NoBuffer && got.event.reason != Reason::Bad) gone_++;
    return;
  }
  const std::vector<u8>& bytes = expected.tag->bytes;
  std::vector<u8> head(HeadBytes);
  std::copy_n(bytes.begin(), std::min<std::size_t>(bytes.size(), HeadBytes), head.begin());
  if (!std::equal(head.begin(), head.end(), frame.begin() + RecordBytes))
    breaches_.add(name + " has not the first bytes of frame " + std::to_string(expected.tag->id));
}

void ReportBook::send(u64 now, i64 startNs) {
  for (auto& offered = selector_.offered(); !offered.empty(); offered.pop_front()) {
    Report report{offered.front().event, static_cast<u32>(next_++), 0, {}};
    const std::vector<u8>& bytes = offered.front().tag->bytes;
    report.head.assign(bytes.begin(), bytes.begin() + static_cast<i64>(std::min<std::size_t>(bytes.size(), HeadBytes)));
    take(report, now, startNs, offered.front().tag->wireLen);
  }
}

void ReportBook::take(const Report& report, u64 now, i64 startNs, u32 wireLen) {
  const ReportEvent& e = report.event;
  sent_[{e.queue, static_cast<u32>(e.reason)}]++;
  taken_++;
  if (out_)
    out_->write(startNs + static_cast<i64>(unwrapped(e.time, now)), report.head, std::max(wireLen, e.lenBytes),
                comment(report));
}

void ReportBook::finish(const u32* counts) {
  selector_.finish();
  if (!isRtl_) return;
  skipped_ += selector_.offered().size();
  if (counts == nullptr) return;
  const auto expect = [&](const char* what, u64 got, u64 wanted) {
    if (got != wanted)
      breaches_.add(std::string("the lane counts ") + std::to_string(got) + " " + what + " reports, the model " +
                    std::to_string(wanted));
  };
  expect("offered", counts[0], saturate(selector_.offeredCount(), 32));
  expect("lost", counts[1], saturate(skipped_ + selector_.missed(), 32));
  expect("limited", counts[2], saturate(selector_.limited(), 32));
  if (counts[3] > headless_ || counts[3] < gone_)
    breaches_.add("the lane counts " + std::to_string(counts[3]) + " reports whose bytes were gone, and sent " +
                  std::to_string(headless_) + " without bytes, of which " + std::to_string(gone_) +
                  " are of packets that were stored");
}

void ReportBook::write(nlohmann::ordered_json& json) const {
  nlohmann::ordered_json& to = json["reports"];
  to = {{"offered", selector_.offeredCount()},
        {"sent", taken_},
        {"lost", skipped_ + selector_.missed()},
        {"limited", selector_.limited()},
        {"without_bytes", headless_},
        {"bytes_gone", gone_},
        {"by_queue", nlohmann::ordered_json::array()}};
  for (const auto& [key, count] : sent_)
    to["by_queue"].push_back({key.first, ReasonNames[key.second % ReasonBits], count});
  if (isRtl_) {
    to["errors"] = breaches_.count;
    to["first_error"] = breaches_.first;
  }
}

void ReportBook::keep() {
  if (out_) out_->keep();
}

}  // namespace vermilion
