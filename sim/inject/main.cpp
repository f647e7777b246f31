// Checks that each checker of a run reports the faults that it is responsible for.
//
// It records one run of the Verilated lane. For each fault it replays the recording to new checkers, with the fault in
// it (faults.h). Faults of the streams at the ports get their own runs.
//
//   vermilion-inject --list
//   vermilion-inject --in CAPTURE --config-words FILE [options of vermilion-sim] [--own KEY,...]
//                    [--faults NAME[:AT],...] [--places N] [--first N]
//
//   --own      keys of the results in which the engines may differ
//   --faults   default: all. `:AT` injects the fault at that injection point only, counted from 1
//   --places   without `:AT`: the number of injection points, spread from the first to the last. Default: 3
//   --first    `number` of the first try, which selects the bit that is changed (bitOf). Default: 0
//   --list     prints the faults alone, with name, what, check, says
//
// Standard output: `progress DONE TOTAL`, then one JSON object:
//   preset
//   clean      {check: first message} of the recording without a fault; empty: no error
//   faults     [{name, what, check, says, chances, tries [{at, named, checks {check: first message}}]}]. `chances`:
//              number of injection points. `named`: the fault's checker reports it, with one of the words `says`
// Exit status: 0 done, 2 a fault of the input, 3 a failure of the program itself.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "differences.h"
#include "faults.h"
#include "option_number.h"
#include "rtl_checks.h"
#include "run_config.h"
#include "stream_faults.h"

using namespace vermilion;
using Json = nlohmann::ordered_json;

namespace {

struct Asked {
  bool list = false;
  std::vector<std::string> faults, own;
  std::size_t places = 3;
  u32 first = 0;              // number of the first try; it selects the bit (bitOf)
  std::vector<char*> others;  // for the simulator's options
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  std::stringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) out.push_back(part);
  return out;
}

Asked parse(int count, char** words) {
  Asked asked;
  asked.others.push_back(words[0]);
  for (int i = 1; i < count; i++) {
    const std::string word = words[i];
    if (word == "--list") {
      asked.list = true;
    } else if (word == "--faults" && i + 1 < count) {
      asked.faults = split(words[++i]);
    } else if (word == "--own" && i + 1 < count) {
      asked.own = split(words[++i]);
    } else if (word == "--places" && i + 1 < count) {
      asked.places = number<u32>(word, words[++i], 1, 1000, "1 to 1000");
    } else if (word == "--first" && i + 1 < count) {
      asked.first = number<u32>(word, words[++i], 0, 1000, "0 to 1000");
    } else {
      asked.others.push_back(words[i]);
    }
  }
  return asked;
}

// A temporary file. The destructor removes it.
class Scratch {
 public:
  explicit Scratch(const char* name)
      : path_(std::filesystem::temp_directory_path() / (name + std::to_string(getpid()))) {}
  ~Scratch() { std::filesystem::remove(path_); }
  std::string name() const { return path_.string(); }
  std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

using Found = Json;  // {check: first message}

// The model runs lanes with one egress and at most one input that cannot be stalled. In other builds the engines are not
// compared.
const bool HasModel = Egresses == 1 && Inputs - std::popcount(Stallable) <= 1;

class Campaign {
 public:
  Campaign(const Options& o, const std::vector<std::string>& own)
      : options_(o), own_(own.begin(), own.end()), loaded_(loadConfig(o)), faults_(allFaults(loaded_.config)) {
    record();
    if (!HasModel) return;
    const auto source = frames();
    Recorder recorder(output(), loaded_, *source);
    Json none;
    runModel(loaded_, *source, recorder, none);
    recorder.results().write(none);
    model_ = std::move(none);
    recorder.keep();
    modelOut_ = out_.text();
  }

  std::vector<Fault>& faults() { return faults_; }
  Found clean() { return check(recording_, HasModel); }

