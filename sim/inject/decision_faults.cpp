// Faults in one field of one decision's trace, and swapped values of two packets.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "faults.h"

namespace vermilion {

namespace {

using Fits = std::function<bool(const RtlDecision&)>;

bool packet(const RtlDecision& d) {
  return !d.refresh;
}
bool sound(const RtlDecision& d) {
  return !d.refresh && !d.seen.bad && !d.seen.no_buffer;
}
bool evaluated(const RtlDecision& d) {
  return sound(d) && !d.mark.policed;
}
bool inFlow(const RtlDecision& d) {
  return sound(d) && d.mark.has_flow;
}

constexpr u32 ColourBits = 2;

class Adder {
 public:
  Adder(std::vector<Fault>& to, const VmConfig& config) : to_(to), config_(config) {}

  // Adds a fault that flips one bit of a field. `field(decision)` returns a reference to the field.
  template <class Field>
  void bit(const char* name, const std::string& what, Check check, const char* says, u32 width, Fits fits,
           Field field) {
    to_.push_back({name,
                   "one bit of " + what,
                   check,
                   {says},
                   places(fits),
                   [field, width](Recording& run, std::size_t place, u32 number) {
                     auto& value = field(run.events[place].decision);
                     value = static_cast<std::remove_reference_t<decltype(value)>>(value ^ bitOf(number, width));
                   }});
  }

  // Adds a fault that swaps `field` of a decision and of the queue's next decision, if the two differ.
  template <class Field>
  void another(const char* name, const std::string& what, const char* says, Fits fits, Field field) {
    const auto next = [fits](const Recording& run, std::size_t from) {
      const u32 queue = run.events[from].decision.seen.queue;
      return nextEvent(
          run, from, [&](const Event& e) { return isPacket(e) && e.decision.seen.queue == queue && fits(e.decision); });
    };
    to_.push_back({name,
                   "the " + what + " of this packet and the queue's next packet are swapped",
                   Check::Replay,
                   {says},
                   [=](const Recording& run) {
                     return placesOf(run, Event::Kind::Decided, [&](std::size_t i) {
                       if (!fits(run.events[i].decision)) return false;
                       const std::size_t j = next(run, i);
                       if (j == run.events.size()) return false;
                       RtlDecision one = run.events[i].decision, other = run.events[j].decision;
                       return field(one) != field(other);
                     });
                   },
                   [=](Recording& run, std::size_t place, u32) {
                     std::swap(field(run.events[place].decision), field(run.events[next(run, place)].decision));
                   }});
  }

  void add(Fault fault) { to_.push_back(std::move(fault)); }
  static std::function<std::vector<std::size_t>(const Recording&)> places(Fits fits) {
    return [fits](const Recording& run) {
      return placesOf(run, Event::Kind::Decided, [&](std::size_t i) { return fits(run.events[i].decision); });
    };
  }

  // An estimator that the packet updates, other than that of its colour. Colours: there is none.
  u32 otherEstimator(const RtlDecision& d) const {
    for (u32 e = 0; e < u32{Colours}; e++)
      if (e != d.seen.colour && (config_.queues[d.seen.queue].masks[e] >> d.seen.colour & 1)) return e;
    return Colours;
  }
  bool refreshes(const RtlDecision& d) const {
    return d.refresh && config_.queues[d.seen.queue].update &&
           (config_.queues[d.seen.queue].masks[d.seen.colour] >> d.seen.colour & 1);
  }

