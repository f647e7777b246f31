#include "mark_stage.h"

namespace vermilion {

MarkStage::MarkStage(const VmConfig& config)
    : markers_(config.queue_count),
      flows_(config.flows != 0 ? config.flows : 4096, flowSeed(config.seed).data()),
      random_(config.seed, 1) {
  for (u32 i = 0; i < config.queue_count; i++) profiles_.push_back(config.queues[i].marker);
}

VmMark MarkStage::mark(u64 timeNs, u32 queue, u32 colour, u32 lenBytes, const Headers& headers, bool sound, bool drop) {
  const u32 draw = random_.draw();
  const VmMarker& m = profiles_[queue];
  VmMark out{timeNs, 0, colour, colour, draw, drop, 0, {}, 0};
  if (!sound || drop) return out;
  if (m.kind == VM_MARKS_FLOW) {
    const VmFlowAnswer a = flows_.step(timeNs, queue, headers, m.flow);
    out.marked = a.colour;
    out.policed = m.drop >> a.colour & 1;
    out.has_flow = a.has_state;
    out.flow = a.state;
    out.flow_events = a.adopted | a.collision << 1 | a.aged_out << 2 | a.displaced << 3 | a.table_full << 4 |
                      a.loss << 5 | a.jump << 6 | a.probe << 7;
    return out;
  }
  const Marked marked = markers_[queue].mark(m, timeNs, colour, countedBytes(m, headers, lenBytes), draw);
  out.level = marked.level;
  out.marked = marked.colour;
  out.policed = marked.policed;
  return out;
}

}  // namespace vermilion
