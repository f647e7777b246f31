// Marks the packets of TCP flows by the state of their flow: 3CPM, WPM, APM or none (Neglia, Bianchi, Sottile, "A new
// Three Color Marker for TCP flows"), as hw/src/vermilion/flow/FlowMarker.scala. Theory: docs/flow-markers.md.
//
//   SN <= SN_h (a loss):  A_Y <- (1-alpha) A_Y + alpha L_Y, L_Y <- 0, credits <- N_a, green
//   else:                 SN_h <- SN, L_Y <- L_Y + 1;  L_Y > A_Y: red, A_Y <- increase(A_Y), L_Y <- 0
//                                                      else green while credits remain (uses one), then yellow
//
// alpha = n/8. A_Y is `average` (U16.8), or 8 average / (8-n) if the state is `raised`. An increase by A_Y / (1-alpha)
// only sets that bit. Rounding: a loss floors to 2^-8. A raised average grows by a factor of few bits, floored term by
// term, plus 2^-8. All values saturate.
#pragma once

#include <vector>

#include "flow_records.h"
#include "flow_table.h"
#include "parser.h"

namespace vermilion {

// The name of a TCP segment's flow in a queue.
FlowName flowName(u32 queue, const Headers& headers);

class FlowMarker {
 public:
  static constexpr int AverageFrac = 8;
  static constexpr int AverageBits = 16 + AverageFrac;
  static constexpr int BurstBits = 17;
  static constexpr int CreditBits = 8;
  static constexpr u32 QueueLimit = 1 << 15;

  FlowMarker(u32 flows, const u32 seed[4]);
  // `time` is in ns, modulo 2^48. `queue` is below QueueLimit.
  VmFlowAnswer step(u64 time, u32 queue, const Headers& h, const VmFlowConfig& c);

 private:
  FlowTable table_;
  std::vector<VmFlowState> states_;
};

}  // namespace vermilion
