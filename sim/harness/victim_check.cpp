#include "victim_check.h"

#include <algorithm>
#include <stdexcept>

#include "differences.h"

namespace vermilion {

VictimCheck::VictimCheck(const VictimShape& shape, bool judges)
    : on_(shape.indexed != 0), late_(judges ? 1 + timing::Judging : 1), victims_(shape), heads_(shape.queues) {}

void VictimCheck::decided(const VictimArrival& arrival, const VictimOutcome& shown, u64 lane) {
  if (!on_) return;
  Slot& slot = slots_[(lane - Searching) % Slots];
  slot.arrival = arrival;
  slot.shown = shown;
}

void VictimCheck::departed(u32 queue, u64 lane) {
  if (on_ && queue < heads_.size()) slots_[(lane - late_) % Slots].taken = queue;
}

void VictimCheck::clock(u64 lane) {
  lane_ = lane;
  if (on_ && lane >= Slots) run(lane - Lag);
}

void VictimCheck::finish() {
  for (u64 i = 0; i < Slots; i++) clock(lane_ + 1);
}

void VictimCheck::run(u64 clock) {
  try {
    Slot& slot = slots_[clock % Slots];
    if (slot.taken) {
      u32& head = heads_[*slot.taken];
      if (head == 0) throw std::logic_error("a packet was sent from a queue whose head the model holds empty");
      head--;
    }
    victims_.clock(slot.arrival, slots_[(clock - timing::SearchAhead) % Slots].arrival, slot.taken);
    if (victims_.ports().newHead) heads_[victims_.ports().newHead->queue]++;
    // The model's ports now have the outcome of the next cycle.
    Slot& settled = slots_[(clock + 1 - Searching) % Slots];
    if (victims_.ports().outcome) compare(settled, *victims_.ports().outcome);
    settled = {};
  } catch (const std::logic_error& e) {
    defect(e.what());
  }
}

void VictimCheck::defect(const char* text) {
  on_ = false;
  wrong_++;
  if (first_.empty()) first_ = std::string("victim search: ") + text;
}

void VictimCheck::compare(const Slot& pushOut, const VictimOutcome& model) {
  const VictimArrival& a = *pushOut.arrival;
  const VictimOutcome& rtl = pushOut.shown;
  const bool held = a.action == VictimArrival::PushOut, lost = model.evicted || model.victimMarked;
  Differences found;
  found.compare("enqueued", rtl.enqueued, model.enqueued);
  if (held) found.compare("marked", rtl.marked, model.marked);
  found.compare("stale candidate", rtl.stale, model.stale);
  found.compare("evicted", rtl.evicted, model.evicted);
  found.compare("victim marked", rtl.victimMarked, model.victimMarked);
  if (lost) {
    found.compare("cell", rtl.cell, model.cell);
    found.compare("length", rtl.lenBytes, model.lenBytes);
    found.compare("colour", rtl.colour, model.colour);
    found.compare("distance", rtl.distance, model.distance);
  }
  if (found.none()) return;
  wrong_++;
  if (!first_.empty()) return;
  const auto text = [](const VictimOutcome& o) {
    return std::string(o.enqueued ? "enqueued" : "lost") + (o.marked ? ", marked" : "") +
           (o.stale ? ", stale candidate" : "") + (o.evicted ? ", evicted" : "") +
           (o.victimMarked ? ", victim marked" : "") + ", cell " + std::to_string(o.cell) + ", " +
           std::to_string(o.lenBytes) + " bytes, colour " + std::to_string(o.colour) + ", distance " +
           std::to_string(o.distance);
  };
  first_ = found.names() + ": queue " + std::to_string(a.queue) + ", a packet of " + std::to_string(a.lenBytes) +
           " bytes, distance " + std::to_string(a.distance) + ", action " + std::to_string(a.action) +
           "; RTL: " + text(rtl) + "; model: " + text(model);
}

}  // namespace vermilion
