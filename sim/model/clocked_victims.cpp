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

// s1 and s2: the bitmap as all writes of the clocks before have left it.
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

// Of equals the oldest, which stands last.
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

// `cell` is its list's first, or the one behind it.
std::optional<u32> ClockedVictims::behindInList(std::size_t list, u32 cell) const {
  const std::deque<u32>& l = lists_[list];
  for (std::size_t i = 0; i < 2 && i < l.size(); i++)
    if (l[i] == cell) return i + 1 < l.size() ? std::optional(l[i + 1]) : std::nullopt;
  throw std::logic_error("a victim is not its list's first");
}

// s3: the packets ahead have been pushed in this clock, none has left; a list's head as it stood before has been seen.
void ClockedVictims::seeHeads() {
  for (std::size_t i = 0; i < s3_.heads.size(); i++) {
    if (!s3_.ranks[i].found) continue;
    const std::size_t list = listOf(s3_, s3_.ranks[i]);
    if (popsFrom(list))
      s3_.heads[i] = behindInList(list, *s5_.candidate);
    else if (promotedFromList() && listOf(packets_[p1_.cell]) == list)
      s3_.heads[i] = behindInList(list, p1_.cell);
  }
}

// s4
std::optional<u32> ClockedVictims::chooseFrom(int which) const {
  const std::size_t list = listOf(s4_, s4_.ranks[which]);
  const bool ahead = popsFrom(list);
  std::optional<u32> front = ahead ? behindInList(list, *s5_.candidate) : s4_.heads[which];
  const auto isFirst = [&](u32 cell) {
    return (ports_.promoted && ports_.successor == cell) || (!ahead && p1_.valid && p1_.cell == cell);
  };
  while (front && isFirst(*front)) {
    if (which == 1 && !ahead) return {};
    const std::deque<u32>& l = lists_[list];
    const auto next = std::find(l.begin(), l.end(), *front) + 1;
    front = next != l.end() ? std::optional(*next) : std::nullopt;
  }
  return front;
}

void ClockedVictims::choose() {
  if (s4_.tail()) {
    if (s4_.wants[0]) s4_.candidate = s4_.tailCell, s4_.chosen = s4_.ranks[0];
    return;
  }
  for (int which = 0; which < 2 && !s4_.candidate; which++)
    if (s4_.wants[which]) s4_.candidate = chooseFrom(which), s4_.chosen = s4_.ranks[which];
  s4_.emptied = s4_.wants[0] && s4_.wants[1] && !s4_.candidate;
}

void ClockedVictims::popFront(std::size_t list, u32 cell) {
  check(!lists_[list].empty() && lists_[list].front() == cell, "not a list's first packet is popped");
  lists_[list].pop_front();
  const VictimArrival& a = packets_[cell].arrival;
  if (lists_[list].empty()) queues_[a.queue].bitmap[list % Slots] &= ~(u64{1} << a.distance);
}

void ClockedVictims::push(u32 cell) {
  const Packet& p = packets_[cell];
  lists_[listOf(p)].push_back(cell);
  queues_[p.arrival.queue].bitmap[rankSlot(p.arrival)] |= u64{1} << p.arrival.distance;
}

void ClockedVictims::unlink(u32 cell) {
  const Packet& p = packets_[cell];
  packets_[p.before].behind = p.behind;
  packets_[p.behind].before = p.before;
  packets_[cell].left = true;
}