  Json put(const Fault& fault, std::size_t places, u32 first, std::optional<u64> only) {
    Json row = {{"name", fault.name},
                {"what", fault.what},
                {"check", CheckNames[static_cast<u32>(fault.check)]},
                {"says", fault.says}};
    const std::vector<std::size_t> points = fault.live ? std::vector<std::size_t>{} : fault.places(recording_);
    const bool absent = fault.check == Check::Engines && !HasModel;
    const u64 count = absent ? 0 : fault.live ? livePoints(fault) : points.size();
    row["chances"] = count;
    row["tries"] = Json::array();
    const u64 tries = only ? 1 : std::min<u64>(places, count);
    for (u64 n = 0; n < tries; n++) {
      const u64 at = only ? *only - 1 : tries == 1 ? count / 2 : n * (count - 1) / (tries - 1);
      if (at >= count) break;
      row["tries"].push_back(tried(fault, at, fault.live ? live(fault, at) : doctored(fault, points[at], first + n)));
    }
    return row;
  }

 private:
  std::unique_ptr<FrameSource> frames() const {
    return options_.bench ? benchSource(options_) : captureSource(options_);
  }
  Options output() const {
    Options o = options_;
    o.out = out_.name();
    return o;
  }

  void record() {
    const auto source = frames();
    VerilatedLane lane("");
    EventRecorder events(recording_);
    LaneDriver driver(lane, events, options_.stalls, options_.bench);
    driver.start(loaded_.config);
    driver.run(*source, [] {});
    events.stop();
    measured_ = {{"clocks", driver.runCycles()}, {"seconds", static_cast<double>(driver.now() - StartNs) / 1e9}};
    // Records the accesses. They do not depend on the events, so these checkers get none.
    RegisterRecorder registers(driver.control(), recording_.accesses);
    Recorder recorder(options_, loaded_, *source);
    RtlChecks checks(loaded_.config, recorder);
    Json none;
    checks.finish(registers, none);
  }

  Found doctored(const Fault& fault, std::size_t place, u64 number) {
    Recording copy = recording_;
    fault.put(copy, place, static_cast<u32>(number));
    return check(copy, fault.check == Check::Engines);
  }

  Found check(const Recording& recording, bool engines) {
    const auto source = frames();
    source->next();  // so that startNs() is known
    Recorder recorder(engines ? output() : options_, loaded_, *source);
    RtlChecks checks(loaded_.config, recorder);
    Json json = measured_;
    try {
      recording.play(checks);
      RecordedRegisters registers(recording.accesses);
      checks.finish(registers, json);
    } catch (const std::exception& e) {
      return {{"program", e.what()}};
    }
    Found found = findings(json);
    if (!engines) return found;
    recorder.results().write(json);
    recorder.keep();
    if (const std::string text = enginesApart(json); !text.empty()) found["engines"] = text;
    return found;
  }

  static Found findings(const Json& json) {
    Found found = Json::object();
    const auto add = [&](const char* check, const std::string& first) {
      if (!first.empty()) found[check] = first;
    };
    const std::string victims = json["victims"]["first_error"], replay = json["replay"]["first_disagreement"];
    if (replay != victims) add("replay", replay);
    for (const char* check : {"victims", "accounting", "counters", "stream"}) add(check, json[check]["first_error"]);
    return found;
  }

  // Compares the engines like test_engines.py: all keys of the results but those of --own, and the output capture.
  std::string enginesApart(const Json& rtl) const {
    Differences found;
    const auto compare = [&](const Json& one, const Json& other) {
      for (const auto& [key, value] : one.items())
        if (!own_.contains(key) && !(other.contains(key) && other.at(key) == value)) found.add(key);
    };
    compare(model_, rtl);
    compare(rtl, model_);
    const std::string out = out_.text();
    const auto at = std::mismatch(out.begin(), out.end(), modelOut_.begin(), modelOut_.end());
    if (out != modelOut_) found.add("output capture");
    if (found.none()) return "";
    return found.names() + ": the engines differ; their output captures agree in " +
           std::to_string(at.first - out.begin()) + " of " + std::to_string(modelOut_.size()) + " bytes";
  }

