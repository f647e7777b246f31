#include "curve_marks.h"

#include <algorithm>
#include <utility>

namespace vermilion {

CurveMark markAt(const VmCurve& curve, u64 level, u32 u, u32 v) {
  const bool first = u < curve.slope1;
  const u32 second = curve.base2 >> ProbFrac != 0 ? 0 : static_cast<u32>(truncate(curve.end - curve.max, LenBits));
  const u64 from = first ? curve.min : curve.max;
  const u64 width = first ? truncate(curve.max - curve.min, LenBits) : second;
  const u64 threshold = (from << MarkShareBits) + width * (v >> (32 - MarkShareBits));
  const u64 at = level << (MarkShareBits - AvgFrac);
  return {curve.on != 0 && (at > threshold || (width == 0 && at == threshold)), level, threshold};
}

CurveMarks::CurveMarks(std::vector<VmQueue> queues, u64 seed)
    : queues_(std::move(queues)), averages_(queues_.size() * Colours), draws_(RandomSource(seed, 2).rotated(2)) {}

void CurveMarks::configure(u32 queue, const VmQueue& profile) {
  queues_[queue] = profile;
}

void CurveMarks::averaged(u64 clock, u32 queue, u32 updated, const u64 averages[Colours]) {
  if (updated == 0) return;
  Averaged a{clock, queue, updated, {}};
  std::copy_n(averages, Colours, a.averages);
  coming_.push_back(a);
}

std::optional<CurveMark> CurveMarks::judge(u64 clock, u32 queue, u32 colour, u32 ecn, u32 bytesBehind,
                                           u32 packetsBehind) {
  for (; !coming_.empty() && coming_.front().clock <= clock; coming_.pop_front())
    for (u32 e = 0; e < u32{Colours}; e++)
      if (coming_.front().updated >> e & 1)
        averages_[coming_.front().queue * Colours + e] = coming_.front().averages[e];
  const VmQueue& q = queues_[queue];
  if (!q.mark_late || !q.ecn || ecn == 0 || colour >= u32{Colours}) return {};
  const VmColour& profile = q.colour[colour];
  const bool isDepth = q.weight[0].mant == 1u << (WeightMantBits - 1) && q.weight[0].shift == 0;
  const u64 level =
      isDepth ? u64{q.unit ? packetsBehind : bytesBehind} << AvgFrac : averages_[queue * Colours + colour];
  const u32 u = draws_.draw(), v = draws_.draw();
  return markAt(profile.curve[profile.ecn_own ? VM_MARKS : VM_DROPS], level, u, v);
}

u32 updatedAverages(const VmQueue& queue, u32 colour, bool refresh, bool sound) {
  u32 updated = 0;
  for (u32 e = 0; e < u32{Colours}; e++) updated |= (queue.masks[e] >> colour & 1) << e;
  return (refresh ? queue.update != 0 : sound) ? updated : 0;
}

}  // namespace vermilion
