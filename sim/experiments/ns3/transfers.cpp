// SPDX-License-Identifier: GPL-2.0-only
#include "transfers.h"

#include <algorithm>
#include <stdexcept>

namespace vermilion {

using namespace ns3;

namespace {

constexpr std::int64_t LingerNs = 2'000'000'000;  // for retransmitted segments that are still in the network

std::uint64_t now() {
  return static_cast<std::uint64_t>(Simulator::Now().GetNanoSeconds());
}

// Takes the end point from a socket, which only a derived class can access. ns-3 itself ends a connection only by
// packets.
struct Ended : TcpSocketBase {
  static Ipv4EndPoint* of(TcpSocketBase& socket) { return socket.*(&Ended::m_endPoint); }
};

void forgetSocket(const Ptr<Socket>& socket) {
  const auto tcp = DynamicCast<TcpSocketBase>(socket);
  Ipv4EndPoint* const end = Ended::of(*tcp);
  if (end != nullptr) tcp->GetNode()->GetObject<TcpL4Protocol>()->DeAllocate(end);
}

}  // namespace

Transfers::Transfers(Ptr<Node> from, Ptr<Node> to, const InetSocketAddress& at, const TransferAsked& asked)
    : from_(from),
      at_(at),
      segmentBytes_(asked.segmentBytes),
      bytes_(asked.bytes),
      listening_(Socket::CreateSocket(to, TcpSocketFactory::GetTypeId())),
      tookNs_(asked.startNs.size()) {
  listening_->Bind(InetSocketAddress(Ipv4Address::GetAny(), at.GetPort()));
  listening_->Listen();
  const auto accepted = [this](Ptr<Socket> socket, const Address& peer) {
    const std::uint16_t port = InetSocketAddress::ConvertFrom(peer).GetPort();
    open_.at(port).receiver = socket;
    const auto read = [this, port](Ptr<Socket> ready) { received(port, ready); };
    socket->SetRecvCallback(Callback<void, Ptr<Socket>>(read));
    read(socket);  // data may have arrived with the acknowledgement of its SYN
  };
  listening_->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                Callback<void, Ptr<Socket>, const Address&>(accepted));
  for (std::uint64_t i = 0; i < asked.startNs.size(); i++)
    Simulator::Schedule(NanoSeconds(asked.startNs[i]), &Transfers::begin, this, i);
}

void Transfers::begin(std::uint64_t number) {
  const Ptr<Socket> socket = Socket::CreateSocket(from_, TcpSocketFactory::GetTypeId());
  if (socket->Bind() != 0) throw std::runtime_error("a transfer finds no port");
  Address own;
  socket->GetSockName(own);
  const std::uint16_t port = InetSocketAddress::ConvertFrom(own).GetPort();
  open_[port] = {socket, nullptr, number, now(), bytes_.at(number), bytes_.at(number)};
  const auto more = [this, port](Ptr<Socket>) { send(port); };
  socket->SetConnectCallback(Callback<void, Ptr<Socket>>(more), MakeNullCallback<void, Ptr<Socket>>());
  socket->SetSendCallback(Callback<void, Ptr<Socket>, std::uint32_t>(
      [this, port](Ptr<Socket>, std::uint32_t) { send(port), acknowledged(port); }));
  socket->Connect(at_);
}

// Writes whole segments to the socket's buffer, so that the socket splits none.
void Transfers::send(std::uint16_t port) {
  const auto found = open_.find(port);
  if (found == open_.end()) return;
  Transfer& transfer = found->second;
  while (transfer.unsent != 0) {
    const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(segmentBytes_, transfer.unsent));
    if (transfer.sender->GetTxAvailable() < size || transfer.sender->Send(Create<Packet>(size)) < 0) return;
    transfer.unsent -= size;
  }
}

void Transfers::acknowledged(std::uint16_t port) {
  const auto found = open_.find(port);
  if (found == open_.end() || found->second.unsent != 0 || found->second.missing != 0) return;
  UintegerValue room;
  found->second.sender->GetAttribute("SndBufSize", room);
  if (found->second.sender->GetTxAvailable() != room.Get()) return;
  found->second.sender->SetSendCallback(MakeNullCallback<void, Ptr<Socket>, std::uint32_t>());
  Simulator::Schedule(NanoSeconds(LingerNs), &Transfers::forget, this, port);
}

void Transfers::received(std::uint16_t port, Ptr<Socket> socket) {
  Transfer& transfer = open_.at(port);
  while (const Ptr<Packet> packet = socket->Recv()) {
    if (packet->GetSize() == 0) break;
    receivedBytes_ += packet->GetSize();
    transfer.missing -= packet->GetSize();
    if (transfer.missing == 0) tookNs_[transfer.number] = now() - transfer.beganNs;
  }
}

void Transfers::forget(std::uint16_t port) {
  const auto found = open_.find(port);
  const Transfer transfer = found->second;  // keeps its sockets alive to the end of this function
  open_.erase(found);
  forgetSocket(transfer.sender);
  forgetSocket(transfer.receiver);
}

}  // namespace vermilion
