#include "accounting.h"

#include <algorithm>
#include <bit>

#include "build_shape.h"
#include "distance.h"
#include "pace.h"
#include "rewrite.h"
#include "verilated_lane.h"

namespace vermilion {

std::vector<u8> expectedBytes(const VmConfig& config, const Packet& packet, bool* ceWritten) {
  std::vector<u8> bytes = packet.frame->bytes;
  const bool mark = packet.ce;
  *ceWritten = mark && packet.headers.ecn != 0 && packet.headers.ecn != 3;
  rewrite(bytes.data(), packet.headers, packet.rule, config.queues[packet.queue], packet.colour, mark);
  return bytes;
}

bool travelled(const VmConfig& config, const Packet& packet) {
  const bool group = (packet.frame->bytes[0] & 1) != 0;  // IEEE 802.3 group address, as of IP multicast and broadcast
  return !group && hasDistance(packet.headers, config.queues[packet.queue].distance);
}

Accounting::Accounting(const VmConfig& config, u32 inputs, Sent sent)
    : config_(config),
      classifier_(config),
      sent_(std::move(sent)),
      inputs_(inputs),
      queues_(config.queue_count),
      lost_(inputs),
      ways_(config.egress_count) {}

void Accounting::Held::change(i64 cells, u64 clock) {
  if (const u64 window = clock / Window; window != window_) {
    mostBefore_ = window == window_ + 1 ? most_ : now_;
    most_ = now_;
    window_ = window;
  }
  now_ += cells;
  most_ = std::max(most_, now_);
}

// A frame gets `nobuf` if it is longer than the lane stores, or if all cells were taken while it arrived. Cells are
// taken by frames in the lane, by the arrived parts of frames on all inputs, and by cells held ready for inputs.
// `slack` is the limit of the latter two. The lane hands out one cell per cycle. So where several inputs cannot be
// stalled, runts on them may find no cell at hand while cells are free. There this function does not check cells.
void Accounting::checkRoom(const Packet& p, bool noBuffer, u64 clock) {
  constexpr u32 Ready = 64;
  const bool long_ = config_.max_frame_bytes != 0 && p.frame->bytes.size() > config_.max_frame_bytes;
  if (long_ && !noBuffer)
    error("frame " + std::to_string(p.frame->id) + ": is longer than the lane stores, and was stored");
  const bool oneCannotWait = Inputs - std::popcount(Stallable) <= 1;
  if (long_ || !noBuffer || config_.buffer_cells == 0 || !oneCannotWait) return;
  const u64 slack = inputs_.size() * (config_.max_frame_bytes / CellBytes + 1) + Ready;
  const u64 used = static_cast<u64>(held_.most(clock));
  if (used + slack < config_.buffer_cells)
    error("frame " + std::to_string(p.frame->id) + ": found no buffer, with at most " + std::to_string(used) + " of " +
          std::to_string(config_.buffer_cells) + " cells taken");
}

void Accounting::arrived(u32 input, std::shared_ptr<const Frame> frame, u64 clock) {
  Packet p;
  p.headers = parse(frame->bytes.data(), static_cast<u32>(frame->bytes.size()), config_.ttl_option);
  p.lenBytes = static_cast<u32>(saturate(frame->bytes.size(), PktLenBits));
  p.rule = classifier_.rules().choose(frame->bytes.data(), static_cast<u32>(frame->bytes.size()), input, p.headers);
  const PacketClass c = classifier_.of(config_.route[input], p.rule, p.headers);
  p.queue = c.queue;
  p.colour = c.colour;
  p.marker = c.marker;
  p.frame = std::move(frame);
  p.inClock = clock;
  held_.add(p.lenBytes, clock);
  inputs_[input].push_back(std::move(p));
  underWay_++;
}

std::shared_ptr<const Frame> Accounting::lost(u32 input, u32 lenBytes, u64 clock) {
  std::deque<Packet>& waiting = inputs_[input];
  const auto at =
      std::find_if(waiting.begin(), waiting.end(), [&](const Packet& p) { return p.inClock + LostCycles == clock; });
  if (at == waiting.end()) {
    error("input " + std::to_string(input) + " shows a lost frame in cycle " + std::to_string(clock) +
          ", but none ended " + std::to_string(LostCycles) + " cycles before");
    return nullptr;
  }
  if (lenBytes != at->lenBytes)
    error("frame " + std::to_string(at->frame->id) + ": lost with " + std::to_string(lenBytes) + " bytes of " +
          std::to_string(at->lenBytes));
  held_.remove(at->lenBytes, clock);
  std::shared_ptr<const Frame> frame = std::move(at->frame);
  waiting.erase(at);
  lost_[input].frames++;
  lost_[input].bytes += lenBytes;
  underWay_--;
  return frame;
}

Packet Accounting::decided(const RtlDecision& d, u64 clock) {
  victim_.reset();
  if (d.input >= inputs_.size() || inputs_[d.input].empty()) {
    error("a verdict at " + std::to_string(d.seen.time) + " ns for input " + std::to_string(d.input) +
          ", which has no frame waiting for one");
    return {};
  }
  Packet p = std::move(inputs_[d.input].front());
  inputs_[d.input].pop_front();
  const std::string name = "frame " + std::to_string(p.frame->id);
  const auto expect = [&](const char* what, u64 got, u64 wanted) {
    if (got != wanted)
      error(name + ": the lane says " + what + " " + std::to_string(got) + ", the frame has " + std::to_string(wanted));
  };
  expect("rule", d.rule ? *d.rule + 1 : 0, p.rule.rule ? *p.rule.rule + 1 : 0);
  expect("queue", d.seen.queue, p.queue);
  expect("colour out of the classifier", d.mark.colour, p.colour);
  expect("length", d.seen.len_bytes, p.lenBytes);
  expect("ECN", d.seen.ecn, p.headers.ecn);
  expect("bad", d.seen.bad, 0);
  checkRoom(p, d.seen.no_buffer != 0, clock);
  p.queue = std::min(d.seen.queue, config_.queue_count - 1);
  p.colour = std::min(d.seen.colour, u32{Colours - 1});
  p.verdict = std::min(d.verdict, u32{VM_POLICED});
  p.decided = d.seen.time;
  p.decidedClock = clock;
  p.ce = p.verdict == VM_MARK;
  p.cell = d.cell;
  p.travelled = lostTravelled_ = travelled(config_, p);
  if (d.pushOut.held) pushOut(p, d.pushOut.outcome);
  if (admits(p.verdict)) {
    queues_[p.queue].push_back(p);
  } else {
    held_.remove(p.lenBytes, clock);
    underWay_--;
  }
  return p;
}

void Accounting::pushOut(const Packet& arriving, const VictimOutcome& o) {
  if (!o.evicted && !o.victimMarked) return;
  std::deque<Packet>& queue = queues_[arriving.queue];
  const auto victim = std::find_if(queue.begin(), queue.end(), [&](const Packet& p) { return p.cell == o.cell; });
  const auto wrong = [&](const std::string& what) {
    error("frame " + std::to_string(arriving.frame->id) + ": its victim, cell " + std::to_string(o.cell) +
          " of queue " + std::to_string(arriving.queue) + ", " + what);
  };
  if (victim == queue.end()) return wrong("is not in its queue");
  const auto expect = [&](const std::string& what, u64 got, u64 wanted) {
    if (got != wanted) wrong("has " + what + " " + std::to_string(wanted) + ", not " + std::to_string(got));
  };
  expect("length", o.lenBytes, victim->lenBytes);
  expect("colour", o.colour, victim->colour);
  if (o.victimMarked && victim->ce) wrong("was marked before");
  if (o.victimMarked && o.evicted) wrong("is marked and evicted");
  victim->ce = true;
  victim_ = *victim;
  if (!o.evicted) return;
  lostTravelled_ = victim->travelled;
  held_.remove(victim->lenBytes, arriving.decidedClock);
  queue.erase(victim);
  underWay_--;
}

std::optional<Packet> Accounting::departed(const Left& left, u64 now, u64 clock) {
  const u32 queue = left.queue;
  if (queue >= queues_.size() || queues_[queue].empty()) {
    error("a departure at " + std::to_string(now) + " ns from queue " + std::to_string(queue) + ", which is empty");
    return std::nullopt;
  }
  Packet p = std::move(queues_[queue].front());
  queues_[queue].pop_front();
  const auto expect = [&](const char* what, u64 got, u64 wanted) {
    if (got != wanted)
      error("frame " + std::to_string(p.frame->id) + ": left queue " + std::to_string(queue) + " with " + what + " " +
            std::to_string(got) + " instead of " + std::to_string(wanted));
  };
  expect("colour", left.colour, p.colour);
  expect("length", left.lenBytes, p.lenBytes);
  expect("arrival time", left.arrival, p.decided);
  if (left.flushed) error("frame " + std::to_string(p.frame->id) + ": flushed, and a run flushes nothing");
  p.left = now;
  p.leftClock = clock;
  Packet gone = p;
  if (left.dropped) {
    held_.remove(p.lenBytes, clock);
    underWay_--;
    return gone;
  }
  p.ce = p.ce || left.marked;
  Way& way = ways_[queue / (queues_.size() / ways_.size())];
  way.left.push_back(std::move(p));
  match(way);
  return gone;
}

void Accounting::wire(u32 egress, std::vector<u8> bytes, u64 firstBeatClock) {
  ways_[egress].wire.push_back({std::move(bytes), firstBeatClock});
  match(ways_[egress]);
}

void Accounting::match(Way& way) {
  while (!way.left.empty() && !way.wire.empty()) {
    Packet& p = way.left.front();
    p.outClock = way.wire.front().clock;
    const std::vector<u8>& got = way.wire.front().bytes;
    bool ceWritten;
    const std::vector<u8> wanted = expectedBytes(config_, p, &ceWritten);
    if (got != wanted) {
      const auto at = std::mismatch(got.begin(), got.begin() + static_cast<i64>(std::min(got.size(), wanted.size())),
                                    wanted.begin());
      error("frame " + std::to_string(p.frame->id) + ": came out with " + std::to_string(got.size()) + " bytes of " +
            std::to_string(wanted.size()) + ", the first wrong one at " + std::to_string(at.first - got.begin()));
    }
    if (p.outClock <= p.leftClock)
      error("frame " + std::to_string(p.frame->id) + ": came out in cycle " + std::to_string(p.outClock) +
            ", and left its queue in cycle " + std::to_string(p.leftClock));
    sent_(p, got);
    held_.remove(p.lenBytes, p.outClock);
    way.left.pop_front();
    way.wire.pop_front();
    underWay_--;
  }
}

void Accounting::finish() {
  const auto lost = [&](const std::deque<Packet>& packets, const std::string& where) {
    for (const Packet& p : packets) error("frame " + std::to_string(p.frame->id) + ": still " + where + " at the end");
  };
  for (const auto& packets : inputs_) lost(packets, "without a verdict");
  for (const auto& packets : queues_) lost(packets, "in its queue");
  for (const Way& way : ways_) {
    lost(way.left, "not on the wire");
    for (std::size_t i = 0; i < way.wire.size(); i++) error("a frame came out that no queue gave");
  }
}

}  // namespace vermilion
