#include "vermilion_model.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include "config_json.h"
#include "curve.h"
#include "decide.h"
#include "distance.h"
#include "flow_marker.h"
#include "lane_session.h"
#include "parser.h"
#include "random.h"
#include "rewrite.h"
#include "token_marker.h"

using namespace vermilion;

struct VmModel {
  DecisionModel decisions;
};
struct VmTokenMarker {
  TokenMarker marker;
};
struct VmLane {
  LaneSession lane;
};
struct VmFlowMarker {
  FlowMarker marker;
};
struct VmConfigFile {
  LoadedConfig loaded;
};

static bool inRange(const VmClass& c, u32 queues) {
  return c.queue < queues && c.colour < u32{Colours};
}

static bool usable(const VmConfig* c) {
  return c != nullptr && c->queues != nullptr && c->queue_count != 0;
}

static bool usableLane(const VmConfig* c) {
  if (!usable(c) || c->max_frame_bytes > maxOf(PktLenBits) || c->egress_count != 1) return false;
  const VmEgress& egress = c->egress[0];
  if (!inRange(egress.fallback, c->queue_count)) return false;
  for (u32 i = 0; i < c->queue_count; i++)
    for (u32 m : c->queues[i].masks)
      if (m > maxOf(Colours)) return false;
  return std::all_of(egress.dscp, egress.dscp + 64, [c](const VmClass& k) { return inRange(k, c->queue_count); });
}

