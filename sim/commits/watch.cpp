#include "watch.h"

#include <algorithm>

namespace vermilion {

CommitWatch::CommitWatch(const VmConfig& config)
    : accounting_(config, Inputs, [](const Packet&, const std::vector<u8>&) {}) {
  stories_.push_back({Replay(config), false});
}

void CommitWatch::open(u32 queue, const VmQueue& profile) {
  for (; stories_.size() > MostStories; stories_.pop_front()) seen_.untold++;
  seen_.most = std::max<u64>(seen_.most, stories_.size());
  for (Story& story : stories_) story.changed = false;
  under_ = true;
  old_ = new_ = false;
  queue_ = queue;
  profile_ = profile;
  changes_++;
}

void CommitWatch::close() {
  if (under_) keepChanged();
  under_ = false;
  join();
  seen_.onlyOld += old_;
  seen_.onlyNew += new_;
  seen_.both += old_ && new_;
}

// Stories with the old profile change to the new one: the queue has had no decision since.
void CommitWatch::keepChanged() {
  for (Story& story : stories_) {
    if (story.changed) continue;
    story.replay.configure(queue_, profile_);
    story.changed = true;
  }
}

// Merges stories with the same state.
void CommitWatch::join() {
  for (auto it = stories_.begin(); it != stories_.end(); ++it)
    for (auto other = std::next(it); other != stories_.end();)
      other = it->replay.sameState(other->replay) ? stories_.erase(other) : std::next(other);
}

void CommitWatch::finish() {
  for (Story& story : stories_) story.replay.finish();
  drop("at the end");
  accounting_.finish();
}

// Removes stories that disagree. The reason of the last one is the reported fault.
void CommitWatch::drop(const std::string& why) {
  std::string reason;
  for (auto it = stories_.begin(); it != stories_.end();) {
    if (it->replay.disagreed() == 0) {
      ++it;
      continue;
    }
    reason = it->replay.firstDisagreement();
    it = stories_.erase(it);
  }
  if (stories_.empty() && fault_.empty())
    fault_ = "change " + std::to_string(changes_) + ", queue " + std::to_string(queue_) + ", " + why +
             ": a decision is neither the old profile's nor the new one's: " + reason;
}

void CommitWatch::time(u64 clock, u64 now) {
  for (Story& story : stories_) story.replay.time(clock, now);
}

void CommitWatch::arrived(u32 input, std::shared_ptr<const Frame> frame, u64 clock) {
  accounting_.arrived(input, std::move(frame), clock);
}

void CommitWatch::lost(u32 input, u32 lenBytes, u64 clock) {
  accounting_.lost(input, lenBytes, clock);
}

void CommitWatch::decided(const RtlDecision& d, u64 clock) {
  const Packet p = d.refresh ? Packet{} : accounting_.decided(d, clock);
  if (stories_.empty()) return;
  (d.refresh ? seen_.refreshes : seen_.decisions)++;
  if (!d.refresh && d.verdict < VM_VERDICTS) seen_.verdicts[d.verdict]++;
  const bool mine = under_ && d.seen.queue == queue_;
  u32 olds = 0, news = 0;
  if (mine) {
    seen_.amid++;
    for (auto it = stories_.begin(); it != stories_.end(); ++it) {
      if (it->changed) continue;
      Story branch = *it;
      branch.replay.configure(queue_, profile_);
      branch.changed = true;
      stories_.push_front(std::move(branch));
    }
  }
  for (Story& story : stories_) {
    story.replay.check(d, p.headers, p.marker, p.rule.drop, clock);
    const bool good = story.replay.disagreed() == 0;
    if (story.changed) news += good;
    if (!story.changed) olds += good;
  }
  if (mine) {
    old_ |= news == 0 && olds != 0;
    new_ |= olds == 0 && news != 0;
  }
  drop(under_ ? "under way" : "taken");
}

void CommitWatch::departed(const Left& left, u64 now, u64 clock) {
  for (Story& story : stories_) story.replay.departed(clock, now, left.queue, left.colour, left.lenBytes, left.arrival);
  accounting_.departed(left, now, clock);
}

void CommitWatch::wire(u32 egress, std::vector<u8> bytes, u64 firstBeatClock) {
  accounting_.wire(egress, std::move(bytes), firstBeatClock);
}

}  // namespace vermilion
