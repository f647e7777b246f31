#include "clocked_victims.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace vermilion {

namespace {
void check(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}
}  // namespace

ClockedVictims::ClockedVictims(const VictimShape& shape)
    : shape_(shape),
      packets_(shape.cells),
      queues_(shape.queues),
      lists_(std::size_t{shape.indexed} * shape.distances * Slots) {}

// s1 and s2: the bitmap after all writes of previous cycles.
void ClockedVictims::findLowest(Stage& s1) const {
  s1.ranks = {};
  if (!s1.valid || s1.arrival.queue >= shape_.indexed) return;
  const u32 mildest = WorstColour - (s1.arrival.byColour ? worstColour(s1.arrival.colour) : 0);
  if (s1.tail()) return findInWindow(s1, mildest);
  std::array<u64, Slots> left = queues_[s1.arrival.queue].bitmap;
  for (Rank& rank : s1.ranks) {
    u32 lowest = 64;
    for (u32 slot = 0; slot <= mildest; slot++) {
      const u32 distance = static_cast<u32>(std::countr_zero(left[slot]));
      if (distance >= lowest) continue;
      lowest = distance;
      rank = {true, distance, slot};
    }
    if (rank.found) left[rank.slot] &= ~(u64{1} << rank.distance);
  }
}

// Of equal ranks it selects the oldest, which is last in the window.
void ClockedVictims::findInWindow(Stage& s1, u32 mildest) const {
  const Queue& queue = queues_[s1.arrival.queue];
  Rank& rank = s1.ranks[0];
  const std::size_t last = std::min<std::size_t>({s1.arrival.last, queue.behind, queue.window.size()});
  for (std::size_t i = last; i-- > 0;) {
    const VictimArrival& p = packets_[queue.window[i]].arrival;
    const u32 slot = rankSlot(p);
    if (!p.last || slot > mildest) continue;
    if (rank.found && p.distance * Slots + slot >= rank.distance * Slots + rank.slot) continue;
    rank = {true, p.distance, slot};
    s1.tailCell = p.cell, s1.tailSerial = packets_[p.cell].serial;
  }
}

std::optional<u32> ClockedVictims::pops() const {
  if (p5_.cell) return isListed(packets_[*p5_.cell]) ? p5_.cell : std::nullopt;
  return hasVictim_ && !s5_.tail() ? s5_.candidate : std::nullopt;
}

// The front of the list after the pop in s5. The packet of s5 is already pushed.
std::optional<u32> ClockedVictims::left(std::size_t list) const {
  const std::deque<u32>& l = lists_[list];
  check(!l.empty() && l.front() == *pops(), "not a list's first packet is popped");
  return l.size() > 1 ? std::optional(l[1]) : std::nullopt;
}

// s4
void ClockedVictims::choose() {
  if (s4_.tail()) {
    if (s4_.wants[0]) s4_.candidate = s4_.tailCell, s4_.chosen = s4_.ranks[0];
    return;
  }
  for (int which = 0; which < 2 && !s4_.candidate; which++) {
    if (!s4_.wants[which]) continue;
    const std::size_t list = listOf(s4_, s4_.ranks[which]);
    s4_.candidate = popsFrom(list) ? left(list) : s4_.heads[which];
    s4_.chosen = s4_.ranks[which];
  }
  s4_.emptied = s4_.wants[0] && s4_.wants[1] && !s4_.candidate;
}

void ClockedVictims::popFront(u32 cell) {
  const std::size_t list = listOf(packets_[cell]);
  check(!lists_[list].empty() && lists_[list].front() == cell, "not a list's first packet is popped");
  lists_[list].pop_front();
  const VictimArrival& a = packets_[cell].arrival;
  if (lists_[list].empty()) queues_[a.queue].bitmap[rankSlot(a)] &= ~(u64{1} << a.distance);
}

