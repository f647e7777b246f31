// SPDX-License-Identifier: GPL-2.0-only
#include "scenario.h"

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "known_routes.h"
#include "lane_queue_disc.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/point-to-point-module.h"
#include "paced_queue_disc.h"
#include "traffic.h"
#include "transfers.h"

namespace vermilion {

using namespace ns3;
using nlohmann::json;

namespace {

constexpr std::uint16_t FirstPort = 5000;
const char* const ColourNames[Colours] = {"green", "yellow", "red"};
const char* const VerdictNames[Verdicts] = {"enqueue", "mark", "early", "forced", "tail", "nobuf", "bad", "policed"};

void flag(const char* name, bool value) {
  Config::SetDefault(std::string("ns3::TcpSocketBase::") + name, BooleanValue(value));
}

TypeId congestionControl(const std::string& name) {
  TypeId id;
  if (!TypeId::LookupByNameFailSafe(name, &id) || !id.IsChildOf(TcpCongestionOps::GetTypeId()))
    throw std::runtime_error("ns-3 has no congestion control " + name);
  return id;
}

void setTcp(const json& tcp) {
  const std::uint32_t segment = tcp.at("segment_bytes");
  const std::uint32_t window = segment * tcp.at("window_segments").get<std::uint32_t>();
  const std::uint32_t retries = tcp.at("retries");
  const bool sack = tcp.value("sack", false);
  Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                     TypeIdValue(congestionControl(tcp.value("congestion", "ns3::TcpNewReno"))));
  Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                     TypeIdValue(sack ? TcpPrrRecovery::GetTypeId() : TcpClassicRecovery::GetTypeId()));
  for (const char* name : {"Sack", "WindowScaling", "Timestamp", "LimitedTransmit"}) flag(name, sack);
  Config::SetDefault("ns3::TcpSocketState::EnablePacing", BooleanValue(tcp.value("pacing", false)));
  // DCTCP sets its own ECN: accurate feedback, ECT in every packet. ECT(1) is the L4S identifier (RFC 9331).
  Config::SetDefault("ns3::TcpDctcp::UseEct0", BooleanValue(!tcp.value("dctcp_ect1", false)));
  // RFC 3168: both ends negotiate ECN. Data segments are ECT(0), pure acknowledgements and retransmissions are not.
  if (tcp.value("ecn", false)) Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
  Config::SetDefault("ns3::TcpSocketBase::MinRto",
                     TimeValue(NanoSeconds(static_cast<std::int64_t>(1e6 * tcp.at("min_rto_ms").get<double>()))));
  // TIME_WAIT is 4 s, not 240 s. ns-3 searches a list of all sockets for each packet, and transactions add 20 per
  // second.
  Config::SetDefault("ns3::TcpSocketBase::MaxSegLifetime", DoubleValue(2));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(tcp.at("initial_window").get<std::uint32_t>()));
  Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(tcp.at("delayed_ack").get<std::uint32_t>()));
  Config::SetDefault("ns3::TcpSocket::DelAckTimeout",
                     TimeValue(NanoSeconds(static_cast<std::int64_t>(1e6 * tcp.at("delayed_ack_ms").get<double>()))));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
  Config::SetDefault("ns3::TcpSocket::SndBufSize",
                     UintegerValue(segment * tcp.value("send_segments", 4 * window / segment)));
  Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(retries));
  Config::SetDefault("ns3::TcpSocket::ConnCount", UintegerValue(retries));
}

// Delays that were asked for: "summary", "every", "marks", or none.
std::unique_ptr<Delays> delays(const json& asked, const char* name) {
  const std::string how = asked.value(name, "");
  if (how.empty()) return nullptr;
  if (how == "summary") return std::make_unique<Delays>();
  if (how == "every") return std::make_unique<Delays>(Delays::Each::Times);
  if (how == "marks") return std::make_unique<Delays>(Delays::Each::Marks);
  throw std::runtime_error(std::string(name) + " is summary, every or marks");
}

struct Lane {
  Ptr<LaneQueueDisc> disc;
  bool bySource;
  std::unique_ptr<Delays> sojourn;
};

struct Disc {
  Ptr<PacedQueueDisc> disc;
  std::unique_ptr<Delays> sojourn;
};

struct Udp {
  std::unique_ptr<UdpSource> source;
  std::unique_ptr<Delays> latency;
};

struct Bulk {
  Ptr<PacketSink> sink;
  std::uint64_t before = 0;  // bytes received before the count begins
};

