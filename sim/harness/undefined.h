// Seeds of what the RTL leaves undefined, for the simulator's build "undefined" (sim/vermilion/toolchain/undefined.py).
#pragma once

#include <optional>

#include "formats.h"

namespace vermilion {

// Without a seed, registers and memories begin at zero and a RAM gives the new data where a read meets a write.
struct Undefined {
  std::optional<u32> powerUp;     // of registers and memories before reset, and of don't-cares
  std::optional<u32> collisions;  // of what a synchronous RAM gives where a read meets a write to its address

  bool any() const { return powerUp || collisions; }
  // 1 to `most` by the seed of `powerUp`, without it `most`.
  u32 resetCycles(u32 most) const { return powerUp ? 1 + *powerUp % most : most; }
};

}  // namespace vermilion
