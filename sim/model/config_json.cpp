#include "config_json.h"

#include <bit>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>

#include "formats.h"

namespace vermilion {

namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw ConfigError(where + ": " + what + ".");
}

// An object of the file with the way to it; says which keys it knows.
class Object {
 public:
  Object(const json& j, std::string where, std::initializer_list<const char*> keys) : j_(j), where_(std::move(where)) {
    if (!j.is_object()) refuse(where_, "must be an object");
    const std::set<std::string> known(keys.begin(), keys.end());
    for (const auto& [key, value] : j.items())
      if (!known.contains(key)) refuse(where_, "unknown key \"" + key + "\"");
  }
  bool has(const char* key) const { return j_.contains(key); }
  std::string at(const char* key) const { return where_ + "." + key; }
  const json& get(const char* key) const {
    if (!has(key)) refuse(where_, std::string("key \"") + key + "\" is missing");
    return j_[key];
  }
  const json& list(const char* key, std::size_t size) const {
    const json& v = get(key);
    if (!v.is_array() || v.size() != size) refuse(at(key), "must be a list of " + std::to_string(size));
    return v;
  }
  u64 number(const char* key, u64 top) const { return numberOf(get(key), at(key), top); }
  u32 small(const char* key, u64 top) const { return static_cast<u32>(number(key, top)); }

  static u64 numberOf(const json& v, const std::string& where, u64 top) {
    if (v.is_boolean() && top == 1) return v.get<bool>();
    if (!v.is_number_unsigned() || v.get<u64>() > top)
      refuse(where, "is " + v.dump() + ", must be an integer from 0 to " + std::to_string(top));
    return v.get<u64>();
  }

 private:
  const json& j_;
  std::string where_;
};

VmScaled scaledOf(const json& v, const std::string& where, int mantBits, int shiftBits) {
  if (!v.is_array() || v.size() != 2) refuse(where, "must be [mantissa, shift]");
  return {static_cast<u32>(Object::numberOf(v[0], where + "[0]", maxOf(mantBits))),
          static_cast<u32>(Object::numberOf(v[1], where + "[1]", maxOf(shiftBits)))};
}

VmScaled scaled(const Object& o, const char* key, int mantBits) {
  return scaledOf(o.get(key), o.at(key), mantBits, ShiftBits);
}

VmCurve curveOf(const json& j, const std::string& where) {
  const Object o(j, where, {"on", "min", "max", "end", "inv1", "b1_1", "inv2", "base2", "b1_2", "b2_2"});
  VmCurve c{};
  c.on = o.small("on", 1);
  if (!c.on) return c;
  c.min_th = o.small("min", maxOf(LenBits));
  c.max_th = o.small("max", maxOf(LenBits));
  c.end_th = o.small("end", maxOf(LenBits));
  if (c.min_th > c.max_th || c.max_th > c.end_th) refuse(where, "needs min <= max <= end");
  c.inv1 = scaled(o, "inv1", InvMantBits);
  c.b1_1 = o.number("b1_1", maxOf(ProbBits));
  c.inv2 = scaled(o, "inv2", InvMantBits);
  c.base2 = o.number("base2", maxOf(ProbBits));
  c.b1_2 = o.number("b1_2", maxOf(ProbBits));
  c.b2_2 = scaled(o, "b2_2", InvMantBits);
  return c;
}

VmColour colourOf(const json& j, const std::string& where) {
  const Object o(j, where, {"drop", "ecn_own", "ecn"});
  VmColour c{};
  c.drop = curveOf(o.get("drop"), o.at("drop"));
  c.ecn_own = o.small("ecn_own", 1);
  if (c.ecn_own || o.has("ecn")) c.ecn = curveOf(o.get("ecn"), o.at("ecn"));
  return c;
}

