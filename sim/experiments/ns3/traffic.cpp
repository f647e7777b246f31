// SPDX-License-Identifier: GPL-2.0-only
#include "traffic.h"

#include <stdexcept>

namespace vermilion {

using namespace ns3;

UdpSource::UdpSource(Ptr<Node> from, InetSocketAddress to, const UdpPace& pace)
    : pace_(pace), socket_(Socket::CreateSocket(from, UdpSocketFactory::GetTypeId())) {
  socket_->SetIpTos(static_cast<std::uint8_t>(pace.dscp << 2 | pace.ecn));
  if (socket_->Connect(to) != 0) throw std::runtime_error("a UDP socket cannot be connected");
  socket_->ShutdownRecv();
  Simulator::Schedule(NanoSeconds(pace.startNs), &UdpSource::send, this);
}

// Sends the next packet of the burst, or the first of the next burst. Each time counts from the start, so that no error
// accumulates.
void UdpSource::send() {
  SeqTsHeader stamp;
  stamp.SetSeq(static_cast<std::uint32_t>(sent_));
  const auto packet = Create<Packet>(pace_.payloadBytes - (pace_.stamped ? stamp.GetSerializedSize() : 0));
  if (pace_.stamped) packet->AddHeader(stamp);
  socket_->Send(packet);
  sent_++;
  inBurst_++;
  if (pace_.onNs != 0 && inBurst_ * pace_.intervalNs >= pace_.onNs) {
    inBurst_ = 0;
    burst_++;
  }
  const std::uint64_t next = pace_.startNs + burst_ * (pace_.onNs + pace_.offNs) + inBurst_ * pace_.intervalNs;
  const auto now = static_cast<std::uint64_t>(Simulator::Now().GetNanoSeconds());
  Simulator::Schedule(NanoSeconds(next - now), &UdpSource::send, this);
}

TransactionServer::TransactionServer(Ptr<Node> node, std::uint16_t port, const TransactionSizes& sizes)
    : sizes_(sizes), listening_(Socket::CreateSocket(node, TcpSocketFactory::GetTypeId())) {
  listening_->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
  listening_->Listen();
  listening_->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                MakeCallback(&TransactionServer::accepted, this));
}

void TransactionServer::accepted(Ptr<Socket> socket, const Address&) {
  requests_[socket] = 0;
  socket->SetRecvCallback(MakeCallback(&TransactionServer::received, this));
  const auto forget = [this](Ptr<Socket> closed) { requests_.erase(closed); };
  socket->SetCloseCallbacks(Callback<void, Ptr<Socket>>(forget), Callback<void, Ptr<Socket>>(forget));
}

void TransactionServer::received(Ptr<Socket> socket) {
  const auto request = requests_.find(socket);
  while (const Ptr<Packet> packet = socket->Recv()) {
    if (packet->GetSize() == 0) break;
    if (request != requests_.end()) request->second += packet->GetSize();
  }
  if (request == requests_.end() || request->second < sizes_.requestBytes) return;
  requests_.erase(request);
  socket->Send(Create<Packet>(sizes_.responseBytes));
  socket->Close();
}

TransactionClient::TransactionClient(Ptr<Node> node, Address server, const TransactionSizes& sizes,
                                     std::uint64_t startNs)
    : node_(node), server_(server), sizes_(sizes) {
  Simulator::Schedule(NanoSeconds(startNs), &TransactionClient::begin, this);
}

void TransactionClient::begin() {
  got_ = 0;
  socket_ = Socket::CreateSocket(node_, TcpSocketFactory::GetTypeId());
  socket_->SetConnectCallback(MakeCallback(&TransactionClient::connected, this),
                              MakeCallback(&TransactionClient::ended, this));
  socket_->SetRecvCallback(MakeCallback(&TransactionClient::received, this));
  socket_->SetCloseCallbacks(MakeCallback(&TransactionClient::ended, this),
                             MakeCallback(&TransactionClient::ended, this));
  socket_->Bind();
  socket_->Connect(server_);
}

void TransactionClient::connected(Ptr<Socket> socket) {
  socket->Send(Create<Packet>(sizes_.requestBytes));
}

void TransactionClient::received(Ptr<Socket> socket) {
  while (const Ptr<Packet> packet = socket->Recv()) {
    if (packet->GetSize() == 0) break;
    got_ += packet->GetSize();
  }
  if (got_ >= sizes_.responseBytes) ended(socket);
}

void TransactionClient::ended(Ptr<Socket> socket) {
  if (socket != socket_) return;  // of a transaction that has ended
  (got_ >= sizes_.responseBytes ? completed_ : failed_)++;
  socket_ = nullptr;
  socket->Close();
  Simulator::ScheduleNow(&TransactionClient::begin, this);
}

}  // namespace vermilion
