#include "clocked_ingress.h"

#include <algorithm>
#include <stdexcept>

namespace vermilion {

ClockedIngress::ClockedIngress(LaneShape shape, u32 maxFrameBytes, VmOptionTypes types, const RuleTable& rules,
                               ClockedFreeCells& cells)
    : shape_(shape),
      maxFrameBytes_(maxFrameBytes),
      types_(types),
      rules_(rules),
      cells_(cells),
      inputs_(shape.inputs),
      cellArbiter_(shape),
      descriptorArbiter_(shape),
      asks_(shape.inputs),
      descriptors_(shape.inputs) {
  u32 unstallable = 0;
  for (u32 i = 0; i < shape.inputs; i++) unstallable += !stallable(i);
  if (unstallable > 1) throw std::invalid_argument("the model knows lanes with one input that cannot be stalled");
}

void ClockedIngress::arrive(u32 input, u64 id, const u8* frame, u32 lenBytes, bool bad) {
  Headers headers = parse(frame, lenBytes, types_);
  const RuleChoice rule = rules_.choose(frame, lenBytes, input, headers);
  inputs_[input].frames.push_back({id, headers, rule, lenBytes, lenBytes, bad});
}

bool ClockedIngress::waiting() const {
  return std::any_of(inputs_.begin(), inputs_.end(), [](const Input& in) { return !in.frames.empty(); });
}

bool ClockedIngress::open() const {
  return std::any_of(inputs_.begin(), inputs_.end(), [](const Input& in) { return in.open; });
}

// One cycle of an input's gather: the complete cell moves on, and the next beat is added to a cell.
void ClockedIngress::gather(Input& in, bool cellTaken) {
  const bool advance = !in.cellValid || cellTaken;
  if (!advance) return;
  in.cellValid = false;
  if (in.frames.empty()) return;
  Coming& f = in.frames.front();
  const u32 bytes = std::min(shape_.beatBytes, f.left);
  f.left -= bytes;
  const bool last = f.left == 0;
  const bool complete = last || in.slot == CellBytes / shape_.beatBytes - 1;
  const u32 length = static_cast<u32>(saturate(u64{in.length} + bytes, PktLenBits));
  in.cell = {length, in.cellIndex == 0, in.cellIndex == 1, last};
  in.slot = complete ? 0 : in.slot + 1;
  in.length = last ? 0 : length;
  if (complete) in.cellIndex = last ? 0 : std::min(in.cellIndex + 1, 2u);
  in.cellValid = complete;
  in.open = !last;
  if (!last) return;
  ClockedPacket p;
  p.id = f.id;
  p.headers = f.headers;
  p.rule = f.rule;
  p.bad = f.bad;
  p.lenBytes = static_cast<u32>(saturate(f.lenBytes, PktLenBits));
  in.inside.push_back(p);
  in.frames.pop_front();
  ended_++;
}

// Decides what happens to the cell that the input offers.
ClockedIngress::Fate ClockedIngress::fate(u32 input) const {
  const Input& in = inputs_[input];
  const GatheredCell& c = offered(in);
  const bool placeFree = in.places < timing::DescriptorDepth;
  const bool leaveOut = c.first ? !stallable(input) && !placeFree : in.leavingOut;
  const bool wanted = !leaveOut && (c.first || !in.stopped) && c.lenBytes <= maxFrameBytes_;
  const bool cell = cells_.available(input);
  const bool waits = stallable(input) && ((c.first && !placeFree) || (wanted && !cell && cells_.left()));
  const bool stored = wanted && cell;
  // An input that cannot be stalled always requests a grant, even if its cell needs none.
  const bool asks = !stallable(input) || (!waits && !leaveOut && (c.first || c.second || stored));
  return {leaveOut, waits, stored, offers(in) && asks};
}

// Passes the offered cell to the buffer and the parser, if it has a grant or needs none.
bool ClockedIngress::takeCell(u32 input, bool hasTurn) {
  Input& in = inputs_[input];
  const GatheredCell& c = offered(in);
  const auto [leaveOut, waits, got, asks] = fate(input);
  if (!offers(in) || waits || (asks && !hasTurn)) return false;

  if (got) cells_.take(input);
  in.leavingOut = leaveOut;
  in.stopped = !got;
  in.taken = (c.first ? 0 : in.taken) + got;
  in.places += c.first && !leaveOut;
  if (!leaveOut && (c.second || (c.first && c.last))) in.headers.push_back(clock_ + timing::headers(shape_.rules));
  if (!c.last) return true;
  ClockedPacket p = in.inside.front();
  in.inside.pop_front();
  p.input = input;
  p.cells = in.taken;
  p.noBuffer = !got;
  if (leaveOut) {
    lost_.push_back(p);
  } else {
    in.finished.push_back(p);
  }
  return true;
}

void ClockedIngress::clock(u64 clock, bool descriptorRoom, std::optional<u32> descriptorTaken) {
  clock_ = clock;
  descriptor_.reset();
  lost_.clear();
  ended_ = 0;
  for (u32 i = 0; i < shape_.inputs; i++) {
    const Input& in = inputs_[i];
    asks_[i] = fate(i).asks;
    descriptors_[i] = !in.finished.empty() && !in.headers.empty() && in.headers.front() <= clock_;
  }
  const int turn = cellArbiter_.next(asks_);
  const int descriptorOf = descriptorRoom ? descriptorArbiter_.next(descriptors_) : -1;
  for (u32 i = 0; i < shape_.inputs; i++) {
    Input& in = inputs_[i];
    // A place that becomes free in this cycle can be used in the next one.
    const bool taken = takeCell(i, turn == static_cast<int>(i));
    in.places -= descriptorTaken == i;
    if (descriptorOf == static_cast<int>(i)) {
      descriptor_ = in.finished.front();
      in.finished.pop_front();
      in.headers.pop_front();
    }
    const bool room = !in.kept;  // for the cell from gather
    if (taken) {
      in.kept.reset();
    } else if (room && in.cellValid) {
      in.kept = in.cell;
    }
    gather(in, room);
  }
}

}  // namespace vermilion
