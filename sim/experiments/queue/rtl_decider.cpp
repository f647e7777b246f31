// The Verilated policy pipeline alone (hw/src/vermilion/policy/PolicyPipeline.scala): classifier, averages, curve,
// spacing, limit and verdict. It keeps its own backlog counters. The decider feeds it packets and departures. The queue
// state that it reports must be the real one.
//
// The decider sends one packet at a time. It applies departures, waits `SettleCycles` until all stages know of them,
// sends the packet, and runs until the pipeline is idle. Time is an input, so all of these cycles have the time of the
// arrival.
#include <verilated.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "../../model/random.h"
#include "VPolicy.h"
#include "decider.h"

namespace vermilion {

namespace {

constexpr u32 ResetCycles = 8, SettleCycles = 8, PatienceCycles = 100'000;
constexpr u32 OtherFrames = 64;  // the class of frames without IP: classify/Classifier.scala

class RtlDecider : public Decider {
 public:
  RtlDecider(const VmQueue& queue, u64 seed) {
    if (queue.marker.kind != 0 || queue.victim != 0 || queue.update != 0)
      throw std::runtime_error("the RTL's decision by itself has no marker, victim search or refresh at departures");
    top_.reset = 1;
    for (u32 i = 0; i < ResetCycles; i++) clock();
    top_.reset = 0;
    rest();
    u32 words[4];
    RandomSource(seed).state(words);
    std::copy_n(words, 4, top_.io_seed_bits_decide.data());
    std::copy_n(words, 4, top_.io_seed_bits_mark.data());
    std::copy_n(words, 4, top_.io_seed_bits_flow.data());
    top_.io_seed_valid = 1;
    clock();
    top_.io_seed_valid = 0;
    top_.io_classWrite_bits_address = OtherFrames;
    top_.io_classWrite_valid = 1;
    clock();
    top_.io_classWrite_valid = 0;
    configure(queue);
    top_.io_commit_valid = 1;
    top_.eval();
    for (u32 i = 0; !top_.io_commit_ready; i++) {
      if (i == PatienceCycles) throw std::runtime_error("the policy pipeline takes no commit");
      clock();
    }
    clock();
    top_.io_commit_valid = 0;
    rest();
  }

  void departed(u64 time, u32 lenBytes) override {
    top_.io_now = truncate(time, TimeBits);
    top_.io_departed_bits_lenBytes = lenBytes;
    top_.io_departed_valid = 1;
    clock();
    top_.io_departed_valid = 0;
    unsettled_ = true;
  }

  Decision decide(Arrival a) override {
    for (u32 i = 0; unsettled_ && i < SettleCycles; i++) clock();
    unsettled_ = false;
    top_.io_now = truncate(a.time, TimeBits);
    top_.io_descriptor_bits_lenBytes = a.len_bytes;
    top_.io_descriptor_bits_cells = 1;
    top_.io_descriptor_valid = 1;
    top_.eval();
    if (!top_.io_descriptor_ready) throw std::runtime_error("the policy pipeline takes no packet");
    clock();
    top_.io_descriptor_valid = 0;
    for (u32 i = 0; !top_.io_decision_valid; i++) {
      if (i == PatienceCycles) throw std::runtime_error("the policy pipeline gives no verdict");
      clock();
    }
    if (top_.io_decision_bits_backlog_0_packets != a.backlog_packets[0] ||
        top_.io_decision_bits_queued_bytes != a.queued_bytes ||
        top_.io_decision_bits_lastDeparture_0 != truncate(a.last_departure[0], TimeBits) ||
        top_.io_decision_bits_ahead_0 != 1)
      throw std::runtime_error("the policy pipeline saw another queue at " + std::to_string(a.time) + " ns");
    const Decision d{top_.io_decision_bits_verdict, top_.io_decision_bits_average_0, top_.io_decision_bits_probability,
                     0};
    rest();
    return d;
  }

 private:
  // Runs one cycle. Its clock edge samples the inputs. The outputs are then those after the edge.
  void clock() {
    top_.clock = 0;
    top_.eval();
    top_.clock = 1;
    top_.eval();
  }

  void rest() {
    for (u32 i = 0; top_.io_busy; i++) {
      if (i == PatienceCycles) throw std::runtime_error("the policy pipeline does not rest");
      clock();
    }
  }

  void configure(const VmQueue& q) {
    auto& t = top_;
#define VM_SCALED(to, from)                          \
  t.io_commit_bits_config_##to##_mant = (from).mant; \
  t.io_commit_bits_config_##to##_shift = (from).shift;
    t.io_commit_bits_config_average_unit = q.unit != 0;
    t.io_commit_bits_config_average_masks_0 = q.masks[0];
    t.io_commit_bits_config_average_masks_1 = q.masks[1];
    t.io_commit_bits_config_average_masks_2 = q.masks[2];
    VM_SCALED(average_weight_0, q.weight[0])
    VM_SCALED(average_weight_1, q.weight[1])
    VM_SCALED(average_weight_2, q.weight[2])
    VM_SCALED(average_weight_3, q.weight[3])
    VM_SCALED(average_weight_4, q.weight[4])
    VM_SCALED(average_weight_5, q.weight[5])
    VM_SCALED(average_lambda, q.lambda)
    t.io_commit_bits_config_average_idleStep = q.idle_step;
    t.io_commit_bits_config_size_weight = q.size_weight != 0;
    VM_SCALED(size_invMeanLen, q.inv_mean_len)
    t.io_commit_bits_config_decide_spacing = q.spacing;
    t.io_commit_bits_config_decide_limit = q.limit;
    t.io_commit_bits_config_decide_limitPackets = q.limit_packets;
    const VmCurve& c = q.colour[0].curve[VM_DROPS];  // all packets are green
    t.io_commit_bits_config_colours_0_drop_shape_on = c.on != 0;
    t.io_commit_bits_config_colours_0_drop_shape_min = c.min;
    t.io_commit_bits_config_colours_0_drop_shape_max = c.max;
    t.io_commit_bits_config_colours_0_drop_shape_end = c.end;
    t.io_commit_bits_config_colours_0_drop_shape_slope1 = c.slope1;
    t.io_commit_bits_config_colours_0_drop_shape_base2 = c.base2;
    t.io_commit_bits_config_colours_0_drop_shape_slope2 = c.slope2;
    VM_SCALED(colours_0_drop_shape_square2, c.square2)
    VM_SCALED(colours_0_drop_inverses_0, c.inv1)
    VM_SCALED(colours_0_drop_inverses_1, c.inv2)
#undef VM_SCALED
  }

  VerilatedContext context_;
  VPolicy top_{&context_};
  bool unsettled_ = false;
};

}  // namespace

std::unique_ptr<Decider> makeDecider(const LoadedConfig& loaded, u64 seed) {
  return std::make_unique<RtlDecider>(loaded.queues[0], seed);
}

}  // namespace vermilion
