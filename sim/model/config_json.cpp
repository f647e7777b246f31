#include "config_json.h"

#include <bit>

#include "image_json.h"

namespace vermilion {

namespace {

using nlohmann::json;

// Checks that depend on several values of a queue's image.
void checkQueue(const Object& o, const VmQueue& q) {
  for (std::size_t c = 0; c < Colours; c++)
    if ((q.masks[c] >> c & 1) == 0)
      o.refuse("masks", "the mask of colour " + std::to_string(c) + " must hold that colour");
  if (!q.strict && q.quantum == 0) o.refuse("quantum", "is 0, a queue of the round robin needs at least 1 byte");
  for (std::size_t c = 0; c < Colours; c++)
    for (const VmCurve& curve : q.colour[c].curve)
      if (curve.on && (curve.min > curve.max || curve.max > curve.end))
        o.refuse("colour[" + std::to_string(c) + "].curve", "needs min <= max <= end");
}

VmClass classOf(const json& v, const std::string& where, u64 queues) {
  if (!v.is_array() || v.size() != 2) refuse(where, "must be [queue, colour]");
  VmClass c{};
  c.queue = Value(v[0], where + ", queue").small(queues - 1);
  c.colour = Value(v[1], where + ", colour").small(Colours - 1);
  return c;
}

// Reads egress `number` of `count`. Its classes may lead only to its own queues.
VmEgress egressOf(const Object& o, u64 queues, u64 number, u64 count) {
  VmEgress egress{};
  const auto own = [&](const VmClass& c, const std::string& where) {
    if (c.queue / (queues / count) != number) refuse(where, "leads to a queue of another egress");
    return c;
  };
  const json& dscp = o.list("dscp", 64);
  for (std::size_t i = 0; i < 64; i++) {
    const std::string where = o.at("dscp") + "[" + std::to_string(i) + "]";
    egress.dscp[i] = own(classOf(dscp[i], where, queues), where);
  }
  egress.fallback = own(classOf(o.get("default"), o.at("default"), queues), o.at("default"));
  const Object port(o.get("port"), o.at("port"), {"rate", "cost", "burst"});
  egress.port_cost = port.value("cost").scaled(CostMantBits, static_cast<u32>(maxOf(ShiftBits)));
  egress.port_burst_ns = port.number("burst", maxOf(40));
  return egress;
}

void readQueues(const Object& o, LoadedConfig& out) {
  const json& queues = o.get("queues");
  if (!queues.is_array() || queues.empty()) o.refuse("queues", "must be a list of at least one queue");
  std::set<u32> seen;
  for (std::size_t i = 0; i < queues.size(); i++) {
    const Object q(queues[i], "queues[" + std::to_string(i) + "]");
    const u32 index = q.small("index", 4095);
    if (!seen.insert(index).second) q.refuse("index", "queue " + std::to_string(index) + " is there twice");
    if (out.queues.size() <= index) {
      out.queues.resize(index + 1);
      out.names.resize(index + 1);
    }
    readQueueImage(q, out.queues[index]);
    checkQueue(q, out.queues[index]);
    if (q.has("name") && q.get("name").is_string()) out.names[index] = q.get("name").get<std::string>();
  }
}

void readEgresses(const Object& o, LoadedConfig& out) {
  if (!o.has("egresses")) {
    out.config.egress_count = 1;
    out.config.egress[0] = egressOf(o, out.queues.size(), 0, 1);
    return;
  }
  const json& egresses = o.get("egresses");
  if (!egresses.is_array() || egresses.size() > VM_MAX_EGRESSES || !std::has_single_bit(egresses.size()))
    o.refuse("egresses", "must be a list of 1, 2, 4 or 8 egresses");
  out.config.egress_count = static_cast<u32>(egresses.size());
  const u32 count = o.small("queue_count", 4096);
  if (count < out.queues.size() || count % egresses.size() != 0)
    o.refuse("queue_count", "is " + std::to_string(count) + ", must be a multiple of the " +
                                std::to_string(egresses.size()) + " egresses, and above the greatest index");
  out.queues.resize(count);
  out.names.resize(count);
  for (std::size_t e = 0; e < egresses.size(); e++)
    out.config.egress[e] =
        egressOf(Object(egresses[e], "egresses[" + std::to_string(e) + "]", {"port", "dscp", "default"}),
                 out.queues.size(), e, egresses.size());
  const json& routes = o.get("routes");
  if (!routes.is_array() || routes.size() > VM_MAX_INPUTS)
    o.refuse("routes", "must be a list of at most " + std::to_string(VM_MAX_INPUTS) + " egresses");
  for (std::size_t i = 0; i < routes.size(); i++)
    out.config.route[i] = Value(routes[i], o.at("routes")).small(egresses.size() - 1);
}

// A group of queues that hold flows lies within its egress, or a packet could go to a queue that is not there.
void checkGroups(const Object& o, const LoadedConfig& config) {
  const std::size_t ofEgress = config.queues.size() / config.config.egress_count;
  for (std::size_t i = 0; i < config.queues.size(); i++) {
    const u32 bits = config.queues[i].fq;
    if (((i % ofEgress >> bits) + 1) << bits > ofEgress)
      o.refuse("queues", "has queue " + std::to_string(i) + " in a group of " + std::to_string(1U << bits) +
                             ", which ends behind the " + std::to_string(ofEgress) + " queues of its egress");
  }
}

void readPool(const Object& pool, VmConfig& config) {
  constexpr u64 CellsMost = 1 << 20;
  pool.knows({"size", "reserve", "cap"});
  config.pool.size = pool.small("size", CellsMost);
  const json& reserve = pool.list("reserve", config.egress_count);
  const json& cap = pool.list("cap", config.egress_count);
  u64 reserved = 0;
  for (std::size_t e = 0; e < config.egress_count; e++) {
    config.pool.reserve[e] = Value(reserve[e], pool.at("reserve")).small(CellsMost);
    config.pool.cap[e] = Value(cap[e], pool.at("cap")).small(CellsMost);
    reserved += config.pool.reserve[e];
    if (config.pool.cap[e] != 0 && config.pool.cap[e] < config.pool.reserve[e])
      pool.refuse("cap", "has " + std::to_string(config.pool.cap[e]) + " for egress " + std::to_string(e) +
                             ", less than its reserve of " + std::to_string(config.pool.reserve[e]));
  }
  if (reserved > config.pool.size)
    pool.refuse("reserve", "adds up to " + std::to_string(reserved) + " cells, more than the pool's size of " +
                               std::to_string(config.pool.size));
}

// Rules in the words of their registers. An empty range of ports has a `low` above its `high`.
void readRules(const Object& o, LoadedConfig& out) {
  const json& rules = o.get("rules");
  if (!rules.is_array() || rules.size() > VM_MAX_RULES)
    o.refuse("rules", "must be a list of at most " + std::to_string(VM_MAX_RULES) + " rules");
  const u64 ofEgress = out.queues.size() / out.config.egress_count;
  for (std::size_t i = 0; i < rules.size(); i++) {
    const Object of(rules[i], o.at("rules") + "[" + std::to_string(i) + "]", {"value", "mask", "action", "marker"});
    VmRule rule{};
    const json &value = of.list("value", VM_RULE_WORDS), &mask = of.list("mask", VM_RULE_WORDS);
    for (std::size_t w = 0; w < VM_RULE_WORDS; w++) {
      const u64 most = maxOf(w == VM_RULE_WORDS - 1 ? 24 : 32);  // the key ends there
      rule.value[w] = Value(value[w], of.at("value")).small(most);
      rule.mask[w] = Value(mask[w], of.at("mask")).small(most);
    }
    rule.action = of.small("action", maxOf(32));
    rule.marker = of.small("marker", maxOf(32));
    const auto exists = [&](const char* name, u32 word, int sets) {
      if ((word >> sets & 1) != 0 && truncate(word, 12) >= ofEgress)
        of.refuse(name, "names queue " + std::to_string(truncate(word, 12)) + "; legal are 0 to " +
                            std::to_string(ofEgress - 1) + ", the queues of an egress");
    };
    exists("action", rule.action, 24);
    exists("marker", rule.marker, 31);
    out.rules.push_back(rule);
  }
  const json& ranges = o.list("port_ranges", std::size(out.config.port_range));
  for (std::size_t i = 0; i < ranges.size(); i++) {
    const std::string where = o.at("port_ranges") + "[" + std::to_string(i) + "]";
    if (!ranges[i].is_array() || ranges[i].size() != 2) refuse(where, "must be [low, high]");
    out.config.port_range[i] = {Value(ranges[i][0], where).small(65535), Value(ranges[i][1], where).small(65535)};
  }
}

void readReports(const Object& o, u64 queues, ReportSettings& out) {
  o.knows({"every", "interval", "burst", "ethernet", "reasons"});
  out.every = o.small("every", maxOf(16));
  out.interval = o.small("interval", maxOf(32));
  out.burst = o.small("burst", maxOf(32));
  const json& ethernet = o.list("ethernet", out.ethernet.size());
  for (std::size_t i = 0; i < out.ethernet.size(); i++)
    out.ethernet[i] = static_cast<u8>(Value(ethernet[i], o.at("ethernet")).small(255));
  const json& reasons = o.list("reasons", queues);
  for (const json& mask : reasons) out.reasons.push_back(Value(mask, o.at("reasons")).small(maxOf(ReasonBits)));
}

}  // namespace

// NOLINTNEXTLINE(readability-function-cognitive-complexity): one check after the other, in the order of the fields
LoadedConfig readConfig(const std::string& text) {
  json j;
  try {
    j = json::parse(text);
  } catch (const json::parse_error& e) {
    throw ConfigError(std::string("configuration is not JSON: ") + e.what());
  }
  const Object o(j, "configuration",
                 {"port", "queues", "dscp", "default", "egresses", "routes", "queue_count", "pool", "seed",
                  "buffer_cells", "max_frame_bytes", "flows", "ttl_option", "reports", "rules", "port_ranges"});
  LoadedConfig out;
  out.config = {};
  readQueues(o, out);
  readEgresses(o, out);
  checkGroups(o, out);
  o.object("pool", [&](const Object& pool) { readPool(pool, out.config); });
  o.object("reports", [&](const Object& reports) { readReports(reports, out.queues.size(), out.reports); });
  out.config.seed = o.number("seed", ~u64{0});
  if (o.has("buffer_cells")) out.config.buffer_cells = o.small("buffer_cells", maxOf(LenBits));
  if (o.has("max_frame_bytes")) out.config.max_frame_bytes = o.small("max_frame_bytes", maxOf(PktLenBits));
  if (o.has("flows")) out.config.flows = o.small("flows", 65536);
  o.object("ttl_option", [&](const Object& types) {
    types.knows({"ip4", "ip6"});
    out.config.ttl_option = {types.small("ip4", 255), types.small("ip6", 255)};
  });
  if (o.has("rules")) readRules(o, out);
  out.config.rules = out.rules.data();
  out.config.rule_count = static_cast<u32>(out.rules.size());
  out.config.queue_count = static_cast<u32>(out.queues.size());
  out.config.queues = out.queues.data();
  return out;
}

}  // namespace vermilion
