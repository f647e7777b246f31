// Sends packets through a lane of the bit-exact model, and prints each decision for comparison with other
// implementations.
//
//   oracle-lane CONFIG.json SEED [KEEP COUNT BYTES]
//   oracle-lane CONFIG.json SEED flows
//
// CONFIG.json is a hardware record (docs/hardware-configuration.md). Each packet is an IPv4 frame with DSCP AF11, AF12
// or AF13 by its colour: 0 green, 1 yellow, 2 red. Packets come from standard input, one per line, in order of time:
// "NS BYTES COLOUR". With KEEP, packets of BYTES arrive so that KEEP packets are always queued, COUNT packets in total.
// The average then settles, and the gaps between drops can be compared with their exact distribution.
//
// Output: one line per decision, times in ns, averages in 2^-16 byte or packet, probabilities in 2^-32:
//   time colour bytes verdict average probability, then for each colour: queued bytes, queued packets, last departure;
//   last, the look-ahead n of the colour's estimator
//
// flows: the packets are UDP over IPv4, "NS BYTES FLOW", with the number of the flow as address of the source. Output, in
// the order in which the model tells: "0 TIME QUEUE BYTES" for each decision that enqueues, "1 TIME ID" for each departure.
// IDs count the packets from 0.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "../model/vermilion_model.h"

namespace {

constexpr unsigned Ethernet = 14, Ip = 20, Af11 = 10;

class Lane {
 public:
  Lane(const char* json, std::uint64_t seed) : frame_(1 << 16) {
    char error[400] = "";
    file_ = vm_config_read(json, error, sizeof error);
    if (file_ == nullptr) throw std::runtime_error(error);
    VmConfig config = *vm_config_get(file_);
    config.seed = seed;
    lane_ = vm_lane_create(&config);
    if (lane_ == nullptr) throw std::runtime_error("the model refuses the lane");
  }
  ~Lane() {
    vm_lane_destroy(lane_);
    vm_config_destroy(file_);
  }

  void arrive(std::uint64_t time, unsigned bytes, unsigned colour) {
    if (bytes < Ethernet + Ip || bytes >= frame_.size()) throw std::runtime_error("a packet has 34 to 65535 bytes");
    write(bytes, colour, 0);
    VmArrival seen;
    const VmDecision decision = decided(time, bytes, seen);
    std::printf("%llu %u %u %u %llu %llu", word(seen.time), seen.colour, bytes, decision.verdict, word(decision.avg),
                word(decision.p));
    for (int c = 0; c < VM_COLOURS; c++)
      std::printf(" %u %u %llu", seen.backlog_bytes[c], seen.backlog_packets[c], word(seen.last_departure[c]));
    std::printf(" %u\n", seen.n[seen.colour]);
    take();
  }

  void flow(std::uint64_t time, unsigned bytes, std::uint32_t number) {
    if (bytes < Ethernet + Ip || bytes >= frame_.size()) throw std::runtime_error("a packet has 34 to 65535 bytes");
    write(bytes, 0, number);
    VmArrival seen;
    const VmDecision decision = decided(time, bytes, seen);
    take();
    if (decision.verdict > VM_MARK) throw std::runtime_error("a packet is dropped");
    std::printf("0 %llu %u %u\n", word(seen.time), seen.queue, bytes);
  }
  void drain() {
    vm_lane_drain(lane_);
    take();
  }
  void showSent() { showsSent_ = true; }

  // Runs the lane until it holds fewer than `keep` packets. Returns the time of the departure.
  std::uint64_t until(unsigned keep, std::uint64_t now) {
    for (std::uint64_t next; held_ >= keep && vm_lane_next(lane_, &next) != 0; take()) {
      now = next > now ? next : now + 1;
      vm_lane_advance(lane_, now);
    }
    return now;
  }

 private:
  static unsigned long long word(std::uint64_t x) { return x; }

  VmDecision decided(std::uint64_t time, unsigned bytes, VmArrival& seen) {
    VmDecision decision;
    vm_lane_arrive(lane_, time, frame_.data(), bytes, 0, &seen, &decision);
    held_ += decision.verdict <= VM_MARK;
    return decision;
  }

  void write(unsigned bytes, unsigned colour, std::uint32_t flow) {
    frame_.assign(frame_.size(), 0);
    frame_[12] = 0x08;
    std::uint8_t* ip = &frame_[Ethernet];
    ip[0] = 0x45;
    ip[1] = static_cast<std::uint8_t>((Af11 + 2 * colour) << 2);
    ip[2] = static_cast<std::uint8_t>((bytes - Ethernet) >> 8);
    ip[3] = static_cast<std::uint8_t>(bytes - Ethernet);
    ip[8] = 64;
    ip[9] = 17;
    for (unsigned i = 0; i < 4; i++) ip[12 + i] = static_cast<std::uint8_t>(flow >> (24 - 8 * i));
  }

  void take() {
    VmSent sent;
    while (vm_lane_take(lane_, &sent, out_.data(), static_cast<std::uint32_t>(out_.size())) == 1) {
      held_--;
      if (showsSent_) std::printf("1 %llu %llu\n", word(sent.time), word(sent.id));
    }
  }

  VmConfigFile* file_;
  VmLane* lane_;
  std::vector<std::uint8_t> frame_, out_ = std::vector<std::uint8_t>(1 << 16);
  unsigned held_ = 0;
  bool showsSent_ = false;
};

void run(int argc, char** argv) {
  std::ostringstream text;
  text << std::ifstream(argv[1]).rdbuf();
  Lane lane(text.str().c_str(), std::strtoull(argv[2], nullptr, 10));
  if (argc == 3) {
    unsigned long long ns;
    for (unsigned bytes, colour; std::scanf("%llu %u %u", &ns, &bytes, &colour) == 3;) lane.arrive(ns, bytes, colour);
    return;
  }
  if (argc == 4) {
    lane.showSent();
    unsigned long long ns;
    for (unsigned bytes, flow; std::scanf("%llu %u %u", &ns, &bytes, &flow) == 3;) lane.flow(ns, bytes, flow);
    lane.drain();
    return;
  }
  const unsigned keep = std::atoi(argv[3]), count = std::atoi(argv[4]), bytes = std::atoi(argv[5]);
  std::uint64_t now = 1000;
  for (unsigned i = 0; i < count; i++) {
    now = lane.until(keep, now);
    lane.arrive(now, bytes, 0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 6 && !(argc == 4 && std::strcmp(argv[3], "flows") == 0)) {
    std::fprintf(stderr, "usage: oracle-lane CONFIG.json SEED [KEEP COUNT BYTES | flows] < PACKETS\n");
    return 2;
  }
  try {
    run(argc, argv);
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 2;
  }
}
