// The program's command line. Numbers are checked here, files when they are opened.
#pragma once

#include <optional>
#include <string>

#include "frame.h"
#include "undefined.h"

namespace vermilion {

struct Options {
  std::string in, config, front, out, statsJson, trace, why, reports, waves;
  bool model = false;          // --engine model
  std::optional<double> rate;  // bits/s of frame bytes, back to back; absent: the capture's times
  double speed = 1;            // times as fast as the capture
  std::optional<u32> split;    // TCP payload bytes per segment; 0: as many as fit 1500 bytes of IP; absent: no split
  std::optional<u64> seed;     // replaces that of the configuration
  bool bench = false;
  u32 frameBytes = 64, packets = 20000;
  bool spreadRandom = false;       // --spread random: 1,024 flows over all DSCPs; one: a single flow
  std::optional<double> lineRate;  // --line-rate: of the bench's port, bits/s on the wire; absent: back to back
  double load = 1;                 // --load: share of the line rate
  bool allInputs = false;          // --all-inputs: the bench has one port per input
  bool imix = false;               // --imix: frames of three lengths
  bool colours = false;            // --colours: the single flow arrives in all colours of queue 0
  u64 startNs = 1'000'000;         // --start-ns: lane time of the first frame
  bool holdReports = false;        // --hold-reports: the stream of reports is stalled until the end
  bool stalls = false;             // --stalls: random gaps in the input, random backpressure
  u32 hold = 0;                    // --hold: egresses that are paused until all others are idle, one bit each
  Undefined undefined;             // --power-up, --collisions: seeds
};

Options parseOptions(int count, char** words);
const char* usage();

}  // namespace vermilion
