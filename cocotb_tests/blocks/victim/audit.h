// An audit that follows the block's outputs with plain lists. It shares no code with the model. Each queue is a body and a head, both lists of
// cells, and each push-out is checked against the rule in these lists, also where push-outs overlap.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "by_cell.h"
#include "differences.h"
#include "timing.h"
#include "victims.h"

using namespace vermilion;

namespace {
constexpr u64 Latency = timing::Searching, Ahead = timing::SearchAhead;
constexpr u64 Patience = 8;  // VictimPipeline.scala: push-outs for which a new head waits

struct Tally {
  u64 arrivals = 0, pushOuts = 0, evicted = 0, victimMarked = 0, arrivingLost = 0, arrivingMarked = 0, stale = 0,
      newHeads = 0, taken = 0;
};

class Audit {
 public:
  struct Head {
    u32 cell;
    bool marked;
  };

  explicit Audit(const VictimShape& shape) : shape_(shape), queues_(shape.queues), freeCells_(shape.cells) {
    for (u32 i = 0; i < shape.cells; i++) names_.push_back(i);
  }

  Tally tally;

  bool hasRoom() const { return !names_.empty(); }
  std::size_t body(u32 queue) const { return queues_[queue].body.size(); }
  std::size_t head(u32 queue) const { return queues_[queue].head.size(); }

  // A free cell: the one that came back last, or the one that came back first.
  u32 name(bool newest) {
    const u32 cell = newest ? names_.back() : names_.front();
    newest ? names_.pop_back() : names_.pop_front();
    return cell;
  }

  // A search begins.
  void begin(const VictimArrival& a) {
    if (a.cells != 0) live_[a.cell] = a;
    freeCells_ -= a.cells;
    tally.arrivals++;
    searches_.push_back({a, clocks, {}, {}});
  }

  // The outputs of the slot that was in s5: first the outcome of its packet, then its move to the head. A search that began in that cycle sees the window
  // without new heads of the cycle, and the bitmap with them.
  void settle(const VictimOutcome& o, bool makesHead);
  void noneSettles() { pushOutsInARow_ = 0; }
  void lookAtWindow() {
    if (begunNow()) searches_.back().window = nearestOfLast(searches_.back().arrival);
  }
  Head makeHead(u32 queue, u32 cell, u32 place, bool marked);
  void lookAtLists() {
    if (begunNow()) searches_.back().lowest = lowestTwo(searches_.back().arrival);
  }
  const VictimArrival& settling() const { return searches_.front().arrival; }

  // A new head may be taken from the clock behind on.
  void becomeHead(u32 queue, const Head& head) { queues_[queue].head.push_back(head); }
  Head take(u32 queue) {
    Queue& q = queues_[queue];
    const Head first = q.head.front();
    q.head.pop_front();
    tally.taken++;
    giveBack(first.cell, live_.at(first.cell).cells);
    return first;
  }

  void giveBack(u32 cell, u32 cells) {
    const VictimArrival* packet = live_.find(cell);
    if (!packet) fail("a cell comes back twice");
    if (stands_.holds(cell)) fail("a cell comes back while its packet is queued");
    if (packet->cells != cells) fail("not all of a packet's cells come back");
    freeCells_ += cells;
    live_.erase(cell);
    names_.push_back(cell);
  }

  // Nothing is on its way. If packets wait in a body, its head holds at least places - 3 packets.
  void atRest() const {
    for (const Queue& q : queues_)
      if (!q.body.empty() && q.head.size() + 3 < shape_.places) fail("a packet waits in a body whose head has places");
  }
  // After isolated operations a packet waits only if its head is full.
  void inOrder() const {
    for (const Queue& q : queues_)
      if (!q.body.empty() && q.head.size() != shape_.places) fail("a packet waits in a body, and its head is not full");
  }
  void allBack() const {
    if (freeCells_ != shape_.cells || names_.size() != shape_.cells || !live_.empty() || !searches_.empty())
      fail("at rest not every cell is back");
  }

