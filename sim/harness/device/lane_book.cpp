#include "lane_book.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "build_shape.h"
#include "pace.h"

namespace vermilion {

void LaneBook::reset() {
  VmConfig config{};
  std::vector<VmQueue> queues(BuildQueues);
  for (VmQueue& q : std::span(queues).first(BuildVictims)) q.victim = 1;  // so that the lane reports their push-outs
  config.queues = queues.data();
  config.queue_count = BuildQueues;
  results_ = std::make_unique<Results>(config, std::vector<std::string>());
  inputs_.assign(Inputs, {});
  queues_.assign(BuildQueues, {});
  latest_.assign(BuildQueues, {});
  left_.clear();
  wire_.clear();
  arrived_ = underWay_ = frames_ = flushed_ = 0;
  decidedAt_ = now_;
}

void LaneBook::breach(const std::string& text) {
  errors_++;
  if (first_.empty()) first_ = text;
}

void LaneBook::arrived(u32 input, std::shared_ptr<const Frame> frame, u64 clock) {
  Packet p;
  p.lenBytes = static_cast<u32>(saturate(frame->bytes.size(), PktLenBits));
  p.frame = std::move(frame);
  p.inClock = clock;
  inputs_[input].push_back(std::move(p));
  arrived_++;
  underWay_++;
}

void LaneBook::lost(u32 input, u32 lenBytes, u64 clock) {
  std::deque<Packet>& waiting = inputs_[input];
  const auto at =
      std::find_if(waiting.begin(), waiting.end(), [&](const Packet& p) { return p.inClock + LostCycles == clock; });
  if (at == waiting.end()) return breach("input " + std::to_string(input) + " lost a frame that did not come");
  waiting.erase(at);
  underWay_--;
  results_->lost(input, lenBytes);
}

void LaneBook::decided(const RtlDecision& d, u64) {
  if (d.refresh) return;
  if (d.input >= Inputs || inputs_[d.input].empty() || d.seen.queue >= BuildQueues || d.seen.colour >= u32{Colours})
    return breach("a verdict for input " + std::to_string(d.input) + ", queue " + std::to_string(d.seen.queue) +
                  ", which no frame waits for");
  Packet p = std::move(inputs_[d.input].front());
  inputs_[d.input].pop_front();
  if (d.seen.len_bytes != p.lenBytes) breach("a verdict has another length than its frame");
  decidedAt_ = unwrapped(d.seen.time, decidedAt_);
  results_->decided(d.seen, d.mark, decidedAt_, d.average[d.seen.colour], d.probability, d.verdict, d.pushOut, false);
  if (!d.seen.bad && !d.seen.no_buffer && !d.seen.policed) {
    latest_[d.seen.queue].average[d.seen.colour] = d.average[d.seen.colour];
    latest_[d.seen.queue].probability = d.probability;
  }
  p.headers.ecn = d.seen.ecn;
  p.queue = d.seen.queue;
  p.colour = d.seen.colour;
  p.verdict = d.verdict;
  p.decided = d.seen.time;
  p.ce = d.verdict == VM_MARK;
  p.cell = d.cell;
  if (d.pushOut.held) removeVictim(p.queue, d.pushOut.outcome);
  if (admits(p.verdict))
    queues_[p.queue].push_back(std::move(p));
  else
    underWay_--;
}

void LaneBook::removeVictim(u32 queue, const VictimOutcome& o) {
  if (!o.evicted && !o.victimMarked) return;
  std::deque<Packet>& standing = queues_[queue];
  const auto victim = std::find_if(standing.begin(), standing.end(), [&](const Packet& p) { return p.cell == o.cell; });
  if (victim == standing.end()) return breach("a packet is to pay for another that is not in its queue");
  victim->ce = true;
  if (!o.evicted) return;
  standing.erase(victim);
  underWay_--;
}

void LaneBook::departed(const Left& left, u64 now, u64) {
  if (left.queue >= BuildQueues || queues_[left.queue].empty())
    return breach("a departure from queue " + std::to_string(left.queue) + ", which is empty");
  Packet p = std::move(queues_[left.queue].front());
  queues_[left.queue].pop_front();
  if (left.colour != p.colour || left.lenBytes != p.lenBytes || left.arrival != p.decided)
    breach("a packet left queue " + std::to_string(left.queue) + " that is not its first");
  if (BuildCodel && !left.flushed)
    results_->judged(p, left.dropped ? HeadVerdict::Drop : left.marked ? HeadVerdict::Mark : HeadVerdict::Pass);
  latest_[left.queue].sojourn = wrapped(now - left.arrival);
  if (left.flushed || left.dropped) {
    flushed_ += left.flushed;
    underWay_--;
    return;
  }
  p.ce = p.ce || left.marked;
  p.left = now;
  left_.push_back(std::move(p));
  match();
}

void LaneBook::wire(u32, std::vector<u8> bytes, u64) {
  wire_.push_back(std::move(bytes));
  match();
}

void LaneBook::match() {
  for (; !left_.empty() && !wire_.empty(); left_.pop_front(), wire_.pop_front()) {
    const Packet& p = left_.front();
    const std::vector<u8>&in = p.frame->bytes, &out = wire_.front();
    const std::size_t window = std::min<std::size_t>(in.size(), HeaderWindow);
    if (in.size() != out.size() ||
        !std::equal(in.begin() + static_cast<i64>(window), in.end(), out.begin() + static_cast<i64>(window)))
      breach("a frame came out with other bytes than it went in with");
    results_->sent(p, p.ce && p.headers.ecn != 0 && p.headers.ecn != 3);
    frames_++;
    underWay_--;
    sent_(p.left, out, std::max(p.frame->wireLen, static_cast<u32>(out.size())));
  }
}

void LaneBook::write(nlohmann::ordered_json& json) const {
  results_->write(json);
  json.erase("samples");
  json.erase("events");
  json["frames_in"] = arrived_;
  json["frames_out"] = frames_;
  json["flushed"] = flushed_;
  json["under_way"] = underWay_;
  json["accounting"] = {{"errors", errors_}, {"first_error", first_}};
}

void LaneBook::writeQueues(nlohmann::ordered_json& json) const {
  auto& list = json["queues"] = nlohmann::ordered_json::array();
  for (u32 q = 0; q < BuildQueues; q++) {
    u64 bytes = 0;
    for (const Packet& p : queues_[q]) bytes += p.lenBytes;
    auto averages = nlohmann::ordered_json::array();
    for (const u64 average : latest_[q].average) averages.push_back(std::ldexp(static_cast<double>(average), -AvgFrac));
    list.push_back({{"packets", queues_[q].size()},
                    {"bytes", bytes},
                    {"average", averages},
                    {"probability", std::ldexp(static_cast<double>(latest_[q].probability), -ProbFrac)},
                    {"sojourn_ns", latest_[q].sojourn}});
  }
}

}  // namespace vermilion
