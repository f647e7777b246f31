// What a run found, as JSON. Names of the file `--stats-json`:
//
//   engine, preset, packets, bytes, clocks (RTL), seconds (of the lane's time), wall_seconds, packets_per_second and
//   clocks_per_second (of simulation), capture_start_ns
//   queues[]   index, name, colours[3] of counters {packets, bytes}: arrived, enqueued (`marked` among them), marked (CE chosen),
//              ce_written, early, forced, tail, nobuf, bad, policed, sent, evicted (enqueued, and taken out again for a packet that
//              came later); colours are those after the queue's marker;
//              colours_in_out [3][3]: packets by the colour they came with and the one their marker gave;
//              marker: {kind}, absent where there is none; by flow also flow_events as below, of this queue and by the model, and
//              what flow_book.h says of its flows;
//              dscps [[dscp, packets], ...] of the IP packets, as they came to the lane; not_ip: frames that are not IP;
//              latency: histogram [[from_ns, packets], ...] of decision to departure, 8 classes an octave, empty ones left out;
//              latency_max_ns, highest_backlog_bytes, highest_backlog_packets: queued before a
//              packet, all colours, as the limit saw it at the verdict
//              lost_by_distance [[distance, packets], ...] of the packets that the queue lost (early, forced, tail and
//              evicted) with a known distance: IP to one receiver, the initial TTL by option or inference
//              (docs/distance-drops.md);
//              wasted_hops: the sum of their distances;
//              lost_without_distance: the other packets that the queue lost. The search counts them as 63 hops or, for
//              link-local multicast, as 31 (the register lost_distance counts them there)
//              push_outs, stale: decisions that could push out a queued packet; those with a stale candidate, in which
//              the arriving packet was the victim (docs/decisions/0006-victims-by-distance.md);
//              victims_by_distance [[distance, packets], ...] of the queued victims, evicted or marked, by the distance
//              that the search used; these three absent if the queue has no push-outs
//   waited_ns  time in which at least one packet waited: was queued for longer than an empty lane takes (waiting_time.h)
//   span_ns    from the first verdict of a packet that departed to the last departure
//   samples[]  [time_ns, queue, colour, average, backlog_bytes, backlog_packets, probability, provisional_verdict], every k-th decision, k
//              such that at most 12,000 remain; the average in bytes or packets, the backlog what the limit saw at the verdict:
//              all that is queued before the packet. The averages see an older backlog (docs/architecture.md), which is in --trace.
//              A bad, nobuf or policed frame updates no average and has no probability: both are null
//   events[]   the same for marks and drops (as policy ruled) only, at most 8,000
//   sample_every, event_every    k of each
//   lost[]     per input {packets, bytes}: frames that the input left out, so without a verdict and in no queue; absent where there are none
//   flow_events {adopted, collision, aged_out, displaced, table_full, loss, jump, probe}: what happened to the flows of all
//              flow markers (docs/flow-markers.md, "The table"), each at most 2^32-1: read from the RTL's registers, and there
//              an error of the accounting where the model counts otherwise; with --engine model its own count
//   replay     decisions, agreed, refreshes, refreshes_agreed, first_disagreement (RTL), which names the fields that differ
//   accounting {errors, first_error}: the fate and the bytes of each frame (accounting.h)
//   victims, counters, stream   the same (RTL): victims of push-outs (victim_check.h), the lane's counters (counter_check.h), rules of the
//              streams at the lane's ports (lane_driver.h)
//   warnings   {name: count}, names in capture_reader.h and frame_source.h
//   split      {payload_bytes, frames, segments, whole} with --split (segmenter.h): payload bytes of a segment asked for, 0: as fit 1500
//              bytes of IP; frames that became segments; these; long TCP frames that stayed whole
//   rules[]    {dscp, matched, changed, not_ip}, one a rule, with --front (front.h): the DSCP that it gives; frames that it took; of
//              these, those that had another DSCP, and those that are not IP and so have none
//   unmatched  frames that no rule took
//   spread     {matched, changed, not_ip}, as a rule's, of --front with "spread"
//   input_stalled_clocks    cycles in which an input that can be stalled had a stalled beat (RTL)
//   lane_start_ns           lane time at which the capture starts; all times here are lane time, of 64 bits
#pragma once

#include <array>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "accounting.h"
#include "flow_book.h"
#include "records.h"
#include "waiting_time.h"

namespace vermilion {

constexpr u32 Distances = 64, LatencyBins = 32, Dscps = 64;

// Keeps every k-th of a stream; k doubles when there is no more room.
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
  // What a packet was classified by.
  void classified(u32 queue, const Headers& headers);
  // A packet's flow, counted; its number where it has one.
  std::optional<u32> flow(const Arrival& seen, const Headers& headers, const VmMark& mark);
  void sent(const Packet& packet, bool ceWritten);
  void lost(u32 input, u32 lenBytes);
  u64 packets() const { return packets_; }
  u64 marked(u32 queue, u32 in, u32 out) const { return queues_[queue].marked[in][out]; }
  u64 flowEvents(u32 event) const;
  u64 lostByDistance(u32 queue, u32 distance) const { return queues_[queue].lostByDistance[distance]; }
  u64 victimsByDistance(u32 queue, u32 distance) const { return queues_[queue].victimsByDistance[distance]; }
  u64 pushOuts(u32 queue) const { return queues_[queue].pushOuts; }
  u64 stale(u32 queue) const { return queues_[queue].stale; }
  // Packets sent 2^bin to 2^(bin+1)-1 ns after their decisions, the lane's classes. 0 ns is in bin 0, all from 2^31 ns
  // on in the last.
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
    bool nearest = false;
    u64 pushOuts = 0, stale = 0;
    std::array<u64, Distances> lostByDistance{}, lostTravelled{};  // all, by what they count as; those with a distance
    std::array<u64, Distances> victimsByDistance{};
  };
  Queue& queue(u32 index);  // throws where the run has no such queue
  static void losses(const Queue& queue, nlohmann::ordered_json& json);
  static nlohmann::ordered_json list(const Decimator<Sample>& samples);
  std::vector<std::string> names_;
  std::vector<Queue> queues_;
  FlowBook flows_;
  std::vector<Lost> lost_;  // up to the last input that lost a frame
  u64 packets_ = 0, bytes_ = 0;
  WaitingTime waiting_;
  Decimator<Sample> samples_{12000}, events_{8000};
};

}  // namespace vermilion
