// The model's decision. The caller gives it the state of the queue.
#include "../../model/random.h"
#include "decider.h"

namespace vermilion {

namespace {

class ModelDecider : public Decider {
 public:
  ModelDecider(const VmQueue& queue, u64 seed) : model_({queue}), draws_(seed) {}
  Decision decide(Arrival a) override {
    a.draw = draws_.draw();
    return model_.decide(a);
  }
  void departed(u64, u32) override {}

 private:
  DecisionModel model_;
  RandomSource draws_;
};

}  // namespace

std::unique_ptr<Decider> makeDecider(const LoadedConfig& loaded, u64 seed) {
  return std::make_unique<ModelDecider>(loaded.queues[0], seed);
}

}  // namespace vermilion
