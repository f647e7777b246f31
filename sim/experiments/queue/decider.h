// Who decides on the Poisson queue's arrivals: the model of the decision, or the RTL's policy pipeline (model_decider.cpp, rtl_decider.cpp; one is linked).
#pragma once

#include <memory>

#include "../../model/config_json.h"
#include "../../model/decide.h"

namespace vermilion {

class Decider {
 public:
  virtual ~Decider() = default;
  // `a` is what the queue has, but for the draw; times never go back.
  virtual Decision decide(Arrival a) = 0;
  // A packet that was admitted leaves queue 0.
  virtual void departed(u64 time, u32 lenBytes) = 0;
};

// Queue 0 of a configuration, with draws by `seed`.
std::unique_ptr<Decider> makeDecider(const LoadedConfig& loaded, u64 seed);

}  // namespace vermilion
