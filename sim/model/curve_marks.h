// Marks of curves at departure: CurveMarks.scala, bit for bit.
//
// An ECT packet of a queue with `mark_late` is marked as it leaves, by a level a: what is queued behind it, if the
// weight of the queue's averages is 1, else the newest average of its colour. Two random numbers u and v give the
// threshold, which is the inverse of the curve:
//
//   u < p:   a > min + v (max - min)     u >= p:  a > max + v (end - max), or a > max where p is 1 above max
//
// and with >= where the segment has no width. u is U0.32, v is U0.17: 17 bits of the second draw.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "config.h"
#include "formats.h"
#include "random.h"

namespace vermilion {

constexpr int MarkShareBits = 17;

// What became of an ECT packet. Level and threshold are in the unit of the curve, U27.16 and U28.17.
struct CurveMark {
  bool mark = false;
  u64 level = 0, threshold = 0;
};

CurveMark markAt(const VmCurve& curve, u64 level, u32 u, u32 v);

class CurveMarks {
 public:
  // `seed`: the host's.
  CurveMarks(std::vector<VmQueue> queues, u64 seed);
  // Another profile, for packets of later cycles.
  void configure(u32 queue, const VmQueue& profile);
  // A decision or a refresh in this cycle: the averages after it. Bit e of `updated`: it has changed average e.
  void averaged(u64 clock, u32 queue, u32 updated, const u64 averages[Colours]);
  // A packet that is taken in this cycle. `ecn` 0: not ECT or not IP. Empty if no curve decides about it.
  std::optional<CurveMark> judge(u64 clock, u32 queue, u32 colour, u32 ecn, u32 bytesBehind, u32 packetsBehind);

 private:
  struct Averaged {
    u64 clock;
    u32 queue, updated;
    u64 averages[Colours];
  };
  std::vector<VmQueue> queues_;
  std::vector<u64> averages_;  // by queue and colour
  std::deque<Averaged> coming_;
  RandomSource draws_;
};

// The averages that a packet changes (`sound`: it is counted), or a refresh: bit e for average e.
u32 updatedAverages(const VmQueue& queue, u32 colour, bool refresh, bool sound);

}  // namespace vermilion
