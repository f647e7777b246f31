#include "clocked_ingress.h"

#include <algorithm>

namespace vermilion {

ClockedIngress::ClockedIngress(LaneShape shape, u32 maxFrameBytes, ClockedFreeCells& cells)
    : shape_(shape),
      maxFrameBytes_(maxFrameBytes),
      cells_(cells),
      inputs_(shape.inputs),
      writes_(shape.inputs),
      metas_(shape.inputs) {}

void ClockedIngress::arrive(u32 input, u64 id, const u8* frame, u32 lenBytes) {
  inputs_[input].frames.push_back({id, parse(frame, lenBytes), lenBytes, lenBytes});
}

bool ClockedIngress::waiting() const {
  return std::any_of(inputs_.begin(), inputs_.end(), [](const Input& in) { return !in.frames.empty(); });
}

bool ClockedIngress::open() const {
  return std::any_of(inputs_.begin(), inputs_.end(), [](const Input& in) { return in.open; });
}

void ClockedIngress::clock(u64 clock, bool metaRoom) {
  clock_ = clock;
  meta_.reset();
  ended_ = 0;
  stepInputs(metaRoom);
}

// A clock of one input's gather: the cell goes on, the beat in stage 1 joins a cell, the next beat comes in.
void ClockedIngress::gather(Input& in, bool cellTaken) {
  const bool advance = !in.cellValid || cellTaken;
  if (!advance) return;
  in.cellValid = false;
  if (in.beatBytes != 0) {
    const u32 beats = CellBytes / shape_.beatBytes;
    const bool complete = in.beatLast || in.slot == beats - 1;
    const u32 length = static_cast<u32>(saturate(u64{in.length} + in.beatBytes, PktLenBits));
    in.cell = {length, in.cellIndex == 0, in.cellIndex == 1, in.beatLast};
    in.slot = complete ? 0 : in.slot + 1;
    in.length = in.beatLast ? 0 : length;
    if (complete) in.cellIndex = in.beatLast ? 0 : std::min(in.cellIndex + 1, 2u);
    in.cellValid = complete;
  }
  in.beatBytes = 0;
  if (in.frames.empty()) return;
  Coming& f = in.frames.front();
  in.beatBytes = std::min(shape_.beatBytes, f.left);
  f.left -= in.beatBytes;
  in.beatLast = f.left == 0;
  in.open = !in.beatLast;
  if (!in.beatLast) return;
  ClockedPacket p;
  p.id = f.id;
  p.headers = f.headers;
  p.lenBytes = static_cast<u32>(saturate(f.lenBytes, PktLenBits));
  in.inside.push_back(p);
  in.frames.pop_front();
  ended_++;
}

void ClockedIngress::stepInputs(bool metaRoom) {
  for (u32 i = 0; i < shape_.inputs; i++) {
    const Input& in = inputs_[i];
    const bool endRoom = in.ends.size() < timing::MetaDepth;
    writes_[i] = !in.steps.empty() && in.steps.front().hasWrite && (!in.steps.front().isEnd || endRoom);
    metas_[i] = !in.ends.empty() && !in.headers.empty() && in.headers.front() <= clock_;
  }
  const int writer = roundRobin(lastWrite_, writes_);
  const int metaOf = metaRoom ? roundRobin(lastMeta_, metas_) : -1;
  for (u32 i = 0; i < shape_.inputs; i++) {
    Input& in = inputs_[i];
    const bool stepRoom = in.steps.size() < timing::StepsDepth, endRoom = in.ends.size() < timing::MetaDepth;
    std::optional<ClockedPacket> ended;
    if (!in.steps.empty()) {
      const Step& s = in.steps.front();
      if ((!s.isEnd || endRoom) && (writer == static_cast<int>(i) || !s.hasWrite)) {
        if (s.isEnd) ended = s.packet;
        in.steps.pop_front();
      }
    }
    if (metaOf == static_cast<int>(i)) {
      meta_ = in.ends.front();
      in.ends.pop_front();
      in.headers.pop_front();
    }
    if (ended) in.ends.push_back(*ended);
    const bool taken = in.cellValid && stepRoom;
    if (taken) {
      const GatheredCell& c = in.cell;
      const bool wanted = (c.first || !in.stopped) && c.lenBytes <= maxFrameBytes_;
      const bool got = wanted && cells_.available(i);
      if (got) cells_.take(i);
      in.stopped = !got;
      in.taken = (c.first ? 0 : in.taken) + got;
      if (c.second || (c.first && c.last)) in.headers.push_back(clock_ + timing::Headers);
      Step s{got, c.last, {}};
      if (c.last) {
        s.packet = in.inside.front();
        in.inside.pop_front();
        s.packet.input = i;
        s.packet.cells = in.taken;
        s.packet.noBuffer = !got;
      }
      if (got || c.last) in.steps.push_back(s);
    }
    gather(in, taken);
  }
}

}  // namespace vermilion
