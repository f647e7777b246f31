// Collects the results of a run and writes them as JSON. Names in the file of `--stats-json`:
//
//   engine, preset, packets, bytes
//   clocks     cycles of the run
//   seconds    of lane time
//   wall_seconds, cpu_seconds, packets_per_second, clocks_per_second (RTL)    of the simulation
//   capture_start_ns    time of the capture's first frame, since 1970
//   lane_start_ns       lane time at which the capture starts; all times here are lane time, of 64 bits
//
//   queues[]   index, name
//     colours[3]      of counters {packets, bytes}. Colours are those after the queue's marker:
//                     arrived, enqueued (`marked` among them), marked (CE chosen), ce_written, early, forced, tail,
//                     nobuf, bad, policed, sent, evicted (enqueued, and pushed out later for another packet),
//                     departure_dropped, departure_marked (by the queue's AQM or ce_threshold, as they left it)
//     colours_in_out  [3][3]: packets by the colour with which they arrived and the one that their marker gave
//     marker          {kind}; absent without a marker. Flow markers have flow_events, too (see below; of this queue,
//                     counted by the model), and the flows of flow_book.h
//     dscps           [[dscp, packets], ...] of the IP packets as they arrived, after their rules
//     not_ip          frames that are not IP
//     latency         histogram [[from_ns, packets], ...] of decision to departure: 8 classes per octave, without empty
//                     ones
//     latency_max_ns
//     highest_backlog_bytes, highest_backlog_packets
//                     what was queued before a packet, all colours, as the limit saw it at the verdict
//     lost_by_distance
//                     [[distance, packets], ...] of the packets that the queue lost (early, forced, tail and evicted)
//                     with a known distance: IP to one receiver, the initial TTL by option or inference
//                     (docs/distance-drops.md)
//     wasted_hops     the sum of their distances
//     lost_without_distance
//                     the other packets that the queue lost. The search, like the register lost_distance, counts them
//                     as 63 hops or, for link-local multicast, as 31
//     flow_collisions packets that were enqueued after one of another flow. Absent if the queue is in no group of flows
//
//   The next three are absent if the queue has no push-outs:
//     push_outs       decisions that could push out a queued packet
//     stale           those with a stale candidate. In them the arriving packet was the victim
//                     (docs/decisions/0006-victims-by-distance.md)
//     victims_by_distance
//                     [[distance, packets], ...] of the queued victims, evicted or marked, by the distance that the
//                     search used
//
//   waited_ns  time in which at least one packet waited: it was queued for longer than in an empty lane
//              (waiting_time.h)
//   span_ns    from the first verdict of a packet that departed to the last departure
//   samples[]  [time_ns, queue, colour, average, backlog_bytes, backlog_packets, probability, provisional_verdict]
//              of every k-th decision. k is such that at most 12,000 remain. The average is in bytes or packets. The
//              backlog is what the limit saw at the verdict: all that is queued before the packet. The averages see an
//              older backlog (docs/architecture.md), which is in --trace. A bad, nobuf or policed frame updates no
//              average and has no probability: both are null
//   events[]   the same, for provisional verdicts other than `enqueue`; at most 8,000
//   sample_every, event_every    k of each
//   fates      {start_ns, bin_ns, reasons: {name: [packets of each bin]}}: drops and marks over time (fate_times.h).
//              Reasons are those of sim/model/report.h. Absent without any
//   reports    with [reports] in the configuration (report_book.h): {offered, sent, lost, limited, without_bytes,
//              bytes_gone (of those without bytes: packets that had been stored),
//              by_queue: [[queue, reason, reports], ...]}; RTL: errors and first_error, too
//   lost[]     per input {packets, bytes}: frames that the input dropped, so without a verdict and in no queue. Absent
//              if there are none
//   flow_events
//              {adopted, collision, aged_out, displaced, table_full, loss, jump, probe}: events of the flows of all
//              flow markers (docs/flow-table.md), each at most 2^32-1. RTL: read from its registers; a
//              count that differs from the model's is an error in `counters`. --engine model: the model's count
//   flow_collisions
//              with groups of flows: packets that were enqueued after one of another flow (docs/configuration/aqm.md,
//              "FQ-CoDel"). RTL: read from its register; if it differs from the model's count, that is an error
//              in `counters`. --engine model: the model's count
//   replay     decisions, agreed, refreshes, refreshes_agreed, first_disagreement (RTL), which names the fields that
//              differ
//   accounting {errors, first_error}: the fate and the bytes of each frame (accounting.h)
//   victims, counters, stream
//              the same (RTL): victims of push-outs (victim_check.h), the lane's counters (counter_check.h), rules of
//              the streams at the lane's ports (lane_driver.h)
//   warnings   {name: count}, names in capture_reader.h and frame_source.h
//   split      with --split (segmenter.h): {payload_bytes, frames, segments, whole}: requested payload bytes per
//              segment, 0: as many as fit 1500 bytes of IP; frames that became segments; their segments; long TCP
//              frames that stayed whole
//   rules[]    with rules, one per rule: {packets, bytes} of which it was the first to match, without `nobuf` and `bad`
//   unmatched  with rules: packets that no rule matched, without these
//   spread     with --front (front.h): {matched, changed, not_ip}: frames; of these, frames that had another DSCP, and
//              frames that are not IP and so have none
//   input_stalled_clocks    stalled beats at the inputs, summed over cycles and inputs (RTL)
#pragma once

