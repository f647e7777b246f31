// SPDX-License-Identifier: GPL-2.0-only
// Runs ns-3's RedQueueDisc on packets of a known queue: `./vermilion oracle ns3-red`.
//
//   oracle-ns3 ATTRIBUTES.json [KEEP COUNT BYTES]
//
// ATTRIBUTES.json: names and values of the queue disc's attributes, as text. Standard input: one line per packet, in
// order of time: "NS BYTES QUEUED DEPARTED": the packets that are queued before it, and when the last one left. The
// program dequeues packets until the queue disc holds QUEUED. Standard output: "AVERAGE" of each packet, in bytes or
// packets by the attributes. With KEEP: COUNT packets of BYTES arrive while KEEP are queued, and each line is "ADMITTED
// AVERAGE".
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

// The average is private and has no trace source. An explicit instantiation may name it ([temp.spec]).
double averageOf(const RedQueueDisc& disc);
template <double RedQueueDisc::*member>
struct Reach {
  friend double averageOf(const RedQueueDisc& disc) { return disc.*member; }
};
template struct Reach<&RedQueueDisc::m_qAvg>;

class Item : public QueueDiscItem {
 public:
  explicit Item(unsigned bytes) : QueueDiscItem(Create<Packet>(bytes), Address(), 0) {}
  void AddHeader() override {}
  bool Mark() override { return false; }
};

class RedQueue {
 public:
  explicit RedQueue(const char* attributes) {
    nlohmann::json asked;
    std::ifstream(attributes) >> asked;
    for (const auto& [name, value] : asked.items()) disc_->SetAttribute(name, StringValue(value.get<std::string>()));
    disc_->AssignStreams(1);
    disc_->Initialize();
  }

  bool arrive(unsigned bytes) { return disc_->Enqueue(Create<Item>(bytes)); }
  double average() const { return averageOf(*PeekPointer(disc_)); }
  // Dequeues until `left` packets are queued. If none is, it dequeues once more, as a device does: the queue is then
  // idle.
  void leave(unsigned left) {
    while (disc_->GetNPackets() > left) disc_->Dequeue();
    if (left == 0) disc_->Dequeue();
  }

 private:
  Ptr<RedQueueDisc> disc_ = CreateObject<RedQueueDisc>();
};

struct Arrival {
  unsigned long long ns, departed;
  unsigned bytes, queued;
};

void follow(RedQueue& queue) {
  std::vector<Arrival> all;
  for (Arrival a; std::scanf("%llu %u %u %llu", &a.ns, &a.bytes, &a.queued, &a.departed) == 4;) all.push_back(a);
  std::uint64_t last = 0;
  for (const Arrival& a : all) {
    const std::uint64_t gone = std::max<std::uint64_t>(a.departed, last);
    Simulator::Schedule(NanoSeconds(gone), [&queue, &a] { queue.leave(a.queued); });
    Simulator::Schedule(NanoSeconds(a.ns), [&queue, &a] {
      queue.arrive(a.bytes);
      std::printf("%.17g\n", queue.average());
    });
    last = a.ns;
  }
  Simulator::Run();
}

void keep(RedQueue& queue, unsigned packets, unsigned count, unsigned bytes) {
  for (unsigned held = 0; count > 0; count--) {
    const bool admitted = queue.arrive(bytes);
    std::printf("%d %.17g\n", admitted, queue.average());
    held += admitted;
    if (held == packets) queue.leave(--held);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 5) {
    std::fprintf(stderr, "usage: oracle-ns3 ATTRIBUTES.json [KEEP COUNT BYTES]\n");
    return 2;
  }
  RedQueue queue(argv[1]);
  if (argc == 2)
    follow(queue);
  else
    keep(queue, std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]));
  Simulator::Destroy();
}
