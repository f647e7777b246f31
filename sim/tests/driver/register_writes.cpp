// Prints the register writes of the simulator's harness for a configuration (docs/hardware-configuration.md, on
// standard input): one line "address value" for each write.
#include <cstdio>
#include <iostream>
#include <iterator>

#include "config_json.h"
#include "control_access.h"

int main() {
  const std::string json{std::istreambuf_iterator<char>(std::cin), {}};
  for (const auto& [address, value] : vermilion::registerWrites(vermilion::readConfig(json).config))
    std::printf("%u %u\n", address, value);
}
