// The model's AQMs in a queue behind a port (port.h), for comparison with other implementations.
//
//   oracle-departure codel NS_PER_BYTE LIMIT RESPOND TARGET INTERVAL MTU ECN CE_THRESHOLD CE_MASK CE_SELECTOR
//   oracle-departure pie NS_PER_BYTE LIMIT RESPOND UPDATE TARGET BURST ALPHA BETA MTU ECN BYTE_MODE SEED
//
// CoDel: times in units of 1,024 ns. PIE: UPDATE in ns, other times in units of 64 ns, ALPHA and BETA in units of 2^-56.
// Output: as linux/codel.c and linux/pie.c say.
//
//   oracle-departure dualpi2 NS_PER_BYTE LIMIT RESPOND UPDATE TARGET STEP ALPHA BETA COUPLING MTU DROP_OVERLOAD L_MASK SHIFT SEED
//   oracle-departure marks NS_PER_BYTE LIMIT RESPOND WEIGHTED PACKETS MIN MAX END P BASE SEED
//
// DualPI2: UPDATE and SHIFT in ns, TARGET and STEP in units of 64 ns, gains in units of 2^-40. A packet of L goes first if it arrived
// less than SHIFT after C's first. Output: at each departure "NS L BYTES VERDICT P'", at each update "NS P'".
// Marks: the curve's ends in bytes or PACKETS, P U0.32, BASE 1 for a curve that is 1 above MAX. The level is what is queued behind the
// packet or, with WEIGHTED, an average: a sixteenth of the difference to what is queued is added at each arrival.
// Output: at each departure "NS BYTES LEVEL MARK THRESHOLD"; 0, 2 and 0 of a packet without a verdict.
#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "../model/codel.h"
#include "../model/curve_marks.h"
#include "../model/dualpi2.h"
#include "../model/pie.h"
#include "../model/random.h"
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

class DualPi2 : public Aqm {
 public:
  DualPi2(port& port, const u64* words) : lMask_(words[8]), shift_(words[9]), draws_(words[10], 2) {
    port.update_ns = words[0];
    settings_.target = words[1];
    settings_.step = words[2];
    settings_.alpha = static_cast<u32>(words[3]);
    settings_.beta = static_cast<u32>(words[4]);
    settings_.coupling = static_cast<u32>(words[5]);
    settings_.mtu = static_cast<u32>(words[6]);
    settings_.dropOverload = words[7] != 0;
    settings_.most = settings_.dropOverload ? DualProbMax : static_cast<u32>(DualProbMax / settings_.coupling);
  }
  // The port's own queue counts; the packets are in two.
  bool admits(port& port, const port_packet& packet) override {
    if (port.count >= port.limit) return false;
    queues_[isEct(packet.ds) && (packet.ds & lMask_) != 0].push_back(packet);
    return true;
  }
  unsigned dequeue(port& port, u64 now) override {
    while (port.count > 0) {
      const bool hasC = !queues_[0].empty(), hasL = !queues_[1].empty();
      const bool isL = hasL && (!hasC || queues_[1].front().ns < queues_[0].front().ns + shift_);
      const port_packet packet = queues_[isL].front();
      queues_[isL].pop_front();
      port.count--;
      port.first = (port.first + 1) % PORT_PLACES;
      port.bytes -= packet.bytes;
      DualPi2Packet head{isL, static_cast<u8>(isEct(packet.ds) ? packet.ds & 3 : 0), sojourn(now, packet)};
      const u32 a = draws_.draw(), b = draws_.draw();
      const HeadVerdict verdict = dualPi2Head(state_, settings_, head, port.bytes, a, b);
      port.drops += verdict == HeadVerdict::Drop;
      port.marks += verdict == HeadVerdict::Mark;
      std::printf("%llu %d %u %u %u\n", static_cast<unsigned long long>(now), isL, packet.bytes,
                  static_cast<unsigned>(verdict), state_.prob);
      if (verdict != HeadVerdict::Drop) return packet.bytes;
    }
    return 0;
  }
  void update(port&, u64 now) override {
    u64 delay = 0;
    for (const auto& queue : queues_)
      if (!queue.empty()) delay = std::max(delay, sojourn(now, queue.front()));
    dualPi2Update(state_, settings_, delay);
    std::printf("%llu %u\n", static_cast<unsigned long long>(now), state_.prob);
  }

