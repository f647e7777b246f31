// Drop spacing: distributes early drops over packets, per (queue, colour).
//
//   geometric   early when draw < p                        long-run rate p
//   uniform     S <- S + p, early when S >= R              about 2 p (Floyd, Jacobson, RED 1993, method 2)
//   wait        S <- S + p, early when S >= 1 + R          about 0.67 p (ns-2, ns-3)
//   after an early verdict S <- 0, R <- draw
//
// Formats: p U1.32, S U2.32 saturating, R and draw U32.
// One draw per decision serves both the geometric comparison and the new R.
//
// Rules (defined here, the same in the RTL):
//   p >= 1.0           always early, in every mode
//   p = 0              never early, S <- 0, R not valid: the next run of p > 0 takes a new R, as Floyd's RED and Linux
//   do forced drop        S <- 0, R <- draw, in every mode
//   tail, nobuf, bad   S and R stay
//   R not valid        the first decision with p > 0 takes its own draw as R
//   geometric          reads and writes neither S nor R
#pragma once

#include "formats.h"

namespace vermilion {

struct SpacingState {
  u64 sum = 0;          // S, U2.32
  u32 r = 0;            // R, U32
  bool rValid = false;  // if false, S = 0 and R has no meaning
  bool operator==(const SpacingState&) const = default;
};

// True: early. `mode` is VM_SPACING_GEOMETRIC, VM_SPACING_UNIFORM or VM_SPACING_WAIT.
bool spacingStep(SpacingState& state, u32 mode, u64 p, u32 draw);

// What a forced drop does.
void spacingRestart(SpacingState& state, u32 draw);

}  // namespace vermilion