void ClockedVictims::clock(const std::optional<VictimArrival>& ahead, const std::optional<VictimArrival>& arrival,
                           const std::optional<Take>& take) {
  check(s3_.valid == arrival.has_value(), "a packet comes at another time than its search");
  if (arrival) s3_.arrival = *arrival;

  // s1: before anything is written
  findLowest(s1_);

  // s3: the heads as they stood
  for (std::size_t i = 0; i < s3_.heads.size(); i++) {
    if (!s3_.valid || s3_.tail() || !s3_.ranks[i].found) continue;
    const std::deque<u32>& l = lists_[listOf(s3_, s3_.ranks[i])];
    if (!l.empty()) s3_.heads[i] = l.front();
  }

  // push
  const u32 queue = s5_.arrival.queue, cell = s5_.arrival.cell;
  if (ports_.enqueued) {
    const u32 newest = queues_[queue].newest;
    if (cell >= packets_.size()) packets_.resize(cell + 1);
    packets_[cell] = {s5_.arrival, newest, 0, decided_.marked, ++enqueued_};
    if (!ports_.awake) packets_[newest].behind = cell;
    queues_[queue].newest = cell;
    if (!ports_.awake && !decided_.marked && queue < shape_.indexed && !s5_.tail()) push(cell);
    if (!ports_.awake && queue < shape_.indexed) {
      std::deque<u32>& window = queues_[queue].window;
      if (decided_.evicted) std::erase(window, decided_.cell);
      window.push_front(cell);
      if (window.size() > WindowPlaces) window.pop_back();
      queues_[queue].behind += 1 - decided_.evicted;
    }
  }

  // what promotion and pop leave
  if (s3_.valid && !s3_.tail()) seeHeads();
  if (s4_.valid) choose();
  if (p1_.valid && p1_.queue < shape_.indexed) queues_[p1_.queue].behind--;
  if (promotedFromList()) popFront(listOf(packets_[p1_.cell]), p1_.cell);
  if (pays_) {
    if (!s5_.tail()) popFront(listOf(s5_, s5_.chosen), *s5_.candidate);
    if (decided_.evicted) unlink(*s5_.candidate);
    packets_[*s5_.candidate].marked |= decided_.victimMarked;
  }

  // who sleeps and who is awake
  if (t1_ && t1_->emptied && !ports_.refilled) queues_[t1_->queue].awake = false;
  if (ports_.awake) queues_[queue].awake = true;

  // s3
  for (std::size_t i = 0; i < s3_.wants.size(); i++)
    s3_.wants[i] = s3_.arrival.action == VictimArrival::Contest && s3_.ranks[i].found &&
                   s3_.arrival.distance >= s3_.ranks[i].distance;

  // to the next clock
  p1_ = {ports_.promoted, t1_ ? t1_->queue : 0, ports_.successor};
  if (p1_.valid) packets_[p1_.cell].left = true;
  ports_ = {};
  if (s5_.valid) {
    ports_.outcome = decided_;
    if (decided_.evicted)
      ports_.freed = {decided_.cell, (decided_.lenBytes + CellBytes - 1) / CellBytes};
    else if (!decided_.enqueued && s5_.arrival.cells != 0)
      ports_.freed = {cell, s5_.arrival.cells};
  }
  s5_ = s4_, s4_ = s3_, s3_ = s2_, s2_ = s1_;
  s1_ = {};
  if (ahead) s1_.valid = true, s1_.arrival = *ahead;
  t1_ = take;
  evaluate();
}

void ClockedVictims::evaluate() {
  bool asleep = false;
  if (t1_) {
    ports_.newestServed = queues_[t1_->queue].newest;
    ports_.promoted = ports_.newestServed != t1_->cell;
    ports_.refilled = t1_->emptied && ports_.promoted;
    ports_.takenMarked = packets_[t1_->cell].marked;
    if (ports_.promoted) ports_.successor = packets_[t1_->cell].behind;
    asleep = t1_->emptied && !ports_.promoted;
  }
  decided_ = {};
  pays_ = false;
  if (!s5_.valid) return;

  const VictimArrival& a = s5_.arrival;
  const bool contest = a.action == VictimArrival::Contest, mayMark = a.mayMark && !s5_.tail();
  const bool becomesFirst = s5_.candidate && ports_.promoted && ports_.successor == *s5_.candidate;
  const bool wasFirst = s5_.candidate && p1_.valid && p1_.cell == *s5_.candidate;
  bool stands = s5_.candidate.has_value();
  if (s5_.tail())
    stands = stands && packets_[*s5_.candidate].serial == s5_.tailSerial && !packets_[*s5_.candidate].left;
  else
    check(!wasFirst, "a victim became first before");
  pays_ = stands && !(s5_.tail() && a.asLong && packets_[*s5_.candidate].arrival.lenBytes < a.lenBytes);
  if (pays_) {
    const VictimArrival& lost = packets_[*s5_.candidate].arrival;
    decided_.victimMarked = mayMark && lost.ect;
    decided_.evicted = !decided_.victimMarked;
    decided_.cell = lost.cell, decided_.lenBytes = lost.lenBytes;
    decided_.colour = lost.colour, decided_.distance = lost.distance;
  }
  decided_.marked = contest && !pays_ && mayMark && a.ect;
  decided_.enqueued = a.action == VictimArrival::Admit || pays_ || decided_.marked;
  decided_.blind = s5_.emptied || (s5_.candidate && !stands);
  ports_.mayReplace = s5_.candidate.has_value();
  ports_.enqueued = decided_.enqueued;
  ports_.enqueuedMarked = decided_.marked;
  if (pays_) ports_.victim = decided_.cell;
  ports_.evicts = decided_.evicted;
  ports_.awake = decided_.enqueued && (!queues_[a.queue].awake || (asleep && t1_->queue == a.queue));
  ports_.joined = decided_.enqueued && !ports_.awake;
  if (decided_.evicted && becomesFirst) {
    // The packet behind the victim is first in its stead: the one that is enqueued in this clock, if the victim was the newest.
    const bool own = ports_.newestServed == decided_.cell;
    ports_.successor = own ? a.cell : packets_[decided_.cell].behind;
    if (own) ports_.newestServed = a.cell, ports_.joined = false;
  }
}

}  // namespace vermilion
