// Makes the decisions on the arrivals of the Poisson queue, with the model or with the RTL's policy pipeline
// (model_decider.cpp or rtl_decider.cpp; the build links one).
#pragma once

#include <memory>

#include "../../model/config_json.h"
#include "../../model/decide.h"

namespace vermilion {

class Decider {
 public:
  virtual ~Decider() = default;
  // `a` has the state of the queue, without the draw. Times never decrease.
  virtual Decision decide(Arrival a) = 0;
  // An admitted packet leaves queue 0.
  virtual void departed(u64 time, u32 lenBytes) = 0;
};

// The decider for queue 0 of a configuration, with draws from `seed`.
std::unique_ptr<Decider> makeDecider(const LoadedConfig& loaded, u64 seed);

}  // namespace vermilion
