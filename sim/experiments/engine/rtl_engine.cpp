// The Verilated RTL as an engine, with the whole lane: implements engine.h with rtl_session.h. The build is the preset
// `network` (LaneParams.scala), the lane of the model's session: one input of 512 bits, 16 queues, 16,384 cells of 64 B
// and 4,096 flows, without the victim search; or `network-aqm`, for lanes with CoDel, PIE, DualPI2, fq or a ce_threshold.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "../../model/vermilion_model.h"
#include "engine.h"
#include "rtl_session.h"

struct VmEngine {
  explicit VmEngine(const VmConfig& c) : config(c), session(c), frame(vermilion::BuildMaxFrameBytes) {}
  const VmConfig& config;
  vermilion::RtlSession session;
  uint64_t frames = 0;
  std::vector<uint8_t> frame;
  VmConfigFile* file = nullptr;
};

namespace {

// The required features that the build lacks. Empty: it has all.
std::string lacking(const VmConfig& c) {
  const auto says = [](const char* what, uint64_t is, uint64_t most) {
    return std::string(what) + " is " + std::to_string(is) + "; the RTL of the experiments has " + std::to_string(most);
  };
  if (c.queue_count > vermilion::BuildQueues) return says("queue_count", c.queue_count, vermilion::BuildQueues);
  if (c.buffer_cells > vermilion::BuildCells) return says("buffer_cells", c.buffer_cells, vermilion::BuildCells);
  for (uint32_t q = 0; q < c.queue_count; q++)
    if (c.queues[q].victim != 0)
      return "queue " + std::to_string(q) +
             " drops the nearest packet, and the RTL of the experiments has no victim search; use the engine model";
  const bool aqm = vm_lane_judges(&c) != 0;
  if (aqm != vermilion::BuildCodel)
    return aqm ? "a queue has CoDel, PIE, DualPI2, fq, a ce_threshold or marks at departure, which needs the build "
                 "network-aqm"
               : "no queue has CoDel, PIE, DualPI2, fq, a ce_threshold or marks at departure; the build network-aqm is "
                 "for "
                 "lanes that do";
  return "";
}

VmEngine* create(const char* json, char* error, size_t room) {
  VmConfigFile* file = vm_config_read(json, error, room);
  if (file == nullptr) return nullptr;
  const VmConfig* config = vm_config_get(file);
  const std::string lacks = lacking(*config);
  if (!lacks.empty()) {
    std::snprintf(error, room, "%s", lacks.c_str());
    vm_config_destroy(file);
    return nullptr;
  }
  VmEngine* engine = new VmEngine(*config);
  engine->file = file;
  return engine;
}

void destroy(VmEngine* e) {
  VmConfigFile* file = e->file;
  delete e;
  vm_config_destroy(file);
}

void arrive(VmEngine* e, uint64_t time, const uint8_t* head, uint32_t headBytes, uint32_t lenBytes, VmFate* fate) {
  if (e->frame.size() < lenBytes) e->frame.resize(lenBytes);
  std::copy_n(head, headBytes, e->frame.begin());
  std::fill(e->frame.begin() + headBytes, e->frame.begin() + lenBytes, 0);
  const vermilion::RtlDecision d = e->session.arrive(time, e->frame.data(), lenBytes);
  *fate = {e->frames++, d.verdict, d.seen.queue, d.seen.colour, d.average[d.seen.colour]};
}

void advance(VmEngine* e, uint64_t time) {
  e->session.advance(time);
}

int next(const VmEngine* e, uint64_t* time) {
  return e->session.next(*time);
}

int left(VmEngine* e, VmGone* gone) {
  auto& sent = e->session.sent();
  if (sent.empty()) return 0;
  const vermilion::RtlSession::Gone& f = sent.front();
  VmHeaders h;
  vm_parse(f.bytes.data(), f.lenBytes, {}, &h);
  *gone = {f.id, f.time, f.queue, f.colour, h.dscp << 2 | h.ecn};
  sent.pop_front();
  return 1;
}

int evicted(VmEngine*, uint64_t*) {
  return 0;
}

int dropped(VmEngine* e, uint64_t* id) {
  auto& frames = e->session.dropped();
  if (frames.empty()) return 0;
  *id = frames.front();
  frames.pop_front();
  return 1;
}

}  // namespace

const VmEngineCalls* vm_engine() {
  static constexpr VmEngineCalls Calls{"rtl", create, destroy, arrive, advance, next, left, evicted, dropped};
  return &Calls;
}
