#include "lane_driver.h"

#include <cstring>
#include <utility>

namespace vermilion {

namespace {

constexpr u64 LongestWaitNs = 10'000'000'000;  // without an event: more than the longest frame takes at the lowest rate
constexpr u64 PatienceCycles = 10'000'000;     // without an event; then the lane counts as hung
constexpr u32 DrainCycles = 100;               // without a beat of the reports' stream; then it is empty
constexpr u32 PauseCycles = 5;                 // most cycles from the port `paused` to the last departure

}  // namespace

LaneDriver::LaneDriver(VerilatedLane& lane, LaneListener& listener, bool stalls, bool oneInput)
    : lane_(lane),
      listener_(listener),
      control_(lane, [this](const std::function<void()>& look) { clockAmidTraffic(look); }),
      stalls_(stalls),
      oneInput_(oneInput),
      inputs_(Inputs),
      outputs_(Egresses) {}

void LaneDriver::clock(const std::function<void()>& look) {
  lane_.setTime(wrapped(now_));
  listener_.time(clocks_, now_);
  for (u32 e = 0; e < Egresses; e++) {
    outputs_[e].ready = !stalls_ || random_() % 2 != 0;
    lane_.setOutputReady(e, outputs_[e].ready);
    pause(outputs_[e], e);
  }
  if (BuildReports) {
    reports_.ready = !reportsHeld_ && (!stalls_ || random_() % 2 != 0);
    lane_.setReportReady(reports_.ready);
  }
  lane_.settle();
  if (look) look();
  if (defined_) sample();
  lane_.edge();
  clocks_++;
  now_ += step_;
}

// Pauses the egresses of hold(). With --stalls it pauses each egress at random, for 1 to 64 cycles.
void LaneDriver::pause(Output& out, u32 egress) {
  if (held_ >> egress & 1) {
    out.paused++;
    lane_.setPaused(egress, true);
    return;
  }
  if (!stalls_) return;
  out.paused = out.paused == out.pauseLength ? 0 : out.paused + 1;
  if (out.paused == 0) out.pauseLength = random_() % 128 == 0 ? 1 + random_() % 64 : 0;
  lane_.setPaused(egress, out.paused != 0);
  if (out.paused != 0) resting_ = 0;  // an idle lane may have packets to send after the pause
}

void LaneDriver::clockAmidTraffic(const std::function<void()>& look) {
  if (source_ != nullptr) {
    fill(*source_);
    present();
    quiet_ = 0;
  }
  clock(look);
}

void LaneDriver::reset(u32 clocks) {
  // The lane sees its reset one cycle later. So its outputs are valid from the third cycle on, one cycle after a reset
  // of one cycle.
  defined_ = false;
  for (u32 i = 0; i <= clocks; i++) {
    lane_.reset(i < clocks);
    clockAmidTraffic(nullptr);
    if (i > 0) defined_ = true;
  }
  for (Output& out : outputs_) out.bytes.clear();
  underWay_ = 0;
}

void LaneDriver::start(const VmConfig& config, u32 resetCycles, const std::vector<RegisterWrite>& more) {
  now_ = StartNs;
  step_ = 0;
  reset(resetCycles);
  for (const RegisterWrite& w : registerWrites(config)) control_.write(w.address, w.value);
  for (const RegisterWrite& w : more) control_.write(w.address, w.value);
  quiet_ = 0;
  while ((lane_.busy() || !open()) && quiet_ <= PatienceCycles) clock(nullptr);
  step_ = ClockNs;
  startClock_ = clocks_;
  quiet_ = resting_ = 0;
}

// An input that can be stalled becomes ready one cycle after the lane has become idle.
bool LaneDriver::open() const {
  for (u32 i = 0; i < Inputs; i++)
    if (!lane_.inputReady(i)) return false;
  return true;
}

void LaneDriver::present() {
  for (u32 i = 0; i < Inputs; i++) {
    Input& in = inputs_[i];
    if (in.shown) continue;  // AXI: the beat stays until the input is ready
    if (in.frames.empty() || (stalls_ && random_() % 4 == 0)) {
      lane_.setInput(i, nullptr);
      continue;
    }
    const std::vector<u8>& bytes = in.frames.front()->bytes;
    const std::size_t size = std::min<std::size_t>(BeatBytes, bytes.size() - in.offset);
    std::memset(in.beat.data, 0, BeatBytes);
    std::memcpy(in.beat.data, bytes.data() + in.offset, size);
    in.beat.keep = ~u64{0} >> (64 - size);
    in.beat.last = in.offset + size == bytes.size();
    lane_.setInput(i, &in.beat);
    in.shown = true;
  }
}

bool LaneDriver::inputReady(u32 input) const {
  const bool ready = lane_.inputReady(input);
  return tap_ == nullptr ? ready : tap_->ready(input, ready);
}

void LaneDriver::sample() {
  if (quiet_++ == 0) moved_ = now_;
  resting_ = lane_.busy() ? 0 : resting_ + 1;
  RtlDecision d;
  if (lane_.decision(d)) {
    listener_.decided(d, clocks_);
    quiet_ = 0;
    if (!d.refresh) underWay_ -= !admits(d.verdict) + d.pushOut.outcome.evicted;
  }
  Left left;
  if (lane_.departed(left)) {
    listener_.departed(left, now_, clocks_);
    underWay_ -= left.dropped || left.flushed;
    const u32 egress = left.queue / (BuildQueues / Egresses);
    if (outputs_[egress].paused > PauseCycles)
      listener_.breach("cycle " + std::to_string(clocks_) + ": a packet of queue " + std::to_string(left.queue) +
                       " departs while its egress is paused");
    quiet_ = 0;
  }
  for (u32 e = 0; e < Egresses; e++) takeOutput(e);
  if (BuildReports) takeReport();
  for (u32 i = 0; i < Inputs; i++) {
    Input& in = inputs_[i];
    u32 lenBytes;
    if (lane_.lost(i, lenBytes)) {
      listener_.lost(i, lenBytes, clocks_);
      underWay_--;
    }
    if ((Stallable >> i & 1) == 0 && !inputReady(i))
      listener_.breach("cycle " + std::to_string(clocks_) + ": input " + std::to_string(i) +
                       " cannot be stalled and was not ready");
    if (!in.shown) continue;
    resting_ = 0;
    if (!lane_.inputReady(i)) {
      stalledCycles_++;
      continue;
    }
    quiet_ = 0;
    in.shown = false;
    in.offset += BeatBytes;
    if (!in.beat.last) continue;
    listener_.arrived(i, std::move(in.frames.front()), clocks_);
    underWay_++;
    in.frames.pop_front();
    in.offset = 0;
  }
}

void LaneDriver::takeOutput(u32 egress) {
  Output& out = outputs_[egress];
  Beat beat;
  if (!lane_.output(egress, beat) || !out.ready) return;
  if (tap_ != nullptr) tap_->output(beat);
  if (!gather(out, beat)) return;
  listener_.wire(egress, std::move(out.bytes), out.clock);
  underWay_--;
  out.bytes.clear();
}

void LaneDriver::takeReport() {
  Beat beat;
  if (!lane_.report(beat) || !reports_.ready || !gather(reports_, beat)) return;
  listener_.reported(reports_.bytes, clocks_);
  reports_.bytes.clear();
}

// Adds a beat to the frame that is coming out, and checks it. True: it is the last.
bool LaneDriver::gather(Output& out, const Beat& beat) {
  quiet_ = 0;
  if (out.bytes.empty()) out.clock = clocks_;
  u32 size = 0;
  while (size < BeatBytes && (beat.keep >> size & 1) != 0) size++;
  const auto breach = [&](const std::string& text) {
    listener_.breach("cycle " + std::to_string(clocks_) + ": " + text);
  };
  if (beat.keep == 0)
    breach("a beat came out with keep 0");
  else if (size < BeatBytes && beat.keep >> size != 0)
    breach("a beat came out with gaps in keep: its first " + std::to_string(size) + " bits are set, and later ones");
  else if (size < BeatBytes && !beat.last)
    breach("a beat that is not the last of its frame came out with " + std::to_string(size) + " of " +
           std::to_string(BeatBytes) + " bytes");
  if (beat.last && beat.bad) breach("a frame came out with bad set");
  out.bytes.insert(out.bytes.end(), beat.data, beat.data + size);
  return beat.last;
}

void LaneDriver::fill(FrameSource& source) {
  for (;;) {
    if (!next_ && !sourceEnded_) {
      next_ = source.next();
      sourceEnded_ = !next_;
    }
    if (!next_ || next_->time > now_) return;
    Input& in = inputs_[oneInput_ ? 0 : inputOf(*next_)];
    if (in.frames.size() >= readAhead_) return;
    in.frames.push_back(std::move(next_));
    next_ = nullptr;
  }
}

bool LaneDriver::resting() const {
  const bool waiting = std::any_of(inputs_.begin(), inputs_.end(), [](const Input& in) { return !in.frames.empty(); });
  return !waiting && resting_ >= RestCycles;
}

std::optional<u64> LaneDriver::nextEvent() const {
  if (!resting()) return now_;
  u64 to = next_ ? next_->time : ~u64{0}, wake;
  if (lane_.wake(wake)) to = std::min(to, unwrapped(wake, now_));
  if (to == ~u64{0}) return std::nullopt;
  return std::max(now_, to);
}

// Updates of PIE go on for ever: without frames, and with frames that only the end of a pause lets go.
bool LaneDriver::jump(u64 until) {
  u64 to = next_ ? next_->time : ~u64{0}, wake;
  const bool only = !next_ && sourceEnded_ && until == ~u64{0};
  if (only && (underWay_ == 0 || now_ - moved_ > LongestWaitNs)) return false;
  if (lane_.wake(wake)) to = std::min(to, unwrapped(wake, now_));
  if (to == ~u64{0}) return false;
  now_ = std::max(now_, ontoGrid(std::min(to, until)));
  if (!only) quiet_ = 0;
  return true;
}

bool LaneDriver::advance(FrameSource& source, u64 until) {
  fill(source);
  if (resting() && !jump(until)) return false;
  fill(source);
  present();
  clock(nullptr);
  if (quiet_ <= PatienceCycles) return true;
  listener_.breach("nothing has moved for " + std::to_string(PatienceCycles) + " cycles at " + std::to_string(now_) +
                   " ns");
  return false;
}

// Ends the pauses of hold(). False: there were none.
bool LaneDriver::release() {
  for (u32 e = 0; e < Egresses; e++) {
    if (!(held_ >> e & 1)) continue;
    outputs_[e].paused = outputs_[e].pauseLength = 0;
    lane_.setPaused(e, false);
  }
  resting_ = quiet_ = 0;
  return std::exchange(held_, 0) != 0;
}

void LaneDriver::run(FrameSource& source, const std::function<void()>& progress) {
  do
    while (advance(source))
      if ((clocks_ & 1023) == 0) progress();
  while (quiet_ <= PatienceCycles && release());
  if (BuildReports) drain();
}

// Takes the reports that are left. Lane time stands still, and these cycles do not count.
void LaneDriver::drain() {
  reportsHeld_ = false;
  step_ = 0;
  const u64 before = clocks_;
  for (quiet_ = 0; quiet_ < DrainCycles;) clock(nullptr);
  drained_ += clocks_ - before;
  step_ = ClockNs;
}

}  // namespace vermilion
