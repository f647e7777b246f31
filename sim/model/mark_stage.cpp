#include "mark_stage.h"

namespace vermilion {

MarkStage::MarkStage(const VmConfig& config) : markers_(config.queue_count), random_(config.seed, 1) {
  for (u32 i = 0; i < config.queue_count; i++) profiles_.push_back(config.queues[i].marker);
}

VmMark MarkStage::mark(u64 timeNs, u32 queue, u32 colour, u32 lenBytes, bool sound) {
  const u32 draw = random_.draw();
  Marked out{colour, false, 0};
  if (sound) out = markers_[queue].mark(profiles_[queue], timeNs, colour, lenBytes, draw);
  return {timeNs, out.level, colour, out.colour, draw, out.policed};
}

}  // namespace vermilion