 private:
  std::vector<Fault>& to_;
  const VmConfig& config_;
};

// Decisions in which each flip of one bit of the input gives an input without a waiting frame.
constexpr u32 InputBits = 2;
std::vector<std::size_t> otherInputsIdle(const Recording& run) {
  std::array<i64, 1 << InputBits> waiting{};
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < run.events.size(); i++) {
    const Event& e = run.events[i];
    if (e.kind == Event::Kind::Arrived) waiting[e.input]++;
    if (e.kind == Event::Kind::Lost) waiting[e.input]--;
    if (!isPacket(e)) continue;
    const u32 input = e.decision.input;
    waiting[input]--;
    if (waiting[input ^ 1] == 0 && waiting[input ^ 2] == 0) places.push_back(i);
  }
  return places;
}

void addSeen(Adder& to, const VmConfig& config) {
  using D = RtlDecision;
  const Check replay = Check::Replay, accounting = Check::Accounting;
  to.bit(
      "time", "a decision's time", replay, "time", 48, packet, [](D & d) -> auto& { return d.seen.time; });
  to.bit(
      "draw", "the draw", replay, "draw", 32, packet, [](D & d) -> auto& { return d.seen.draw; });
  to.bit(
      "backlog-bytes", "the backlog in bytes", replay, "backlog bytes", 27, packet,
      [](D & d) -> auto& { return d.seen.backlog_bytes[d.seen.colour]; });
  to.bit(
      "backlog-packets", "the backlog in packets", replay, "backlog packets", 16, packet,
      [](D & d) -> auto& { return d.seen.backlog_packets[d.seen.colour]; });
  to.bit(
      "last-departure", "the last departure's time", replay, "last departure", 48, packet,
      [](D & d) -> auto& { return d.seen.last_departure[d.seen.colour]; });
  to.bit(
      "n", "the look-ahead n", replay, "n", 3, evaluated, [](D & d) -> auto& { return d.seen.n[d.seen.colour]; });
  to.bit(
      "queued-bytes", "the bytes that the limit sees", replay, "queued bytes", 27, packet,
      [](D & d) -> auto& { return d.seen.queued_bytes; });
  to.bit(
      "queued-packets", "the packets that the limit sees", replay, "queued packets", 16, packet,
      [](D & d) -> auto& { return d.seen.queued_packets; });
  to.bit(
      "pool-full", "whether the pool has no room", replay, "pool full", 1, packet,
      [](D & d) -> auto& { return d.seen.pool_full; });
  to.bit(
      "length", "the length", accounting, "the lane says length", 14, packet,
      [](D & d) -> auto& { return d.seen.len_bytes; });
  const u32 queueBits = std::max(1u, static_cast<u32>(std::bit_width(config.queue_count - 1)));
  const u32 ruleBits = static_cast<u32>(std::bit_width(std::max(config.rule_count, 2u) - 1));
  to.bit(
      "queue", "the queue", accounting, "the lane says queue", queueBits,
      [&config, queueBits](const D& d) { return packet(d) && canFlip(d.seen.queue, queueBits, config.queue_count); },
      [](D & d) -> auto& { return d.seen.queue; });
  to.bit(
      "rule", "the number of the packet's rule", accounting, "the lane says rule", ruleBits,
      [&config, ruleBits](const D& d) { return packet(d) && d.rule && canFlip(*d.rule, ruleBits, config.rule_count); },
      [](D & d) -> auto& { return *d.rule; });
  to.bit(
      "colour", "the colour that the marker gave", replay, "colour", ColourBits,
      [](const D& d) { return packet(d) && canFlip(d.seen.colour, ColourBits, Colours); },
      [](D & d) -> auto& { return d.seen.colour; });
  to.bit(
      "came", "the colour out of the classifier", accounting, "the lane says colour out of the classifier", ColourBits,
      [](const D& d) { return packet(d) && canFlip(d.mark.colour, ColourBits, Colours); },
      [](D & d) -> auto& { return d.mark.colour; });
  to.bit(
      "ecn", "the ECN field", accounting, "the lane says ECN", 2, packet, [](D & d) -> auto& { return d.seen.ecn; });
  to.bit(
      "bad", "the `bad` flag", accounting, "the lane says bad", 1, packet, [](D & d) -> auto& { return d.seen.bad; });
  to.bit(
      "no-buffer", "the `no_buffer` flag", replay, "provisional verdict", 1, packet,
      [](D & d) -> auto& { return d.seen.no_buffer; });
  to.bit(
      "distance", "the distance", replay, "distance", 6, packet, [](D & d) -> auto& { return d.seen.distance; });
  to.add({"input",
          "one bit of the input",
          accounting,
          {"no frame waiting"},
          otherInputsIdle,
          [](Recording& run, std::size_t place, u32 number) {
            run.events[place].decision.input ^= static_cast<u32>(bitOf(number, InputBits));
          }});
}

void addPolicy(Adder& to) {
  using D = RtlDecision;
  const Check replay = Check::Replay;
  to.bit(
      "average", "the colour's average", replay, "average", 43, evaluated,
      [](D & d) -> auto& { return d.average[d.seen.colour]; });
  to.bit(
      "average-other", "the average of another estimator that counts the packet", replay, "average", 43,
      [to](const D& d) { return evaluated(d) && to.otherEstimator(d) < u32{Colours}; },
      [to](D & d) -> auto& { return d.average[to.otherEstimator(d)]; });
  to.bit(
      "probability", "the probability", replay, "probability", 33, evaluated,
      [](D & d) -> auto& { return d.probability; });
  to.bit(
      "verdict", "the verdict", replay, "verdict", 3, packet, [](D & d) -> auto& { return d.verdict; });
  to.bit(
      "provisional-verdict", "the provisional verdict", replay, "provisional verdict", 3, packet,
      [](D & d) -> auto& { return d.pushOut.provisionalVerdict; });
  // The consequence depends on later frames: a departure finds the queue empty, or frames get the verdicts of others.
  to.add({"refresh",
          "the refresh flag is set: a packet's decision looks like one without a packet",
          Check::Accounting,
          {"which is empty", "the lane says", "left queue", "came out with", "without a verdict"},
          Adder::places(packet),
          [](Recording& run, std::size_t place, u32) { run.events[place].decision.refresh = true; }});
  const Fits refreshes = [to](const D& d) { return to.refreshes(d); };
  to.bit(
      "refresh-time", "the time of a refresh at a departure", replay, "time", 48, refreshes,
      [](D & d) -> auto& { return d.seen.time; });
  to.bit(
      "refresh-backlog", "the backlog of a refresh", replay, "backlog bytes", 27, refreshes,
      [](D & d) -> auto& { return d.seen.backlog_bytes[d.seen.colour]; });
  to.bit(
      "refresh-average", "the average of a refresh", replay, "average", 43, refreshes,
      [](D & d) -> auto& { return d.average[d.seen.colour]; });
}

void addMarks(Adder& to) {
  using D = RtlDecision;
  const Check replay = Check::Replay;
  to.bit(
      "mark-time", "the marker's time", replay, "marker's time", 48, packet,
      [](D & d) -> auto& { return d.mark.time; });
  to.bit(
      "mark-draw", "the marker's draw", replay, "marker's draw", 16, packet,
      [](D & d) -> auto& { return d.mark.draw; });
  to.bit(
      "mark-level", "the marker's token level", replay, "level", 64, sound,
      [](D & d) -> auto& { return d.mark.level; });
  to.bit(
      "policed", "the `policed` flag", replay, "policed", 1, sound, [](D & d) -> auto& { return d.mark.policed; });
  to.bit(
      "flow", "the `has_flow` flag", replay, "flow", 1, inFlow, [](D & d) -> auto& { return d.mark.has_flow; });
  to.bit(
      "flow-average", "a flow's average A_Y", replay, "flow's average", 24, inFlow,
      [](D & d) -> auto& { return d.mark.flow.average; });
  to.bit(
      "flow-raised", "a flow's flag of a raised average", replay, "flow's raised", 1, inFlow,
      [](D & d) -> auto& { return d.mark.flow.raised; });
  to.bit(
      "flow-burst", "a flow's burst L_Y", replay, "flow's burst", 16, inFlow,
      [](D & d) -> auto& { return d.mark.flow.burst; });
  to.bit(
      "flow-credits", "a flow's credits", replay, "flow's credits", 4, inFlow,
      [](D & d) -> auto& { return d.mark.flow.credits; });
  to.bit(
      "flow-sequence", "a flow's highest sequence number", replay, "flow's highest sequence number", 32, inFlow,
      [](D & d) -> auto& { return d.mark.flow.highest_seq; });
}

void addAnothers(Adder& to) {
  using D = RtlDecision;
  to.another(
      "another-average", "averages", "average", evaluated, [](D & d) -> auto& { return d.average[d.seen.colour]; });
  to.another(
      "another-probability", "probabilities", "probability", evaluated, [](D & d) -> auto& { return d.probability; });
  to.another(
      "another-draw", "draws", "draw", packet, [](D & d) -> auto& { return d.seen.draw; });
  to.another(
      "another-colour", "marker's colours", "colour", packet, [](D & d) -> auto& { return d.seen.colour; });
  to.another(
      "another-level", "token levels", "level", sound, [](D & d) -> auto& { return d.mark.level; });
}

}  // namespace

void addDecisionFaults(std::vector<Fault>& to, const VmConfig& config) {
  Adder adder(to, config);
  addSeen(adder, config);
  addPolicy(adder);
  addMarks(adder);
  addAnothers(adder);
}

}  // namespace vermilion
