// SPDX-License-Identifier: GPL-2.0-only
#include "lane_queue_disc.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "../../model/records.h"
#include "ns3/internet-module.h"

namespace vermilion {

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(HeldPackets);
NS_OBJECT_ENSURE_REGISTERED(LaneQueueDisc);

static constexpr std::uint32_t HeadBytes = 128;  // as far as the lane's parser reads
static constexpr std::uint32_t EthernetIp = 0x0800;
static constexpr std::size_t ErrorBytes = 400;
static constexpr std::uint32_t Ce = 3;  // ECN field of the traffic class (RFC 3168)
static const char* const LostAs[Verdicts] = {"", "", "early", "forced", "tail", "nobuf", "bad", "policed"};

// Hops from the sender: the smallest usual initial TTL that is not below this TTL, less this TTL.
static std::uint32_t distanceOf(std::uint32_t ttl) {
  for (const std::uint32_t initial : {32u, 64u, 128u})
    if (ttl <= initial) return std::min<std::uint32_t>(initial - ttl, Distances - 1);
  return std::min<std::uint32_t>(255 - ttl, Distances - 1);
}

TypeId HeldPackets::GetTypeId() {
  static TypeId id = TypeId("vermilion::HeldPackets").SetParent<Queue<QueueDiscItem>>().AddConstructor<HeldPackets>();
  return id;
}

HeldPackets::Place HeldPackets::put(Ptr<QueueDiscItem> item) {
  Place place;
  if (!DoEnqueue(GetContainer().end(), item, place)) throw std::logic_error("the queue of held packets is full");
  return place;
}

TypeId LaneQueueDisc::GetTypeId() {
  static TypeId id = TypeId("vermilion::LaneQueueDisc").SetParent<QueueDisc>().AddConstructor<LaneQueueDisc>();
  return id;
}

LaneQueueDisc::~LaneQueueDisc() {
  if (engine_ != nullptr) calls_->destroy(engine_);
}

void LaneQueueDisc::serve(const VmEngineCalls& calls, const std::string& lane, const LaneTrace& trace) {
  char error[ErrorBytes] = "";
  engine_ = calls.create(lane.c_str(), error, sizeof error);
  if (engine_ == nullptr) throw std::runtime_error(std::string("the engine refuses the lane: ") + error);
  calls_ = &calls;
  trace_ = trace;
  nextSample_.fill(trace.from);
}

bool LaneQueueDisc::CheckConfig() {
  if (engine_ == nullptr || GetNQueueDiscClasses() != 0 || GetNPacketFilters() != 0) return false;
  held_ = CreateObject<HeldPackets>();
  held_->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, std::numeric_limits<std::uint32_t>::max()));
  AddInternalQueue(held_);
  return true;
}

void LaneQueueDisc::DoDispose() {
  wake_.Cancel();
  inside_.clear();
  out_.clear();
  held_ = nullptr;
  QueueDisc::DoDispose();
}

bool LaneQueueDisc::DoEnqueue(Ptr<QueueDiscItem> item) {
  const auto packet = DynamicCast<Ipv4QueueDiscItem>(item);
  if (packet == nullptr) throw std::runtime_error("a packet that is not IPv4 came to a lane");
  const Ipv4Header& header = packet->GetHeader();
  const std::uint32_t lenBytes = EthernetBytes + packet->GetSize();

  std::uint8_t head[HeadBytes] = {};
  head[12] = EthernetIp >> 8;
  head[13] = EthernetIp & 0xff;
  Buffer buffer;
  buffer.AddAtStart(header.GetSerializedSize());
  header.Serialize(buffer.Begin());
  const std::uint32_t ipBytes = buffer.CopyData(head + EthernetBytes, HeadBytes - EthernetBytes);
  const std::uint32_t begin = EthernetBytes + ipBytes;
  packet->GetPacket()->CopyData(head + begin, HeadBytes - begin);

  const auto now = static_cast<std::uint64_t>(Simulator::Now().GetNanoSeconds());
  VmFate fate;
  calls_->arrive(engine_, now, head, std::min(HeadBytes, lenBytes), lenBytes, &fate);
  Inside in{{}, header.GetSource().Get(), fate.queue, fate.colour, lenBytes, distanceOf(header.GetTtl()), now};
  counts(in).verdicts[fate.verdict]++;
  queueOf(in).ecn[header.GetTos() & Ce]++;
  sample(fate);
  const bool admitted = fate.verdict <= VM_MARK;
  if (admitted) {
    in.place = held_->put(item);
    inside_.emplace(fate.id, in);
    mostHeldBytes_ = std::max(mostHeldBytes_, heldBytes_ += lenBytes);
  } else {
    lostDistance_[in.distance]++;
    queueOf(in).lost++;
    DropBeforeEnqueue(item, LostAs[fate.verdict]);
  }
  for (std::uint64_t id; calls_->evicted(engine_, &id);) lose(id, &LaneCounts::evicted);
  collect();
  if (admitted || !wake_.IsPending()) plan();  // a lost frame changes nothing for the queued ones
  return admitted;
}

