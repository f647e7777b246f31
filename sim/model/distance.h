// The distance that a packet has come: d of DDRED (paper P3, section IV), 0 to 63. The packet with the smallest
// distance is the victim.
//
//   initial TTL   from the TTL option (docs/ttl-option.md), if the queue uses it, the packet has it, and it is not
//   below
//                 the packet's own TTL; else, if the queue infers, the least of 32, 64, 128 and 255 that is not
//                 below the packet's TTL
//   d             initial - TTL, hops, at most 63
//   share         if the queue asks for it, the completed share of the path instead, in 64ths:
//                 floor(64 (initial - TTL) / (initial - final)), at most 63. It needs an option with a final TTL that is
//                 not 0 and below the initial one. Without it the path counts as AssumedPathHops long, so that all
//                 distances of a queue have one scale: d = 4 hops, at most 63
//
// A packet that is not IP, or that has no initial TTL by these rules, counts as 255 hops, so d is 63. The same in
// hw/src/vermilion/victim/Distance.scala.
#pragma once

#include "config.h"
#include "parser.h"

namespace vermilion {

constexpr u32 DistanceBits = 6, DistanceMax = 63, AssumedPathHops = 16;

u32 distance(const Headers& h, const VmDistance& from);

// Whether the distance is one that the packet has really come: its initial TTL is known by option or inference, and it
// has one receiver. Link-local multicast is sent with a TTL of 1, for which the rule would infer 31 hops.
bool hasDistance(const Headers& h, const VmDistance& from);

}  // namespace vermilion
