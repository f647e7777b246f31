// SPDX-License-Identifier: GPL-2.0-only
#include "paced_queue_disc.h"

#include <stdexcept>
#include <string>

#include "lane_queue_disc.h"

namespace vermilion {

using namespace ns3;

NS_OBJECT_ENSURE_REGISTERED(PacedQueueDisc);

namespace {

constexpr std::uint64_t BitNs = 8'000'000'000;  // bits of a byte times ns of a second

Ptr<QueueDisc> created(const nlohmann::json& asked) {
  const std::string kind = asked.at("kind");
  TypeId id;
  if (!TypeId::LookupByNameFailSafe(kind, &id) || !id.IsChildOf(QueueDisc::GetTypeId()))
    throw std::runtime_error("ns-3 has no queue disc " + kind);
  ObjectFactory factory(kind);
  for (const auto& [name, text] : asked.at("attributes").items()) {
    TypeId::AttributeInformation found;
    const auto known = id.LookupAttributeByName(name, &found);
    if (!known) throw std::runtime_error(kind + " has no attribute " + name);
    const std::string value = text;
    if (found.checker->CreateValidValue(StringValue(value)) == nullptr)
      throw std::runtime_error(kind + " refuses " + name + " = " + value);
    factory.Set(name, StringValue(value));
  }
  const auto disc = factory.Create<QueueDisc>();
  if (const auto fair = DynamicCast<FqCoDelQueueDisc>(disc)) fair->SetQuantum(asked.at("quantum"));
  return disc;
}

}  // namespace

TypeId PacedQueueDisc::GetTypeId() {
  static TypeId id = TypeId("vermilion::PacedQueueDisc").SetParent<QueueDisc>().AddConstructor<PacedQueueDisc>();
  return id;
}

void PacedQueueDisc::serve(const nlohmann::json& asked, Delays* sojourn) {
  disc_ = created(asked);
  const auto only = CreateObject<QueueDiscClass>();
  only->SetQueueDisc(disc_);
  AddQueueDiscClass(only);
  rate_ = asked.at("rate");
  sojourn_ = sojourn;
}

void PacedQueueDisc::DoDispose() {
  wake_.Cancel();
  disc_ = nullptr;
  QueueDisc::DoDispose();
}

Ptr<QueueDiscItem> PacedQueueDisc::DoDequeue() {
  const auto now = static_cast<std::uint64_t>(Simulator::Now().GetNanoSeconds());
  if (now < freeNs_) return nullptr;  // `wake_` is pending
  const Ptr<QueueDiscItem> item = disc_->Dequeue();
  if (item == nullptr) return nullptr;
  const std::uint32_t lenBytes = EthernetBytes + item->GetSize();
  freeNs_ = now + (lenBytes * BitNs + rate_ - 1) / rate_;
  // Also if nothing is queued: the disc below learns of an empty queue only if it is asked, as in Linux.
  wake_ = Simulator::Schedule(NanoSeconds(freeNs_ - now), &QueueDisc::Run, this);
  sojourn_->add(static_cast<std::uint64_t>(item->GetTimeStamp().GetNanoSeconds()), now, lenBytes);
  return item;
}

PacedQueueDisc::Counts PacedQueueDisc::counts() {
  const Stats& all = disc_->GetStats();
  return {all.nTotalReceivedPackets, all.nTotalDroppedPackets, all.nTotalMarkedPackets};
}

void PacedQueueDisc::countFromHere() {
  before_ = counts();
}

nlohmann::json PacedQueueDisc::told() {
  const Counts all = counts();
  return {{"arrived", all.arrived - before_.arrived},
          {"dropped", all.dropped - before_.dropped},
          {"marked", all.marked - before_.marked}};
}

}  // namespace vermilion