QueueCounts& LaneQueueDisc::queueOf(const Inside& packet) {
  const auto [at, isNew] = queues_.try_emplace(packet.queue);
  if (isNew && sojourn_ != nullptr) at->second.sojourn = Delays(sojourn_->each());
  return at->second;
}

void LaneQueueDisc::countFromHere() {
  counts_.clear();
  queues_.clear();
  lostDistance_.fill(0);
}

void LaneQueueDisc::sample(const VmFate& fate) {
  const auto now = static_cast<std::uint64_t>(Simulator::Now().GetNanoSeconds());
  if (now < nextSample_[fate.colour] || now >= trace_.to) return;
  nextSample_[fate.colour] = now + trace_.step;
  samples_.push_back({now, fate.colour, static_cast<double>(fate.avg) / 65536, inside_.size()});
}

// Removes a packet that the lane had admitted.
void LaneQueueDisc::lose(std::uint64_t id, std::uint64_t LaneCounts::*as) {
  const auto packet = inside_.find(id);
  (counts(packet->second).*as)++;
  queueOf(packet->second).lost++;
  if (as == &LaneCounts::evicted) lostDistance_[packet->second.distance]++;
  heldBytes_ -= packet->second.lenBytes;
  held_->drop(packet->second.place);
  inside_.erase(packet);
}

// Passes frames that have left the lane to the device, and removes those that were dropped as they left.
void LaneQueueDisc::collect() {
  for (std::uint64_t id; calls_->dropped(engine_, &id);) lose(id, &LaneCounts::dropped);
  for (VmGone gone; calls_->left(engine_, &gone);) {
    const auto packet = inside_.find(gone.id);
    LaneCounts& count = counts(packet->second);
    count.left++;
    count.leftBytes += packet->second.lenBytes;
    count.waitedNs += gone.time - packet->second.time;
    QueueCounts& queue = queueOf(packet->second);
    queue.left++;
    queue.leftBytes += packet->second.lenBytes;
    const auto held = DynamicCast<Ipv4QueueDiscItem>(*packet->second.place);
    const std::uint8_t came = held->GetHeader().GetTos() & Ce, goes = gone.traffic_class & Ce;
    if (goes == Ce && came != Ce) count.ce++, queue.ce++;
    for (Delays* each : {sojourn_, &queue.sojourn})
      if (sojourn_ != nullptr) each->add(packet->second.time, gone.time, packet->second.lenBytes, came, goes);
    heldBytes_ -= packet->second.lenBytes;
    out_.push_back({packet->second.place, gone.traffic_class});
    inside_.erase(packet);
  }
  mostWaiting_ = std::max<std::uint64_t>(mostWaiting_, out_.size());
}

void LaneQueueDisc::plan() {
  std::uint64_t time;
  wake_.Cancel();
  if (!calls_->next(engine_, &time)) return;
  const auto now = static_cast<std::uint64_t>(Simulator::Now().GetNanoSeconds());
  wake_ = Simulator::Schedule(NanoSeconds(std::max(time, now + 1) - now), &LaneQueueDisc::wake, this);
}

void LaneQueueDisc::wake() {
  calls_->advance(engine_, static_cast<std::uint64_t>(Simulator::Now().GetNanoSeconds()));
  collect();
  plan();
  if (!out_.empty()) Run();
}

Ptr<QueueDiscItem> LaneQueueDisc::DoDequeue() {
  if (out_.empty()) return nullptr;
  const Out next = out_.front();
  out_.pop_front();
  const auto held = DynamicCast<Ipv4QueueDiscItem>(held_->take(next.place));
  if (held->GetHeader().GetTos() == next.trafficClass) return held;
  Ipv4Header header = held->GetHeader();
  header.SetTos(static_cast<std::uint8_t>(next.trafficClass));
  auto item = Create<Ipv4QueueDiscItem>(held->GetPacket(), held->GetAddress(), held->GetProtocol(), header);
  item->SetTimeStamp(held->GetTimeStamp());
  return item;
}

}  // namespace vermilion
