// A lane under commits: each decision must be the model's with the queue's old profile or with its new one, and once new, always new.
//
// Which packet is the first to meet a commit only the lane knows. So from the write of COMMIT on there is more than one story: at each decision of that
// queue the commit may have come just before it. Stories that tell the same go on beside each other, over later changes too. A story is a whole replay (harness/replay.h), which must agree bit for bit in what each
// decision saw, averages, probability, colour, verdict; one that disagrees once is dropped. No story left: some decision used neither profile, or a mix.
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
    u64 amid = 0;     // decisions of the queue while its commit was under way
    u64 onlyOld = 0;  // changes in whose time under way a decision agreed with the old profile alone
    u64 onlyNew = 0;  // the same with the new one
    u64 both = 0;     // changes that had both
    u64 most = 1;     // stories at once
    u64 untold = 0;   // stories left out because there were too many; a fault behind that says nothing
    u64 verdicts[VM_VERDICTS] = {};
  };
  explicit CommitWatch(const VmConfig& config);

  // COMMIT is about to be written: from here to close() the queue may change to `profile`.
  void open(u32 queue, const VmQueue& profile);
  // The lane has taken it, and everything decided before has been shown.
  void close();
  void finish();

  bool failed() const { return !fault_.empty() || accounting_.errors() != 0; }
  // One sentence on what is wrong; empty: nothing.
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
    bool changed;  // the commit has come in it
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
