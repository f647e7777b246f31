// What the harness itself sees of the lane's traffic, to check the lane's counters. It uses the ports for frames,
// verdicts, departures and losses, and never a register. results.h has the names of its JSON.
//
// These rules hold for any register values: a frame has one fate, departs in the order of its queue, and keeps its
// length and all bytes after the header window. A breach is counted, and the first is kept as a sentence. (`vermilion
// run` checks that each verdict is the model's; there the configuration is known.)
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "accounting.h"
#include "lane_driver.h"
#include "results.h"

namespace vermilion {

class LaneBook : public LaneListener {
 public:
  // `sent`: a frame on the wire, with the lane time of its departure, its bytes, and its length in the original
  // capture.
  using Sent = std::function<void(u64 left, const std::vector<u8>& bytes, u32 wireLen)>;
  explicit LaneBook(Sent sent) : sent_(std::move(sent)) { reset(); }
  void reset();  // together with the lane

  void time(u64, u64 now) override { now_ = now; }
  void arrived(u32 input, std::shared_ptr<const Frame> frame, u64 clock) override;
  void lost(u32 input, u32 lenBytes, u64 clock) override;
  void decided(const RtlDecision& decision, u64 clock) override;
  void departed(const Left& left, u64 now, u64 clock) override;
  void wire(u32 egress, std::vector<u8> bytes, u64 firstBeatClock) override;
  void breach(const std::string& text) override;

  void write(nlohmann::ordered_json& json) const;
  // "queues": [{packets, bytes: in the queue now; average: [3], per colour the average at its last packet, in bytes or
  // packets; probability: at the last packet that had one; sojourn_ns: of the last departure}]
  void writeQueues(nlohmann::ordered_json& json) const;
  u64 underWay() const { return underWay_; }  // frames that are in, and whose fate is open
  u64 errors() const { return errors_; }
  const std::string& firstError() const { return first_; }

 private:
  void removeVictim(u32 queue, const VictimOutcome& outcome);
  void match();

  // The last values of a queue.
  struct Latest {
    u64 average[Colours] = {}, probability = 0, sojourn = 0;
  };
  Sent sent_;
  std::unique_ptr<Results> results_;
  std::vector<std::deque<Packet>> inputs_, queues_;
  std::vector<Latest> latest_;
  std::deque<Packet> left_;
  std::deque<std::vector<u8>> wire_;
  u64 now_ = 0, decidedAt_ = 0, errors_ = 0, arrived_ = 0, underWay_ = 0, frames_ = 0, flushed_ = 0;
  std::string first_;
};

}  // namespace vermilion
