// What `victims_bench line-rate` runs, all in one queue, and how many push-outs may be stale: a queue of fresh packets that drains with a push-out at every
// arrival; or one that stands, which admits below its length and push-outs from there on, so that its nearest packets have gone long ago.
#pragma once

#include <cstddef>

namespace vermilion {

struct Load {
  std::size_t length;      // the queue's, to begin with
  double arrivals, takes;  // clocks from one to the next; takes 0: none
  bool equal;              // all have one distance, else each any
  unsigned last;           // tail-drop form: so many of the last packets may lose; 0: RED form
  double bound;            // on the share of push-outs that are stale
  bool stands = false;     // at its length; else it drains, and is filled up again at half
};

// New heads take slots without a push-out, and one in nine of push-outs in a row. As long as push-outs and takes together want no more of the slots than
// this, each take must find a packet in the head.
constexpr double Slots = 0.9;

constexpr double Wire = 1.68;  // clocks at 250 MHz from packet to packet at 148.8 Mpps

// Bounds: 1.3 times the larger share of a build with 4 places and one with 8, measured with seed 20260101, 0.2 % at least; 0.02 more where it was over half. In RED form
// with one distance a push-out is stale only if it yields its slot to a new head.
constexpr Load Loads[] = {
    {64, 1, 0, true, 0, 0},
    {64, 1, 0, false, 0, 0.002},
    {64, 1, Wire, true, 0, 0.1398},
    {64, 1, Wire, false, 0, 0.2218},
    {64, Wire, 0, true, 0, 0},
    {64, Wire, 0, false, 0, 0.002},
    {64, Wire, 10 * Wire, true, 0, 0},
    {64, Wire, 10 * Wire, false, 0, 0.0194},
    {64, Wire, Wire, true, 0, 0},
    {64, Wire, Wire, false, 0, 0.1193},
    {512, 1, 0, true, 0, 0},
    {512, 1, 0, false, 0, 0.002},
    {512, 1, Wire, true, 0, 0.1439},
    {512, 1, Wire, false, 0, 0.146},
    {512, Wire, 0, true, 0, 0},
    {512, Wire, 0, false, 0, 0.002},
    {512, Wire, 10 * Wire, true, 0, 0},
    {512, Wire, 10 * Wire, false, 0, 0.002},
    {512, Wire, Wire, true, 0, 0},
    {512, Wire, Wire, false, 0, 0.0022},
    {4096, 1, 0, true, 0, 0},
    {4096, 1, 0, false, 0, 0.002},
    {4096, 1, Wire, true, 0, 0.1443},
    {4096, 1, Wire, false, 0, 0.1452},
    {4096, Wire, 0, true, 0, 0},
    {4096, Wire, 0, false, 0, 0.002},
    {4096, Wire, 10 * Wire, true, 0, 0},
    {4096, Wire, 10 * Wire, false, 0, 0.002},
    {4096, Wire, Wire, true, 0, 0},
    {4096, Wire, Wire, false, 0, 0.002},
    {512, 1, 0, true, 1, 0.82},
    {512, 1, 0, false, 1, 0.002},
    {512, 1, Wire, true, 1, 0.83},
    {512, 1, Wire, false, 1, 0.1474},
    {512, Wire, 0, true, 1, 0.69},
    {512, Wire, 0, false, 1, 0.002},
    {512, Wire, 10 * Wire, true, 1, 0.69},
    {512, Wire, 10 * Wire, false, 1, 0.0021},
    {512, Wire, Wire, true, 1, 0.69},
    {512, Wire, Wire, false, 1, 0.0081},
    {512, 1, 0, true, 4, 0.82},
    {512, 1, 0, false, 4, 0.002},
    {512, 1, Wire, true, 4, 0.83},
    {512, 1, Wire, false, 4, 0.1534},
    {512, Wire, 0, true, 4, 0.69},
    {512, Wire, 0, false, 4, 0.002},
    {512, Wire, 10 * Wire, true, 4, 0.69},
    {512, Wire, 10 * Wire, false, 4, 0.0056},
    {512, Wire, Wire, true, 4, 0.69},
    {512, Wire, Wire, false, 4, 0.03},
    {512, 1, 0, true, 16, 0.82},
    {512, 1, 0, false, 16, 0.003},
    {512, 1, Wire, true, 16, 0.83},
    {512, 1, Wire, false, 16, 0.178},
    {512, Wire, 0, true, 16, 0.69},
    {512, Wire, 0, false, 16, 0.002},
    {512, Wire, 10 * Wire, true, 16, 0.69},
    {512, Wire, 10 * Wire, false, 16, 0.0226},
    {512, Wire, Wire, true, 16, 0.69},
    {512, Wire, Wire, false, 16, 0.1098},
    {64, Wire, 2 * Wire, false, 0, 0.1379, true},
    {64, Wire, 10 * Wire, false, 0, 0.0269, true},
    {512, 1, Wire, false, 0, 0.4401, true},
    {512, Wire, 2 * Wire, false, 0, 0.1314, true},
    {512, Wire, 10 * Wire, false, 0, 0.0246, true},
    {2000, Wire, 2 * Wire, false, 0, 0.1154, true},
    {2000, Wire, 10 * Wire, false, 0, 0.0233, true},
    {2000, 6, 12, false, 0, 0.002, true},
    {512, 1, Wire, false, 16, 0.663, true},
    {512, Wire, 2 * Wire, false, 16, 0.597, true},
    {512, Wire, 10 * Wire, false, 16, 0.2297, true},
    {512, 6, 12, false, 16, 0.002, true},
};

}  // namespace vermilion
