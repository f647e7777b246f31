// SPDX-License-Identifier: GPL-2.0-only
// A lane as a queue disc. It passes every packet to an engine (../engine/engine.h) as an Ethernet frame and applies the
// engine's result. It works as a queue with AQM, and as a marker at an edge.
//
// The shaper of the lane's port sets the rate. Packets that have left the lane wait for the device, which must not be
// slower. It carries IPv4 only.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "../engine/engine.h"
#include "delays.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

namespace vermilion {

constexpr std::size_t Colours = 3, Verdicts = 8, Distances = 64;
constexpr std::uint32_t EthernetBytes = 14;

// Counts of one source and colour.
struct LaneCounts {
  std::array<std::uint64_t, Verdicts> verdicts{};
  std::uint64_t evicted = 0, dropped = 0;  // dropped: at departure
  std::uint64_t ce = 0;                    // came without CE and left with it
  std::uint64_t left = 0, leftBytes = 0;   // bytes of frames, with their Ethernet header, without FCS
  std::uint64_t waitedNs = 0;              // sum over departed packets, from arrival to the end of sending
};

// Counts of one of the lane's queues, whatever the source and colour.
struct QueueCounts {
  std::array<std::uint64_t, 4> ecn{};     // packets that arrived, by their ECN field (RFC 3168)
  std::uint64_t lost = 0;                 // on arrival, pushed out, or at departure
  std::uint64_t ce = 0;                   // came without CE and left with it
  std::uint64_t left = 0, leftBytes = 0;  // as in LaneCounts
  Delays sojourn;
};

// Settings of a trace of averages as decisions compared them: one per colour in each `step`, between `from` and `to`,
// in ns.
struct LaneTrace {
  std::uint64_t from = 0, to = 0, step = 1;
};
struct LaneSample {
  std::uint64_t time;
  std::uint32_t colour;
  double average;
  std::uint64_t packets;  // in the lane when the packet arrived
};

// Packets in the lane or downstream of it. Any of them can be removed.
class HeldPackets : public ns3::Queue<ns3::QueueDiscItem> {
 public:
  using Place = Iterator;
  static ns3::TypeId GetTypeId();
  bool Enqueue(ns3::Ptr<ns3::QueueDiscItem> item) override { return DoEnqueue(GetContainer().end(), item); }
  ns3::Ptr<ns3::QueueDiscItem> Dequeue() override { return take(GetContainer().begin()); }
  ns3::Ptr<ns3::QueueDiscItem> Remove() override { return drop(GetContainer().begin()); }
  ns3::Ptr<const ns3::QueueDiscItem> Peek() const override { return DoPeek(GetContainer().begin()); }

  Place put(ns3::Ptr<ns3::QueueDiscItem> item);
  ns3::Ptr<ns3::QueueDiscItem> take(ConstIterator place) { return DoDequeue(place); }
  ns3::Ptr<ns3::QueueDiscItem> drop(ConstIterator place) { return DoRemove(place); }
};

class LaneQueueDisc : public ns3::QueueDisc {
 public:
  static ns3::TypeId GetTypeId();
  ~LaneQueueDisc() override;
  // Call before the first packet. `lane` is the record of docs/hardware-configuration.md. Throws if the engine refuses
  // it.
  void serve(const VmEngineCalls& calls, const std::string& lane, const LaneTrace& trace);

  const std::map<std::uint32_t, std::array<LaneCounts, Colours>>& counts() const { return counts_; }  // by address
  // Lost packets, evicted ones included, by hops from the sender as the lane infers them from the TTL
  // (docs/ttl-option.md).
  const std::array<std::uint64_t, Distances>& lostDistance() const { return lostDistance_; }
  void countFromHere();  // forgets counts and losses so far
  // Every packet that leaves adds the time from its arrival to its departure, which is less than 1 us after it was
  // chosen.
  void record(Delays* sojourn) { sojourn_ = sojourn; }
  // By number: each queue that a packet came to, with its own sojourn times if `record` has asked for them.
  const std::map<std::uint32_t, QueueCounts>& queues() const { return queues_; }
  const std::vector<LaneSample>& samples() const { return samples_; }
  std::uint64_t mostHeldBytes() const { return mostHeldBytes_; }
  std::uint64_t mostWaiting() const { return mostWaiting_; }  // most packets that waited for the device

 private:
  struct Inside {
    HeldPackets::Place place;
    std::uint32_t source, queue, colour, lenBytes, distance;
    std::uint64_t time;  // of arrival, ns
  };
  struct Out {
    HeldPackets::Place place;
    std::uint32_t trafficClass;
  };

  bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override;
  ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
  bool CheckConfig() override;
  void InitializeParams() override {}
  void DoDispose() override;
  void collect();
  void lose(std::uint64_t id, std::uint64_t LaneCounts::*as);
  void plan();
  void wake();
  void sample(const VmFate& fate);
  QueueCounts& queueOf(const Inside& packet);
  LaneCounts& counts(const Inside& packet) { return counts_[packet.source][packet.colour]; }

  const VmEngineCalls* calls_ = nullptr;
  VmEngine* engine_ = nullptr;
  ns3::Ptr<HeldPackets> held_;
  std::unordered_map<std::uint64_t, Inside> inside_;  // by the engine's id
  std::deque<Out> out_;
  ns3::EventId wake_;
  std::map<std::uint32_t, std::array<LaneCounts, Colours>> counts_;
  std::map<std::uint32_t, QueueCounts> queues_;
  std::array<std::uint64_t, Distances> lostDistance_{};
  LaneTrace trace_;
  std::array<std::uint64_t, Colours> nextSample_{};
  std::vector<LaneSample> samples_;
  Delays* sojourn_ = nullptr;
  std::uint64_t heldBytes_ = 0, mostHeldBytes_ = 0, mostWaiting_ = 0;
};

}  // namespace vermilion
