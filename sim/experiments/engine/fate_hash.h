// One number for all that engines have said in a run: every verdict with its queue, colour and average, and every departure with its time and
// DSCP and ECN bits, in the order of calls, of all lanes. Runs with the same number have decided alike, packet by packet.
//
//   h = (h xor word) * 0x100000001b3, from 0xcbf29ce484222325 on: FNV-1a over words of 64 bits
#pragma once

#include <cstdint>
#include <initializer_list>

#include "engine.h"

namespace vermilion {

struct FateHash {
  std::uint64_t hash = 0xcbf29ce484222325, decided = 0, left = 0;
  void word(std::uint64_t x) { hash = (hash ^ x) * 0x100000001b3; }
};

inline FateHash fateHash;

// The engine `served`, with all that it says hashed.
inline const VmEngineCalls& hashed(const VmEngineCalls& served) {
  static const VmEngineCalls* inner;
  static VmEngineCalls outer;
  inner = &served;
  outer = served;
  outer.arrive = [](VmEngine* engine, uint64_t time, const uint8_t* head, uint32_t headBytes, uint32_t lenBytes,
                    VmFate* fate) {
    inner->arrive(engine, time, head, headBytes, lenBytes, fate);
    fateHash.decided++;
    for (const uint64_t x : {fate->id, uint64_t{fate->verdict}, uint64_t{fate->queue << 2 | fate->colour}, fate->avg})
      fateHash.word(x);
  };
  outer.left = [](VmEngine* engine, VmGone* gone) {
    if (inner->left(engine, gone) != 1) return 0;
    fateHash.left++;
    for (const uint64_t x :
         {gone->id, gone->time, uint64_t{gone->queue << 2 | gone->colour}, uint64_t{gone->traffic_class}})
      fateHash.word(x);
    return 1;
  };
  outer.evicted = [](VmEngine* engine, uint64_t* id) {
    if (inner->evicted(engine, id) != 1) return 0;
    fateHash.word(~*id);
    return 1;
  };
  return outer;
}

}  // namespace vermilion