VmFlowConfig flowOf(const json& j, const std::string& where) {
  const Object o(j, where,
                 {"kind", "alpha_eighths", "initial_average", "start_credits", "recovery_credits", "increase_by_factor",
                  "ack_green", "idle_age", "half_open_age"});
  VmFlowConfig c{};
  c.kind = o.small("kind", VM_FLOW_ADAPTIVE);
  c.alpha_eighths = o.small("alpha_eighths", 8);
  c.initial_average = o.small("initial_average", maxOf(24));
  c.start_credits = o.small("start_credits", maxOf(8));
  c.recovery_credits = o.small("recovery_credits", maxOf(8));
  c.increase_by_factor = o.small("increase_by_factor", 1);
  c.ack_green = o.small("ack_green", 1);
  c.idle_age = o.small("idle_age", maxOf(16));
  c.half_open_age = o.small("half_open_age", maxOf(16));
  return c;
}

VmMarker markerOf(const json& j, const std::string& where) {
  const Object o(j, where,
                 {"kind", "colour_aware", "ip_length", "packet_bytes", "cost", "burst_ns", "out_colour", "low_ns",
                  "high_ns", "demote", "promote", "drop", "yellow_ns", "drop_colours", "flow"});
  VmMarker m{};
  m.kind = o.small("kind", VM_FLOW);
  if (m.kind == VM_NO_MARKER) return m;
  m.drop_colours = o.small("drop_colours", maxOf(Colours));
  if (m.kind == VM_FLOW) {
    m.flow = flowOf(o.get("flow"), o.at("flow"));
    return m;
  }
  m.colour_aware = o.small("colour_aware", 1);
  m.ip_length = o.small("ip_length", 1);
  m.packet_bytes = o.small("packet_bytes", maxOf(PktLenBits));
  const json &costs = o.list("cost", 2), &bursts = o.list("burst_ns", 2);
  for (std::size_t i = 0; i < 2; i++) {
    m.cost[i] = scaledOf(costs[i], o.at("cost") + "[" + std::to_string(i) + "]", CostMantBits, ShiftBits);
    m.burst_ns[i] = Object::numberOf(bursts[i], o.at("burst_ns"), maxOf(BurstBits));
  }
  m.out_colour = o.small("out_colour", Colours - 1);
  m.low_ns = o.number("low_ns", maxOf(BurstBits));
  m.high_ns = o.number("high_ns", maxOf(BurstBits));
  m.demote = scaled(o, "demote", CostMantBits);
  m.promote = scaled(o, "promote", CostMantBits);
  m.drop = o.small("drop", maxOf(MarkDrawBits) + 1);
  m.yellow_ns = o.number("yellow_ns", maxOf(BurstBits));
  return m;
}

VmDistance distanceOf(const json& v, const std::string& where) {
  if (!v.is_array() || v.size() != 3) refuse(where, "must be [option, infer, share]");
  const auto on = [&](std::size_t i) { return static_cast<u32>(Object::numberOf(v[i], where, 1)); };
  return {on(0), on(1), on(2)};
}

