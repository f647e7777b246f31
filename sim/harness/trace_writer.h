// Writes the trace: one line of CSV per decision or refresh, with all values that it used. The model can replay it.
//
// The first line names the columns.
//
//   refresh                 1: a departure updates averages, no packet
//   time                    ns, 64 bits; last_departure as the lane has it, modulo 2^48
//   queued                  what the limit saw before the packet
//   pool_full               1: the pool of cells has no room for the packet
//   distance                hops that the packet has come, 0 to 63: sim/model/distance.h
//   provisional_verdict     the verdict before a push-out, a code like verdict: sim/model/push_out.h
//   stale                   1: a push-out with a stale candidate; the arriving packet is the victim
//   evicted, victim_marked  1: a push-out dropped, or marked, a queued packet
//   victim_colour, victim_bytes, victim_distance
//                           of that queued packet
//   came                    colour before the queue's marker
//   policed                 1: the marker drops the packet
//   level                   of the marker's bucket A before the packet, U48.16 ns of its rate
//   flow                    number of the packet's flow, flow_book.h: 0 for the first flow that a flow marker saw
//   flow_average, flow_raised, flow_burst, flow_credits, flow_seq
//                           the flow's state after the packet: A_Y (U16.8; if raised, 8 / (8-n) of it), L_Y, credits,
//                           SN_h
//   flow_events             events of the flow at this packet: names of the JSON's flow_events, separated by spaces.
//                           The RTL's decision does not have them. There they come from the replay, and are compared
//                           with the RTL's counters at the end
//   backlog_..., ahead      per colour 0, 1, 2: what the averages saw before the packet (after the departure); n of the
//                           look-ahead
//   average_0.. (U27.16)    of each estimator, after its update
//   probability             U1.32
//   verdict                 code of docs/architecture.md
//
// A value without a meaning is empty, so that both engines write the same file:
//   packet without a flow   flow, flow_events and the flow's state; if the table has no place for the flow, its state
//   refresh                 all but time, refresh, queue, colour, backlog, last_departure, ahead and average
//   no push-out             stale, evicted, victim_...; if the arriving packet is the victim, victim_colour,
//                           victim_bytes and victim_distance
//   bad or nobuf frame      probability, policed, level, and all of the flow
//   policed frame           probability
//   ahead_c, average_c      if the line does not update estimator c: its mask lacks the colour; a bad, nobuf or policed
//                           frame; or a refresh of a queue that does not update averages at departures
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "atomic_file.h"
#include "flow_book.h"
#include "replay.h"

namespace vermilion {

class TraceWriter {
 public:
  TraceWriter(const std::string& name, const VmConfig& config)
      : file_(name), queues_(config.queues, config.queues + config.queue_count) {
    std::string head =
        "time,refresh,input,queue,colour,len_bytes,ecn,bad,no_buffer,draw,queued_bytes,queued_packets,"
        "pool_full,probability,"
        "verdict,distance,provisional_verdict,stale,evicted,victim_marked,victim_colour,victim_bytes,victim_distance,"
        "came,mark_draw,"
        "policed,level,"
        "flow,flow_average,flow_raised,flow_burst,flow_credits,flow_seq,flow_events";
    for (int c = 0; c < Colours; c++)
      for (const char* field : {"backlog_bytes", "backlog_packets", "last_departure", "ahead", "average"})
        head += std::string(",") + field + "_" + std::to_string(c);
    file_.write(head + "\n");
  }
  void write(const RtlDecision& d, u64 time, std::optional<u32> flow) {
    const Arrival& a = d.seen;
    const bool packet = !d.refresh, sound = packet && !a.bad && !a.no_buffer, taken = sound && !d.mark.policed;
    line_ = std::to_string(time);
    add(d.refresh);
    add(d.input, packet);
    add(a.queue);
    add(a.colour);
    for (u64 v : {a.len_bytes, a.ecn, a.bad, a.no_buffer, a.draw, a.queued_bytes, a.queued_packets, a.pool_full})
      add(v, packet);
    add(d.probability, taken);
    add(d.verdict, packet);
    add(a.distance, packet);
    add(d.pushOut.provisionalVerdict, packet);
    const VictimOutcome& o = d.pushOut.outcome;
    for (u64 v : {o.stale, o.evicted, o.victimMarked}) add(v, packet && d.pushOut.held);
    for (u64 v : {o.colour, o.lenBytes, o.distance}) add(v, packet && d.pushOut.held && (o.evicted || o.victimMarked));
    add(d.mark.colour, packet);
    add(d.mark.draw, packet);
    add(d.mark.policed, sound);
    add(d.mark.level, sound);
    add(flow.value_or(0), flow.has_value());
    const VmFlowState& s = d.mark.flow;
    for (u64 v : {s.average, s.raised, s.burst, s.credits, s.highest_seq}) add(v, sound && d.mark.has_flow);
    addEvents(d.mark.flow_events);
    for (u32 c = 0; c < u32{Colours}; c++) {
      const bool updated = updates(a, c, taken, d.refresh);
      add(a.backlog_bytes[c]);
      add(a.backlog_packets[c]);
      add(a.last_departure[c]);
      add(a.n[c], updated);
      add(d.average[c], updated);
    }
    file_.write(line_ + "\n");
  }
  void keep() { file_.keep(); }

 private:
  bool updates(const Arrival& a, u32 estimator, bool taken, bool refresh) const {
    if (a.queue >= queues_.size()) return false;  // a defect; the replay reports it
    const VmQueue& q = queues_[a.queue];
    return (taken || (refresh && q.update)) && (q.masks[estimator] >> a.colour & 1);
  }
  void add(u64 value, bool meant = true) {
    line_ += ',';
    if (meant) line_ += std::to_string(value);
  }

  void addEvents(u32 events) {
    const char* between = ",";
    if (events == 0) line_ += between;
    for (u32 i = 0; i < FlowEvents; i++)
      if (events >> i & 1) {
        line_ += between;
        line_ += FlowEventNames[i];
        between = " ";
      }
  }

  AtomicFile file_;
  std::vector<VmQueue> queues_;
  std::string line_;
};

}  // namespace vermilion
