// The bench of victims_bench.cpp: the Verilated VictimPipeline and its models side by side, one clock a call, and the audit of audit.h. The first
// difference ends the program.
//
// The bench is the scheduler, too. It takes packets that became head and not taken yet, from the cycle after the one in which the new head is
// compared.
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "VVictimPipeline.h"
#include "audit.h"
#include "clocked_victims.h"
#include "verilated.h"

namespace {

class Bench {
 public:
  // On a block as it comes, or as another bench has left it: nothing may come behind the reset of what was on its way.
  Bench(const VictimShape& shape, u64 seed, std::unique_ptr<VVictimPipeline> dut = std::make_unique<VVictimPipeline>(),
        int resetCycles = 2)
      : random(seed), audit(shape), shape_(shape), dut_(std::move(dut)), model_(shape), brute_(shape) {
    dut_->io_taken_valid = dut_->io_ahead_valid = dut_->io_arrival_valid = 0;
    dut_->reset = 1;
    for (int i = 0; i < resetCycles; i++) edge();
    dut_->reset = 0;
    do {
      dut_->eval();
      if (dut_->io_freed_valid || dut_->io_outcome_valid || dut_->io_enqueued || dut_->io_newHead_valid ||
          dut_->io_busy)
        fail("something comes of what a reset has cut off");
      edge();
    } while (!dut_->io_ready);
  }
  std::unique_ptr<VVictimPipeline> release() { return std::move(dut_); }

  std::mt19937_64 random;
  Audit audit;
  bool spaced = false;  // operations do not overlap: the brute force must agree

  u64 pick(u64 below) { return random() % below; }
  bool chance(double p) { return static_cast<double>(random() >> 11) * 0x1p-53 < p; }
  bool hasRoom() const { return audit.hasRoom(); }
  std::size_t body(u32 queue) const { return audit.body(queue); }
  std::size_t length(u32 queue) const { return audit.body(queue) + audit.head(queue); }
  bool canTake(u32 queue) const { return audit.head(queue) != 0; }

  // A packet with a fresh name. Names that came back last go first as often as not, to provoke what a stale link would do.
  VictimArrival packet(u32 queue, u32 action, u32 distance, u32 colour = 0) {
    VictimArrival a{queue, 0, 1, 64, colour, distance, false, action, false, false};
    a.cell = audit.name(chance(0.5));
    return a;
  }
  // A refused packet without cells: its name means nothing.
  VictimArrival refused(u32 queue) {
    VictimArrival a{queue, 0, 0, 64, 0, 0, false, VictimArrival::Refuse, false, false};
    a.cell = static_cast<u32>(pick(shape_.cells));
    return a;
  }

  // One clock. A packet is taken if the queue's head holds one.
  void clock(const std::optional<VictimArrival>& arrival, std::optional<u32> takeFrom) {
    const ClockedVictims::Ports& m = model_.ports();
    const Shown shown = std::exchange(shown_, read());
    compare(m, shown);
    if (m.outcome) {
      same(dut_->io_outcome_bits_victim_queue, audit.settling().queue, "victim.queue");
      audit.settle(*m.outcome, m.newHead.has_value());
      if (spaced) agree(*m.outcome);
    } else {
      audit.noneSettles();
    }
    audit.lookAtWindow();
    std::optional<Audit::Head> comes;
    if (m.newHead) comes = audit.makeHead(m.newHead->queue, m.newHead->cell, shown.place, m.newHead->marked);
    audit.lookAtLists();
    if (m.freed) audit.giveBack(m.freed->cell, m.freed->cells);

    // what comes in
    drive(arrival);
    const std::optional<VictimArrival> provisional = searches_[Ahead - 1];  // the packet whose search is ahead by that
    drive(provisional, *dut_);
    dut_->io_taken_valid = taken_.has_value();  // of the clock before
    if (taken_) dut_->io_taken_bits = *taken_;
    taken_.reset();
    if (takeFrom && canTake(*takeFrom)) taken_ = takeFrom, take(*takeFrom);
    if (comes) audit.becomeHead(m.newHead->queue, *comes);
    for (u64 i = Ahead - 1; i > 0; i--) searches_[i] = searches_[i - 1];
    searches_[0] = arrival;
    model_.clock(arrival, provisional, taken_);
    edge();
  }

  void idle(u64 n) {
    for (u64 i = 0; i < n; i++) clock({}, {});
  }

  // Until nothing is on its way, neither packets nor requests.
  void rest() {
    idle(Latency + 2);
    for (u64 waited = 0; model_.ports().busy; waited++) {
      if (waited > u64{shape_.places} * shape_.queues) fail("a new head stays on its way");
      idle(1);
    }
    idle(1);
    audit.atRest();
  }

  // Everything leaves; nothing may be missing.
  void drain() {
    rest();
    for (u32 q = 0; q < shape_.queues; q++)
      for (u64 waited = 0; length(q) != 0; waited = canTake(q) ? 0 : waited + 1) {
        if (waited > 2 * Latency) fail("a queue holds packets and nobody may take them");
        clock({}, q);
      }
    rest();
    audit.allBack();
  }

