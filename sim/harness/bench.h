// The frames of --bench: back to back, of one length, TCP over IPv4 as far as it fits. The generator has a fixed seed,
// so every run is the same. --config-words gives the lane's configuration (sim/vermilion/measure/bench_config.py).
//
//   --spread one      one flow: one queue, one set of the flow table and one state in every cycle, the worst
//                     case for loops
//   --spread random   1,024 flows at random, each with its own DSCP: all queues, all colours
//   --colours         the one flow arrives in all colours. These are the DSCPs of queue 0 (d modulo the number of
//                     queues; the colour is d modulo 3). Phases of 256 frames alternate: 3/4 green and 1/8 each of
//                     yellow and red, so that buckets run out; then 1/8 green and the rest yellow or red, so that they
//                     fill and REDP promotes
//   Sequence numbers advance. One segment in 16 is sent again, after 3 others. TTLs are those of 0 to 63 hops from 128,
//   and half of the frames are ECT(0), both at random.
//
//   --line-rate R     at the rate of a port with R bits/s, times `--load` (0 to 1). On the wire a frame takes 24 bytes
//                     more than in the lane: preamble 8, FCS 4, gap 12. `--imix`: frames of 64, 594 and 1,518
//                     bytes, 7:4:1, in random order
//   --all-inputs      each input has a port of that rate; they begin at the same time. Without this option
//                     all frames arrive at input 0
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "build_shape.h"
#include "frame_source.h"
#include "options.h"

namespace vermilion {

std::unique_ptr<FrameSource> benchSource(const Options& options);

// Rates and latencies of a run, in cycles. Latencies count from a frame's last beat.
class BenchTiming {
 public:
  void arrived(u32 input, const Frame& frame, u64 now);
  void decided(u64 now, std::optional<u64> latency);
  void sent(u64 latency) { toWire_[latency]++; }
  // clocks_per_decision
  // bubbles                  cycles lost against line rate: the time that decisions take beyond that of the frames
  // offered_clocks           with --line-rate: cycles per frame
  // behind_clocks            with --line-rate, for each input: delay of its last frame, due to the stream's width or
  //                          the lane
  // latency_verdict_clocks, latency_total_clocks    the least, that of an empty lane; ..._max the most
  // latency_verdict, latency_total                  least, median, 99 %, most
  void write(const Options& options, nlohmann::ordered_json& json) const;

 private:
  using Histogram = std::map<u64, u64>;
  struct Span {
    u64 count = 0, first = 0, last = 0;  // ns
    void add(u64 now);
    u64 clocks() const;
  };
  Span arrivals_, decisions_;
  std::vector<u64> behind_ = std::vector<u64>(Inputs);
  Histogram toVerdict_, toWire_;
};

}  // namespace vermilion
