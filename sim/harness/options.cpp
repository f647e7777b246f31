#include "options.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "option_number.h"

namespace vermilion {

const char* usage() {
  return "vermilion-sim --in CAPTURE --config-words FILE [--engine rtl|model] [--rate BITS_PER_SECOND | --speed "
         "FACTOR]\n"
         "              [--front FILE]   DSCPs by flow (front.h)\n"
         "              [--split PAYLOAD_BYTES]   long TCP frames as segments; 0: as fit 1500 bytes of IP\n"
         "              [--seed N] [--out OUT.pcapng] [--stats-json FILE] [--trace FILE] [--why WHY.pcapng] "
         "[--reports REPORTS.pcapng] [--vcd FILE | --fst FILE] [--stalls]\n"
         "              [--start-ns NS]   for tests: lane time of the first frame, such as shortly before 2^48\n"
         "              [--hold EGRESSES]   for tests: paused until all others rest; a bit for each\n"
         "              [--hold-reports]   for tests: no report is taken until the end\n"
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

struct Parsed {
  Options o;
  bool paced = false;  // --speed is given
};

template <class T>
using Entry = std::pair<std::string_view, T>;

// The entry of a table, or nullptr.
template <class T, std::size_t N>
const Entry<T>* find(const Entry<T> (&table)[N], const std::string& name) {
  const auto* found = std::find_if(std::begin(table), std::end(table), [&](const auto& e) { return e.first == name; });
  return found == std::end(table) ? nullptr : found;
}

// Options without a value.
constexpr Entry<bool Options::*> Flags[] = {
    {"--bench", &Options::bench}, {"--colours", &Options::colours}, {"--all-inputs", &Options::allInputs},
    {"--imix", &Options::imix},   {"--stalls", &Options::stalls},   {"--hold-reports", &Options::holdReports},
};

// Options with an unchecked value.
constexpr Entry<std::string Options::*> Texts[] = {
    {"--in", &Options::in},           {"--config-words", &Options::config},
    {"--config", &Options::config},   {"--front", &Options::front},
    {"--out", &Options::out},         {"--trace", &Options::trace},
    {"--vcd", &Options::waves},       {"--stats-json", &Options::statsJson},
    {"--fst", &Options::waves},       {"--why", &Options::why},
    {"--reports", &Options::reports},
};

// Options with a checked value. Each check receives the option's name and its value.
using Name = const std::string&;
using Value = const std::string&;
using Setter = void (*)(Parsed& p, Name name, Value value);

constexpr const char* BitRates = "64000 to 200000000000 bits a second";
constexpr const char* Seeds = "1 to 2^31-1";

void setSplit(Parsed& p, Name name, Value value) {
  p.o.split = number<u32>(name, value, 0, 9600, "0, or 48 to 9600 bytes");
  if (*p.o.split != 0 && *p.o.split < 48) throw InputError("--split is " + value + "; legal is 0, or 48 to 9600 bytes");
}

void setSpeed(Parsed& p, Name name, Value value) {
  p.o.speed = number(name, value, 1e-6, 1e6, "0.000001 to 1000000");
  p.paced = true;
}

constexpr Entry<Setter> OfCapture[] = {
    {"--engine", [](Parsed& p, Name name, Value value) { p.o.model = choice(name, value, "rtl", "model"); }},
    {"--rate", [](Parsed& p, Name name, Value value) { p.o.rate = number(name, value, 64e3, 200e9, BitRates); }},
    {"--speed", setSpeed},
    {"--split", setSplit},
    {"--seed",
     [](Parsed& p, Name name, Value value) { p.o.seed = number<u64>(name, value, 0, ~u64{0}, "0 to 2^64-1"); }},
    {"--start-ns",
     [](Parsed& p, Name name, Value value) {
       p.o.startNs = number<u64>(name, value, p.o.startNs, u64{1} << 60, "1000000 to 2^60");
     }},
    {"--power-up",
     [](Parsed& p, Name name, Value value) { p.o.undefined.powerUp = number<u32>(name, value, 1, 0x7fffffff, Seeds); }},
    {"--collisions", [](Parsed& p, Name name,
                        Value value) { p.o.undefined.collisions = number<u32>(name, value, 1, 0x7fffffff, Seeds); }},
    {"--hold", [](Parsed& p, Name name,
                  Value value) { p.o.hold = number<u32>(name, value, 0, 255, "0 to 255, a bit for each egress"); }},
};

constexpr Entry<Setter> OfBench[] = {
    {"--frame-bytes",
     [](Parsed& p, Name name, Value value) { p.o.frameBytes = number<u32>(name, value, 14, 65535, "14 to 65535"); }},
    {"--packets", [](Parsed& p, Name name,
                     Value value) { p.o.packets = number<u32>(name, value, 1, 100'000'000, "1 to 100000000"); }},
    {"--line-rate",
     [](Parsed& p, Name name, Value value) { p.o.lineRate = number(name, value, 64e3, 200e9, BitRates); }},
    {"--load", [](Parsed& p, Name name, Value value) { p.o.load = number(name, value, 0.01, 1.0, "0.01 to 1"); }},
    {"--spread", [](Parsed& p, Name name, Value value) { p.o.spreadRandom = choice(name, value, "one", "random"); }},
};

void set(Parsed& p, Name name, Value value) {
  if (const auto* text = find(Texts, name)) {
    p.o.*text->second = value;
  } else if (const auto* ofCapture = find(OfCapture, name)) {
    ofCapture->second(p, name, value);
  } else if (const auto* ofBench = find(OfBench, name)) {
    ofBench->second(p, name, value);
  } else {
    throw InputError(name + ": no such option");
  }
}

// Refuses options that exclude each other, and missing ones.
void checkTogether(const Parsed& p) {
  const Options& o = p.o;
  if (o.rate && p.paced) throw InputError("--rate and --speed are both given; one sets the pace");
  if ((!o.bench && o.in.empty()) || o.config.empty())
    throw InputError("--in and --config-words are needed, or --bench and --config-words");
  if (o.bench && (o.split || !o.front.empty()))
    throw InputError("--split and --front are of a capture, and --bench has none");
  if (o.model && !o.waves.empty()) throw InputError("--engine model has no signals: no waveform");
  if (o.model && o.hold != 0) throw InputError("--engine model pauses no egress: no --hold");
  if (o.model && o.undefined.any())
    throw InputError("--engine model leaves nothing undefined: no --power-up, no --collisions");
}

}  // namespace

Options parseOptions(int count, char** words) {
  Parsed p;
  for (int i = 1; i < count; i++) {
    const std::string option = words[i];
    if (const auto* flag = find(Flags, option)) {
      p.o.*flag->second = true;
      continue;
    }
    if (option == "--progress") continue;  // always printed
    if (i + 1 >= count) throw InputError(option + ": no such option, or its value is missing");
    set(p, option, words[++i]);
  }
  checkTogether(p);
  return p.o;
}

}  // namespace vermilion