 private:
  struct Queue {
    std::list<u32> body;  // cells, oldest first
    std::deque<Head> head;
    u32 newHeads = 0;  // of all time
  };
  using Rank = std::pair<u32, u32>;
  using TwoRanks = std::array<std::optional<Rank>, 2>;
  struct Choice {
    u32 cell, distance;
    u64 order;
  };
  struct Search {
    VictimArrival arrival;
    u64 since;  // the clock in which it began
    TwoRanks lowest;
    std::optional<Choice> window;
  };
  struct Stands {
    u64 clock, order;  // when it was told that the packet came into its body, and as which of all
  };

  static Rank rank(const VictimArrival& p) { return {p.distance, 2 - (p.byColour ? std::min(p.colour, 2u) : 0u)}; }
  bool begunNow() const { return !searches_.empty() && searches_.back().since + 1 == clocks; }
  bool searched(const VictimArrival& a) const { return a.action == VictimArrival::PushOut && a.queue < shape_.indexed; }

  // The two lowest ranks in the body, among who may lose.
  TwoRanks lowestTwo(const VictimArrival& a) const {
    TwoRanks lowest{};
    if (!searched(a) || a.last != 0) return lowest;
    for (const u32 cell : queues_[a.queue].body) {
      const VictimArrival& p = live_.at(cell);
      if (p.last != 0 || rank(p).second > rank(a).second || marked_.holds(cell)) continue;
      if (!lowest[0] || rank(p) < *lowest[0])
        lowest = {rank(p), lowest[0]};
      else if (rank(p) != *lowest[0] && (!lowest[1] || rank(p) < *lowest[1]))
        lowest[1] = rank(p);
    }
    return lowest;
  }

  // Of the body's last n packets the nearest, of equals the oldest.
  std::optional<Choice> nearestOfLast(const VictimArrival& a) const {
    std::optional<Choice> nearest;
    if (!searched(a)) return nearest;
    const std::list<u32>& body = queues_[a.queue].body;
    u32 seen = 0;
    for (auto at = body.rbegin(); at != body.rend() && seen < a.last; ++at, seen++) {
      const VictimArrival& p = live_.at(*at);
      if (p.last == 0 || rank(p).second > rank(a).second) continue;
      if (!nearest || rank(p) <= rank(live_.at(nearest->cell))) nearest = {*at, p.distance, stands_.at(*at).order};
    }
    return nearest;
  }

  void judge(const Search& s, const VictimOutcome& o, const Queue& q) const;
  void judgeTail(const Search& s, const VictimOutcome& o) const;

