#include "verilated_lane.h"

#include <verilated.h>

#include <cstring>
#include <vector>

#include "Vlane.h"
#include "build_options.h"

#if defined(VM_WAVES_VCD)
#include <verilated_vcd_c.h>
using Waves = VerilatedVcdC;
#elif defined(VM_WAVES_FST)
#include <verilated_fst_c.h>
using Waves = VerilatedFstC;
#endif

namespace vermilion {

namespace {

// Sets the one seed of the context, from which all random values come.
VerilatedContext* configured(VerilatedContext& context, const Undefined& undefined) {
#ifdef VM_UNDEFINED
  const u32 seed = undefined.powerUp.value_or(0) * 2654435761u + undefined.collisions.value_or(0);
  context.randSeed(static_cast<int>(seed % 0x7fffffff + 1));
  context.randReset(undefined.powerUp ? 2 : 0);
  std::vector<const char*> words{"vermilion-sim"};
  if (undefined.powerUp) words.push_back("+power-up");
  if (undefined.collisions) words.push_back("+collisions");
  context.commandArgs(static_cast<int>(words.size()), words.data());
#else
  const auto refuse = [](const char* option, const std::optional<u32>& seed) {
    if (seed)
      throw InputError(std::string(option) + " is " + std::to_string(*seed) +
                       ", and this build of the simulator leaves nothing undefined; take the build \"undefined\"");
  };
  refuse("--power-up", undefined.powerUp);
  refuse("--collisions", undefined.collisions);
#endif
  return &context;
}

}  // namespace

struct VerilatedLane::Ports {
  explicit Ports(const Undefined& undefined) : top(configured(context, undefined)) {}
  VerilatedContext context;
  Vlane top;
#if defined(VM_WAVES_VCD) || defined(VM_WAVES_FST)
  std::unique_ptr<Waves> waves;
  u64 waveTime = 0;  // ps; a cycle is 4 ns, even when lane time jumps
  void dump() {
    if (waves) waves->dump(waveTime);
    waveTime += ClockNs * 500;
  }
#else
  void dump() {}
#endif
};

// One case per input or egress, at most 8.
#define VM_INPUT_1(X) X(0)
#define VM_INPUT_2(X) VM_INPUT_1(X) X(1)
#define VM_INPUT_3(X) VM_INPUT_2(X) X(2)
#define VM_INPUT_4(X) VM_INPUT_3(X) X(3)
#define VM_INPUT_5(X) VM_INPUT_4(X) X(4)
#define VM_INPUT_6(X) VM_INPUT_5(X) X(5)
#define VM_INPUT_7(X) VM_INPUT_6(X) X(6)
#define VM_INPUT_8(X) VM_INPUT_7(X) X(7)
#define VM_JOIN(a, b) a##b
#define VM_INPUT_N(n) VM_JOIN(VM_INPUT_, n)
#define VM_EACH_INPUT VM_INPUT_N(VM_INPUTS)
#define VM_EACH_EGRESS VM_INPUT_N(VM_EGRESSES)

VerilatedLane::VerilatedLane(const std::string& waves, const Undefined& undefined)
    : ports_(std::make_unique<Ports>(undefined)) {
#if defined(VM_WAVES_VCD) || defined(VM_WAVES_FST)
  if (!waves.empty()) {
    ports_->context.traceEverOn(true);
    ports_->waves = std::make_unique<Waves>();
    ports_->top.trace(ports_->waves.get(), 99);
    ports_->waves->open(waves.c_str());
    if (!ports_->waves->isOpen())
      throw InputError(waves + ": cannot be written; give a file in a folder that can be written to");
  }
#else
  if (!waves.empty())
    throw InputError(waves +
                     ": this build of the simulator has no waveforms; build it with VM_WAVES_VCD or VM_WAVES_FST");
#endif
  auto& top = ports_->top;
  top.clock = 0;
  top.io_control_b_ready = 1;
  top.io_control_r_ready = 1;
  setWrite(false, 0, false, 0);
  setRead(false, 0);
  setReportReady(true);
  for (u32 i = 0; i < Inputs; i++) setInput(i, nullptr);
  for (u32 e = 0; e < Egresses; e++) {
    setOutputReady(e, false);
    setPaused(e, false);
  }
}

VerilatedLane::~VerilatedLane() {
  ports_->top.final();
#if defined(VM_WAVES_VCD) || defined(VM_WAVES_FST)
  if (ports_->waves) ports_->waves->close();
#endif
}

void VerilatedLane::reset(bool on) {
  ports_->top.reset = on;
}
void VerilatedLane::setTime(u64 ns) {
  ports_->top.io_now = ns;
}
void VerilatedLane::setOutputReady(u32 egress, bool ready) {
#define VM_TAKES(e) \
  if (egress == (e)) ports_->top.io_out_##e##_ready = ready;
  VM_EACH_EGRESS(VM_TAKES)
}

void VerilatedLane::setPaused(u32 egress, bool paused) {
#define VM_PAUSES(e) \
  if (egress == (e)) ports_->top.io_paused_##e = paused;
  VM_EACH_EGRESS(VM_PAUSES)
}

void VerilatedLane::setReportReady(bool ready) {
#if VM_REPORTS
  ports_->top.reports_ready = ready;
#else
  (void)ready;
#endif
}

void VerilatedLane::setInput(u32 input, const Beat* beat) {
  auto& top = ports_->top;
#define VM_SET(i)                                                        \
  if (input == (i)) {                                                    \
    top.io_in_##i##_valid = beat != nullptr;                             \
    if (beat == nullptr) return;                                         \
    static_assert(sizeof top.io_in_##i##_bits_data == VM_DATA_BITS / 8); \
    std::memcpy(&top.io_in_##i##_bits_data, beat->data, BeatBytes);      \
    top.io_in_##i##_bits_keep = beat->keep;                              \
    top.io_in_##i##_bits_last = beat->last;                              \
    top.io_in_##i##_bits_bad = beat->bad;                                \
  }
  VM_EACH_INPUT(VM_SET)
}

bool VerilatedLane::inputReady(u32 input) const {
#define VM_READY(i) \
  if (input == (i)) return ports_->top.io_in_##i##_ready;
  VM_EACH_INPUT(VM_READY)
  return false;
}

void VerilatedLane::settle() {
  ports_->top.clock = 0;
  ports_->top.eval();
  ports_->dump();
}

void VerilatedLane::edge() {
  ports_->top.clock = 1;
  ports_->top.eval();
  ports_->dump();
}

bool VerilatedLane::output(u32 egress, Beat& beat) const {
  const auto& top = ports_->top;
#define VM_OUTPUT(e)                                                \
  if (egress == (e)) {                                              \
    if (!top.io_out_##e##_valid) return false;                      \
    std::memcpy(beat.data, &top.io_out_##e##_bits_data, BeatBytes); \
    beat.keep = top.io_out_##e##_bits_keep;                         \
    beat.last = top.io_out_##e##_bits_last;                         \
    beat.bad = top.io_out_##e##_bits_bad;                           \
    return true;                                                    \
  }
  VM_EACH_EGRESS(VM_OUTPUT)
  return false;
}

bool VerilatedLane::report(Beat& beat) const {
#if VM_REPORTS
  const auto& top = ports_->top;
  if (!top.reports_valid) return false;
  std::memcpy(beat.data, &top.reports_bits_data, BeatBytes);
  beat.keep = top.reports_bits_keep;
  beat.last = top.reports_bits_last;
  beat.bad = top.reports_bits_bad;
  return true;
#else
  (void)beat;
  return false;
#endif
}

bool VerilatedLane::decision(RtlDecision& d) const {
  const auto& top = ports_->top;
  if (!top.io_decision_valid) return false;
  d.refresh = top.io_decision_bits_refresh;
  d.input = top.io_decision_bits_input;
  d.seen.queue = top.io_decision_bits_queue;
  d.seen.colour = top.io_decision_bits_colour;
  d.seen.len_bytes = top.io_decision_bits_lenBytes;
  d.seen.ecn = top.io_decision_bits_ecn;
  d.seen.bad = top.io_decision_bits_bad;
  d.seen.no_buffer = top.io_decision_bits_noBuffer;
  d.seen.time = top.io_decision_bits_time;
  d.seen.draw = top.io_decision_bits_draw;
  d.seen.distance = top.io_decision_bits_distance;
  d.seen.policed = top.io_decision_bits_mark_policed;
  d.mark = {top.io_decision_bits_mark_time,
            top.io_decision_bits_mark_level,
            top.io_decision_bits_mark_colour,
            d.seen.colour,
            top.io_decision_bits_mark_draw,
            top.io_decision_bits_mark_policed,
            top.io_decision_bits_mark_hasFlow,
            {top.io_decision_bits_mark_flow_raised, top.io_decision_bits_mark_flow_average,
             top.io_decision_bits_mark_flow_burst, top.io_decision_bits_mark_flow_highestSeq,
             top.io_decision_bits_mark_flow_credits}};
  d.seen.queued_bytes = top.io_decision_bits_queued_bytes;
  d.seen.queued_packets = top.io_decision_bits_queued_packets;
  d.seen.pool_full = top.io_decision_bits_poolFull;
#define VM_COLOUR(c)                                                      \
  d.seen.backlog_bytes[c] = top.io_decision_bits_backlog_##c##_bytes;     \
  d.seen.backlog_packets[c] = top.io_decision_bits_backlog_##c##_packets; \
  d.seen.last_departure[c] = top.io_decision_bits_lastDeparture_##c;      \
  d.seen.n[c] = top.io_decision_bits_ahead_##c;                           \
  d.average[c] = top.io_decision_bits_average_##c;
  VM_COLOUR(0) VM_COLOUR(1) VM_COLOUR(2) d.probability = top.io_decision_bits_probability;
  d.verdict = top.io_decision_bits_verdict;
  d.cell = top.io_decision_bits_headCell;
  d.rule.reset();
#if VM_RULES
  if (top.io_decision_bits_rule_valid) d.rule = top.io_decision_bits_rule_bits;
#endif
  d.pushOut.provisionalVerdict = top.io_decision_bits_provisionalVerdict;
  d.pushOut.held = top.io_decision_bits_pushOut;
  d.pushOut.outcome = {top.io_decision_bits_outcome_enqueued != 0,     top.io_decision_bits_outcome_marked != 0,
                       top.io_decision_bits_outcome_stale != 0,        top.io_decision_bits_outcome_evicted != 0,
                       top.io_decision_bits_outcome_victimMarked != 0, top.io_decision_bits_outcome_victim_cell,
                       top.io_decision_bits_outcome_victim_lenBytes,   top.io_decision_bits_outcome_victim_colour,
                       top.io_decision_bits_outcome_victim_distance};
  return true;
}

bool VerilatedLane::departed(Left& left) const {
  const auto& top = ports_->top;
  if (!top.io_departed_valid) return false;
  left = {top.io_departed_bits_queue, top.io_departed_bits_colour, top.io_departed_bits_lenBytes,
          top.io_departed_bits_arrival, top.io_departed_bits_flushed != 0};
#if VM_CODEL
  left.dropped = top.io_departed_bits_dropped != 0;
  left.marked = top.io_departed_bits_marked != 0;
#endif
  return true;
}

bool VerilatedLane::lost(u32 input, u32& lenBytes) const {
#define VM_LOST(i)                               \
  if (input == (i)) {                            \
    lenBytes = ports_->top.io_lost_##i##_bits;   \
    return ports_->top.io_lost_##i##_valid != 0; \
  }
  VM_EACH_INPUT(VM_LOST)
  return false;
}

bool VerilatedLane::wake(u64& ns) const {
  ns = ports_->top.io_wake_bits;
  return ports_->top.io_wake_valid;
}

bool VerilatedLane::busy() const {
  return ports_->top.io_busy;
}

void VerilatedLane::setWrite(bool addressValid, u32 address, bool dataValid, u32 data, u32 strobes) {
  auto& top = ports_->top;
  top.io_control_aw_valid = addressValid;
  top.io_control_aw_bits = address;
  top.io_control_w_valid = dataValid;
  top.io_control_w_bits_data = data;
  top.io_control_w_bits_strb = strobes;
}

void VerilatedLane::setRead(bool addressValid, u32 address) {
  ports_->top.io_control_ar_valid = addressValid;
  ports_->top.io_control_ar_bits = address;
}

bool VerilatedLane::writeAddressReady() const {
  return ports_->top.io_control_aw_ready;
}
bool VerilatedLane::writeDataReady() const {
  return ports_->top.io_control_w_ready;
}
bool VerilatedLane::writeDone() const {
  return ports_->top.io_control_b_valid;
}
bool VerilatedLane::readAddressReady() const {
  return ports_->top.io_control_ar_ready;
}

bool VerilatedLane::readDone(u32& data) const {
  data = ports_->top.io_control_r_bits_data;
  return ports_->top.io_control_r_valid;
}

}  // namespace vermilion