#include <array>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "accounting.h"
#include "codel.h"
#include "flow_book.h"
#include "flow_groups.h"
#include "records.h"
#include "waiting_time.h"

namespace vermilion {

constexpr u32 Distances = 64, LatencyBins = 32, Dscps = 64;

// Keeps every k-th item of a stream. k doubles when the room is full.
template <class T>
class Decimator {
 public:
  explicit Decimator(std::size_t room) : room_(room) {}
  void add(const T& item) {
    if (seen_++ % every_ != 0) return;
    kept_.push_back(item);
    if (kept_.size() < room_) return;
    for (std::size_t i = 0; 2 * i < kept_.size(); i++) kept_[i] = kept_[2 * i];
    kept_.resize((kept_.size() + 1) / 2);
    every_ *= 2;
  }
  const std::vector<T>& kept() const { return kept_; }
  u64 every() const { return every_; }

 private:
  std::size_t room_;
  u64 seen_ = 0, every_ = 1;
  std::vector<T> kept_;
};

class Results {
 public:
  Results(const VmConfig& config, std::vector<std::string> names);
  void decided(const Arrival& seen, const VmMark& mark, u64 time, u64 average, u64 probability, u32 verdict,
               const PushOut& pushOut, bool travelled);
  // Counts the packet's DSCP.
  void classified(u32 queue, const Headers& headers);
  // Counts a packet for its rule, or for none.
  void ruled(const RtlDecision& decision);
  const std::vector<Lost>& rules() const { return rules_; }  // frames and bytes, one per rule
  // Counts the events of the packet's flow. Returns the flow's number, if it has one.
  std::optional<u32> flow(const Arrival& seen, const Headers& headers, const VmMark& mark);
  // Counts a packet that is enqueued after one of another flow (flow_groups.h).
  void collision(const Arrival& seen, const Headers& headers, u32 verdict);
  void sent(const Packet& packet, bool ceWritten);
  // Counts the verdict of its queue's AQM on a packet that departs.
  void judged(const Packet& packet, HeadVerdict verdict);
  void lost(u32 input, u32 lenBytes);
  u64 packets() const { return packets_; }
  u64 marked(u32 queue, u32 in, u32 out) const { return queues_[queue].marked[in][out]; }
  u64 flowEvents(u32 event) const;
  bool grouped() const;  // a queue is in a group of flows
  u64 flowCollisions() const;
  u64 lostByDistance(u32 queue, u32 distance) const { return queues_[queue].lostByDistance[distance]; }
  u64 victimsByDistance(u32 queue, u32 distance) const { return queues_[queue].victimsByDistance[distance]; }
  u64 pushOuts(u32 queue) const { return queues_[queue].pushOuts; }
  u64 stale(u32 queue) const { return queues_[queue].stale; }
  // Packets sent 2^bin to 2^(bin+1)-1 ns after their decisions, in the lane's classes. Bin 0 includes 0 ns. The last
  // bin includes all longer latencies.
  u64 latencies(u32 queue, u32 bin) const { return queues_[queue].latencies[bin]; }
  const VmCounters& counters(u32 queue, u32 colour) const { return queues_[queue].counters[colour]; }
  void write(nlohmann::ordered_json& json) const;

 private:
  struct Sample {
    u64 time, average, probability;
    u32 queue, colour, backlogBytes, backlogPackets, verdict;
    bool evaluated;  // average and probability have a meaning
  };
  struct Queue {
    std::array<VmCounters, Colours> counters{};
    VmMarker marker{};
    u64 flowEvents[FlowEvents] = {};
    std::array<u64, Dscps> dscps{};
    u64 notIp = 0;
    u64 marked[Colours][Colours] = {};  // packets, by colour before and after the marker
    std::map<u64, u64> latency;
    std::array<u64, LatencyBins> latencies{};
    u64 latencyMax = 0, highestBytes = 0, highestPackets = 0;
    bool nearest = false, grouped = false;
    u64 flowCollisions = 0;
    u64 pushOuts = 0, stale = 0;
    std::array<u64, Distances> lostByDistance{}, lostTravelled{};  // all, by their distance in the search; known ones
    std::array<u64, Distances> victimsByDistance{};
  };
  Queue& queue(u32 index);  // throws if the run has no such queue
  static void losses(const Queue& queue, nlohmann::ordered_json& json);
  static nlohmann::ordered_json list(const Decimator<Sample>& samples);
  std::vector<std::string> names_;
  std::vector<Queue> queues_;
  FlowBook flows_;
  FlowCollisions collisions_;
  std::vector<Lost> lost_;  // up to the last input that lost a frame
  std::vector<Lost> rules_;
  u64 unmatched_ = 0;
  u64 packets_ = 0, bytes_ = 0;
  WaitingTime waiting_;
  Decimator<Sample> samples_{12000}, events_{8000};
};

}  // namespace vermilion
