// A lane of the model clock by clock, and the replay over what it shows, in the build that the compiler is told of (build_shape.h):
//
//   victims_in_turn words.json < frames
//   frames   a line each: ns from the start, input, the bytes in hexadecimal
//   out      a line each: what, clock, then of `decision` the fields of its printf below, of `refresh` the clocks since its slot, of `departed`, `sent`
//            and `lost` the frame; last `replay`: decisions, agreed, refreshes, agreed, the first disagreement
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "build_shape.h"
#include "clocked_lane.h"
#include "config_json.h"
#include "replay.h"

using namespace vermilion;

namespace {

struct Frame {
  u64 ns;
  u32 input;
  std::vector<u8> bytes;
};

std::vector<Frame> read() {
  std::vector<Frame> frames;
  u64 ns;
  u32 input;
  std::string hex;
  while (std::cin >> ns >> input >> hex) {
    Frame f{ns, input, {}};
    for (std::size_t i = 0; i < hex.size(); i += 2)
      f.bytes.push_back(static_cast<u8>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    frames.push_back(f);
  }
  return frames;
}

void show(const ClockedLane::Decided& d, u64 clock, u64 since) {
  const VictimOutcome& o = d.contest.outcome;
  std::printf("decision %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %u %u %u %u %u %u %u %u %u %u %" PRIu64 "\n", clock,
              d.id, since, d.seen.queue, d.seen.colour, d.seen.len_bytes, d.seen.queued_bytes, d.seen.distance,
              d.seen.ecn, d.decision.verdict, d.contest.ruling, o.blind, o.evicted, o.victimMarked, d.victim);
}

}  // namespace

int main(int, char** arguments) {
  std::ifstream file(arguments[1]);
  const LoadedConfig loaded = readConfig(std::string(std::istreambuf_iterator<char>(file), {}));
  const VmConfig& config = loaded.config;
  ClockedLane lane(config, {BeatBytes, Inputs, Stallable, VM_CELLS, VM_VICTIMS, VM_SLOT_CLOCKS});
  Replay replay(config);
  const std::vector<Frame> frames = read();
  std::vector<Headers> headers(frames.size());
  std::vector<Arrival> seen(frames.size());
  std::size_t next = 0, gone = 0;
  u64 now = StartNs;
  for (u64 clock = 0; gone < frames.size(); clock++, now += ClockNs) {
    for (; next < frames.size() && StartNs + frames[next].ns <= now; next++) {
      const std::vector<u8>& bytes = frames[next].bytes;
      const u32 size = static_cast<u32>(bytes.size());
      headers[next] = parse(bytes.data(), size, config.ttl_option);
      lane.arrive(frames[next].input, next, bytes.data(), size);
    }
    replay.time(clock, now);
    lane.clock(now);
    if (const auto& d = lane.decided()) {
      RtlDecision as;
      as.refresh = d->refresh;
      as.input = d->input;
      as.seen = d->seen;
      std::copy_n(d->averages, Colours, as.average);
      as.probability = d->decision.p;
      as.verdict = d->decision.verdict;
      as.mark = d->mark;
      as.contest = d->contest;
      as.cell = static_cast<u32>(d->id);
      replay.check(as, d->refresh ? Headers{} : headers[d->id], clock);
      const u64 since = (now - d->seen.time) / ClockNs;
      if (d->refresh) {
        std::printf("refresh %" PRIu64 " %" PRIu64 "\n", clock, since);
      } else {
        seen[d->id] = d->seen;
        gone += !admits(d->decision.verdict) + d->contest.outcome.evicted;
        show(*d, clock, since);
      }
    }
    if (const auto& d = lane.departed()) {
      const Arrival& a = seen[d->id];
      replay.departed(clock, now, a.queue, a.colour, a.len_bytes);
      std::printf("departed %" PRIu64 " %" PRIu64 "\n", clock, d->id);
    }
    if (lane.sent()) {
      std::printf("sent %" PRIu64 " %" PRIu64 "\n", clock, *lane.sent());
      gone++;
    }
    for (const ClockedLane::Lost& l : lane.lost()) {
      std::printf("lost %" PRIu64 " %" PRIu64 "\n", clock, l.id);
      gone++;
    }
  }
  replay.finish();
  std::printf("replay %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", replay.decisions(), replay.agreed(),
              replay.refreshes(), replay.refreshesAgreed(), replay.firstDisagreement().c_str());
}
