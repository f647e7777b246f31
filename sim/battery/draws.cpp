// Writes the draws of the lane's random source as raw little-endian 32-bit words to standard output, until the reader
// closes it. The generator is the model's; a test compares its draws with the RTL's. Argument: the seed.
// At the end it writes the number of bytes to standard error.
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
