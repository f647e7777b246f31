// The bench of victims_bench.cpp: the Verilated VictimPipeline and its models side by side, one clock a call, and an audit that follows every
// outcome with plain lists. The first difference ends the program.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "VVictimPipeline.h"
#include "by_cell.h"
#include "clocked_victims.h"
#include "differences.h"
#include "timing.h"
#include "verilated.h"

using namespace vermilion;

namespace {
constexpr u64 Latency = timing::Searching, Ahead = timing::SearchAhead;

struct Tally {
  u64 arrivals = 0, contests = 0, evicted = 0, victimMarked = 0, arrivingLost = 0, arrivingMarked = 0, blind = 0,
      taken = 0;
};

class Bench {
 public:
  // On a block as it comes, or as another bench has left it: nothing may come behind the reset of what was on its way.
  Bench(const VictimShape& shape, u64 seed, std::unique_ptr<VVictimPipeline> dut = std::make_unique<VVictimPipeline>(),
        int resetClocks = 2)
      : random(seed), shape_(shape), dut_(std::move(dut)), model_(shape), brute_(shape), queues_(shape.queues) {
    for (u32 i = 0; i < shape.cells; i++) names_.push_back(i);
    dut_->io_take = 0;
    dut_->io_ahead_valid = dut_->io_arrival_valid = 0;
    dut_->reset = 1;
    for (int i = 0; i < resetClocks; i++) edge();
    dut_->reset = 0;
    do {
      dut_->eval();
      if (dut_->io_freed_valid || dut_->io_outcome_valid || dut_->io_enqueued || dut_->io_awake || dut_->io_refilled)
        fail("something comes of what a reset has cut off");
      edge();
    } while (!dut_->io_ready);
    freeCells_ = shape.cells;
  }
  std::unique_ptr<VVictimPipeline> release() { return std::move(dut_); }

  std::mt19937_64 random;
  Tally tally;
  bool spaced = false;  // operations do not overlap: the brute force must agree

  u64 pick(u64 below) { return random() % below; }
  bool chance(double p) { return static_cast<double>(random() >> 11) * 0x1p-53 < p; }
  bool hasRoom() const { return !names_.empty(); }
  std::size_t length(u32 queue) const { return queues_[queue].audit.size(); }
  bool canTake(u32 queue) const { return queues_[queue].first.has_value(); }

  // A packet with a fresh name. Names that came back last go first as often as not, to provoke what a stale link would do.
  VictimArrival packet(u32 queue, u32 action, u32 distance, u32 colour = 0) {
    VictimArrival a{queue, 0, 1, 64, colour, distance, false, action, false, false};
    const bool newest = chance(0.5);
    a.cell = newest ? names_.back() : names_.front();
    newest ? names_.pop_back() : names_.pop_front();
    return a;
  }

