// --engine model: the stand-alone lane of sim/model, without clocks.
//
// A frame arrives when its last beat would: its time rounded up to a clock, or the end of the frame before, and a clock a beat.
#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>

#include "build_shape.h"
#include "lane_model.h"
#include "rewrite.h"
#include "run.h"

namespace vermilion {

u64 runModel(const LoadedConfig& loaded, FrameSource& source, Recorder& recorder, nlohmann::ordered_json& json) {
  VmConfig config = loaded.config;
  LaneModel lane(config);
  u64 errors = 0, free = 0;
  std::deque<Packet> underWay;  // by id; those whose fate is known are emptied from the front
  u64 firstId = 0;
  const auto takeSent = [&] {
    for (; !lane.sent().empty(); lane.sent().pop_front()) {
      const SentFrame& s = lane.sent().front();
      Packet& p = underWay[s.record.id - firstId];
      p.left = s.record.time;
      p.decided = s.record.arrival;
      bool ceWritten;
      if (!p.frame || s.bytes != expectedBytes(config, p, &ceWritten)) errors++;
      if (p.frame) recorder.sent(p, s.record.ce_written != 0, s.bytes);
      p.frame = nullptr;
    }
    while (!underWay.empty() && !underWay.front().frame) {
      underWay.pop_front();
      firstId++;
    }
  };
  while (const auto frame = source.next()) {
    const u32 size = static_cast<u32>(frame->bytes.size());
    const u64 start = std::max(free, (frame->time + ClockNs - 1) / ClockNs * ClockNs);
    free = start + (size + BeatBytes - 1) / BeatBytes * ClockNs;
    RtlDecision d;
    const Decision made = lane.arrive(free, frame->bytes.data(), size, false, &d.seen);
    d.average[d.seen.colour] = made.avg;
    d.probability = made.p;
    d.verdict = made.verdict;
    recorder.decided(d);
    Packet p;
    p.headers = parse(frame->bytes.data(), size);
    p.queue = d.seen.queue;
    p.colour = d.seen.colour;
    p.lenBytes = d.seen.len_bytes;
    p.verdict = made.verdict;
    if (made.verdict == VM_ENQUEUE || made.verdict == VM_MARK) p.frame = frame;
    underWay.push_back(std::move(p));
    takeSent();
    recorder.progress();
  }
  const u64 end = lane.drain();
  takeSent();
  errors += underWay.size();
  json["seconds"] = static_cast<double>(end > StartNs ? end - StartNs : 0) / 1e9;
  json["accounting"] = {{"errors", errors},
                        {"first_error", errors ? "a frame came out of the model wrong, or not at all" : ""}};
  return errors;
}

}  // namespace vermilion