VmQueue queueOf(const Object& o) {
  VmQueue q{};
  const json& weights = o.list("weight", EwmaStages);
  for (std::size_t i = 0; i < EwmaStages; i++)
    q.weight[i] = scaledOf(weights[i], o.at("weight") + "[" + std::to_string(i) + "]", WeightMantBits, WeightExpBits);
  q.lambda = scaled(o, "lambda", LambdaMantBits);
  if (q.lambda.s > u32{IdleStepBits}) refuse(o.at("lambda"), "has a shift above " + std::to_string(IdleStepBits));
  q.idle_step = o.number("idle_step", maxOf(IdleStepBits));
  const json& masks = o.list("masks", Colours);
  for (std::size_t c = 0; c < Colours; c++) {
    q.masks[c] = static_cast<u32>(Object::numberOf(masks[c], o.at("masks"), maxOf(Colours)));
    if ((q.masks[c] >> c & 1) == 0)
      refuse(o.at("masks"), "the mask of colour " + std::to_string(c) + " must hold that colour");
  }
  q.unit_packets = o.small("unit_packets", 1);
  q.update_depart = o.small("update_depart", 1);
  q.spacing = o.small("spacing", VM_WAIT);
  const json& size = o.list("size_weight", 3);
  q.size_on = static_cast<u32>(Object::numberOf(size[0], o.at("size_weight"), 1));
  q.size = scaledOf(json::array({size[1], size[2]}), o.at("size_weight"), SizeMantBits, ShiftBits);
  q.ecn = o.small("ecn", 1);
  q.limit_bytes = o.small("limit_bytes", maxOf(LenBits));
  q.limit_packets = o.small("limit_packets", maxOf(LenBits));
  q.strict = o.small("strict", 1);
  q.priority = o.small("priority", maxOf(4));
  q.quantum = o.small("quantum", maxOf(18));
  if (!q.strict && q.quantum == 0) refuse(o.at("quantum"), "is 0, a queue of the round robin needs at least 1 byte");
  q.cost = scaled(o, "cost", CostMantBits);
  q.burst_ns = o.number("burst_ns", maxOf(40));
  const json& curves = o.list("curves", Colours);
  for (std::size_t c = 0; c < Colours; c++)
    q.colour[c] = colourOf(curves[c], o.at("curves") + "[" + std::to_string(c) + "]");
  if (o.has("marker")) q.marker = markerOf(o.get("marker"), o.at("marker"));
  if (o.has("distance")) q.distance = distanceOf(o.get("distance"), o.at("distance"));
  if (o.has("remove_ttl_option")) q.remove_ttl_option = o.small("remove_ttl_option", 1);
  if (o.has("alpha")) q.alpha = o.small("alpha", 11);
  if (o.has("victim")) {
    const json& victim = o.list("victim", 3);
    q.nearest = static_cast<u32>(Object::numberOf(victim[0], o.at("victim"), 1));
    q.by_colour = static_cast<u32>(Object::numberOf(victim[1], o.at("victim"), 1));
    q.last = static_cast<u32>(Object::numberOf(victim[2], o.at("victim"), 16));
  }
  if (!o.has("remark")) return q;
  const json& remark = o.list("remark", Colours);
  for (std::size_t c = 0; c < Colours; c++) {
    if (remark[c] == -1) continue;
    q.remark |= 1u << c;
    q.remark_dscp[c] = static_cast<u32>(Object::numberOf(remark[c], o.at("remark"), 63));
  }
  return q;
}

VmClass classOf(const json& v, const std::string& where, u64 queues) {
  if (!v.is_array() || v.size() != 2) refuse(where, "must be [queue, colour]");
  VmClass c{};
  c.queue = static_cast<u32>(Object::numberOf(v[0], where + ", queue", queues - 1));
  c.colour = static_cast<u32>(Object::numberOf(v[1], where + ", colour", Colours - 1));
  return c;
}

// Egress `number` of `count`, whose classes may lead to its own queues alone.
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
  const Object port(o.get("port"), o.at("port"), {"rate", "cost", "burst_ns"});
  egress.port_cost = scaled(port, "cost", CostMantBits);
  egress.port_burst_ns = port.number("burst_ns", maxOf(40));
  return egress;
}

}  // namespace

