// Seeds for values that the RTL leaves undefined, in the simulator's build "undefined".
//
// sim/vermilion/toolchain/undefined.py makes that build.
#pragma once

#include <optional>

#include "formats.h"

namespace vermilion {

// Without a seed, registers and memories power up at 0. A RAM then gives the new data if an address is read in the
// cycle of a write to it.
struct Undefined {
  std::optional<u32> powerUp;     // for registers and memories before reset, and for don't-cares
  std::optional<u32> collisions;  // for what a synchronous RAM reads in the cycle of a write to the address

  bool any() const { return powerUp || collisions; }
  // 1 to `most`, by the seed `powerUp`; without a seed `most`.
  u32 resetCycles(u32 most) const { return powerUp ? 1 + *powerUp % most : most; }
};

}  // namespace vermilion
