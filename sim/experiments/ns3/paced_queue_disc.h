// SPDX-License-Identifier: GPL-2.0-only
// One of ns-3's own queue discs in the place of a lane. It sends at the rate of a lane's port and by the same rule: a
// packet goes when the wire is free, and then takes the wire for its bytes with their Ethernet header. The device must
// not be slower. So sojourn times mean the same at both: from arrival to the time at which the packet is chosen.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "delays.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

namespace vermilion {

class PacedQueueDisc : public ns3::QueueDisc {
 public:
  static ns3::TypeId GetTypeId();
  // Call before the first packet. `asked`: {"kind": TypeId, "attributes": {NAME: TEXT}, "rate": bit/s, "quantum": bytes},
  // the quantum of FqCoDelQueueDisc only. Throws if ns-3 has no such disc or attribute.
  void serve(const nlohmann::json& asked, Delays* sojourn);
  void countFromHere();
  // {"arrived", "dropped", "marked"}, packets.
  nlohmann::json told();

 private:
  struct Counts {
    std::uint64_t arrived = 0, dropped = 0, marked = 0;
  };

  bool DoEnqueue(ns3::Ptr<ns3::QueueDiscItem> item) override { return disc_->Enqueue(item); }
  ns3::Ptr<ns3::QueueDiscItem> DoDequeue() override;
  bool CheckConfig() override { return disc_ != nullptr; }
  void InitializeParams() override {}
  void DoDispose() override;
  Counts counts();

  ns3::Ptr<ns3::QueueDisc> disc_;
  Delays* sojourn_ = nullptr;
  std::uint64_t rate_ = 0, freeNs_ = 0;  // freeNs_: when the wire is free
  Counts before_;
  ns3::EventId wake_;
};

}  // namespace vermilion