  VictimShape shape_;
  std::vector<Queue> queues_;
  std::deque<u32> names_;  // free cells
  u64 freeCells_, settled_ = 0, pushOutsInARow_ = 0;
  ByCell<VictimArrival> live_;  // all by head cell; packets that have a cell
  ByCell<bool> marked_;
  ByCell<Stands> stands_;  // packets in bodies
  std::deque<Search> searches_;
};

void Audit::settle(const VictimOutcome& o, bool makesHead) {
  const Search search = searches_.front();
  searches_.pop_front();
  const VictimArrival& a = search.arrival;
  if (clocks - search.since != Latency) fail("an outcome comes at another time");
  const bool pushOut = a.action == VictimArrival::PushOut;
  const bool lost = pushOut && !o.enqueued, another = o.evicted || o.victimMarked;
  tally.pushOuts += pushOut, tally.evicted += o.evicted, tally.victimMarked += o.victimMarked;
  tally.arrivingLost += lost, tally.arrivingMarked += o.marked, tally.stale += o.stale;
  if (o.evicted + o.victimMarked + o.marked + lost != pushOut) fail("not exactly one packet is dropped or marked");
  if (!pushOut && o.enqueued != (a.action == VictimArrival::Admit)) fail("admitted and refused");
  Queue& q = queues_[a.queue];
  if (another) {
    if (!stands_.holds(o.cell)) fail("the victim is in no body");
    const VictimArrival& v = live_.at(o.cell);
    if (v.queue != a.queue || v.lenBytes != o.lenBytes || v.colour != o.colour || v.distance != o.distance)
      fail("the victim is not who it says");
    if (a.byColour && v.byColour && v.colour < a.colour) fail("a packet of a better colour is the victim");
    if (v.distance > a.distance) fail("the victim is further than the arriving packet");
    if (marked_.holds(o.cell)) fail("a packet is a victim twice");
    if (a.last != 0 && (o.victimMarked || (a.asLong && v.lenBytes < a.lenBytes)))
      fail("the victim of a tail drop is marked, or too short");
    if ((a.last != 0) != (v.last != 0)) fail("the victim came in the other form");
  }
  // A push-out that follows `Patience` others without a gap may yield its slot to a request. Its packet is dropped, and its candidate is told as stale. The request may be void.
  const bool yields = o.stale && !another && pushOutsInARow_ >= Patience;
  if (pushOut && makesHead && !yields) fail("a packet becomes head in the slot of a push-out that does not yield");
  pushOutsInARow_ = pushOut && !makesHead ? pushOutsInARow_ + 1 : 0;
  if (pushOut && !yields) a.last == 0 ? judge(search, o, q) : judgeTail(search, o);
  if (o.victimMarked) marked_[o.cell] = true;
  if (o.evicted) {
    // Victims stand near the front of long queues as often as not, so look from there.
    const auto at = std::find(q.body.begin(), q.body.end(), o.cell);
    if (at == q.body.end()) fail("the victim is not in the body");
    q.body.erase(at);
    stands_.erase(o.cell);
  }
  if (o.enqueued) {
    q.body.push_back(a.cell);
    stands_[a.cell] = {clocks, ++settled_};
  }
  if (o.marked) marked_[a.cell] = true;
}

Audit::Head Audit::makeHead(u32 queue, u32 cell, u32 place, bool marked) {
  Queue& q = queues_[queue];
  if (q.body.empty() || q.body.front() != cell) fail("not the body's first packet becomes head");
  if (q.head.size() >= shape_.places) fail("a packet becomes head in a place that is not free");
  if (place != q.newHeads % shape_.places) fail("a packet becomes head in another place than the next");
  if (marked != marked_.erase(cell)) fail("a mark is lost or made up");
  q.body.pop_front();
  q.newHeads++;
  stands_.erase(cell);
  tally.newHeads++;
  return {cell, marked};
}

// The rule in RED form. Of the packets that were in the body when the search began and are still there, none that may be dropped is a better victim than the
// packet that is dropped. A push-out is stale only if the two lowest ranks that it saw are both no further than the arriving packet, and no packet of either is left.
void Audit::judge(const Search& s, const VictimOutcome& o, const Queue& q) const {
  const VictimArrival& a = s.arrival;
  const bool another = o.evicted || o.victimMarked;
  if (o.stale && (another || !s.lowest[1] || s.lowest[1]->first > a.distance))
    fail("a push-out is stale without a reason");
  for (const u32 cell : q.body) {
    if (cell == o.cell || marked_.holds(cell)) continue;
    const VictimArrival& p = live_.at(cell);
    const Stands& stands = stands_.at(cell);
    if (p.last != 0 || stands.clock > s.since + 1 || rank(p).second > rank(a).second) continue;
    if (another) {
      if (std::pair(rank(p), stands.order) < std::pair(rank(live_.at(o.cell)), stands_.at(o.cell).order))
        fail("a nearer or older packet stands in the body than the victim");
    } else if (o.stale) {
      if (rank(p) == *s.lowest[0] || rank(p) == *s.lowest[1])
        fail("a search says that it is stale and could know better");
    } else if (p.distance <= a.distance && a.queue < shape_.indexed) {
      fail("the arriving packet is dropped, a nearer one stands in the body, and the candidate is not stale");
    }
  }
}

// The rule in tail-drop form. The packet that the window showed when the search began is the victim, or the arriving packet is.
void Audit::judgeTail(const Search& s, const VictimOutcome& o) const {
  const VictimArrival& a = s.arrival;
  const bool stands = s.window && stands_.holds(s.window->cell) && stands_.at(s.window->cell).order == s.window->order;
  const bool wanted = s.window && s.window->distance <= a.distance;
  const bool isVictim = wanted && stands && !(a.asLong && live_.at(s.window->cell).lenBytes < a.lenBytes);
  if (o.evicted != isVictim || (isVictim && o.cell != s.window->cell))
    fail("the victim is not the nearest of the last packets");
  if (o.stale != (wanted && !stands)) fail("a tail drop is stale and the nearest packet stands there, or the reverse");
}

}  // namespace
