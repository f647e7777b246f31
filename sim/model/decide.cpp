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
    if (counts(mask, c)) sum += q.unit_packets ? packets[c] : bytes[c];
  return static_cast<u32>(saturate(sum, LenBits));
}

static bool overLimit(const VmQueue& q, const Arrival& a) {
  u64 bytes = a.len_bytes, packets = 1;
  for (u32 c = 0; c < Colours; c++) {
    bytes += a.backlog_bytes[c];
    packets += a.backlog_packets[c];
  }
  return bytes > q.limit_bytes || packets > q.limit_packets;
}

bool DecisionModel::legal(u32 queue, u32 colour, const u32 n[Colours]) const {
  if (queue >= queues_.size() || colour >= u32{Colours}) return false;
  for (u32 e = 0; e < Colours; e++)
    if (counts(queues_[queue].masks[e], colour) && (n[e] < 1 || n[e] > u32{EwmaStages})) return false;
  return true;
}

Decision DecisionModel::decide(const Arrival& a) {
  const VmQueue& q = queues_[a.queue];
  State& state = state_[a.queue];
  SpacingState& spacing = state.spacing[a.colour];
  if (a.bad || a.no_buffer) {
    return {static_cast<u32>(a.bad ? VM_BAD : VM_NOBUF), state.average[a.colour].value(), 0, spacing.sum};
  }

  for (u32 e = 0; e < Colours; e++) {
    const u32 mask = q.masks[e];
    if (!counts(mask, a.colour)) continue;
    u64 departed = 0;
    for (u32 c = 0; c < Colours; c++)
      if (counts(mask, c)) departed = std::max(departed, a.last_departure[c]);
    state.average[e].arrive(q, maskedBacklog(q, mask, a.backlog_bytes, a.backlog_packets), static_cast<int>(a.n[e]),
                            a.time, departed);
  }

  const VmColour& profile = q.colour[a.colour];
  const bool markable = q.ecn && a.ecn != 0;
  const u64 avg = state.average[a.colour].value();
  const CurveValue drop = curveProbability(profile.drop, avg);
  const CurveValue own = markable && profile.ecn_own && !drop.over ? curveProbability(profile.ecn, avg) : drop;
  const u64 p = q.size_on && !own.over ? sizeWeighted(own.p, a.len_bytes, q.size) : own.p;

  u32 verdict;
  if (overLimit(q, a)) {
    verdict = VM_TAIL;
  } else if (drop.over) {
    spacingRestart(spacing, a.draw);
    verdict = VM_FORCED;
  } else if (spacingStep(spacing, q.spacing, p, a.draw)) {
    verdict = markable ? VM_MARK : VM_EARLY;
  } else {
    verdict = VM_ENQUEUE;
  }
  return {verdict, avg, p, spacing.sum};
}

void DecisionModel::depart(const Departure& d) {
  const VmQueue& q = queues_[d.queue];
  if (!q.update_depart) return;
  for (u32 e = 0; e < Colours; e++)
    if (counts(q.masks[e], d.colour))
      state_[d.queue].average[e].depart(q, maskedBacklog(q, q.masks[e], d.backlog_bytes, d.backlog_packets),
                                        static_cast<int>(d.n[e]), d.time);
}

}  // namespace vermilion
