// A single-server queue with Poisson arrivals and exponential service times. The model or the RTL makes the decisions
// (decider.h).
// Standard input: a JSON object with `lane`, a configuration (docs/hardware-configuration.md) of which it uses queue 0,
// `arrivals_per_second`, `services_per_second`, `count` and `warm_up` in arrivals, `seed`. Standard output: one JSON
// object, see `figures`.
//
// Backlog and limit count the packet in service. Arrivals and service times come from two separate generators, so runs
// with one seed have the same arrivals, whatever is dropped. Time is a double in seconds; the model sees it in ns.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

#include "decider.h"

namespace {

using namespace vermilion;

constexpr u32 PacketBytes = 1000;
constexpr std::size_t RunsKept = 32;  // lengths of runs of drops; the last counts all longer runs

class Exponential {
 public:
  Exponential(u64 seed, double mean) : source_(seed), mean_(mean) {}
  double operator()() { return -mean_ * std::log1p(-static_cast<double>(source_() >> 11) * 0x1p-53); }

 private:
  std::mt19937_64 source_;
  double mean_;
};

struct Counts {
  u64 arrived = 0, verdicts[VM_VERDICTS] = {}, served = 0, runs[RunsKept] = {}, runCount = 0, runSum = 0;
  double waited = 0, average = 0, seconds = 0;
};

class PoissonQueue {
 public:
  PoissonQueue(const LoadedConfig& loaded, double arrivals, double services, u64 seed)
      : decider_(makeDecider(loaded, seed)), gap_(2 * seed, 1 / arrivals), service_(2 * seed + 1, 1 / services) {}

  // Simulates `n` arrivals. The counts cover these arrivals and the departures in the same time.
  Counts run(u64 n) {
    counts_ = {};
    const double begin = now_;
    for (u64 i = 0; i < n; i++) arrive();
    counts_.seconds = now_ - begin;
    return counts_;
  }
  // A hash of all verdicts, averages and probabilities so far, as for the networks (engine/fate_hash.h).
  nlohmann::json fates() const {
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(hash_));
    return {{"hash", hash}, {"lanes", {{{"decided", decided_}}}}};
  }

 private:
  void depart(double until) {
    for (; !inside_.empty() && end_ <= until; end_ += inside_.empty() ? 0 : service_()) {
      counts_.served++;
      counts_.waited += started_ - inside_.front();
      inside_.pop_front();
      decider_->departed(static_cast<u64>(end_ * 1e9), PacketBytes);
      left_ = started_ = end_;
    }
  }

  void arrive() {
    now_ += gap_();
    depart(now_);
    const u32 backlog = static_cast<u32>(inside_.size());
    Arrival a{};
    a.time = static_cast<u64>(now_ * 1e9);
    a.len_bytes = PacketBytes;
    a.backlog_packets[0] = a.queued_packets = backlog;
    a.backlog_bytes[0] = a.queued_bytes = backlog * PacketBytes;
    std::fill_n(a.n, Colours, 1);
    a.last_departure[0] = static_cast<u64>(left_ * 1e9);
    const Decision d = decider_->decide(a);
    decided_++;
    for (const u64 word : {u64{d.verdict}, d.avg, d.p}) hash_ = (hash_ ^ word) * 0x100000001b3;
    counts_.arrived++;
    counts_.verdicts[d.verdict]++;
    counts_.average += static_cast<double>(d.avg) / (1 << AvgFrac);
    if (d.verdict != VM_ENQUEUE) {
      run_++;
      return;
    }
    if (run_ != 0) {
      counts_.runs[std::min<u64>(run_, RunsKept) - 1]++;
      counts_.runCount++;
      counts_.runSum += run_;
      run_ = 0;
    }
    if (inside_.empty()) {
      started_ = now_;
      end_ = now_ + service_();
    }
    inside_.push_back(now_);
  }

  std::unique_ptr<Decider> decider_;
  u64 decided_ = 0, hash_ = 0xcbf29ce484222325;  // FNV-1a over words of 64 bits
  Exponential gap_, service_;
  std::deque<double> inside_;  // arrival times; the first is in service
  double now_ = 0, started_ = 0, end_ = 0, left_ = 0;
  u64 run_ = 0;  // drops since the last admitted packet
  Counts counts_;
};

// `waited`: time before service, in s, summed over the served packets. `average`: the compared average, summed over
// arrivals. `runs`: runs of consecutive drops, by length from 1 up; the last counts all longer runs.
nlohmann::json figures(const Counts& c) {
  return {{"arrived", c.arrived},
          {"early", c.verdicts[VM_EARLY]},
          {"forced", c.verdicts[VM_FORCED]},
          {"tail", c.verdicts[VM_TAIL]},
          {"served", c.served},
          {"waited", c.waited},
          {"average", c.average},
          {"seconds", c.seconds},
          {"run_count", c.runCount},
          {"run_sum", c.runSum},
          {"runs", c.runs}};
}

}  // namespace

int main() {
  try {
    const auto asked = nlohmann::json::parse(std::cin);
    const LoadedConfig loaded = readConfig(asked.at("lane").dump());
    PoissonQueue queue(loaded, asked.at("arrivals_per_second"), asked.at("services_per_second"), asked.at("seed"));
    queue.run(asked.at("warm_up"));
    nlohmann::json out = figures(queue.run(asked.at("count")));
    out["fates"] = queue.fates();
    std::cout << out << "\n";
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
