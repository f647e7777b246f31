// SPDX-License-Identifier: GPL-2.0-only
// TCP transfers between two nodes, each with a given size and its own connection. A transfer's time is from its SYN to
// the arrival of its last byte.
//
// A connection is not closed: `LingerNs` after the last acknowledgement both ends are removed. So no FIN is sent, and
// only the ends of current transfers are searched for a packet.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ns3/internet-module.h"

namespace vermilion {

struct TransferAsked {
  std::uint32_t segmentBytes = 0;
  std::vector<std::uint64_t> startNs, bytes;  // of each transfer
};

class Transfers {
 public:
  Transfers(ns3::Ptr<ns3::Node> from, ns3::Ptr<ns3::Node> to, const ns3::InetSocketAddress& at,
            const TransferAsked& asked);
  // One value per start. 0: not ended.
  const std::vector<std::uint64_t>& tookNs() const { return tookNs_; }
  std::uint64_t receivedBytes() const { return receivedBytes_; }

 private:
  struct Transfer {
    ns3::Ptr<ns3::Socket> sender, receiver;
    std::uint64_t number, beganNs, unsent, missing;
  };
  using Ports = std::unordered_map<std::uint16_t, Transfer>;  // by the sender's port

  void begin(std::uint64_t number);
  void send(std::uint16_t port);
  void acknowledged(std::uint16_t port);
  void received(std::uint16_t port, ns3::Ptr<ns3::Socket> socket);
  void forget(std::uint16_t port);

  ns3::Ptr<ns3::Node> from_;
  ns3::InetSocketAddress at_;
  std::uint32_t segmentBytes_;
  std::vector<std::uint64_t> bytes_;
  ns3::Ptr<ns3::Socket> listening_;
  Ports open_;
  std::vector<std::uint64_t> tookNs_;
  std::uint64_t receivedBytes_ = 0;
};

}  // namespace vermilion
