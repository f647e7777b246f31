// Counts demoted packets by flow, for a token bucket marker of the model and packets from standard input.
// Arguments: a configuration (docs/hardware-configuration.md), of which queue 0 has the marker, and the seed of the
// random source, which is the lane's. Standard input: one line per packet, in order of time: "NS BYTES FLOW". All
// arrive green. Standard output: one line per flow from 0 up: "PACKETS DEMOTED".
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "../model/config_json.h"
#include "../model/random.h"
#include "../model/token_marker.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: demotions CONFIG.json SEED < PACKETS\n");
    return 2;
  }
  std::ostringstream text;
  text << std::ifstream(argv[1]).rdbuf();
  const vermilion::LoadedConfig loaded = vermilion::readConfig(text.str());
  vermilion::RandomSource source(std::strtoull(argv[2], nullptr, 10));
  vermilion::TokenMarker marker;
  std::vector<unsigned long> packets, demoted;
  unsigned long long ns;
  unsigned bytes, flow;
  while (std::scanf("%llu %u %u", &ns, &bytes, &flow) == 3) {
    if (flow >= packets.size()) packets.resize(flow + 1), demoted.resize(flow + 1);
    packets[flow]++;
    demoted[flow] += marker.mark(loaded.queues[0].marker, ns, 0, bytes, source.draw()).colour != 0;
  }
  for (std::size_t i = 0; i < packets.size(); i++) std::printf("%lu %lu\n", packets[i], demoted[i]);
}
