// What --bench sends: frames, back to back, of one length: TCP over IPv4 as far as it fits, from a generator of fixed seed, so every run is the same.
// How the lane stands comes by --config-words (sim/vermilion/bench_config.py).
//
//   --spread one      one flow: a queue, a set of the flow table and a state in every clock, which is what loops must bear
//   --spread random   1,024 flows at random, each of a DSCP of its own: all queues, all colours
//   --colours         the one flow comes in all colours, which are the DSCPs of queue 0 (d modulo the number of queues; its colour is d modulo 3),
//                     in turns of 256 frames: 3/4 green and 1/8 of yellow and red each, so that buckets run out; 1/8 green and the rest
//                     yellow or red, so that they fill and REDP promotes
//   Sequence numbers move on; one segment in 16 is sent again, behind 3 others. TTLs are those of 0 to 63 hops from 128, and half of the
//   frames are ECT(0), both at random.
#pragma once

#include "frame_source.h"

namespace vermilion {

std::unique_ptr<FrameSource> benchSource(const Options& options);

}  // namespace vermilion
