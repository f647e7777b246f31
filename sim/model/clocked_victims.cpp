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
  s1.found = false;
  if (s1.arrival.action != VictimArrival::Contest || s1.arrival.queue >= shape_.indexed) return;
  const u32 mildest = WorstColour - (s1.arrival.byColour ? worstColour(s1.arrival.colour) : 0);
  if (s1.arrival.last != 0) return findInWindow(s1, mildest);
  u32 lowest = 64;
  for (u32 slot = 0; slot <= mildest; slot++) {
    const u32 distance = static_cast<u32>(std::countr_zero(queues_[s1.arrival.queue].bitmap[slot]));
    if (distance >= lowest) continue;
    lowest = distance;
    s1.found = true, s1.distance = distance, s1.slot = slot;
  }
}

// Of equals the oldest, which stands last.
void ClockedVictims::findInWindow(Stage& s1, u32 mildest) const {
  const Queue& queue = queues_[s1.arrival.queue];
  const std::size_t last = std::min<std::size_t>({s1.arrival.last, queue.behind, queue.window.size()});
  for (std::size_t i = last; i-- > 0;) {
    const VictimArrival& p = packets_[queue.window[i]].arrival;
    const u32 slot = rankSlot(p);
    if (p.last == 0 || slot > mildest) continue;
    if (s1.found && p.distance * Slots + slot >= s1.distance * Slots + s1.slot) continue;
    s1.found = true, s1.distance = p.distance, s1.slot = slot, s1.tailCell = p.cell;
  }
}

bool ClockedVictims::windowHolds(const Queue& queue, u32 cell) const {
  const auto last = queue.window.begin() + std::min<i64>(queue.behind, static_cast<i64>(queue.window.size()));
  return std::find(queue.window.begin(), last, cell) != last;
}

// Links in the list are one packet deep here: `cell` is its first, or the one behind it.
std::optional<u32> ClockedVictims::behindInList(std::size_t list, u32 cell) const {
  const std::deque<u32>& l = lists_[list];
  for (std::size_t i = 0; i < 2 && i < l.size(); i++)
    if (l[i] == cell) return i + 1 < l.size() ? std::optional(l[i + 1]) : std::nullopt;
  throw std::logic_error("a candidate is not its list's first");
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
}

void ClockedVictims::clock(const std::optional<VictimArrival>& arrival, const std::optional<Take>& take) {
  // s1: before anything is written
  findLowest(s1_);

  // s4: the head as it stood; then push, and what promotion and pop leave
  const std::size_t s4List = list(s4_.arrival.queue, s4_.distance, s4_.slot);
  const bool s4Picks = s4_.valid && s4_.wants && s4_.arrival.last == 0;
  if (s4_.valid && s4_.wants && s4_.arrival.last != 0) s4_.candidate = s4_.tailCell;
  if (s4Picks && !lists_[s4List].empty()) s4_.candidate = lists_[s4List].front();
  const u32 queue = s5_.arrival.queue, cell = s5_.arrival.cell;
  if (ports_.enqueued) {
    const u32 newest = queues_[queue].newest;
    if (cell >= packets_.size()) packets_.resize(cell + 1);
    packets_[cell] = {s5_.arrival, newest, 0, decided_.marked};
    if (!ports_.awake) packets_[newest].behind = cell;
    queues_[queue].newest = cell;
    if (!ports_.awake && !decided_.marked && queue < shape_.indexed && s5_.arrival.last == 0) push(cell);
    if (!ports_.awake && queue < shape_.indexed) {
      std::deque<u32>& window = queues_[queue].window;
      if (decided_.evicted) std::erase(window, decided_.cell);
      window.push_front(cell);
      if (window.size() > WindowPlaces) window.pop_back();
      queues_[queue].behind += 1 - decided_.evicted;
    }
  }
  if (p1_.valid && p1_.queue < shape_.indexed) queues_[p1_.queue].behind--;
  const bool promotes = promotedFromList();
  const std::size_t p1List = promotes ? listOf(packets_[p1_.cell]) : 0;
  const std::size_t s5List = list(queue, s5_.distance, s5_.slot);
  if (s4Picks && promotes && p1List == s4List) s4_.candidate = behindInList(p1List, p1_.cell);
  if (s4Picks && s5_.valid && s5_.arrival.last == 0 && s5_.candidate && s5List == s4List)
    s4_.candidate = behindInList(s5List, *s5_.candidate);
  if (promotes) popFront(p1List, p1_.cell);
  if (pays_) {
    if (s5_.arrival.last == 0) popFront(s5List, *s5_.candidate);
    if (decided_.evicted) unlink(*s5_.candidate);
    packets_[*s5_.candidate].marked |= decided_.victimMarked;
  }

  // who sleeps and who is awake
  if (t1_ && t1_->emptied && !ports_.refilled) queues_[t1_->queue].awake = false;
  if (ports_.awake) queues_[queue].awake = true;

  // s3
  s3_.wants = s3_.found && s3_.arrival.distance >= s3_.distance;

  // to the next clock
  p1_ = {ports_.promoted, t1_ ? t1_->queue : 0, ports_.successor};
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
  if (arrival) s1_.valid = true, s1_.arrival = *arrival;
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
  const bool contest = a.action == VictimArrival::Contest, mayMark = a.mayMark && a.last == 0;
  const bool isFirst = s5_.candidate && ((ports_.promoted && ports_.successor == *s5_.candidate) ||
                                         (p1_.valid && p1_.cell == *s5_.candidate));
  const bool stands = s5_.candidate && !isFirst && (a.last == 0 || windowHolds(queues_[a.queue], *s5_.candidate));
  pays_ = stands && !(a.last != 0 && a.asLong && packets_[*s5_.candidate].arrival.lenBytes < a.lenBytes);
  if (pays_) {
    const VictimArrival& lost = packets_[*s5_.candidate].arrival;
    decided_.victimMarked = mayMark && lost.ect;
    decided_.evicted = !decided_.victimMarked;
    decided_.cell = lost.cell, decided_.lenBytes = lost.lenBytes;
    decided_.colour = lost.colour, decided_.distance = lost.distance;
  }
  decided_.marked = contest && !pays_ && mayMark && a.ect;
  decided_.enqueued = a.action == VictimArrival::Admit || pays_ || decided_.marked;
  decided_.blind = contest && s5_.wants && !stands;
  ports_.enqueued = decided_.enqueued;
  ports_.enqueuedMarked = decided_.marked;
  if (pays_) ports_.victim = decided_.cell;
  ports_.evicts = decided_.evicted;
  ports_.awake = decided_.enqueued && (!queues_[a.queue].awake || (asleep && t1_->queue == a.queue));
}

}  // namespace vermilion
