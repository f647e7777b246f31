// What --bench sends and, without a configuration, how the lane stands: every stage at work on every frame, nothing shaped.
//
// Frames, back to back, of one length: TCP over IPv4 as far as it fits, from a generator of fixed seed, so every run is the same.
//   --spread one      one flow: a queue, a set of the flow table and a state in every clock, which is what loops must bear
//   --spread random   1,024 flows at random, each of a DSCP of its own: all queues, all colours
//   With a marker, the one flow comes in all colours, which are the DSCPs of its queue, in turns of 256 frames: 3/4 green and 1/8 of
//   yellow and red each, so that buckets run out; 1/8 green and the rest yellow or red, so that they fill and REDP promotes.
//   Sequence numbers move on; one segment in 16 is sent again, behind 3 others.
//
// Queues: all DSCPs over all queues.
//   averages   of packets, w = 1/512, idle ageing by the time a frame takes on the stream
//   curve      p = 1/16 at an empty queue and a line to 1 at the limit (the upper part of gentle RED), uniform spacing: some early
//              drops at every pace, and where the scheduler is slower than the stream the curve holds the queue below its limit
//   limit      in packets, together half of the buffer's cells, so that these never run out: a `nobuf` frame would skip the rest
//   markers    --marker none (nothing marked), one kind in all queues, colour-aware, or mixed: the seven kinds in turn, queue 0 the
//              first, colour-blind, and from the second turn on colour-aware, the probing ones with increase by A_Y / (1 - alpha).
//              Rates and depths by what a queue is offered: committed 1/2, peak 3/4; CBS, PBS 20 packets, EBS 200; REDP with b 60,
//              T_L 15, T_H 45 packets, MAX 1/2, P_drop 1/16 and a meter of one packet, so that its dropper acts. Flow markers have
//              the paper's parameters.
#pragma once

#include "config_json.h"
#include "frame_source.h"

namespace vermilion {

LoadedConfig benchConfig(const Options& options);
std::unique_ptr<FrameSource> benchSource(const Options& options);

}  // namespace vermilion
