// A hash of all results of the engines in a run, and the time that packets spent in each lane. This time is from
// arrival to the end of sending.
//
// The hash covers all lanes, in the order of calls: every verdict with its queue, colour and average, and every
// departure with its time and its DSCP and ECN bits, or its drop. Runs with the same hash have made the same decisions, packet by
// packet.
//
//   h = (h xor word) * 0x100000001b3, from 0xcbf29ce484222325 on: FNV-1a over words of 64 bits
#pragma once

#include <cstdint>
#include <initializer_list>
#include <unordered_map>
#include <vector>

#include "engine.h"

namespace vermilion {

struct Fates {
  struct OfLane {
    std::uint64_t decided = 0, left = 0, waitedNs = 0;
    std::unordered_map<std::uint64_t, std::uint64_t> inside;  // arrival times by id
  };
  std::uint64_t hash = 0xcbf29ce484222325;
  std::vector<VmEngine*> order;  // in order of creation
  std::unordered_map<VmEngine*, OfLane> lanes;
  void words(std::initializer_list<std::uint64_t> all) {
    for (const std::uint64_t x : all) hash = (hash ^ x) * 0x100000001b3;
  }
};

inline Fates fates;

// An engine that forwards all calls to `served` and records the results.
inline const VmEngineCalls& hashed(const VmEngineCalls& served) {
  static const VmEngineCalls* inner;
  static VmEngineCalls outer;
  inner = &served;
  outer = served;
  outer.create = [](const char* laneJson, char* error, std::size_t room) {
    VmEngine* engine = inner->create(laneJson, error, room);
    if (engine != nullptr) fates.order.push_back(engine);
    return engine;
  };
  outer.arrive = [](VmEngine* engine, std::uint64_t time, const std::uint8_t* head, std::uint32_t headBytes,
                    std::uint32_t lenBytes, VmFate* fate) {
    inner->arrive(engine, time, head, headBytes, lenBytes, fate);
    Fates::OfLane& lane = fates.lanes[engine];
    lane.decided++;
    if (fate->verdict <= 1) lane.inside[fate->id] = time;  // VM_ENQUEUE, VM_MARK
    fates.words({fate->id, fate->verdict, fate->queue << 2 | fate->colour, fate->avg});
  };
  outer.left = [](VmEngine* engine, VmGone* gone) {
    if (inner->left(engine, gone) != 1) return 0;
    Fates::OfLane& lane = fates.lanes[engine];
    lane.left++;
    if (const auto at = lane.inside.find(gone->id); at != lane.inside.end()) {
      lane.waitedNs += gone->time - at->second;
      lane.inside.erase(at);
    }
    fates.words({gone->id, gone->time, gone->queue << 2 | gone->colour, gone->traffic_class});
    return 1;
  };
  outer.evicted = [](VmEngine* engine, std::uint64_t* id) {
    if (inner->evicted(engine, id) != 1) return 0;
    fates.lanes[engine].inside.erase(*id);
    fates.words({~*id});
    return 1;
  };
  outer.dropped = [](VmEngine* engine, std::uint64_t* id) {
    if (inner->dropped(engine, id) != 1) return 0;
    fates.lanes[engine].inside.erase(*id);
    fates.words({~*id, 1});
    return 1;
  };
  return outer;
}

}  // namespace vermilion
