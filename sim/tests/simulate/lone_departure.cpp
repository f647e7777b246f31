// A departure from a queue that is empty in the replay, and no decision at all: a broken lane might show this first.
#include <cstdio>
#include <vector>

#include "replay.h"

int main() {
  using namespace vermilion;
  std::vector<VmQueue> queues(1);
  VmConfig config{};
  config.queue_count = 1;
  config.queues = queues.data();
  config.seed = 1;
  Replay replay(config);
  for (u64 clock = 0; clock < 100; clock++) {
    replay.time(clock, 4 * clock);
    if (clock == 50) replay.departed(clock, 4 * clock, 0, 0, 64, 0);
  }
  replay.finish();
  std::printf("%llu %llu %s\n", static_cast<unsigned long long>(replay.decisions()),
              static_cast<unsigned long long>(replay.agreed()), replay.firstDisagreement().c_str());
}