 private:
  // Ports that belong to s5. They are compared a cycle later, with the outcome of the same slot.
  struct Shown {
    bool enqueued, enqueuedMarked, newHead, marked;
    u32 queue, cell, place;
  };
  Shown read() const {
    return {dut_->io_enqueued != 0,      dut_->io_enqueuedMarked != 0,
            dut_->io_newHead_valid != 0, dut_->io_newHead_bits_marked != 0,
            dut_->io_newHead_bits_queue, dut_->io_newHead_bits_cell,
            dut_->io_newHead_bits_place};
  }

  void compare(const ClockedVictims::Ports& m, const Shown& shown) const {
    same(dut_->io_busy || shown.newHead, m.busy, "busy");
    same(dut_->io_outcome_valid, m.outcome.has_value(), "outcome.valid");
    same(dut_->io_freed_valid, m.freed.has_value(), "freed.valid");
    same(shown.enqueued, m.outcome && m.outcome->enqueued, "enqueued");
    same(shown.newHead, m.newHead.has_value(), "newHead.valid");
    if (m.outcome) {
      if (m.outcome->enqueued) same(shown.enqueuedMarked, m.outcome->marked, "enqueuedMarked");
      same(dut_->io_outcome_bits_enqueued, m.outcome->enqueued, "outcome.enqueued");
      same(dut_->io_outcome_bits_marked, m.outcome->marked, "outcome.marked");
      same(dut_->io_outcome_bits_stale, m.outcome->stale, "outcome.stale");
      same(dut_->io_outcome_bits_evicted, m.outcome->evicted, "outcome.evicted");
      same(dut_->io_outcome_bits_victimMarked, m.outcome->victimMarked, "outcome.victimMarked");
      if (m.outcome->evicted || m.outcome->victimMarked) {
        same(dut_->io_outcome_bits_victim_cell, m.outcome->cell, "victim.cell");
        same(dut_->io_outcome_bits_victim_lenBytes, m.outcome->lenBytes, "victim.lenBytes");
        same(dut_->io_outcome_bits_victim_colour, m.outcome->colour, "victim.colour");
        same(dut_->io_outcome_bits_victim_distance, m.outcome->distance, "victim.distance");
      }
    }
    if (m.freed) {
      same(dut_->io_freed_bits_cell, m.freed->cell, "freed.cell");
      same(dut_->io_freed_bits_cells, m.freed->cells, "freed.cells");
    }
    if (m.newHead) {
      same(shown.queue, m.newHead->queue, "newHead.queue");
      same(shown.cell, m.newHead->cell, "newHead.cell");
      same(shown.marked, m.newHead->marked, "newHead.marked");
    }
  }

  void edge() {
    dut_->clock = 0;
    dut_->eval();
    dut_->clock = 1;
    dut_->eval();
    clocks++;
  }

  void drive(const std::optional<VictimArrival>& ahead) {
    dut_->io_ahead_valid = ahead.has_value();
    if (!ahead) return;
    if (spaced) expected_.push_back(brute_.arrive(*ahead));
    audit.begin(*ahead);
    dut_->io_ahead_bits_queue = ahead->queue;
    dut_->io_ahead_bits_lenBytes = ahead->lenBytes;
    dut_->io_ahead_bits_colour = ahead->colour;
    dut_->io_ahead_bits_distance = ahead->distance;
    dut_->io_ahead_bits_byColour = ahead->byColour;
    dut_->io_ahead_bits_last = ahead->last;
  }

  static void drive(const std::optional<VictimArrival>& arrival, VVictimPipeline& dut) {
    dut.io_arrival_valid = arrival.has_value();
    if (!arrival) return;
    dut.io_arrival_bits_queue = arrival->queue;
    dut.io_arrival_bits_cell = arrival->cell;
    dut.io_arrival_bits_cells = arrival->cells;
    dut.io_arrival_bits_lenBytes = arrival->lenBytes;
    dut.io_arrival_bits_colour = arrival->colour;
    dut.io_arrival_bits_distance = arrival->distance;
    dut.io_arrival_bits_ect = arrival->ect;
    dut.io_arrival_bits_action = arrival->action;
    dut.io_arrival_bits_byColour = arrival->byColour;
    dut.io_arrival_bits_mayMark = arrival->mayMark;
    dut.io_arrival_bits_last = arrival->last;
    dut.io_arrival_bits_asLong = arrival->asLong;
  }

  void take(u32 queue) {
    const Audit::Head first = audit.take(queue);
    if (!spaced) return;
    const auto expected = brute_.take(queue);
    if (!expected || expected->cell != first.cell) fail("another packet leaves than the brute force says");
    if (expected->marked != first.marked) fail("a mark differs from the brute force's");
  }

  void agree(const VictimOutcome& o) {
    const VictimOutcome e = expected_.front();
    expected_.pop_front();
    if (std::memcmp(&e.cell, &o.cell, 4 * sizeof(u32)) != 0 || e.enqueued != o.enqueued || e.marked != o.marked ||
        e.evicted != o.evicted || e.victimMarked != o.victimMarked || o.stale)
      fail("the brute force says otherwise: cell " + std::to_string(o.cell) + " is the victim instead of " +
           std::to_string(e.cell));
  }

  VictimShape shape_;
  std::unique_ptr<VVictimPipeline> dut_;
  ClockedVictims model_;
  Victims brute_;
  std::deque<VictimOutcome> expected_;
  std::optional<VictimArrival> searches_[Ahead];
  std::optional<u32> taken_;  // the queue of the packet that was taken in the clock before
  Shown shown_{};
};

}  // namespace
