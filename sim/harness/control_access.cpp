#include "control_access.h"

#include <stdexcept>

#include "random.h"
#include "register_map.h"

namespace vermilion {

namespace reg = registers;

namespace {

constexpr u32 PatienceCycles = 100'000;

u32 scaled(VmScaled x) {
  return x.mant | x.shift << 24;
}
u32 low(u64 x) {
  return static_cast<u32>(x);
}
u32 high(u64 x) {
  return static_cast<u32>(x >> 32);
}

int append(void* out, u32 address, u32 value) {
  static_cast<std::vector<RegisterWrite>*>(out)->push_back({address, value});
  return 0;
}

// The driver's library gives the writes of the shadow registers (sw_driver/lib/vm_queue_visit.c).
void queueWrites(std::vector<RegisterWrite>& out, u32 index, const VmQueue& q) {
  vm_queue_visit(&q, append, &out);
  out.push_back({reg::queue_select(), index});
  out.push_back({reg::commit(), 1});
}

void classWrites(std::vector<RegisterWrite>& out, u32 address, const VmClass& c) {
  out.push_back({reg::class_address(), address});
  out.push_back({reg::class_entry(), reg::kClassEntryQueue.put(c.queue) | reg::kClassEntryColour.put(c.colour)});
}

void ruleWrites(std::vector<RegisterWrite>& out, const VmConfig& config) {
  if (config.rule_count == 0) return;
  for (u32 i = 0; i < config.rule_count; i++) {
    const VmRule& rule = config.rules[i];
    out.push_back({reg::rule_select(), i});
    for (u32 w = 0; w < VM_RULE_WORDS; w++) {
      out.push_back({reg::rule_value(w), rule.value[w]});
      out.push_back({reg::rule_mask(w), rule.mask[w]});
    }
    out.push_back({reg::rule_marker(), rule.marker});
    out.push_back({reg::rule_action(), rule.action});
  }
  for (u32 i = 0; i < 2 * VM_PORT_RANGES; i++) {
    const VmPortRange& range = config.port_range[i];
    out.push_back({reg::port_range(i), reg::kPortRangeLow.put(range.low) | reg::kPortRangeHigh.put(range.high)});
  }
  out.push_back({reg::rule_commit(), 1});
}

}  // namespace

std::vector<RegisterWrite> registerWrites(const VmConfig& config) {
  std::vector<RegisterWrite> out;
  u32 departureUpdates = 0;
  for (u32 i = 0; i < config.queue_count; i++) {
    queueWrites(out, i, config.queues[i]);
    departureUpdates |= config.queues[i].update;
  }
  out.push_back({reg::control(), reg::kControlDepartureUpdates.put(departureUpdates)});
  for (u32 e = 0; e < config.egress_count; e++) {
    const VmEgress& egress = config.egress[e];
    for (u32 d = 0; d < 64; d++) classWrites(out, d, egress.dscp[d]);
    classWrites(out, 64, egress.fallback);
    if (config.egress_count > 1) out.push_back({reg::port_egress(), e});
    out.push_back({reg::port_cost(), scaled(egress.port_cost)});
    out.push_back({reg::port_burst_low(), low(egress.port_burst_ns)});
    out.push_back({reg::port_burst_high(), high(egress.port_burst_ns)});
  }
  if (config.egress_count > 1)
    for (u32 word = 0; word < 2; word++) {
      u32 routes = 0;
      for (u32 i = 0; i < 8; i++) routes |= config.route[8 * word + i] << 4 * i;
      out.push_back({reg::routes(word), routes});
    }
  out.push_back({reg::ttl_option(),
                 reg::kTtlOptionIp4.put(config.ttl_option.ip4) | reg::kTtlOptionIp6.put(config.ttl_option.ip6)});
  if (config.pool.size != 0) {
    out.push_back({reg::pool_size(), config.pool.size});
    for (u32 e = 0; e < config.egress_count; e++) {
      out.push_back({reg::pool_reserve(e), config.pool.reserve[e]});
      out.push_back({reg::pool_cap(e), config.pool.cap[e]});
    }
  }
  ruleWrites(out, config);
  u32 words[4];
  RandomSource(config.seed).state(words);
  for (u32 i = 0; i < 4; i++) out.push_back({reg::seed(i), words[i]});
  RandomSource(config.seed, 2).state(words);
  for (u32 i = 0; i < 4; i++) out.push_back({reg::flow_seed(i), words[i]});
  RandomSource(config.seed, 1).state(words);
  for (u32 i = 0; i < 4; i++) out.push_back({reg::mark_seed(i), words[i]});
  return out;
}

std::vector<RegisterWrite> reportWrites(const ReportSettings& reports) {
  std::vector<RegisterWrite> out{{reg::report_every(), reports.every},
                                 {reg::report_interval(), reports.interval},
                                 {reg::report_burst(), reports.burst}};
  for (u32 i = 0; i < 4; i++) {
    u32 word = 0;
    for (u32 k = 0; k < 4 && 4 * i + k < reports.ethernet.size(); k++)
      word |= u32{reports.ethernet[4 * i + k]} << 8 * k;
    out.push_back({reg::report_ethernet(i), word});
  }
  for (u32 q = 0; q < reports.reasons.size(); q++)
    out.push_back(
        {reg::report_select(), reg::kReportSelectReasons.put(reports.reasons[q]) | reg::kReportSelectQueue.put(q)});
  return out;
}

void ControlAccess::hang(u32 waited, const char* what, u32 address) {
  if (waited < PatienceCycles) return;
  throw std::runtime_error(std::string("the control port hangs at a ") + what + " of address " +
                           std::to_string(address));
}

void ControlAccess::write(u32 address, u32 value, u32 strobes) {
  bool addressTaken = false, dataTaken = false, done = false;
  for (u32 waited = 0; !done; waited++) {
    hang(waited, "write", address);
    lane_.setWrite(!addressTaken, address, !dataTaken, value, strobes);
    clock_([&] {
      addressTaken |= lane_.writeAddressReady();
      dataTaken |= lane_.writeDataReady();
      done = lane_.writeDone();
    });
  }
  lane_.setWrite(false, 0, false, 0);
}

u32 ControlAccess::read(u32 address) {
  bool addressTaken = false, done = false;
  u32 data = 0;
  for (u32 waited = 0; !done; waited++) {
    hang(waited, "read", address);
    lane_.setRead(!addressTaken, address);
    clock_([&] {
      addressTaken |= lane_.readAddressReady();
      done = lane_.readDone(data);
    });
  }
  lane_.setRead(false, 0);
  return data;
}

static u64 wide(Registers& control, u32 low) {
  const u64 lowWord = control.read(low);
  return lowWord | u64{control.read(low + 4)} << 32;
}

Lost lostFrames(Registers& control, u32 input) {
  Lost lost;
  lost.frames = control.read(reg::lost_frames_low(input));  // the read latches the other words
  lost.frames |= u64{control.read(reg::lost_frames_high(input))} << 32;
  lost.bytes = control.read(reg::lost_bytes_low(input));
  lost.bytes |= u64{control.read(reg::lost_bytes_high(input))} << 32;
  return lost;
}

u32 flowEvents(Registers& control, u32 event) {
  return control.read(reg::flow_events(event));
}

u32 reportEvents(Registers& control, u32 event) {
  return control.read(reg::report_events(event));
}

Lost ruleCounts(Registers& control, u32 rule) {
  control.write(reg::rule_select(), rule);  // copies the counters
  Lost out;
  out.frames = wide(control, reg::rule_counts_packets_low());
  out.bytes = wide(control, reg::rule_counts_bytes_low());
  return out;
}

u64 flowCollisions(Registers& control) {
  const u64 low = control.read(reg::flow_collisions_low());  // the read latches the other word
  return low | u64{control.read(reg::flow_collisions_high())} << 32;
}

u32 refreshesSkipped(Registers& control) {
  return control.read(reg::refreshes_skipped());
}

void snapshot(Registers& control, u32 queue, LaneCounters colours[Colours]) {
  control.write(reg::queue_select(), queue);
  control.write(reg::snapshot(), 1);
  for (u32 polls = 0; reg::kStatusSnapshotPending.get(control.read(reg::status())) != 0; polls++)
    if (polls == PatienceCycles)
      throw std::runtime_error("the snapshot of queue " + std::to_string(queue) + " does not end");
  for (u32 c = 0; c < u32{Colours}; c++) {
    const auto pair = [&](u64 out[2], u32 address) {
      for (u32 i = 0; i < 2; i++) out[i] = control.read(address + 8 * i) | u64{control.read(address + 8 * i + 4)} << 32;
    };
    pair(colours[c].arrived, reg::window_colour_arrived_packets_low(c));
    pair(colours[c].enqueued, reg::window_colour_enqueued_packets_low(c));
    pair(colours[c].early, reg::window_colour_early_packets_low(c));
    pair(colours[c].forced, reg::window_colour_forced_packets_low(c));
    pair(colours[c].tail, reg::window_colour_tail_packets_low(c));
    pair(colours[c].nobuf, reg::window_colour_nobuf_packets_low(c));
    pair(colours[c].bad, reg::window_colour_bad_packets_low(c));
    pair(colours[c].policed, reg::window_colour_policed_packets_low(c));
    pair(colours[c].marked, reg::window_colour_ce_chosen_packets_low(c));
    pair(colours[c].ceWritten, reg::window_colour_ce_written_packets_low(c));
    pair(colours[c].sent, reg::window_colour_sent_packets_low(c));
    pair(colours[c].evicted, reg::window_colour_evicted_packets_low(c));
    pair(colours[c].flushed, reg::window_colour_flushed_packets_low(c));
    pair(colours[c].departureDropped, reg::window_colour_departure_dropped_packets_low(c));
    pair(colours[c].departureMarked, reg::window_colour_departure_marked_packets_low(c));
  }
}

u64 lostByDistance(Registers& control, u32 distance) {
  return wide(control, reg::window_lost_distance_low(distance));
}

u64 victimsByDistance(Registers& control, u32 distance) {
  return wide(control, reg::window_victim_distance_low(distance));
}

u64 pushOutCount(Registers& control) {
  return wide(control, reg::window_push_outs_low());
}

u64 staleCount(Registers& control) {
  return wide(control, reg::window_stale_low());
}

u64 latencies(Registers& control, u32 bin) {
  return wide(control, reg::window_latency_low(bin));
}

Backlog backlog(Registers& control) {
  const u32 packets = control.read(reg::window_backlog_packets());
  return {packets, control.read(reg::window_backlog_bytes())};
}

u64 markedPackets(Registers& control, u32 in, u32 out) {
  return wide(control, reg::window_marked_low(4 * in + out));
}

}  // namespace vermilion