LoadedConfig readConfig(const std::string& text) {
  json j;
  try {
    j = json::parse(text);
  } catch (const json::parse_error& e) {
    throw ConfigError(std::string("configuration is not JSON: ") + e.what());
  }
  const Object o(j, "configuration",
                 {"port", "queues", "dscp", "default", "egresses", "routes", "queue_count", "pool", "seed",
                  "buffer_cells", "max_frame_bytes", "flows", "ttl_option"});
  LoadedConfig out;
  out.config = {};
  const json& queues = o.get("queues");
  if (!queues.is_array() || queues.empty()) refuse(o.at("queues"), "must be a list of at least one queue");
  std::set<u32> seen;
  for (std::size_t i = 0; i < queues.size(); i++) {
    const Object q(queues[i], "queues[" + std::to_string(i) + "]", {"index",         "name",
                                                                    "weight",        "lambda",
                                                                    "masks",         "unit_packets",
                                                                    "update_depart", "spacing",
                                                                    "size_weight",   "ecn",
                                                                    "limit_bytes",   "limit_packets",
                                                                    "strict",        "priority",
                                                                    "quantum",       "cost",
                                                                    "burst_ns",      "curves",
                                                                    "marker",        "remark",
                                                                    "distance",      "remove_ttl_option",
                                                                    "victim",        "idle_step",
                                                                    "alpha"});
    const u32 index = q.small("index", 4095);
    if (!seen.insert(index).second) refuse(q.at("index"), "queue " + std::to_string(index) + " is there twice");
    if (out.queues.size() <= index) {
      out.queues.resize(index + 1);
      out.names.resize(index + 1);
    }
    out.queues[index] = queueOf(q);
    if (q.has("name") && q.get("name").is_string()) out.names[index] = q.get("name").get<std::string>();
  }
  if (o.has("egresses")) {
    const json& egresses = o.get("egresses");
    if (!egresses.is_array() || egresses.size() > VM_MAX_EGRESSES || !std::has_single_bit(egresses.size()))
      refuse(o.at("egresses"), "must be a list of 1, 2, 4 or 8 egresses");
    out.config.egress_count = static_cast<u32>(egresses.size());
    const u32 count = o.small("queue_count", 4096);
    if (count < out.queues.size() || count % egresses.size() != 0)
      refuse(o.at("queue_count"), "is " + std::to_string(count) + ", must be a multiple of the " +
                                      std::to_string(egresses.size()) + " egresses, and above the greatest index");
    out.queues.resize(count);
    out.names.resize(count);
    for (std::size_t e = 0; e < egresses.size(); e++)
      out.config.egress[e] =
          egressOf(Object(egresses[e], "egresses[" + std::to_string(e) + "]", {"port", "dscp", "default"}),
                   out.queues.size(), e, egresses.size());
    const json& routes = o.get("routes");
    if (!routes.is_array() || routes.size() > VM_MAX_INPUTS)
      refuse(o.at("routes"), "must be a list of at most " + std::to_string(VM_MAX_INPUTS) + " egresses");
    for (std::size_t i = 0; i < routes.size(); i++)
      out.config.route[i] = static_cast<u32>(Object::numberOf(routes[i], o.at("routes"), egresses.size() - 1));
  } else {
    out.config.egress_count = 1;
    out.config.egress[0] = egressOf(o, out.queues.size(), 0, 1);
  }
  if (o.has("pool")) {
    const Object pool(o.get("pool"), "pool", {"size", "reserve", "cap"});
    out.config.pool.size = pool.small("size", 1 << 20);
    const json& reserve = pool.list("reserve", out.config.egress_count);
    const json& cap = pool.list("cap", out.config.egress_count);
    u64 reserved = 0;
    for (std::size_t e = 0; e < out.config.egress_count; e++) {
      out.config.pool.reserve[e] = static_cast<u32>(Object::numberOf(reserve[e], pool.at("reserve"), 1 << 20));
      out.config.pool.cap[e] = static_cast<u32>(Object::numberOf(cap[e], pool.at("cap"), 1 << 20));
      reserved += out.config.pool.reserve[e];
      if (out.config.pool.cap[e] != 0 && out.config.pool.cap[e] < out.config.pool.reserve[e])
        refuse(pool.at("cap"), "has " + std::to_string(out.config.pool.cap[e]) + " for egress " + std::to_string(e) +
                                   ", less than its reserve of " + std::to_string(out.config.pool.reserve[e]));
    }
    if (reserved > out.config.pool.size)
      refuse(pool.at("reserve"), "adds up to " + std::to_string(reserved) + " cells, more than the pool's size of " +
                                     std::to_string(out.config.pool.size));
  }
  out.config.seed = o.number("seed", ~u64{0});
  if (o.has("buffer_cells")) out.config.buffer_cells = o.small("buffer_cells", maxOf(LenBits));
  if (o.has("max_frame_bytes")) out.config.max_frame_bytes = o.small("max_frame_bytes", maxOf(PktLenBits));
  if (o.has("flows")) out.config.flows = o.small("flows", 65536);
  if (o.has("ttl_option")) {
    const Object types(o.get("ttl_option"), "ttl_option", {"ip4", "ip6"});
    out.config.ttl_option = {types.small("ip4", 255), types.small("ip6", 255)};
  }
  out.config.queue_count = static_cast<u32>(out.queues.size());
  out.config.queues = out.queues.data();
  return out;
}

}  // namespace vermilion
