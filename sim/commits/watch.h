// Checks a lane under commits. Each decision must be the model's with the queue's old profile or with its new one.
// After the first decision with the new one, all must use the new one.
//
// Only the lane knows which packet is the first that uses a commit. So from the write of COMMIT on there are several
// stories: at each decision of that queue, the commit may have come just before it. Stories with the same results
// continue in parallel, also over later changes.
// A story is a whole replay (harness/replay.h). It must agree bit for bit with what each decision saw, its averages,
// probability, colour and verdict. A story that disagrees once is removed. If no story is left, a decision used neither
// profile, or a mix.
#pragma once

#include <list>
#include <memory>
#include <string>

#include "accounting.h"
#include "lane_driver.h"
#include "replay.h"

namespace vermilion {

class CommitWatch : public LaneListener {
 public:
  struct Seen {
    u64 decisions = 0, refreshes = 0;
    u64 amid = 0;     // decisions of the queue while its commit was pending
    u64 onlyOld = 0;  // changes with a decision, while pending, that agreed only with the old profile
    u64 onlyNew = 0;  // the same for the new profile
    u64 both = 0;     // changes that had both
    u64 most = 1;     // stories at once
    u64 untold = 0;   // stories left out because there were too many; a later fault is then not conclusive
    u64 verdicts[VM_VERDICTS] = {};
  };
  explicit CommitWatch(const VmConfig& config);

  // Call before the write of COMMIT. From here to close() the queue may change to `profile`.
  void open(u32 queue, const VmQueue& profile);
  // The lane has applied the commit and has shown all decisions before it.
  void close();
  void finish();

  bool failed() const { return !fault_.empty() || accounting_.errors() != 0; }
  // The fault as one sentence. Empty: none.
  std::string fault() const { return fault_.empty() ? accounting_.firstError() : fault_; }
  const Seen& seen() const { return seen_; }
  bool empty() const { return accounting_.empty(); }

  void time(u64 clock, u64 now) override;
  void arrived(u32 input, std::shared_ptr<const Frame> frame, u64 clock) override;
  void lost(u32 input, u32 lenBytes, u64 clock) override;
  void decided(const RtlDecision& decision, u64 clock) override;
  void departed(const Left& left, u64 now, u64 clock) override;
  void wire(u32 egress, std::vector<u8> bytes, u64 firstBeatClock) override;
  void breach(const std::string& text) override { accounting_.error(text); }

 private:
  static constexpr std::size_t MostStories = 64;  // from one change to the next
  struct Story {
    Replay replay;
    bool changed;  // the commit has taken effect in this story
  };
  void drop(const std::string& why);
  void keepChanged();
  void join();

  Accounting accounting_;
  std::list<Story> stories_;
  bool under_ = false, old_ = false, new_ = false;
  u32 queue_ = 0;
  VmQueue profile_{};
  u64 changes_ = 0;
  std::string fault_;
  Seen seen_;
};

}  // namespace vermilion
