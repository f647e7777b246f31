#include "rtl_session.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "../../harness/control_access.h"
#include "../../harness/pace.h"

namespace vermilion {

static constexpr u32 ResetCycles = 8;
static constexpr u64 NextCycles = 64;          // as in sim/model/lane_session.cpp
static constexpr u64 PatienceCycles = 10'000;  // longest wait for a verdict; after it the lane counts as hung

static void require(bool kept, const char* broken) {
  if (!kept) throw std::runtime_error(std::string("the Verilated lane ") + broken);
}

RtlSession::RtlSession(const VmConfig& config) : lane_(""), queues_(config.queue_count) {
  const auto still = [this](const std::function<void()>& look) {
    lane_.setTime(0);
    lane_.settle();
    if (look) look();
    lane_.edge();
  };
  for (u32 e = 0; e < Egresses; e++) lane_.setOutputReady(e, true);
  lane_.reset(true);
  for (u32 i = 0; i < ResetCycles; i++) still(nullptr);
  lane_.reset(false);
  ControlAccess control(lane_, still);
  for (const RegisterWrite& w : registerWrites(config)) control.write(w.address, w.value);
  while (lane_.busy()) still(nullptr);
}

bool RtlSession::resting() const {
  return resting_ >= RestCycles && !waiting();
}

void RtlSession::present() {
  if (!waiting()) return lane_.setInput(0, nullptr);
  Beat beat;
  const std::size_t size = std::min<std::size_t>(BeatBytes, in_.size() - offset_);
  std::memcpy(beat.data, in_.data() + offset_, size);
  beat.keep = ~u64{0} >> (64 - size);
  beat.last = offset_ + size == in_.size();
  lane_.setInput(0, &beat);
}

void RtlSession::takeOutput() {
  Beat beat;
  if (!lane_.output(0, beat)) return;
  const u64 gap = beat.keep + 1;
  require(beat.keep != 0 && (beat.keep & gap) == 0 && !beat.bad, "sent a beat with gaps, or a bad one");
  const auto size = static_cast<std::size_t>(beat.keep == ~u64{0} ? 64 : __builtin_ctzll(gap));
  out_.insert(out_.end(), beat.data, beat.data + size);
  if (!beat.last) return;
  require(!left_.empty() && out_.size() == left_.front().lenBytes, "sent a frame that no queue gave");
  sent_.push_back(std::move(left_.front()));
  left_.pop_front();
  sent_.back().bytes = std::exchange(out_, {});
}

void RtlSession::sample() {
  RtlDecision d;
  if (lane_.decision(d) && !d.refresh) {
    require(!decided_, "gave a frame two verdicts");
    require(d.seen.queue < queues_.size() && d.seen.len_bytes == in_.size(), "decided on another frame");
    decided_ = true;
    decision_ = d;
    if (admits(d.verdict)) queues_[d.seen.queue].push_back({frames_, d.seen.len_bytes});
  }
  Left left;
  if (lane_.departed(left)) {
    require(left.queue < queues_.size() && !queues_[left.queue].empty(), "let a frame go that it did not have");
    const Inside frame = queues_[left.queue].front();
    queues_[left.queue].pop_front();
    require(frame.lenBytes == left.lenBytes, "let frames of a queue go in another order");
    if (left.dropped)
      dropped_.push_back(frame.id);
    else
      left_.push_back({frame.id, now_, left.queue, left.colour, left.lenBytes, {}});
  }
  takeOutput();
}

void RtlSession::clock() {
  const bool in = waiting();
  lane_.setTime(wrapped(now_));
  present();
  lane_.settle();
  sample();
  resting_ = in || lane_.busy() ? 0 : resting_ + 1;
  require(!in || lane_.inputReady(0), "stalled an input that cannot be");
  lane_.edge();
  offset_ += in ? BeatBytes : 0;
  now_ += ClockNs;
}

RtlDecision RtlSession::arrive(u64 time, const u8* frame, u32 lenBytes) {
  advance(time);
  in_.assign(frame, frame + lenBytes);
  offset_ = 0;
  resting_ = 0;
  decided_ = false;
  for (u64 i = 0; !decided_; i++) {
    require(i < PatienceCycles, "gives no verdict");
    clock();
  }
  frames_++;
  return decision_;
}

void RtlSession::advance(u64 time) {
  while (now_ < time) {
    u64 wake;
    if (!resting()) {
      clock();
    } else if (lane_.wake(wake) && (wake = unwrapped(wake, now_)) < time) {
      now_ = std::max(now_, ontoGrid(wake));
      clock();
    } else {
      now_ = ontoGrid(time);
    }
  }
}

bool RtlSession::next(u64& ns) const {
  u64 wake = now_;
  if (resting()) {
    const auto empty = [](const auto& frames) { return frames.empty(); };
    if (left_.empty() && std::all_of(queues_.begin(), queues_.end(), empty)) return false;
    if (!lane_.wake(wake)) return false;
    wake = unwrapped(wake, now_);
  }
  ns = std::max(now_, ontoGrid(wake)) + NextCycles * ClockNs;
  return true;
}

}  // namespace vermilion