 private:
  static u64 sojourn(u64 now, const port_packet& packet) { return (now >> PieTimeShift) - (packet.ns >> PieTimeShift); }
  DualPi2Settings settings_;
  DualPi2State state_;
  std::deque<port_packet> queues_[2];  // C, L
  u64 lMask_, shift_;
  RandomSource draws_;
};

class Marks : public Aqm {
 public:
  explicit Marks(const u64* words) : isWeighted_(words[0] != 0), inPackets_(words[1] != 0) {
    VmQueue queue{};
    queue.mark_late = queue.ecn = 1;
    queue.unit = inPackets_;
    if (!isWeighted_) queue.weight[0] = {1u << (WeightMantBits - 1), 0};
    VmCurve& curve = queue.colour[0].curve[VM_DROPS];
    curve.on = 1;
    curve.min = static_cast<u32>(words[2]);
    curve.max = static_cast<u32>(words[3]);
    curve.end = static_cast<u32>(words[4]);
    curve.slope1 = static_cast<u32>(words[5]);
    curve.base2 = words[6] != 0 ? u64{1} << ProbFrac : words[5];
    marks_.emplace(std::vector<VmQueue>{queue}, words[7]);
  }
  bool admits(port& port, const port_packet&) override {
    if (port.count >= port.limit) return false;
    const i64 queued = static_cast<i64>(inPackets_ ? port.count : port.bytes) << AvgFrac;
    average_ += (queued - average_) >> 4;
    const u64 averages[Colours] = {static_cast<u64>(average_)};
    if (isWeighted_) marks_->averaged(clock_++, 0, 1, averages);
    return true;
  }
  unsigned dequeue(port& port, u64 now) override {
    if (port.count == 0) return 0;
    const port_packet packet = port_pop(&port);
    const std::optional<CurveMark> verdict =
        marks_->judge(clock_++, 0, 0, isEct(packet.ds) ? packet.ds & 3 : 0, port.bytes, port.count);
    const bool isMarked = verdict && verdict->mark;
    port.marks += isMarked;
    std::printf("%llu %u %llu %u %llu\n", static_cast<unsigned long long>(now), packet.bytes,
                static_cast<unsigned long long>(verdict ? verdict->level : 0), verdict ? unsigned{isMarked} : 2u,
                static_cast<unsigned long long>(verdict ? verdict->threshold : 0));
    return packet.bytes;
  }

 private:
  bool isWeighted_, inPackets_;
  std::optional<CurveMarks> marks_;
  u64 clock_ = 0;
  i64 average_ = 0;
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
  std::array<u64, 14> words{};
  for (int i = 2; i < argc && i < 16; i++) words[i - 2] = std::strtoull(argv[i], nullptr, 10);
  queue.ns_per_byte = words[0];
  queue.limit = static_cast<unsigned>(words[1]);
  queue.respond = static_cast<unsigned>(words[2]);
  if (argc == 12 && std::strcmp(argv[1], "codel") == 0)
    aqm = std::make_unique<Codel>(&words[3]);
  else if (argc == 14 && std::strcmp(argv[1], "pie") == 0)
    aqm = std::make_unique<Pie>(queue, &words[3]);
  else if (argc == 16 && std::strcmp(argv[1], "dualpi2") == 0)
    aqm = std::make_unique<DualPi2>(queue, &words[3]);
  else if (argc == 13 && std::strcmp(argv[1], "marks") == 0)
    aqm = std::make_unique<Marks>(&words[3]);
  else {
    std::fprintf(stderr, "usage: oracle-departure codel|pie|dualpi2|marks NS_PER_BYTE LIMIT ...\n");
    return 2;
  }
  port_run(&queue, stdin);
}