struct Sent {
  std::unique_ptr<Transfers> transfers;
  std::uint64_t before;  // bytes received before the count begins
  json samples;
};

class Scenario {
 public:
  Scenario(const json& asked, const VmEngineCalls& calls) : asked_(asked), calls_(calls) {
    setTcp(asked.at("tcp"));
    RngSeedManager::SetSeed(asked.value("seed", 1u));
    for (const json& link : asked.at("links"))
      for (const json& name : link.at("ends")) node(name);
    for (const auto& [name, each] : nodes_) stack_.Install(each);
    const json own = asked.value("nodes", json::object());
    for (const auto& [name, about] : own.items()) ofNode(name, about);
    addresses_.SetBase("10.0.0.0", "255.255.255.252");
    for (const json& link : asked.at("links")) connect(link);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    for (const auto& [name, each] : nodes_) KnownRoutes::install(each);
    for (const json& each : list("udp")) udp(each);
    for (const json& each : list("bulk")) bulk(each);
    for (const json& each : list("transactions")) transactions(each);
    for (const json& each : list("transfers")) transfers(each);
    countFromNs_ = asked.value("count_from_ns", std::uint64_t{0});
    sampleNs_ = asked.value("sample_ns", std::uint64_t{0});
  }

  json run() {
    Simulator::Stop(Seconds(asked_.at("seconds").get<double>()));
    if (countFromNs_ != 0) Simulator::Schedule(NanoSeconds(countFromNs_), &Scenario::countFromHere, this);
    if (sampleNs_ != 0) Simulator::Schedule(NanoSeconds(sampleNs_), &Scenario::sample, this);
    Simulator::Run();
    json out = results();
    out["events"] = Simulator::GetEventCount();
    Simulator::Destroy();
    return out;
  }

 private:
  json list(const char* name) const { return asked_.value(name, json::array()); }

  Ptr<Node> node(const std::string& name) {
    Ptr<Node>& at = nodes_[name];
    if (at == nullptr) at = CreateObject<Node>();
    return at;
  }

  // Both ends of a flow have the same congestion control: DCTCP's receiver echoes each mark (RFC 8257).
  void ofNode(const std::string& name, const json& about) {
    const auto at = nodes_.find(name);
    if (at == nodes_.end()) throw std::runtime_error("nodes has " + name + ", which is no end of a link");
    at->second->GetObject<TcpL4Protocol>()->SetAttribute("SocketType",
                                                         TypeIdValue(congestionControl(about.at("congestion"))));
  }