extern "C" {

VmModel* vm_create(const VmConfig* c) {
  return usable(c) ? new VmModel{DecisionModel({c->queues, c->queues + c->queue_count})} : nullptr;
}

void vm_destroy(VmModel* model) {
  delete model;
}

int vm_configure(VmModel* m, uint32_t queue, const VmQueue* record) {
  if (queue >= m->decisions.queueCount()) return -1;
  m->decisions.configure(queue, *record);
  return 0;
}

int vm_decide(VmModel* m, const VmArrival* a, VmDecision* d) {
  const bool untouched = a->bad || a->no_buffer;
  static const u32 one[Colours] = {1, 1, 1};
  if (!m->decisions.legal(a->queue, a->colour, untouched ? one : a->n)) return -1;
  *d = m->decisions.decide(*a);
  return 0;
}

int vm_depart(VmModel* m, const VmDeparture* d) {
  if (!m->decisions.legal(d->queue, d->colour, d->n)) return -1;
  m->decisions.depart(*d);
  return 0;
}

int vm_average(const VmModel* m, uint32_t queue, uint32_t colour, uint64_t* avg) {
  if (queue >= m->decisions.queueCount() || colour >= u32{Colours}) return -1;
  *avg = m->decisions.average(queue, colour);
  return 0;
}

int vm_average_aged(const VmModel* m, uint32_t queue, uint32_t colour, uint32_t n, uint64_t idleNs, uint64_t* avg) {
  if (queue >= m->decisions.queueCount() || colour >= u32{Colours} || n < 1 || n > u32{EwmaStages}) return -1;
  *avg = m->decisions.aged(queue, colour, static_cast<int>(n), truncate(idleNs, TimeBits));
  return 0;
}

VmLane* vm_lane_create(const VmConfig* c) {
  return usableLane(c) ? new VmLane{LaneSession(*c)} : nullptr;
}

int vm_lane_judges(const VmConfig* c) {
  return judges(*c) ? 1 : 0;
}

void vm_lane_destroy(VmLane* lane) {
  delete lane;
}

int vm_lane_arrive(VmLane* l, uint64_t time, const uint8_t* frame, uint32_t lenBytes, uint32_t bad, VmArrival* seen,
                   VmDecision* d) {
  if (lenBytes == 0) return -1;
  *d = l->lane.arrive(time, frame, lenBytes, bad != 0, seen);
  return 0;
}

void vm_lane_advance(VmLane* l, uint64_t time) {
  l->lane.advance(time);
}

uint64_t vm_lane_drain(VmLane* l) {
  return l->lane.drain();
}

int vm_lane_next(const VmLane* l, uint64_t* time) {
  return l->lane.next(*time);
}

int vm_lane_take(VmLane* l, VmSent* sent, uint8_t* bytes, uint32_t room) {
  auto& frames = l->lane.sent();
  if (frames.empty()) return 0;
  const SentFrame& f = frames.front();
  if (f.bytes.size() > room) return -1;
  *sent = f.record;
  std::copy(f.bytes.begin(), f.bytes.end(), bytes);
  frames.pop_front();
  return 1;
}

int vm_lane_evicted(VmLane* l, VmEvicted* evicted) {
  auto& frames = l->lane.evicted();
  if (frames.empty()) return 0;
  *evicted = frames.front();
  frames.pop_front();
  return 1;
}

int vm_lane_dropped(VmLane* l, VmDepartureDrop* dropped) {
  auto& frames = l->lane.dropped();
  if (frames.empty()) return 0;
  *dropped = frames.front();
  frames.pop_front();
  return 1;
}

int vm_lane_counters(const VmLane* l, uint32_t queue, uint32_t colour, VmCounters* counters) {
  if (queue >= l->lane.queueCount() || colour >= u32{Colours}) return -1;
  *counters = l->lane.counters(queue, colour);
  return 0;
}

VmConfigFile* vm_config_read(const char* json, char* error, size_t room) {
  try {
    return new VmConfigFile{readConfig(json)};
  } catch (const std::exception& e) {
    if (room != 0) {
      const std::string text = e.what();
      const size_t size = std::min(text.size(), room - 1);
      std::memcpy(error, text.data(), size);
      error[size] = 0;
    }
    return nullptr;
  }
}

const VmConfig* vm_config_get(const VmConfigFile* file) {
  return &file->loaded.config;
}

void vm_config_destroy(VmConfigFile* file) {
  delete file;
}

VmTokenMarker* vm_marker_create() {
  return new VmTokenMarker;
}

void vm_marker_destroy(VmTokenMarker* marker) {
  delete marker;
}

uint32_t vm_marker_bytes(const VmMarker* config, const VmHeaders* headers, uint32_t lenBytes) {
  return countedBytes(*config, *headers, lenBytes);
}

void vm_marker_mark(VmTokenMarker* marker, const VmMarker* config, uint64_t time, uint32_t colour, uint32_t lenBytes,
                    uint32_t draw, VmMarked* marked) {
  const u32 bytes = config->packet != 0 ? config->packet : lenBytes;
  const Marked m = marker->marker.mark(*config, time, colour, bytes, draw);
  *marked = {m.colour, m.policed, m.level};
}

uint64_t vm_average_step(uint64_t avg, uint32_t q, VmScaled weight) {
  return averageStep(avg, q, weight);
}

uint64_t vm_average_age(uint64_t avg, uint64_t idleNs, const VmQueue* queue, uint32_t steps, uint64_t* residue) {
  const u128 product = idleProduct(*queue, truncate(idleNs, TimeBits), residue != nullptr ? *residue : 0, steps);
  if (residue != nullptr) *residue = truncate(product, IdleStepBits);
  return averageAge(avg, idleExponent(product, queue->lambda));
}

uint32_t vm_age_rom(uint32_t index) {
  return ageRom()[truncate(index, IdleFrac)];
}

uint64_t vm_curve_probability(const VmCurve* curve, uint64_t avg, uint32_t ratio, uint32_t* over) {
  const CurveValue v = curveProbability(*curve, avg, ratio);
  *over = v.over;
  return v.p;
}

uint32_t vm_size_ratio(uint32_t lenBytes, VmScaled size) {
  return sizeRatio(lenBytes, size);
}

uint32_t vm_spacing_step(uint64_t* sum, uint32_t* r, uint32_t* rValid, uint32_t mode, uint64_t p, uint32_t draw) {
  SpacingState s{*sum, *r, *rValid != 0};
  const bool early = spacingStep(s, mode, p, draw);
  *sum = s.sum;
  *r = s.r;
  *rValid = s.rValid;
  return early;
}

void vm_parse(const uint8_t* frame, uint32_t lenBytes, VmOptionTypes types, VmHeaders* headers) {
  *headers = parse(frame, lenBytes, types);
}

uint32_t vm_rewrite(uint8_t* frame, const VmHeaders* h, uint32_t setCe, uint32_t setDscp, uint32_t dscp,
                    uint32_t removeOption) {
  return rewrite(frame, *h, setCe != 0, setDscp != 0, static_cast<u32>(truncate(dscp, 6)), removeOption != 0);
}

uint32_t vm_distance(const VmHeaders* headers, const VmDistance* from) {
  return distance(*headers, *from);
}

uint32_t vm_checksum(uint32_t checksum, uint32_t before, uint32_t after) {
  return checksumUpdate(static_cast<u16>(checksum), static_cast<u16>(before), static_cast<u16>(after));
}

void vm_random_seed(uint64_t seed, uint32_t words[4]) {
  RandomSource(seed).state(words);
}

int vm_random_draw(uint32_t words[4], uint32_t* draw) {
  RandomSource source(0);
  if (!source.setState(words)) return -1;
  *draw = source.draw();
  source.state(words);
  return 0;
}

VmFlowMarker* vm_flow_create(uint32_t flows, const uint32_t seed[4]) {
  if (flows < 256 || flows > 65536 || (flows & (flows - 1)) != 0) return nullptr;
  if ((seed[0] | seed[1] | seed[2] | seed[3]) == 0) return nullptr;
  return new VmFlowMarker{FlowMarker(flows, seed)};
}

void vm_flow_destroy(VmFlowMarker* marker) {
  delete marker;
}

int vm_flow_step(VmFlowMarker* m, uint64_t time, uint32_t queue, const VmHeaders* h, const VmFlowConfig* c,
                 VmFlowAnswer* answer) {
  if (queue >= FlowMarker::QueueLimit || c->kind > VM_FLOW_ADAPTIVE) return -1;
  *answer = m->marker.step(time, queue, *h, *c);
  return 0;
}

}  // extern "C"
