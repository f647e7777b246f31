// Compares DPDK's rte_meter, the model's token bucket marker and the RFCs' arithmetic in integers, on the same packets.
//
//   oracle-meter CONFIG.json CIR CBS SECOND_RATE SECOND_BYTES
//
// CONFIG.json is a hardware record (docs/hardware-configuration.md). Its queue 0 has a marker of kind srTCM or trTCM.
// The other arguments give the same settings to DPDK and the RFC, rates in bytes/s. srTCM: CIR, CBS, 0, EBS. trTCM:
// CIR, CBS, PIR, PBS. DPDK's clock period is 1 ns.
// Standard input: one line per packet, "NS BYTES COLOUR". Standard output, one line per packet: the colours of the
// model, the RFC and DPDK; DPDK's colour if it had the RFC's tokens just before; 1 if the RFC's tokens are so close to
// the packet's length that DPDK, which adds tokens in quanta, may lack one quantum. After all packets, the bytes of
// DPDK's quanta.
#include <rte_meter.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "../../model/vermilion_model.h"

// rte_meter reads the clock's rate from DPDK's run-time environment, which is not started here.
extern "C" std::uint64_t rte_get_tsc_hz(void) {
  return 1000000000;
}

namespace {

using std::uint64_t;
constexpr unsigned Srtcm = 2;            // of marker.kind
constexpr uint64_t Second = 1000000000;  // ns

struct Rates {
  bool single, aware;
  uint64_t rate[2], depth[2];
};

// Tokens in 2 buckets, in units of byte / 10^9. Each ns adds the rate, without rounding. C and E (RFC 2697), or C and P
// (RFC 2698).
class Rfc {
 public:
  explicit Rfc(const Rates& r) : r_(r), tokens_{r.depth[0] * Second, r.depth[1] * Second} {}

  void fill(uint64_t ns) {
    const uint64_t passed = ns - at_;
    at_ = ns;
    tokens_[0] += passed * r_.rate[0];
    tokens_[1] += r_.single ? over(0) : passed * r_.rate[1];
    tokens_[0] -= over(0);
    tokens_[1] -= over(1);
  }

  unsigned mark(unsigned bytes, unsigned colour) {
    const uint64_t need = bytes * Second;
    const unsigned came = r_.aware ? colour : 0;
    const bool covered[2] = {tokens_[0] >= need, tokens_[1] >= need};
    if (r_.single) {
      const unsigned out = came == 0 && covered[0] ? 0 : came <= 1 && covered[1] ? 1 : 2;
      if (out < 2) tokens_[out] -= need;
      return out;
    }
    const unsigned out = came == 2 || !covered[1] ? 2 : came == 1 || !covered[0] ? 1 : 0;
    if (out <= 1) tokens_[1] -= need;
    if (out == 0) tokens_[0] -= need;
    return out;
  }

  uint64_t bytes(int bucket) const { return tokens_[bucket] / Second; }
  // Whether a bucket covers the packet by less than DPDK may lack: one quantum, and the truncation to whole bytes.
  bool near(unsigned bytes, const uint64_t lag[2]) const {
    for (int i = 0; i < 2; i++)
      if (tokens_[i] >= bytes * Second && tokens_[i] < (bytes + lag[i] + 1) * Second) return true;
    return false;
  }

 private:
  uint64_t over(int i) const { return tokens_[i] > r_.depth[i] * Second ? tokens_[i] - r_.depth[i] * Second : 0; }
  const Rates r_;
  uint64_t tokens_[2], at_ = 0;
};

class Dpdk {
 public:
  explicit Dpdk(const Rates& r) : r_(r) {
    rte_meter_srtcm_params sr{};
    sr.cir = r.rate[0], sr.cbs = r.depth[0], sr.ebs = r.depth[1];
    rte_meter_trtcm_params tr{};
    tr.cir = r.rate[0], tr.cbs = r.depth[0], tr.pir = r.rate[1], tr.pbs = r.depth[1];
    if ((r.single ? rte_meter_srtcm_profile_config(&single_, &sr) : rte_meter_trtcm_profile_config(&two_, &tr)) != 0)
      throw std::runtime_error("DPDK refuses these parameters");
    r.single ? rte_meter_srtcm_config(&s_, &single_) : rte_meter_trtcm_config(&t_, &two_);
    s_.time = t_.time_tc = t_.time_tp = 0;
  }

  void align(const Rfc& rfc, uint64_t ns) {
    s_ = {ns, rfc.bytes(0), rfc.bytes(1)};
    t_ = {ns, ns, rfc.bytes(0), rfc.bytes(1)};
  }

  unsigned mark(uint64_t ns, unsigned bytes, unsigned colour) {
    const auto came = static_cast<rte_color>(colour);
    if (r_.single)
      return r_.aware ? rte_meter_srtcm_color_aware_check(&s_, &single_, ns, bytes, came)
                      : rte_meter_srtcm_color_blind_check(&s_, &single_, ns, bytes);
    return r_.aware ? rte_meter_trtcm_color_aware_check(&t_, &two_, ns, bytes, came)
                    : rte_meter_trtcm_color_blind_check(&t_, &two_, ns, bytes);
  }

  uint64_t quantum(int i) const {
    return r_.single ? single_.cir_bytes_per_period : i == 0 ? two_.cir_bytes_per_period : two_.pir_bytes_per_period;
  }

 private:
  const Rates r_;
  rte_meter_srtcm_profile single_;
  rte_meter_trtcm_profile two_;
  rte_meter_srtcm s_{};
  rte_meter_trtcm t_{};
};

void run(const VmMarker& marker, const Rates& rates) {
  VmTokenMarker* ours = vm_marker_create();
  Rfc rfc(rates);
  Dpdk dpdk(rates), aligned(rates);
  const uint64_t lag[2] = {dpdk.quantum(0), dpdk.quantum(1)};
  unsigned long long ns;
  for (unsigned bytes, colour; std::scanf("%llu %u %u", &ns, &bytes, &colour) == 3; aligned.align(rfc, ns)) {
    VmMarked marked;
    vm_marker_mark(ours, &marker, ns, colour, bytes, 0, &marked);
    rfc.fill(ns);
    const bool near = rfc.near(bytes, lag);
    const unsigned right = rfc.mark(bytes, colour);
    std::printf("%u %u %u %u %d\n", marked.colour, right, dpdk.mark(ns, bytes, colour), aligned.mark(ns, bytes, colour),
                near);
  }
  std::printf("%llu %llu\n", static_cast<unsigned long long>(lag[0]), static_cast<unsigned long long>(lag[1]));
  vm_marker_destroy(ours);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: oracle-meter CONFIG.json CIR CBS SECOND_RATE SECOND_BYTES < PACKETS\n");
    return 2;
  }
  std::ostringstream text;
  text << std::ifstream(argv[1]).rdbuf();
  char error[400] = "";
  VmConfigFile* file = vm_config_read(text.str().c_str(), error, sizeof error);
  if (file == nullptr) {
    std::fprintf(stderr, "%s\n", error);
    return 2;
  }
  const VmMarker marker = vm_config_get(file)->queues[0].marker;
  uint64_t number[4];
  for (int i = 0; i < 4; i++) number[i] = std::strtoull(argv[2 + i], nullptr, 10);
  try {
    run(marker, {marker.kind == Srtcm, marker.colour_aware != 0, {number[0], number[2]}, {number[1], number[3]}});
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "%s\n", fault.what());
    return 2;
  }
  vm_config_destroy(file);
}
