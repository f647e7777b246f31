// The draws of the lane's random source as raw little-endian 32-bit words on standard output, until nobody reads any more.
// The generator is the model's, whose draws a test compares with the RTL's. Argument: the seed.
// The number of bytes written stands on standard error at the end.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../model/random.h"

int main(int argc, char** argv) {
  const char* text = argc > 1 ? argv[1] : "";
  char* end = nullptr;
  const unsigned long long seed = std::strtoull(text, &end, 10);
  if (end == text || *end != 0) {
    std::fprintf(stderr, "usage: draws SEED\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  vermilion::RandomSource source(seed);
  std::vector<vermilion::u32> block(1 << 14);
  unsigned long long bytes = 0;
  do {
    for (auto& draw : block) draw = source.draw();
    bytes += block.size() * sizeof block[0];
  } while (std::fwrite(block.data(), sizeof block[0], block.size(), stdout) == block.size());
  std::fprintf(stderr, "%llu\n", bytes);
}
