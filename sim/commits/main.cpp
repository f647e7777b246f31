// Profile changes under traffic. The lane receives frames back to back at the stream's width, with commits of random
// queues between them. Each decision is replayed with the old or the new profile (watch.h).
//
//   vermilion-commits --profiles FILE --changes N --seed S [--frame-bytes B] [--wrong N]
//
// FILE: one configuration per line (docs/hardware-configuration.md); the run begins with the first. A change gives one
// queue the profile that it has in another of them. All have the same queues, class table, port, service and rewriting.
// `--wrong N`: change N writes another last place of a weight than the watch expects. The watch must find this.
// Standard output: `progress DONE TOTAL`, then one JSON object. Exit status: 0 done, 1 a decision used neither profile,
// 2 the input is at fault.
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "bench.h"
#include "config_json.h"
#include "register_map.h"
#include "watch.h"

using namespace vermilion;
using Json = nlohmann::ordered_json;

namespace {

constexpr u32 MostPauseCycles = 400, Behind = 64;  // Behind: more cycles than from slot to verdict, push-outs included

struct Asked {
  std::string profiles;
  u64 changes = 100, seed = 1, wrong = 0;
  u32 frameBytes = 64;
};

Asked parse(int count, char** words) {
  Asked asked;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string word = words[i], value = words[i + 1];
    if (word == "--profiles") asked.profiles = value;
    if (word == "--changes") asked.changes = std::stoull(value);
    if (word == "--seed") asked.seed = std::stoull(value);
    if (word == "--wrong") asked.wrong = std::stoull(value);
    if (word == "--frame-bytes") asked.frameBytes = static_cast<u32>(std::stoul(value));
  }
  if (asked.profiles.empty() || asked.frameBytes < 54)
    throw InputError("usage: vermilion-commits --profiles FILE --changes N --seed S [--frame-bytes B] [--wrong N]");
  return asked;
}

// Supplies frames until it is told to stop.
class Tap : public FrameSource {
 public:
  explicit Tap(const Options& o) : inside_(benchSource(o)) {}
  std::shared_ptr<const Frame> next() override { return shut_ ? nullptr : inside_->next(); }
  u64 done() const override { return inside_->done(); }
  u64 total() const override { return 0; }
  void shut() { shut_ = true; }

 private:
  std::unique_ptr<FrameSource> inside_;
  bool shut_ = false;
};

class Campaign {
 public:
  Campaign(const Asked& asked, std::vector<LoadedConfig> pool)
      : asked_(asked), pool_(std::move(pool)), random_(asked.seed), watch_(pool_[0].config), lane_("") {
    options_.bench = options_.spreadRandom = true;
    options_.frameBytes = asked.frameBytes;
    options_.packets = ~u32{0};
  }

  Json run() {
    LaneDriver driver(lane_, watch_, false, Inputs == 1);
    driver.start(pool_[0].config);
    driver.control().write(registers::control(), registers::kControlDepartureUpdates.put(1));
    Tap source(options_);
    driver.attach(source);
    for (u64 n = 1; n <= asked_.changes && !watch_.failed(); n++) {
      for (u64 pause = random_() % MostPauseCycles; pause != 0; pause--) driver.advance(source);
      change(driver, source, n);
      if (n % std::max<u64>(1, asked_.changes / 100) == 0) {
        std::printf("progress %llu %llu\n", static_cast<unsigned long long>(n),
                    static_cast<unsigned long long>(asked_.changes));
        std::fflush(stdout);
      }
    }
    source.shut();
    if (!watch_.failed()) {
      driver.run(source, [] {});
      watch_.finish();
    }
    return report(driver);
  }
  bool failed() const { return watch_.failed(); }
  const CommitWatch& watch() const { return watch_; }

 private:
  // Writes the whole record and COMMIT, and waits until the lane has applied it.
  void change(LaneDriver& driver, Tap& source, u64 n) {
    const VmConfig& config = pool_[random_() % pool_.size()].config;
    const u32 queue = static_cast<u32>(random_() % config.queue_count);
    const VmQueue profile = config.queues[queue];
    VmQueue written = profile;
    if (n == asked_.wrong) written.weight[0].mant ^= 1;
    VmConfig one = config;
    one.queue_count = 1;
    one.queues = &written;
    for (const RegisterWrite& w : registerWrites(one)) {
      if (w.address == registers::queue_select()) break;  // later writes configure the lane, not the queue
      driver.control().write(w.address, w.value);
    }
    driver.control().write(registers::queue_select(), queue);
    watch_.open(queue, profile);
    driver.control().write(registers::commit(), 1);
    while (registers::kStatusCommitPending.get(driver.control().read(registers::status())) != 0) {
    }
    for (u32 i = 0; i < Behind; i++) driver.advance(source);
    watch_.close();
  }

  Json report(const LaneDriver& driver) const {
    const CommitWatch::Seen& seen = watch_.seen();
    Json json = {{"preset", BuildPreset},
                 {"seed", asked_.seed},
                 {"frame_bytes", asked_.frameBytes},
                 {"profiles", pool_.size()},
                 {"queues", pool_[0].config.queue_count},
                 {"changes", asked_.changes},
                 {"clocks", driver.runCycles()},
                 {"decisions", seen.decisions},
                 {"refreshes", seen.refreshes},
                 {"decisions_under_way", seen.amid},
                 {"changes_with_a_decision_of_the_old_alone", seen.onlyOld},
                 {"changes_with_a_decision_of_the_new_alone", seen.onlyNew},
                 {"changes_with_both", seen.both},
                 {"most_stories", seen.most},
                 {"stories_left_out", seen.untold}};
    for (int v = 0; v < VM_VERDICTS; v++) json["verdicts"][VerdictNames[v]] = seen.verdicts[v];
    json["fault"] = watch_.fault();
    return json;
  }

  Asked asked_;
  std::vector<LoadedConfig> pool_;
  std::mt19937_64 random_;
  Options options_;
  CommitWatch watch_;
  VerilatedLane lane_;
};

std::vector<LoadedConfig> load(const std::string& name) {
  std::ifstream file(name);
  if (!file) throw InputError(name + ": cannot be read");
  std::vector<LoadedConfig> pool;
  for (std::string line; std::getline(file, line);) {
    pool.push_back(readConfig(line));
    pool.back().config.queues = pool.back().queues.data();
    pool.back().config.buffer_cells = BuildCells;
    pool.back().config.max_frame_bytes = BuildMaxFrameBytes;
    pool.back().config.flows = BuildFlows;
    if (pool.back().config.queue_count != pool[0].config.queue_count || pool[0].config.queue_count > BuildQueues)
      throw InputError(name + ": has configurations of different queues, or of more than the build has");
  }
  if (pool.empty()) throw InputError(name + ": is empty");
  return pool;
}

}  // namespace

int main(int count, char** words) {
  try {
    const Asked asked = parse(count, words);
    Campaign campaign(asked, load(asked.profiles));
    std::printf("%s\n", campaign.run().dump().c_str());
    return campaign.failed() ? 1 : 0;
  } catch (const std::exception& e) {
    std::printf("error %s\n", e.what());
    return dynamic_cast<const InputError*>(&e) || dynamic_cast<const ConfigError*>(&e) ? 2 : 3;
  }
}
