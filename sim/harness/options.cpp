#include "options.h"

#include "option_number.h"

namespace vermilion {

const char* usage() {
  return "vermilion-sim --in CAPTURE --config-words FILE [--engine rtl|model] [--rate BITS_PER_SECOND | --speed "
         "FACTOR]\n"
         "              [--front FILE]   DSCPs by rules or by flow (front.h)\n"
         "              [--split PAYLOAD_BYTES]   long TCP frames as segments; 0: as fit 1500 bytes of IP\n"
         "              [--seed N] [--out OUT.pcapng] [--stats-json FILE] [--trace FILE] [--vcd FILE | --fst FILE] "
         "[--stalls]\n"
         "              [--start-ns NS]   for tests: lane time of the first frame, such as shortly before 2^48\n"
         "              [--hold EGRESSES]   for tests: paused until all others rest; a bit for each\n"
         "              [--power-up SEED] [--collisions SEED]   for tests: what the RTL leaves undefined is random "
         "(undefined.h)\n"
         "vermilion-sim --bench --config-words FILE [--frame-bytes N] [--packets N] [--spread one|random] [--colours]\n"
         "              [--line-rate BITS_PER_SECOND [--load SHARE]] [--all-inputs] [--imix] [--engine rtl|model]\n"
         "              [--stats-json FILE]\n";
}

namespace {

bool choice(const std::string& option, const std::string& text, const std::string& no, const std::string& yes) {
  if (text != no && text != yes) throw InputError(option + " is " + text + "; legal are " + no + " and " + yes);
  return text == yes;
}

}  // namespace

Options parseOptions(int count, char** words) {
  Options o;
  bool paced = false;
  for (int i = 1; i < count; i++) {
    const std::string option = words[i];
    if (option == "--bench") {
      o.bench = true;
      continue;
    }
    if (option == "--colours") {
      o.colours = true;
      continue;
    }
    if (option == "--all-inputs") {
      o.allInputs = true;
      continue;
    }
    if (option == "--imix") {
      o.imix = true;
      continue;
    }
    if (option == "--stalls") {
      o.stalls = true;
      continue;
    }
    if (option == "--progress") continue;  // always printed
    if (i + 1 >= count) throw InputError(option + ": no such option, or its value is missing");
    const std::string value = words[++i];
    if (option == "--in") {
      o.in = value;
    } else if (option == "--config-words" || option == "--config") {
      o.config = value;
    } else if (option == "--front") {
      o.front = value;
    } else if (option == "--out") {
      o.out = value;
    } else if (option == "--stats-json") {
      o.statsJson = value;
    } else if (option == "--trace") {
      o.trace = value;
    } else if (option == "--vcd" || option == "--fst") {
      o.waves = value;
    } else if (option == "--engine") {
      o.model = choice(option, value, "rtl", "model");
    } else if (option == "--rate") {
      o.rate = number(option, value, 64e3, 200e9, "64000 to 200000000000 bits a second");
    } else if (option == "--speed") {
      o.speed = number(option, value, 1e-6, 1e6, "0.000001 to 1000000");
      paced = true;
    } else if (option == "--split") {
      o.split = number<u32>(option, value, 0, 9600, "0, or 48 to 9600 bytes");
      if (*o.split != 0 && *o.split < 48) throw InputError("--split is " + value + "; legal is 0, or 48 to 9600 bytes");
    } else if (option == "--seed") {
      o.seed = number<u64>(option, value, 0, ~u64{0}, "0 to 2^64-1");
    } else if (option == "--start-ns") {
      o.startNs = number<u64>(option, value, o.startNs, u64{1} << 60, "1000000 to 2^60");
    } else if (option == "--power-up") {
      o.undefined.powerUp = number<u32>(option, value, 1, 0x7fffffff, "1 to 2^31-1");
    } else if (option == "--collisions") {
      o.undefined.collisions = number<u32>(option, value, 1, 0x7fffffff, "1 to 2^31-1");
    } else if (option == "--hold") {
      o.hold = number<u32>(option, value, 0, 255, "0 to 255, a bit for each egress");
    } else if (option == "--frame-bytes") {
      o.frameBytes = number<u32>(option, value, 14, 65535, "14 to 65535");
    } else if (option == "--packets") {
      o.packets = number<u32>(option, value, 1, 100'000'000, "1 to 100000000");
    } else if (option == "--line-rate") {
      o.lineRate = number(option, value, 64e3, 200e9, "64000 to 200000000000 bits a second");
    } else if (option == "--load") {
      o.load = number(option, value, 0.01, 1.0, "0.01 to 1");
    } else if (option == "--spread") {
      o.spreadRandom = choice(option, value, "one", "random");
    } else {
      throw InputError(option + ": no such option");
    }
  }
  if (o.rate && paced) throw InputError("--rate and --speed are both given; one sets the pace");
  if ((!o.bench && o.in.empty()) || o.config.empty())
    throw InputError("--in and --config-words are needed, or --bench and --config-words");
  if (o.bench && (o.split || !o.front.empty()))
    throw InputError("--split and --front are of a capture, and --bench has none");
  if (o.model && !o.waves.empty()) throw InputError("--engine model has no signals: no waveform");
  if (o.model && o.hold != 0) throw InputError("--engine model pauses no egress: no --hold");
  if (o.model && o.undefined.any())
    throw InputError("--engine model leaves nothing undefined: no --power-up, no --collisions");
  return o;
}

}  // namespace vermilion