void ClockedVictims::push(u32 cell) {
  const Packet& p = packets_[cell];
  lists_[listOf(p)].push_back(cell);
  queues_[p.arrival.queue].bitmap[rankSlot(p.arrival)] |= u64{1} << p.arrival.distance;
}

// The packet in s5 enters its queue's body.
void ClockedVictims::enqueue() {
  const u32 cell = s5_.arrival.cell;
  Queue& queue = queues_[s5_.arrival.queue];
  if (cell >= packets_.size()) packets_.resize(cell + 1);
  packets_[cell] = {s5_.arrival, decided_.marked, ++enqueued_};
  queue.body.push_back(cell);
  if (isListed(packets_[cell])) push(cell);
  if (s5_.arrival.queue >= shape_.indexed) return;
  if (decided_.evicted) std::erase(queue.window, decided_.cell);
  queue.window.push_front(cell);
  if (queue.window.size() > WindowPlaces) queue.window.pop_back();
  queue.behind += 1 - decided_.evicted;
}

// Requests of places: all events of the cycle see their queues as of the end of the previous cycle.
void ClockedVictims::serve() {
  std::optional<u32> asks, asksAgain;
  if (decided_.enqueued && queues_[s5_.arrival.queue].heldOrAsked < shape_.places) asks = s5_.arrival.queue;
  const bool voided = p5_.valid && !p5_.cell && p5_.queue == t2_;
  if (t2_ && queues_[*t2_].body.size() + voided > queues_[*t2_].asked) asksAgain = t2_;
  if (p4_.valid) {
    const bool ahead = p5_.cell && p5_.queue == p4_.queue;
    if (queues_[p4_.queue].body.size() > ahead) p4_.cell = 0;  // placeholder: clock() sets the packet after s5
  }
  Service p3{};
  const bool ofEnqueued = !byEnqueued_.empty() && !(servesTaken_ && !byTaken_.empty());
  std::deque<u32>& first = ofEnqueued ? byEnqueued_ : byTaken_;
  const bool pushOut = s3_.valid && s3_.arrival.action == VictimArrival::PushOut;
  s3_.yields = pushOut && !first.empty() && waited_ == Patience;
  if (!pushOut || s3_.yields) {
    waited_ = 0;
    if (!first.empty()) p3 = {true, first.front(), {}}, first.pop_front(), servesTaken_ = ofEnqueued;
  } else if (!first.empty()) {
    waited_++;
  }

  if (asks) byEnqueued_.push_back(*asks), queues_[*asks].asked++, queues_[*asks].heldOrAsked++;
  if (asksAgain)
    byTaken_.push_back(*asksAgain), queues_[*asksAgain].asked++;
  else if (t2_)
    queues_[*t2_].heldOrAsked--;
  if (p5_.valid) {
    queues_[p5_.queue].asked--;
    if (!p5_.cell) queues_[p5_.queue].heldOrAsked--;
  }
  p3_ = p3;
}

void ClockedVictims::clock(const std::optional<VictimArrival>& ahead, const std::optional<VictimArrival>& arrival,
                           const std::optional<u32>& taken) {
  check(s3_.valid == arrival.has_value(), "a packet comes at another time than its search");
  if (arrival) s3_.arrival = *arrival;

  // s1: before anything is written
  findLowest(s1_);
  serve();

  // s3: reads the lists' heads, then applies the push, then the pop
  if (s3_.valid && !s3_.tail()) readHeads();
  if (decided_.enqueued) enqueue();
  if (s3_.valid && !s3_.tail()) correctHeads();
  if (s4_.valid) choose();
  if (p6_ && *p6_ < shape_.indexed) queues_[*p6_].behind--;
  if (pops()) popFront(*pops());
  if (hasVictim_) packets_[*s5_.candidate].marked |= decided_.victimMarked;
  if (p5_.cell) {
    leaveBody(*p5_.cell);
  } else if (decided_.evicted && s5_.candidate) {
    leaveBody(*s5_.candidate);
  }
  if (p4_.cell) p4_.cell = queues_[p4_.queue].body.front();

  // s3
  for (std::size_t i = 0; i < s3_.wants.size(); i++)
    s3_.wants[i] = s3_.arrival.action == VictimArrival::PushOut && !s3_.yields && s3_.ranks[i].found &&
                   s3_.arrival.distance >= s3_.ranks[i].distance;

  show();
  s5_ = s4_, s4_ = s3_, s3_ = s2_, s2_ = s1_;
  p5_ = p4_, p4_ = p3_;
  s1_ = {};
  if (ahead) s1_.valid = true, s1_.arrival = *ahead;
  t2_ = t1_, t1_ = taken;
  evaluate();
  ports_.busy = !byEnqueued_.empty() || !byTaken_.empty() || t2_ || p4_.valid || p5_.valid || ports_.newHead;
}

