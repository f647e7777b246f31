// SPDX-License-Identifier: GPL-2.0-only
// Caches the routes of a network that does not change: it asks a node's own routing once per address. ns-3's global
// routing searches a list of all addresses for each packet at each node.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "ns3/internet-module.h"

namespace vermilion {

class KnownRoutes : public ns3::Ipv4RoutingProtocol {
 public:
  static ns3::TypeId GetTypeId();
  // Replaces the node's routing, and asks it for each new address. Links, addresses and routes must not change after
  // this call.
  static void install(ns3::Ptr<ns3::Node> node);

  ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet> packet, const ns3::Ipv4Header& header,
                                       ns3::Ptr<ns3::NetDevice> through, ns3::Socket::SocketErrno& error) override;
  bool RouteInput(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header& header,
                  ns3::Ptr<const ns3::NetDevice> from, const UnicastForwardCallback& forward,
                  const MulticastForwardCallback& forwardMulticast, const LocalDeliverCallback& deliver,
                  const ErrorCallback& fail) override;
  void NotifyInterfaceUp(std::uint32_t) override {}
  void NotifyInterfaceDown(std::uint32_t) override {}
  void NotifyAddAddress(std::uint32_t, ns3::Ipv4InterfaceAddress) override {}
  void NotifyRemoveAddress(std::uint32_t, ns3::Ipv4InterfaceAddress) override {}
  void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override { ipv4_ = ipv4; }
  void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper> stream, ns3::Time::Unit unit) const override {
    asked_->PrintRoutingTable(stream, unit);
  }

 private:
  struct Known {
    bool here;                       // an address of this node
    ns3::Ptr<ns3::Ipv4Route> route;  // null: none
    ns3::Socket::SocketErrno error;
  };

  void DoDispose() override;
  const Known& known(const ns3::Ipv4Header& header);

  ns3::Ptr<ns3::Ipv4> ipv4_;
  ns3::Ptr<ns3::Ipv4RoutingProtocol> asked_;
  std::unordered_map<std::uint32_t, Known> byAddress_;
};

}  // namespace vermilion
