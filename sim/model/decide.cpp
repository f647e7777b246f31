#include "decide.h"

#include <algorithm>
#include <utility>

#include "curve.h"

namespace vermilion {

DecisionModel::DecisionModel(std::vector<VmQueue> queues) : queues_(std::move(queues)), state_(queues_.size()) {}

static bool counts(u32 mask, u32 colour) {
  return mask >> colour & 1;
}

static u32 maskedBacklog(const VmQueue& q, u32 mask, const u32 bytes[Colours], const u32 packets[Colours]) {
  u64 sum = 0;
  for (u32 c = 0; c < Colours; c++)
    if (counts(mask, c)) sum += q.unit ? packets[c] : bytes[c];
  return static_cast<u32>(saturate(sum, LenBits));
}

bool DecisionModel::legal(u32 queue, u32 colour, const u32 n[Colours]) const {
  if (queue >= queues_.size() || colour >= u32{Colours}) return false;
  for (u32 e = 0; e < Colours; e++)
    if (counts(queues_[queue].masks[e], colour) && (n[e] < 1 || n[e] > u32{EwmaStages})) return false;
  return true;
}

Pending DecisionModel::observe(const Arrival& a) {
  const VmQueue& q = queues_[a.queue];
  State& state = state_[a.queue];
  Pending seen{a.queue,        a.colour, a.ecn, a.draw, a.len_bytes, a.bad != 0, a.no_buffer != 0,
               a.policed != 0, false,    0,     0};
  if (a.bad || a.no_buffer || a.policed) {
    seen.avg = state.average[a.colour].value();
    return seen;
  }
  for (u32 e = 0; e < Colours; e++) {
    const u32 mask = q.masks[e];
    if (!counts(mask, a.colour)) continue;
    u64 idleNs = maxOf(TimeBits);
    for (u32 c = 0; c < Colours; c++)
      if (counts(mask, c)) idleNs = std::min(idleNs, truncate(u128{a.time} - a.last_departure[c], TimeBits));
    state.average[e].arrive(q, maskedBacklog(q, mask, a.backlog_bytes, a.backlog_packets), static_cast<int>(a.n[e]),
                            a.time, idleNs);
  }
  const VmColour& profile = q.colour[a.colour];
  seen.avg = state.average[a.colour].value();
  const u32 ratio = q.size_weight ? sizeRatio(a.len_bytes, q.inv_mean_len) : RatioOne;
  const CurveValue drop = curveProbability(profile.curve[VM_DROPS], seen.avg, ratio);
  const bool markable = q.ecn && a.ecn != 0;
  const CurveValue own =
      markable && profile.ecn_own && !drop.over ? curveProbability(profile.curve[VM_MARKS], seen.avg, ratio) : drop;
  seen.over = drop.over;
  seen.p = markable && q.mark_late ? 0 : own.p;  // it is marked as it leaves (curve_marks.h)
  return seen;
}

bool DecisionModel::over(const Pending& seen, u32 queuedBytes, u32 queuedPackets, bool poolFull) const {
  const VmQueue& q = queues_[seen.queue];
  return u64{queuedBytes} + seen.len_bytes > q.limit || u64{queuedPackets} + 1 > q.limit_packets || poolFull;
}

Decision DecisionModel::conclude(const Pending& seen, bool over, ArrivalVerdict pie) {
  const VmQueue& q = queues_[seen.queue];
  SpacingState& spacing = state_[seen.queue].spacing[seen.colour];
  u32 verdict;
  if (seen.bad || seen.no_buffer) {
    verdict = seen.bad ? VM_BAD : VM_NOBUF;
  } else if (seen.policed) {
    verdict = VM_POLICED;
  } else if (over) {
    verdict = VM_TAIL;
  } else if (seen.over) {
    spacingRestart(spacing, seen.draw);
    verdict = VM_FORCED;
  } else if (spacingStep(spacing, q.spacing, seen.p, seen.draw)) {
    verdict = q.ecn && seen.ecn != 0 ? VM_MARK : VM_EARLY;
  } else if (pie != ArrivalVerdict::Pass) {
    verdict = pie == ArrivalVerdict::Mark ? VM_MARK : VM_EARLY;
  } else {
    verdict = VM_ENQUEUE;
  }
  return {verdict, seen.avg, seen.p, spacing.sum};
}

void DecisionModel::depart(const Departure& d) {
  const VmQueue& q = queues_[d.queue];
  if (!q.update) return;
  for (u32 e = 0; e < Colours; e++)
    if (counts(q.masks[e], d.colour))
      state_[d.queue].average[e].depart(q, maskedBacklog(q, q.masks[e], d.backlog_bytes, d.backlog_packets),
                                        static_cast<int>(d.n[e]), d.time);
}

}  // namespace vermilion