  void connect(const json& link) {
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", DataRateValue(DataRate(link.at("rate").get<std::uint64_t>())));
    wire.SetChannelAttribute("Delay", TimeValue(NanoSeconds(link.at("delay_ns").get<std::uint64_t>())));
    wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("100000p"));
    const std::string ends[2] = {link.at("ends").at(0), link.at("ends").at(1)};
    const NetDeviceContainer devices = wire.Install(node(ends[0]), node(ends[1]));
    for (const json& lane : link.value("lanes", json::array()))
      put(lane, devices.Get(lane.at("at") == ends[0] ? 0 : 1));
    for (const json& disc : link.value("discs", json::array()))
      putDisc(disc, devices.Get(disc.at("at") == ends[0] ? 0 : 1));
    const Ipv4InterfaceContainer at = addresses_.Assign(devices);
    addresses_.NewNetwork();
    TrafficControlHelper none;
    for (std::uint32_t i = 0; i < 2; i++) {
      names_[at.GetAddress(i).Get()] = ends[i];
      hosts_.try_emplace(ends[i], at.GetAddress(i));
      const auto traffic = devices.Get(i)->GetNode()->GetObject<TrafficControlLayer>();
      const auto disc = traffic->GetRootQueueDiscOnDevice(devices.Get(i));
      if (DynamicCast<LaneQueueDisc>(disc) == nullptr && DynamicCast<PacedQueueDisc>(disc) == nullptr)
        none.Uninstall(devices.Get(i));
    }
  }

  // Installs a lane at `device`. A packet that has left the lane waits upstream of the device if the device's queue is
  // full.
  void put(const json& lane, Ptr<NetDevice> device) {
    TrafficControlHelper helper;
    helper.SetRootQueueDisc("vermilion::LaneQueueDisc");
    const auto disc = DynamicCast<LaneQueueDisc>(helper.Install(device).Get(0));
    LaneTrace trace;
    if (lane.contains("trace")) trace = {lane["trace"].at("from"), lane["trace"].at("to"), lane["trace"].at("step")};
    disc->serve(calls_, lane.at("lane").dump(), trace);
    Lane& at = lanes_[lane.at("name")] = {disc, lane.value("by_source", true), delays(lane, "sojourn")};
    disc->record(at.sojourn.get());
  }

  // Installs one of ns-3's discs at `device`.
  void putDisc(const json& asked, Ptr<NetDevice> device) {
    TrafficControlHelper helper;
    helper.SetRootQueueDisc("vermilion::PacedQueueDisc");
    Disc& at = discs_[asked.at("name")];
    at = {DynamicCast<PacedQueueDisc>(helper.Install(device).Get(0)), delays(asked, "sojourn")};
    if (at.sojourn == nullptr) at.sojourn = std::make_unique<Delays>();
    at.disc->serve(asked, at.sojourn.get());
  }

  InetSocketAddress sinkAt(const std::string& name, const char* factory, Ptr<PacketSink>& sink) {
    PacketSinkHelper helper(factory, InetSocketAddress(Ipv4Address::GetAny(), nextPort_));
    sink = DynamicCast<PacketSink>(helper.Install(node(name)).Get(0));
    return {hosts_.at(name), nextPort_++};
  }

  void udp(const json& asked) {
    Ptr<PacketSink> sink;
    const InetSocketAddress to = sinkAt(asked.at("to"), "ns3::UdpSocketFactory", sink);
    const UdpPace pace{asked.at("dscp"),
                       asked.at("payload_bytes"),
                       asked.at("interval_ns"),
                       asked.at("start_ns"),
                       asked.value("on_ns", std::uint64_t{0}),
                       asked.value("off_ns", std::uint64_t{0}),
                       asked.value("ecn", std::uint32_t{0}),
                       asked.contains("latency")};
    Udp& made = udp_[asked.at("name")] = {std::make_unique<UdpSource>(node(asked.at("from")), to, pace),
                                          delays(asked, "latency")};
    if (made.latency == nullptr) return;
    const auto received = [log = made.latency.get()](Ptr<const Packet> packet, const Address&) {
      SeqTsHeader stamp;
      packet->Copy()->RemoveHeader(stamp);
      log->add(stamp.GetTs().GetNanoSeconds(), Simulator::Now().GetNanoSeconds(), packet->GetSize());
    };
    sink->TraceConnectWithoutContext("Rx", Callback<void, Ptr<const Packet>, const Address&>(received));
  }

  void bulk(const json& asked) {
    const InetSocketAddress to = sinkAt(asked.at("to"), "ns3::TcpSocketFactory", bulk_[asked.at("name")].sink);
    BulkSendHelper helper("ns3::TcpSocketFactory", to);
    helper.SetAttribute("MaxBytes", UintegerValue(0));
    if (asked.contains("write_bytes"))
      helper.SetAttribute("SendSize", UintegerValue(asked["write_bytes"].get<std::uint32_t>()));
    helper.Install(node(asked.at("from"))).Start(NanoSeconds(asked.at("start_ns").get<std::uint64_t>()));
  }

  void transactions(const json& asked) {
    const TransactionSizes sizes{asked.at("request_bytes"), asked.at("response_bytes")};
    servers_.push_back(std::make_unique<TransactionServer>(node(asked.at("server")), nextPort_, sizes));
    const InetSocketAddress to(hosts_.at(asked.at("server")), nextPort_++);
    auto& clients = clients_[asked.at("name")];
    for (const std::uint64_t start : asked.at("start_ns"))
      clients.push_back(std::make_unique<TransactionClient>(node(asked.at("client")), to, sizes, start));
  }

  void transfers(const json& asked) {
    const std::string to = asked.at("to");
    const TransferAsked each{asked_.at("tcp").at("segment_bytes"), asked.at("start_ns"), asked.at("bytes")};
    transfers_[asked.at("name")] = {std::make_unique<Transfers>(node(asked.at("from")), node(to),
                                                                InetSocketAddress(hosts_.at(to), nextPort_), each),
                                    0, json::array()};
    nextPort_++;
  }

  void countFromHere() {
    for (auto& [name, lane] : lanes_) {
      lane.disc->countFromHere();
      if (lane.sojourn != nullptr) lane.sojourn->clear();
    }
    for (auto& [name, each] : discs_) each.disc->countFromHere(), each.sojourn->clear();
    for (auto& [name, each] : udp_)
      if (each.latency != nullptr) each.latency->clear();
    for (auto& [name, each] : bulk_) each.before = each.sink->GetTotalRx();
    for (auto& [name, each] : transfers_) each.before = each.transfers->receivedBytes();
  }

  void sample() {
    for (auto& [name, each] : transfers_) each.samples.push_back(each.transfers->receivedBytes());
    Simulator::Schedule(NanoSeconds(sampleNs_), &Scenario::sample, this);
  }

  // Adds to existing values.
  static void count(json& out, const LaneCounts& c) {
    if (out.is_null()) out = json::object();
    const auto add = [&out](const char* what, std::uint64_t n) { out[what] = out.value(what, std::uint64_t{0}) + n; };
    for (std::size_t v = 0; v < Verdicts; v++) add(VerdictNames[v], c.verdicts[v]);
    add("evicted", c.evicted);
    add("dropped", c.dropped);
    add("left", c.left);
    add("left_bytes", c.leftBytes);
    add("waited_ns", c.waitedNs);
    add("ce", c.ce);
  }

  void lanes(json& out) const {
    for (const auto& [name, at] : lanes_) {
      const Ptr<LaneQueueDisc> disc = at.disc;
      json& lane = out["lanes"][name];
      for (const auto& [address, colours] : disc->counts())
        for (std::size_t c = 0; c < Colours; c++)
          count(lane["sources"][at.bySource ? names_.at(address) : "all"][ColourNames[c]], colours[c]);
      lane["most_bytes"] = disc->mostHeldBytes();
      lane["most_waiting"] = disc->mostWaiting();
      for (std::size_t d = 0; d < Distances; d++)
        if (const std::uint64_t n = disc->lostDistance()[d]; n != 0) lane["lost_distance"][std::to_string(d)] = n;
      lane["trace"] = json::array();
      for (const LaneSample& s : disc->samples()) lane["trace"].push_back({s.time, s.colour, s.average, s.packets});
      if (at.sojourn == nullptr) continue;
      lane["sojourn"] = at.sojourn->told();
      for (const auto& [number, q] : disc->queues())
        lane["queues"][std::to_string(number)] = {{"ecn", q.ecn},
                                                  {"lost", q.lost},
                                                  {"ce", q.ce},
                                                  {"left", q.left},
                                                  {"left_bytes", q.leftBytes},
                                                  {"sojourn", q.sojourn.told()}};
    }
  }

  json results() const {
    json out;
    lanes(out);
    for (const auto& [name, each] : discs_) {
      out["discs"][name] = each.disc->told();
      out["discs"][name]["sojourn"] = each.sojourn->told();
    }
    for (const auto& [name, each] : udp_) {
      out["udp"][name]["sent"] = each.source->sent();
      if (each.latency != nullptr) out["udp"][name]["latency"] = each.latency->told();
    }
    for (const auto& [name, each] : bulk_)
      out["bulk"][name] = {{"received_bytes", each.sink->GetTotalRx()},
                           {"counted_bytes", each.sink->GetTotalRx() - each.before}};
    for (const auto& [name, clients] : clients_) {
      std::uint64_t completed = 0, failed = 0;
      for (const auto& client : clients) completed += client->completed(), failed += client->failed();
      out["transactions"][name] = {{"completed", completed}, {"failed", failed}};
    }
    for (const auto& [name, each] : transfers_)
      out["transfers"][name] = {{"took_ns", each.transfers->tookNs()},
                                {"received_bytes", each.transfers->receivedBytes() - each.before},
                                {"samples", each.samples}};
    return out;
  }

  const json& asked_;
  const VmEngineCalls& calls_;
  InternetStackHelper stack_;
  Ipv4AddressHelper addresses_;
  std::map<std::string, Ptr<Node>> nodes_;
  std::map<std::uint32_t, std::string> names_;  // of nodes, by address
  std::map<std::string, Ipv4Address> hosts_;    // a node's first address
  std::map<std::string, Lane> lanes_;
  std::map<std::string, Disc> discs_;
  std::map<std::string, Udp> udp_;
  std::map<std::string, Bulk> bulk_;
  std::vector<std::unique_ptr<TransactionServer>> servers_;
  std::map<std::string, std::vector<std::unique_ptr<TransactionClient>>> clients_;
  std::map<std::string, Sent> transfers_;
  std::uint64_t countFromNs_ = 0, sampleNs_ = 0;
  std::uint16_t nextPort_ = FirstPort;
};

}  // namespace

json runScenario(const json& asked, const VmEngineCalls& calls) {
  return Scenario(asked, calls).run();
}

}  // namespace vermilion
