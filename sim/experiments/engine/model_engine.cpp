// The bit-exact model as an engine: implements engine.h with vermilion_model.h.
#include <algorithm>
#include <vector>

#include "../../model/vermilion_model.h"
#include "engine.h"

struct VmEngine {
  VmConfigFile* config;
  VmLane* lane;
  uint64_t frames = 0;
  std::vector<uint8_t> frame;
};

namespace {

constexpr uint32_t FrameMax = 65535;  // lengths of frames have 16 bits

VmEngine* create(const char* json, char* error, size_t room) {
  VmConfigFile* config = vm_config_read(json, error, room);
  if (config == nullptr) return nullptr;
  VmLane* lane = vm_lane_create(vm_config_get(config));
  if (lane == nullptr) {
    static constexpr char Refused[] = "the model takes no such lane";
    if (room >= sizeof Refused) std::copy_n(Refused, sizeof Refused, error);
    vm_config_destroy(config);
    return nullptr;
  }
  return new VmEngine{config, lane, 0, std::vector<uint8_t>(FrameMax)};
}

void destroy(VmEngine* e) {
  vm_lane_destroy(e->lane);
  vm_config_destroy(e->config);
  delete e;
}

void arrive(VmEngine* e, uint64_t time, const uint8_t* head, uint32_t headBytes, uint32_t lenBytes, VmFate* fate) {
  std::copy_n(head, headBytes, e->frame.begin());
  std::fill(e->frame.begin() + headBytes, e->frame.begin() + lenBytes, 0);
  VmArrival seen;
  VmDecision decision;
  vm_lane_arrive(e->lane, time, e->frame.data(), lenBytes, 0, &seen, &decision);
  *fate = {e->frames++, decision.verdict, seen.queue, seen.colour, decision.avg};
}

void advance(VmEngine* e, uint64_t time) {
  vm_lane_advance(e->lane, time);
}

int next(const VmEngine* e, uint64_t* time) {
  return vm_lane_next(e->lane, time);
}

// The byte with DSCP and ECN, after the Ethernet header and tags. 0 if the frame is not IP.
uint32_t trafficClass(const uint8_t* frame, uint32_t lenBytes) {
  VmHeaders h;
  vm_parse(frame, lenBytes, {}, &h);
  return h.dscp << 2 | h.ecn;
}

int left(VmEngine* e, VmGone* gone) {
  VmSent sent;
  if (vm_lane_take(e->lane, &sent, e->frame.data(), FrameMax) != 1) return 0;
  *gone = {sent.id, sent.time, sent.queue, sent.colour, trafficClass(e->frame.data(), sent.len_bytes)};
  return 1;
}

int evicted(VmEngine* e, uint64_t* id) {
  VmEvicted victim;
  if (vm_lane_evicted(e->lane, &victim) != 1) return 0;
  *id = victim.id;
  return 1;
}

int dropped(VmEngine* e, uint64_t* id) {
  VmDepartureDrop frame;
  if (vm_lane_dropped(e->lane, &frame) != 1) return 0;
  *id = frame.id;
  return 1;
}

}  // namespace

const VmEngineCalls* vm_engine() {
  static constexpr VmEngineCalls Calls{"model", create, destroy, arrive, advance, next, left, evicted, dropped};
  return &Calls;
}
