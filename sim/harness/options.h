// The program's command line. Numbers are checked here, files where they are opened.
#pragma once

#include <optional>
#include <string>

#include "frame.h"
#include "undefined.h"

namespace vermilion {

struct Options {
  std::string in, config, front, out, statsJson, trace, waves;
  bool model = false;          // --engine model
  std::optional<double> rate;  // bits/s of frame bytes, back to back; else the capture's own times
  double speed = 1;            // times as fast as the capture
  std::optional<u32> split;    // TCP payload bytes of a segment, 0: as fit 1500 bytes of IP; else frames as captured
  std::optional<u64> seed;     // in place of the configuration's
  bool bench = false;
  u32 frameBytes = 64, packets = 20000;
  bool spreadRandom = false;       // --spread random: 1,024 flows over all DSCPs; one: a single flow
  std::optional<double> lineRate;  // --line-rate: of the bench's port, bits/s on the wire; else back to back
  double load = 1;                 // --load: share of it
  bool allInputs = false;          // --all-inputs: the bench sends to each input, as a port of its own
  bool imix = false;               // --imix: frames of three lengths
  bool colours = false;            // --colours: the single flow comes in all colours of queue 0
  u64 startNs = 1'000'000;         // --start-ns: lane time of the first frame
  bool stalls = false;             // --stalls: random gaps in the input, random backpressure
  u32 hold = 0;                    // --hold: egresses that are paused until all others rest, a bit each
  Undefined undefined;             // --power-up, --collisions: seeds
};

Options parseOptions(int count, char** words);
const char* usage();

}  // namespace vermilion