void ClockedVictims::readHeads() {
  for (std::size_t i = 0; i < s3_.heads.size(); i++) {
    if (!s3_.ranks[i].found) continue;
    const std::deque<u32>& l = lists_[listOf(s3_, s3_.ranks[i])];
    if (!l.empty()) s3_.heads[i] = l.front();
  }
}

void ClockedVictims::correctHeads() {
  for (std::size_t i = 0; i < s3_.heads.size(); i++)
    if (s3_.ranks[i].found && popsFrom(listOf(s3_, s3_.ranks[i]))) s3_.heads[i] = left(listOf(s3_, s3_.ranks[i]));
}

// Removes from its body a packet that becomes head of line or is evicted.
void ClockedVictims::leaveBody(u32 cell) {
  std::deque<u32>& body = queues_[packets_[cell].arrival.queue].body;
  const auto place = std::find(body.begin(), body.end(), cell);
  check(place != body.end(), "a packet goes that stands in no body");
  check(!p5_.cell || place == body.begin(), "not a body's first packet becomes head");
  body.erase(place);
  packets_[cell].left = true;
}

// Sets the ports of the next cycle.
void ClockedVictims::show() {
  ports_ = {};
  if (s5_.valid) {
    ports_.outcome = decided_;
    if (decided_.evicted)
      ports_.freed = {decided_.cell, (decided_.lenBytes + CellBytes - 1) / CellBytes};
    else if (!decided_.enqueued && s5_.arrival.cells != 0)
      ports_.freed = {s5_.arrival.cell, s5_.arrival.cells};
  }
  p6_.reset();
  if (p5_.cell) {
    ports_.newHead = {p5_.queue, *p5_.cell, packets_[*p5_.cell].marked};
    p6_ = p5_.queue;
  }
}

void ClockedVictims::evaluate() {
  decided_ = {};
  hasVictim_ = false;
  if (!s5_.valid) return;

  const VictimArrival& a = s5_.arrival;
  const bool pushOut = a.action == VictimArrival::PushOut, mayMark = a.mayMark && !s5_.tail();
  bool stands = s5_.candidate.has_value();
  if (s5_.tail())
    stands = stands && packets_[*s5_.candidate].serial == s5_.tailSerial && !packets_[*s5_.candidate].left;
  hasVictim_ = stands && !(s5_.tail() && a.asLong && packets_[*s5_.candidate].arrival.lenBytes < a.lenBytes);
  if (hasVictim_) {
    const VictimArrival& lost = packets_[*s5_.candidate].arrival;
    decided_.victimMarked = mayMark && lost.ect;
    decided_.evicted = !decided_.victimMarked;
    decided_.cell = lost.cell, decided_.lenBytes = lost.lenBytes;
    decided_.colour = lost.colour, decided_.distance = lost.distance;
  }
  decided_.marked = pushOut && !hasVictim_ && mayMark && a.ect;
  decided_.enqueued = a.action == VictimArrival::Admit || hasVictim_ || decided_.marked;
  decided_.stale = s5_.emptied || s5_.yields || (s5_.candidate && !stands);
}

}  // namespace vermilion
