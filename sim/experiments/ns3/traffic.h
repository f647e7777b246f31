// SPDX-License-Identifier: GPL-2.0-only
// The sources of the experiments. Each is created with its two ends and starts itself.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/internet-module.h"

namespace vermilion {

// UDP datagrams at a constant rate, from `start` on: without end, or in bursts of `on` every `on` + `off`, ns.
struct UdpPace {
  std::uint32_t dscp = 0, payloadBytes = 0;
  std::uint64_t intervalNs = 0, startNs = 0, onNs = 0, offNs = 0;  // onNs 0: no bursts
  std::uint32_t ecn = 0;                                           // ECN field of each datagram (RFC 3168)
  bool stamped = false;  // the payload begins with a SeqTsHeader: number and time of sending
};

class UdpSource {
 public:
  UdpSource(ns3::Ptr<ns3::Node> from, ns3::InetSocketAddress to, const UdpPace& pace);
  std::uint64_t sent() const { return sent_; }

 private:
  void send();

  UdpPace pace_;
  ns3::Ptr<ns3::Socket> socket_;
  std::uint64_t sent_ = 0, burst_ = 0, inBurst_ = 0;
};

// Transactions one after the other: connect, send a request, receive a response, after which the server closes the
// connection. The next one starts at once. A failed transaction does not count.
struct TransactionSizes {
  std::uint32_t requestBytes = 0, responseBytes = 0;
};

class TransactionServer {
 public:
  TransactionServer(ns3::Ptr<ns3::Node> node, std::uint16_t port, const TransactionSizes& sizes);

 private:
  void accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
  void received(ns3::Ptr<ns3::Socket> socket);

  TransactionSizes sizes_;
  ns3::Ptr<ns3::Socket> listening_;
  std::map<ns3::Ptr<ns3::Socket>, std::uint32_t> requests_;  // bytes so far
};

class TransactionClient {
 public:
  TransactionClient(ns3::Ptr<ns3::Node> node, ns3::Address server, const TransactionSizes& sizes,
                    std::uint64_t startNs);
  std::uint64_t completed() const { return completed_; }
  std::uint64_t failed() const { return failed_; }

 private:
  void begin();
  void connected(ns3::Ptr<ns3::Socket> socket);
  void received(ns3::Ptr<ns3::Socket> socket);
  void ended(ns3::Ptr<ns3::Socket> socket);

  ns3::Ptr<ns3::Node> node_;
  ns3::Address server_;
  TransactionSizes sizes_;
  ns3::Ptr<ns3::Socket> socket_;
  std::uint32_t got_ = 0;
  std::uint64_t completed_ = 0, failed_ = 0;
};

}  // namespace vermilion