  // One clock.
  void clock(const std::optional<VictimArrival>& arrival, std::optional<u32> takeFrom) {
    // what the block says
    const ClockedVictims::Ports& m = model_.ports();
    same(dut_->io_awake, m.awake, "awake");
    same(dut_->io_enqueued, m.enqueued, "enqueued");
    if (m.enqueued) same(dut_->io_enqueuedMarked, m.enqueuedMarked, "enqueuedMarked");
    same(dut_->io_joined, m.joined, "joined");
    same(dut_->io_mayReplace, m.mayReplace, "mayReplace");
    same(dut_->io_refilled, m.refilled, "refilled");
    same(dut_->io_outcome_valid, m.outcome.has_value(), "outcome.valid");
    same(dut_->io_freed_valid, m.freed.has_value(), "freed.valid");
    if (m.outcome) {
      same(dut_->io_outcome_bits_enqueued, m.outcome->enqueued, "outcome.enqueued");
      same(dut_->io_outcome_bits_marked, m.outcome->marked, "outcome.marked");
      same(dut_->io_outcome_bits_blind, m.outcome->blind, "outcome.blind");
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
    if (m.promoted) same(dut_->io_successor_cell, m.successor, "successor"), same(chosen(*dut_), m.successor, "choice");
    if (taken_) {
      same(dut_->io_newestServed, m.newestServed, "newestServed");
      same(dut_->io_takenMarked, m.takenMarked, "takenMarked");
    }
    spared_.reset();
    std::swap(spared_, becomesFirst_);
    if (m.outcome) settle(*m.outcome);
    if (!since_.empty() && since_.back() + 1 == clocks) looked_.push_back(lowestTwo(under_.back()));
    if (m.freed) giveBack(m.freed->cell, m.freed->cells);
    if (taken_) leave(m.takenMarked);
    if (m.promoted) {
      Queue& q = queues_[taken_->queue];
      q.first = m.successor;
      q.more = m.successor != m.newestServed;
      // Who is enqueued and evicted in this clock is told in the next.
      auto next = q.audit.begin();
      if (next != q.audit.end() && m.victim == *next) {
        becomesFirst_ = *next;
        if (m.evicts) ++next;
      }
      const bool own = next == q.audit.end() && m.enqueued && s5_[Latency - 2]->queue == taken_->queue;
      if (!own && next == q.audit.end()) fail("a queue without packets has a first");
      if ((own ? s5_[Latency - 2]->cell : *next) != m.successor) fail("the successor is not the next in order");
      becameFirst(m.successor, own ? *s5_[Latency - 2] : live_.at(m.successor));
    } else if (taken_ && !queues_[taken_->queue].audit.empty()) {
      fail("a queue with packets has no first");
    }

    // what comes in
    dut_->io_ahead_valid = arrival.has_value();
    if (arrival) {
      if (spaced) expected_.push_back(brute_.arrive(*arrival));
      live_[arrival->cell] = *arrival;
      freeCells_ -= arrival->cells;
      tally.arrivals++;
      under_.push_back(*arrival);
      since_.push_back(clocks);
      dut_->io_ahead_bits_queue = arrival->queue;
      dut_->io_ahead_bits_lenBytes = arrival->lenBytes;
      dut_->io_ahead_bits_colour = arrival->colour;
      dut_->io_ahead_bits_distance = arrival->distance;
      dut_->io_ahead_bits_byColour = arrival->byColour;
      dut_->io_ahead_bits_last = arrival->last;
    }
    const std::optional<VictimArrival> ruled = s5_[Ahead - 1];  // the packet whose search is ahead by that
    dut_->io_arrival_valid = ruled.has_value();
    if (ruled) {
      dut_->io_arrival_bits_queue = ruled->queue;
      dut_->io_arrival_bits_cell = ruled->cell;
      dut_->io_arrival_bits_cells = ruled->cells;
      dut_->io_arrival_bits_lenBytes = ruled->lenBytes;
      dut_->io_arrival_bits_colour = ruled->colour;
      dut_->io_arrival_bits_distance = ruled->distance;
      dut_->io_arrival_bits_ect = ruled->ect;
      dut_->io_arrival_bits_action = ruled->action;
      dut_->io_arrival_bits_byColour = ruled->byColour;
      dut_->io_arrival_bits_mayMark = ruled->mayMark;
      dut_->io_arrival_bits_last = ruled->last;
      dut_->io_arrival_bits_asLong = ruled->asLong;
    }
    std::optional<ClockedVictims::Take> take;
    if (takeFrom && queues_[*takeFrom].first) {
      Queue& q = queues_[*takeFrom];
      take = {*takeFrom, *q.first, !q.more};
      q.first.reset();
      if (spaced) {
        const auto expected = brute_.take(*takeFrom);
        if (!expected || expected->cell != take->cell) fail("another packet leaves than the brute force says");
        expectMark_ = expected->marked;
      }
      dut_->io_serveQueue = take->queue;
      dut_->io_serveCell = take->cell;
      dut_->io_emptied = take->emptied;
    }
    dut_->io_take = take.has_value();
    // A packet that has come shows to the taker in the next clock.
    if (m.enqueued) {
      const VictimArrival& a = s5_[Latency - 2].value();
      Queue& q = queues_[a.queue];
      if (m.awake) q.first = a.cell, becameFirst(a.cell, a);
      if (m.awake || m.joined) q.more = m.joined;
    }
    for (u64 i = Latency - 2; i > 0; i--) s5_[i] = s5_[i - 1];
    s5_[0] = arrival;
    model_.clock(arrival, ruled, take);
    taken_ = take;
    edge();
  }

  void idle(int n) {
    for (int i = 0; i < n; i++) clock({}, {});
  }

  // Everything leaves; nothing may be missing.
  void drain() {
    idle(8);
    for (u32 q = 0; q < shape_.queues; q++)
      while (!queues_[q].audit.empty()) {
        if (!canTake(q)) fail("a queue holds packets and nobody may take them");
        clock({}, q);
        clock({}, {});
      }
    idle(8);
    if (freeCells_ != shape_.cells || names_.size() != shape_.cells || !live_.empty() || !under_.empty())
      fail("at rest not every cell is back");
  }

 private:
  struct Queue {
    std::list<u32> audit;  // cells, oldest first
    std::optional<u32> first;
    bool more = false;  // the taker knows of a packet behind
  };

  void edge() {
    dut_->clock = 0;
    dut_->eval();
    dut_->clock = 1;
    dut_->eval();
    clocks++;
  }

  void giveBack(u32 cell, u32 cells) {
    const VictimArrival* packet = live_.find(cell);
    if (!packet) fail("a cell comes back twice");
    if (packet->cells != cells) fail("not all of a packet's cells come back");
    freeCells_ += cells;
    live_.erase(cell);
    firstSince_.erase(cell);
    names_.push_back(cell);
  }

  void leave(bool marked) {
    Queue& q = queues_[taken_->queue];
    if (q.audit.empty() || q.audit.front() != taken_->cell) fail("a packet leaves out of order");
    if (marked != marked_.erase(taken_->cell)) fail("a mark is lost or wrong");
    if (spaced && marked != expectMark_) fail("a mark differs from the brute force's");
    q.audit.pop_front();
    tally.taken++;
    giveBack(taken_->cell, live_.at(taken_->cell).cells);
  }

  void settle(const VictimOutcome& o) {
    const VictimArrival a = under_.front();
    under_.pop_front();
    if (clocks - since_.front() != Latency) fail("an outcome comes at another time");
    const u64 since = since_.front();
    since_.pop_front();
    const bool contest = a.action == VictimArrival::Contest;
    const bool lost = contest && !o.enqueued;
    tally.contests += contest, tally.evicted += o.evicted, tally.victimMarked += o.victimMarked;
    tally.arrivingLost += lost, tally.arrivingMarked += o.marked, tally.blind += o.blind;
    if (o.evicted + o.victimMarked + o.marked + lost != contest) fail("not exactly one packet pays");
    if (a.action != VictimArrival::Contest && o.enqueued != (a.action == VictimArrival::Admit))
      fail("admitted and refused");
    Queue& q = queues_[a.queue];
    if (o.enqueued) {
      q.audit.push_back(a.cell);
      stands_[a.cell] = {clocks, ++settled_};
    }
    if (o.marked) marked_[a.cell] = true;
    if (o.evicted || o.victimMarked) {
      if (q.audit.empty() || (q.audit.front() == o.cell && spared_ != o.cell)) fail("a first packet is the victim");
      const VictimArrival& v = live_.at(o.cell);
      if (v.queue != a.queue || v.lenBytes != o.lenBytes || v.colour != o.colour || v.distance != o.distance)
        fail("the victim is not who it says");
      if (a.byColour && v.byColour && v.colour < a.colour) fail("a better colour pays");
      if (v.distance > a.distance) fail("the victim is further than the arriving packet");
      if (marked_.holds(o.cell)) fail("a packet pays twice");
      if (a.last != 0 && (o.victimMarked || (a.asLong && v.lenBytes < a.lenBytes)))
        fail("the victim of a tail drop is marked, or too short");
      if ((a.last != 0) != (v.last != 0)) fail("the victim came in the other form");
      if (o.victimMarked) marked_[o.cell] = true;
    }
    if (o.evicted) {
      // Victims stand near the front of long queues as often as not, so look from there.
      auto at = q.audit.begin();
      while (at != q.audit.end() && *at != o.cell) ++at;
      if (at == q.audit.end()) fail("the victim is not in the queue");
      q.audit.erase(at);
    }
    const TwoRanks seen = looked_.front();
    looked_.pop_front();
    if (contest && a.last == 0) judge(a, o, since, q, seen);
    if (spaced) {
      const VictimOutcome e = expected_.front();
      expected_.pop_front();
      if (std::memcmp(&e.cell, &o.cell, 4 * sizeof(u32)) != 0 || e.enqueued != o.enqueued || e.marked != o.marked ||
          e.evicted != o.evicted || e.victimMarked != o.victimMarked || o.blind)
        fail("the brute force says otherwise: cell " + std::to_string(o.cell) + " pays instead of " +
             std::to_string(e.cell));
    }
  }

  using Rank = std::pair<u32, u32>;
  using TwoRanks = std::array<std::optional<Rank>, 2>;
  static Rank rank(const VictimArrival& p) { return {p.distance, 2 - (p.byColour ? std::min(p.colour, 2u) : 0u)}; }

  void becameFirst(u32 cell, const VictimArrival& p) {
    firstSince_[cell] = clocks;
    firsts_.push_back({clocks, p.queue, rank(p)});
    while (firsts_.front().clock + Latency < clocks) firsts_.pop_front();
  }
  // Not since before the clock.
  bool wasFirst(u32 cell, u64 clock) const {
    const u64* since = firstSince_.find(cell);
    return since && *since < clock;
  }

  // The two lowest ranks that a contest which came in the clock before could see, among who may lose.
  TwoRanks lowestTwo(const VictimArrival& a) const {
    TwoRanks lowest{};
    if (a.action != VictimArrival::Contest || a.last != 0 || a.queue >= shape_.indexed) return lowest;
    for (const u32 cell : queues_[a.queue].audit) {
      const VictimArrival& p = live_.at(cell);
      if (p.last != 0 || rank(p).second > rank(a).second || marked_.holds(cell) || wasFirst(cell, clocks - 1)) continue;
      if (!lowest[0] || rank(p) < *lowest[0])
        lowest = {rank(p), lowest[0]};
      else if (rank(p) != *lowest[0] && (!lowest[1] || rank(p) < *lowest[1]))
        lowest[1] = rank(p);
    }
    return lowest;
  }

  // The rule by itself, for contests as close as they come: of all who stood in the queue when the search began and were not its first one clock
  // before the end, nobody who still may pay is a better victim than who paid. A search that says it was blind must have been so: the two
  // lowest ranks that it could see were both no further than the arriving packet, of the lower nobody is left, nor of the other, unless its
  // head became first in one of the two clocks before.
  void judge(const VictimArrival& a, const VictimOutcome& o, u64 since, const Queue& q, const TwoRanks& seen) {
    const bool another = o.evicted || o.victimMarked;
    const auto headWasFirst = [&](const First& f) {
      return f.queue == a.queue && f.rank == *seen[1] && f.clock + 3 >= since + Latency &&
             f.clock + 1 < since + Latency;
    };
    if (o.blind && (another || !seen[1] || seen[1]->first > a.distance)) fail("a contest is blind without a reason");
    const bool headGone = o.blind && std::any_of(firsts_.begin(), firsts_.end(), headWasFirst);
    for (const u32 cell : q.audit) {
      if (cell == a.cell || cell == o.cell || marked_.holds(cell) || wasFirst(cell, since + Latency - 1)) continue;
      const VictimArrival& p = live_.at(cell);
      const Stands stands = stands_.at(cell);
      if (p.last != 0 || stands.clock > since + 1 || rank(p).second > rank(a).second) continue;
      if (another) {
        const VictimArrival& paid = live_.at(o.cell);
        if (std::pair(rank(p), stands.order) < std::pair(rank(paid), stands_.at(o.cell).order))
          fail("a nearer or older packet stands in the queue than who pays");
      } else if (o.blind) {
        if (rank(p) == *seen[0] || (rank(p) == *seen[1] && !headGone))
          fail("a search says that it is blind and could know better");
      } else if (p.distance <= a.distance) {
        fail("the arriving packet pays, a nearer one stands in the queue, and the search was not blind");
      }
    }
  }

  struct First {
    u64 clock;
    u32 queue;
    Rank rank;
  };
  struct Stands {
    u64 clock, order;  // when it came into its queue, and as which of all
  };

  VictimShape shape_;
  std::unique_ptr<VVictimPipeline> dut_;
  ClockedVictims model_;
  Victims brute_;
  std::vector<Queue> queues_;
  std::deque<u32> names_;
  ByCell<VictimArrival> live_;  // by head cell
  ByCell<bool> marked_;
  std::deque<VictimArrival> under_;
  std::deque<u64> since_;  // the clocks in which they came
  std::deque<VictimOutcome> expected_;
  std::optional<VictimArrival> s5_[Latency - 1];
  std::optional<ClockedVictims::Take> taken_;
  bool expectMark_ = false;
  u64 freeCells_ = 0, settled_ = 0;
  ByCell<Stands> stands_;        // by head cell
  ByCell<u64> firstSince_;       // by head cell
  std::deque<First> firsts_;     // in the last clocks
  std::deque<TwoRanks> looked_;  // of those under way
  std::optional<u32> becomesFirst_,
      spared_;  // a victim that stood first behind the take of this clock, of the one before
};

}  // namespace
