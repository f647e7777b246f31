// SPDX-License-Identifier: GPL-2.0-only
#include "known_routes.h"

namespace vermilion {

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(KnownRoutes);

TypeId KnownRoutes::GetTypeId() {
  static TypeId id = TypeId("vermilion::KnownRoutes").SetParent<Ipv4RoutingProtocol>().AddConstructor<KnownRoutes>();
  return id;
}

void KnownRoutes::install(Ptr<Node> node) {
  const auto ipv4 = node->GetObject<Ipv4>();
  const auto routes = CreateObject<KnownRoutes>();
  routes->asked_ = ipv4->GetRoutingProtocol();
  ipv4->SetRoutingProtocol(routes);
}

void KnownRoutes::DoDispose() {
  byAddress_.clear();
  asked_->Dispose();
  asked_ = nullptr;
  ipv4_ = nullptr;
  Ipv4RoutingProtocol::DoDispose();
}

const KnownRoutes::Known& KnownRoutes::known(const Ipv4Header& header) {
  const auto [at, isNew] = byAddress_.try_emplace(header.GetDestination().Get());
  Known& known = at->second;
  if (!isNew) return known;
  known.here = ipv4_->GetInterfaceForAddress(header.GetDestination()) >= 0;
  known.error = Socket::ERROR_NOTERROR;
  known.route = asked_->RouteOutput(nullptr, header, nullptr, known.error);
  return known;
}

Ptr<Ipv4Route> KnownRoutes::RouteOutput(Ptr<Packet> packet, const Ipv4Header& header, Ptr<NetDevice> through,
                                        Socket::SocketErrno& error) {
  if (through != nullptr || header.GetDestination().IsMulticast())
    return asked_->RouteOutput(packet, header, through, error);
  const Known& to = known(header);
  error = to.error;
  return to.route;
}

bool KnownRoutes::RouteInput(Ptr<const Packet> packet, const Ipv4Header& header, Ptr<const NetDevice> from,
                             const UnicastForwardCallback& forward, const MulticastForwardCallback& forwardMulticast,
                             const LocalDeliverCallback& deliver, const ErrorCallback& fail) {
  if (header.GetDestination().IsMulticast() || header.GetDestination().IsBroadcast())
    return asked_->RouteInput(packet, header, from, forward, forwardMulticast, deliver, fail);
  const Known& to = known(header);
  if (to.here)
    deliver(packet, header, static_cast<std::uint32_t>(ipv4_->GetInterfaceForDevice(from)));
  else if (to.route != nullptr)
    forward(to.route, packet, header);
  else
    return asked_->RouteInput(packet, header, from, forward, forwardMulticast, deliver, fail);
  return true;
}

}  // namespace vermilion