  Found liveRun(StreamFault& fault) const {
    const auto source = frames();
    VerilatedLane lane("");
    Recorder recorder(options_, loaded_, *source);
    RtlChecks checks(loaded_.config, recorder);
    LaneDriver driver(lane, checks, options_.stalls, options_.bench);
    driver.tap(&fault);
    driver.start(loaded_.config);
    driver.run(*source, [] {});
    Json json;
    checks.finish(driver.control(), json);
    return findings(json);
  }
  u64 livePoints(const Fault& fault) const {
    StreamFault counted(fault.name, ~u64{0});
    liveRun(counted);
    return counted.points();
  }
  Found live(const Fault& fault, u64 at) const {
    StreamFault put(fault.name, at);
    return liveRun(put);
  }

  static Json tried(const Fault& fault, u64 at, const Found& found) {
    const std::string text = found.value(CheckNames[static_cast<u32>(fault.check)], std::string());
    return {{"at", at + 1}, {"named", isReported(fault, text)}, {"checks", found}};
  }

  Options options_;
  std::set<std::string> own_;
  LoadedConfig loaded_;
  std::vector<Fault> faults_;
  Scratch out_{"vermilion-inject-"};
  Recording recording_;
  Json measured_;  // results of the RTL's run that a fault does not change
  Json model_;
  std::string modelOut_;
};

Json described(const Fault& f) {
  return {{"name", f.name}, {"what", f.what}, {"check", CheckNames[static_cast<u32>(f.check)]}, {"says", f.says}};
}

// The requested faults, by their index in the list, each with its requested injection point.
std::vector<std::pair<std::size_t, std::optional<u64>>> chosen(const Asked& asked, const std::vector<Fault>& faults) {
  std::vector<std::pair<std::size_t, std::optional<u64>>> out;
  for (const std::string& word : asked.faults) {
    const std::string name = word.substr(0, word.find(':'));
    const auto at = std::find_if(faults.begin(), faults.end(), [&](const Fault& f) { return f.name == name; });
    if (at == faults.end()) throw InputError("--faults: " + name + " is unknown; --list shows all faults");
    std::optional<u64> only;
    if (name != word)
      only = number<u64>(name, word.substr(name.size() + 1), 1, ~u64{0}, "1 to the number of injection points");
    out.push_back({static_cast<std::size_t>(at - faults.begin()), only});
  }
  for (std::size_t i = 0; asked.faults.empty() && i < faults.size(); i++) out.push_back({i, {}});
  return out;
}

int run(int count, char** words) {
  Asked asked = parse(count, words);
  Json json = Json::object();
  if (asked.list) {
    const VmConfig none{};
    for (const Fault& f : allFaults(none)) json["faults"].push_back(described(f));
    std::printf("%s\n", json.dump().c_str());
    return 0;
  }
  const Options options = parseOptions(static_cast<int>(asked.others.size()), asked.others.data());
  if (options.hold != 0 || options.allInputs) throw InputError("--hold and --all-inputs are for runs without faults");
  Campaign campaign(options, asked.own);
  const auto faults = chosen(asked, campaign.faults());
  json["preset"] = BuildPreset;
  json["clean"] = campaign.clean();
  json["faults"] = Json::array();
  for (std::size_t i = 0; i < faults.size(); i++) {
    json["faults"].push_back(
        campaign.put(campaign.faults()[faults[i].first], asked.places, asked.first, faults[i].second));
    std::printf("progress %zu %zu\n", i + 1, faults.size());
    std::fflush(stdout);
  }
  std::printf("%s\n", json.dump().c_str());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(count, words);
  } catch (const InputError& e) {
    std::printf("error %s\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    std::printf("error %s\n", e.what());
    return 3;
  }
}
