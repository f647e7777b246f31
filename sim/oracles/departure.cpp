// The model's CoDel and PIE in a queue behind a port (port.h), for comparison with other implementations.
//
//   oracle-departure codel NS_PER_BYTE LIMIT RESPOND TARGET INTERVAL MTU ECN CE_THRESHOLD CE_MASK CE_SELECTOR
//   oracle-departure pie NS_PER_BYTE LIMIT RESPOND UPDATE TARGET BURST ALPHA BETA MTU ECN BYTE_MODE SEED
//
// CoDel: times in units of 1,024 ns. PIE: UPDATE in ns, other times in units of 64 ns, ALPHA and BETA in units of 2^-56.
// Output: as linux/codel.c and linux/pie.c say.
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "../model/codel.h"
#include "../model/pie.h"
#include "port.h"

using namespace vermilion;

namespace {

bool isEct(unsigned ds) {
  return ds != PORT_NO_DS && (ds & 3) != 0;
}

class Aqm {
 public:
  virtual ~Aqm() = default;
  virtual bool admits(port& port, const port_packet& packet) = 0;
  virtual unsigned dequeue(port& port, u64 now) = 0;
  virtual void update(port&, u64) {}
};

class Codel : public Aqm {
 public:
  explicit Codel(const u64* words) {
    settings_.target = static_cast<u32>(words[0]);
    settings_.interval = static_cast<u32>(words[1]);
    settings_.mtu = static_cast<u32>(words[2]);
    settings_.ecn = words[3] != 0;
    settings_.ceThreshold = static_cast<u32>(words[4]);
    settings_.ceMask = static_cast<u8>(words[5]);
    settings_.ceSelector = static_cast<u8>(words[6]);
  }
  bool admits(port& port, const port_packet&) override { return port.count < port.limit; }
  unsigned dequeue(port& port, u64 now) override {
    unsigned bytes = 0;
    while (port.count > 0 && bytes == 0) {
      const port_packet packet = port_pop(&port);
      HeadPacket head;
      head.enqueued = static_cast<u32>(packet.ns >> CodelShift);
      head.hasDsField = packet.ds != PORT_NO_DS;
      head.dsField = static_cast<u8>(packet.ds);
      const HeadVerdict verdict = codelHead(state_, settings_, static_cast<u32>(now >> CodelShift), head, port.bytes);
      port.drops += verdict == HeadVerdict::Drop;
      port.marks += verdict == HeadVerdict::Mark;
      if (verdict != HeadVerdict::Drop) bytes = packet.bytes;
    }
    std::printf("%llu %u %u %u %u %u %u %u %u %d\n", static_cast<unsigned long long>(now), port.drops, port.marks,
                bytes, state_.count, state_.lastCount, state_.invSqrt, state_.isAbove ? state_.mayDropAt : 0,
                state_.dropNext, bytes != 0 && state_.phase != CodelPhase::Below);
    return bytes;
  }

 private:
  CodelSettings settings_;
  CodelState state_;
};

class Pie : public Aqm {
 public:
  Pie(port& port, const u64* words) : random_(words[8]) {
    port.update_ns = words[0];
    settings_.target = words[1];
    settings_.burst = words[2];
    settings_.alpha = words[3];
    settings_.beta = words[4];
    settings_.mtu = static_cast<u32>(words[5]);
    settings_.ecn = words[6] != 0;
    settings_.byteMode = words[7] != 0;
    state_ = pieBegin();
  }
  bool admits(port& port, const port_packet& packet) override {
    const u64 draw = port_random(&random_) >> (64 - PieProbBits);
    ArrivalVerdict verdict = ArrivalVerdict::Drop;
    if (port.count < port.limit)
      verdict = pieArrives(state_, settings_, port.bytes, packet.bytes, isEct(packet.ds), draw);
    else
      pieLost(state_);
    port.drops += verdict == ArrivalVerdict::Drop;
    port.marks += verdict == ArrivalVerdict::Mark;
    return verdict != ArrivalVerdict::Drop;
  }
  unsigned dequeue(port& port, u64 now) override {
    if (port.count == 0) return 0;
    const port_packet packet = port_pop(&port);
    pieDeparts(state_, settings_, now >> PieTimeShift, packet.ns >> PieTimeShift, port.bytes);
    return packet.bytes;
  }
  void update(port& port, u64 now) override {
    pieUpdate(state_, settings_, state_.delay, port.bytes == 0);
    const auto word = [](u64 x) { return static_cast<unsigned long long>(x); };
    std::printf("%llu %u %u %llu %llu %llu %llu %llu %u\n", word(now), port.drops, port.marks, word(state_.prob),
                word(state_.accumulated), word(state_.delay), word(state_.delayBefore),
                word(pieBurstLeft(state_, settings_)), port.bytes);
  }

 private:
  PieSettings settings_;
  PieState state_;
  u64 random_;
};

std::unique_ptr<Aqm> aqm;

}  // namespace

extern "C" int port_admit(struct port* port, const struct port_packet* packet) {
  return aqm->admits(*port, *packet);
}
extern "C" unsigned port_dequeue(struct port* port, uint64_t now) {
  return aqm->dequeue(*port, now);
}
extern "C" void port_update(struct port* port, uint64_t now) {
  aqm->update(*port, now);
}

int main(int argc, char** argv) {
  static port queue;
  std::array<u64, 13> words{};
  for (int i = 2; i < argc && i < 15; i++) words[i - 2] = std::strtoull(argv[i], nullptr, 10);
  queue.ns_per_byte = words[0];
  queue.limit = static_cast<unsigned>(words[1]);
  queue.respond = static_cast<unsigned>(words[2]);
  if (argc == 12 && std::strcmp(argv[1], "codel") == 0)
    aqm = std::make_unique<Codel>(&words[3]);
  else if (argc == 14 && std::strcmp(argv[1], "pie") == 0)
    aqm = std::make_unique<Pie>(queue, &words[3]);
  else {
    std::fprintf(stderr, "usage: oracle-departure codel|pie NS_PER_BYTE LIMIT ...\n");
    return 2;
  }
  port_run(&queue, stdin);
}
