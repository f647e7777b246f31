// Prints the register writes of the simulator's harness for a configuration (docs/hardware-configuration.md, on
// standard input): one line "address value" for each write. With --stuck: what a snapshot says that the lane never ends.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <stdexcept>

#include "config_json.h"
#include "control_access.h"

using namespace vermilion;

namespace {

// A lane whose status reads as all ones.
struct Stuck : Registers {
  void write(u32, u32, u32) override {}
  u32 read(u32) override { return ~u32{0}; }
};

int stuck() {
  Stuck lane;
  LaneCounters colours[Colours];
  try {
    snapshot(lane, 3, colours);
  } catch (const std::runtime_error& error) {
    std::puts(error.what());
    return 0;
  }
  return 1;
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) return stuck();
  const std::string json{std::istreambuf_iterator<char>(std::cin), {}};
  for (const auto& [address, value] : registerWrites(readConfig(json).config)) std::printf("%u %u\n", address, value);
}
