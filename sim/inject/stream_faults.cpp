#include "stream_faults.h"

#include "faults.h"

namespace vermilion {

void StreamFault::output(Beat& beat) {
  const bool gap = name_ == "keep-gap", none = name_ == "keep-zero", few = name_ == "keep-short",
             bad = name_ == "bad-out";
  const bool fits = (gap && beat.keep > 1) || none || (few && !beat.last) || (bad && beat.last);
  if (!fits || points_++ != at_) return;
  if (gap) beat.keep &= ~u64{1};
  if (none) beat.keep = 0;
  if (few) beat.keep >>= 1;
  if (bad) beat.bad = true;
}

bool StreamFault::ready(u32 input, bool ready) {
  if (name_ != "not-ready" || (Stallable >> input & 1) != 0) return ready;
  return points_++ == at_ ? false : ready;
}

void addStreamFaults(std::vector<Fault>& to) {
  const auto add = [&](const char* name, const char* what, const char* says) {
    to.push_back({name, what, Check::Stream, {says}, nullptr, nullptr, true});
  };
  add("keep-gap", "an output beat's keep lacks its first byte", "gaps in keep");
  add("keep-zero", "an output beat's keep is 0", "with keep 0");
  add("keep-short", "an output beat that is not a frame's last is not full", "not the last of its frame");
  add("bad-out", "a frame comes out with bad set", "with bad set");
  add("not-ready", "an input that cannot be stalled is not ready", "was not ready");
}

}  // namespace vermilion
