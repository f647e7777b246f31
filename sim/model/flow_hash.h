// The keyed hash of a flow's name, as hw/src/vermilion/flow/FlowHash.scala: a Toeplitz hash (Krawczyk, CRYPTO 1994).
//
//   key    twelve draws of xoshiro128++ from the four words of the seed, first draw lowest: 384 bits
//   name   328 bits: 0..127 source, ..255 destination (IPv4 in the low 32), ..271 source port, ..287 destination port,
//          ..302 queue, 303 IPv6, ..327 VLAN IDs
//   hash   bit j = parity(name & (key >> j))
#pragma once

#include <array>

#include "formats.h"

namespace vermilion {

struct FlowName {
  static constexpr int Words = 11, Bits = 328, FoldBits = 39;
  std::array<u32, Words> words;  // least significant word first
  bool operator==(const FlowName&) const = default;
};

// The seed of the keys that a lane's seed gives, its words rotated by 0 for the flow table and by 1 for groups of queues.
std::array<u32, 4> flowSeed(u64 seed, int rotation = 0);

class FlowHash {
 public:
  explicit FlowHash(const u32 seed[4]);  // not all 0
  u32 hash(const FlowName& name, u32 bits) const;

 private:
  std::array<u32, FlowName::Words + 1> key_{};
};

}  // namespace vermilion
