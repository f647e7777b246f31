// The C interface of CoDel, PIE and DualPI2, for benches of single blocks.
#include "codel.h"
#include "dualpi2.h"
#include "pie.h"
#include "vermilion_model.h"

using namespace vermilion;

namespace {

PieSettings settingsOf(const VmPieSettings* s) {
  return {s->target, s->burst, s->alpha, s->beta, s->mtu, s->ecn != 0, s->byte_mode != 0};
}

// Calls `change` with the model's form of a state, and writes it back.
template <class Change>
auto with(VmPieState* state, Change change) {
  PieState s{state->prob,         state->accumulated, state->prob_per_byte, state->delay,
             state->delay_before, state->burst_left,  state->departed,      state->restarts != 0};
  const auto result = change(s);
  *state = {s.prob,        s.probPerByte, s.accumulated, s.delay,
            s.delayBefore, s.burstLeft,   s.departed,    static_cast<u32>(s.restarts)};
  return result;
}

DualPi2Settings settingsOf(const VmDualPi2Settings* s) {
  return {s->target, s->step, s->alpha, s->beta, s->most, s->coupling, s->mtu, s->drop_overload != 0};
}

DualPi2State stateOf(const VmDualPi2State* s) {
  return {s->prob, s->delay_before};
}

void write(VmDualPi2State* to, const DualPi2State& s) {
  *to = {s.delayBefore, s.prob};
}

}  // namespace

extern "C" {

uint32_t vm_codel_head(VmCodelState* state, const VmCodelSettings* settings, uint32_t now, uint32_t enqueued,
                       uint32_t dsField, uint32_t backlog, uint32_t settled) {
  const CodelSettings of{settings->target,
                         settings->interval,
                         settings->ce_threshold,
                         settings->mtu,
                         settings->ecn != 0,
                         static_cast<u8>(settings->ce_mask),
                         static_cast<u8>(settings->ce_selector)};
  CodelState s{static_cast<CodelPhase>(state->phase),
               state->is_above != 0,
               state->may_drop_at,
               state->drop_next,
               state->count,
               state->last_count,
               static_cast<u16>(state->inv_sqrt),
               state->step};
  const HeadPacket packet{enqueued, static_cast<u8>(dsField), dsField < 256};
  const HeadVerdict verdict = codelHead(s, of, now, packet, backlog, settled != 0);
  *state = {static_cast<u32>(s.phase), s.isAbove, s.mayDropAt, s.dropNext, s.count, s.lastCount, s.invSqrt, s.step};
  return static_cast<u32>(verdict);
}

void vm_pie_begin(VmPieState* state) {
  with(state, [](PieState& s) { return s = pieBegin(), 0; });
}

uint32_t vm_pie_arrives(VmPieState* state, const VmPieSettings* settings, uint32_t backlog, uint32_t lenBytes,
                        uint32_t ect, uint64_t draw) {
  return static_cast<u32>(
      with(state, [&](PieState& s) { return pieArrives(s, settingsOf(settings), backlog, lenBytes, ect != 0, draw); }));
}

void vm_pie_lost(VmPieState* state) {
  with(state, [](PieState& s) { return pieLost(s), 0; });
}

void vm_pie_departs(VmPieState* state, const VmPieSettings* settings, uint64_t now, uint64_t enqueued,
                    uint32_t backlog) {
  with(state, [&](PieState& s) { return pieDeparts(s, settingsOf(settings), now, enqueued, backlog), 0; });
}

void vm_pie_restarts(VmPieState* state, uint64_t delay) {
  with(state, [&](PieState& s) { return pieRestarts(s, delay), 0; });
}

void vm_pie_update(VmPieState* state, const VmPieSettings* settings, uint64_t delay, uint32_t isEmpty) {
  with(state, [&](PieState& s) { return pieUpdate(s, settingsOf(settings), delay, isEmpty != 0), 0; });
}

void vm_dualpi2_update(VmDualPi2State* state, const VmDualPi2Settings* settings, uint64_t delay) {
  DualPi2State s = stateOf(state);
  dualPi2Update(s, settingsOf(settings), delay);
  write(state, s);
}

uint32_t vm_dualpi2_head(const VmDualPi2State* state, const VmDualPi2Settings* settings, uint32_t isL, uint32_t ecn,
                         uint64_t sojourn, uint32_t backlog, uint32_t drawA, uint32_t drawB) {
  const DualPi2Packet packet{isL != 0, static_cast<u8>(ecn), sojourn};
  return static_cast<u32>(dualPi2Head(stateOf(state), settingsOf(settings), packet, backlog, drawA, drawB));
}

}  // extern "C"
