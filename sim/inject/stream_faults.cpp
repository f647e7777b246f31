#include "stream_faults.h"

#include "faults.h"

namespace vermilion {

void StreamFault::output(Beat& beat) {
  const bool gap = name_ == "keep-gap", few = name_ == "keep-short", bad = name_ == "bad-out";
  const bool chance = gap || (few && !beat.last) || (bad && beat.last);
  if (!chance || chances_++ != at_) return;
  if (gap) beat.keep &= ~u64{1};
  if (few) beat.keep >>= 1;
  if (bad) beat.bad = true;
}

bool StreamFault::ready(u32 input, bool ready) {
  if (name_ != "not-ready" || (Stallable >> input & 1) != 0) return ready;
  return chances_++ == at_ ? false : ready;
}

void addStreamFaults(std::vector<Fault>& to) {
  const auto add = [&](const char* name, const char* what, const char* says) {
    to.push_back({name, what, Check::Stream, says, nullptr, nullptr, true});
  };
  add("keep-gap", "an output beat's keep lacks its first byte", "gaps in keep");
  add("keep-short", "an output beat that is not a frame's last is not full", "gaps in keep");
  add("bad-out", "a frame comes out with bad set", "with bad set");
  add("not-ready", "an input that cannot be stalled is not ready", "was not ready");
}

}  // namespace vermilion
