// How far a packet has come: the distance d of DDRED (paper P3, section IV), 0 to 63. The packet with the smallest distance is the victim.
//
//   initial TTL   of the TTL option (docs/ttl-option.md), where the queue uses it, the packet has it, and it is not below
//                 the packet's own TTL; else, where the queue infers, the least of 32, 64, 128 and 255 that is not
//   d             initial - TTL, hops, at most 63
//   share         where the queue asks for it, the share of the path that is covered instead, in 64ths:
//                 floor(64 (initial - TTL) / (initial - final)), at most 63. It needs an option with a final TTL that is
//                 not 0 and below the initial one; of a packet without, the path counts as AssumedPathHops long, so that
//                 all distances of a queue have one scale: d = 4 hops, at most 63
//
// A packet that is not IP, or whose initial TTL none of these gives: 255 hops, so 63. The same in
// hw/src/vermilion/victim/Distance.scala.
#pragma once

#include "config.h"
#include "parser.h"

namespace vermilion {

constexpr u32 DistanceBits = 6, DistanceMax = 63, AssumedPathHops = 16;

u32 distance(const Headers& h, const VmDistance& from);

// Whether that is a distance which the packet has travelled, and not one that it counts as: its initial TTL is known by option or
// inference, and it goes to one receiver. Link-local multicast is sent with a TTL of 1, so 31 hops would be inferred.
bool hasDistance(const Headers& h, const VmDistance& from);

}  // namespace vermilion
