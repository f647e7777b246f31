// Generated from hw/regs/profile.yaml by sim/vermilion/generate/profile.py. Do not edit.
// A queue's image from the hardware configuration; the form: docs/hardware-configuration.md, ranges: docs/profile.md.
// clang-format off
#include "image_json.h"

namespace vermilion {

namespace {

void read(const Object& o, vm_curve_image& out) {
  o.knows({"on", "min", "max", "end", "inv1", "slope1", "inv2", "base2", "slope2", "square2"});
  out.on = o.value("on").small(1u);
  out.min = o.value("min").small(134217727u);
  out.max = o.value("max").small(134217727u);
  out.end = o.value("end").small(134217727u);
  out.inv1 = o.value("inv1").scaled(18, 63u);
  out.slope1 = o.value("slope1").number(4294967296ull);
  out.inv2 = o.value("inv2").scaled(18, 63u);
  out.base2 = o.value("base2").number(4294967296ull);
  out.slope2 = o.value("slope2").number(4294967296ull);
  out.square2 = o.value("square2").scaled(18, 63u);
}

void read(const Object& o, vm_colour_image& out) {
  o.knows({"curve", "ecn_own"});
  out.ecn_own = o.value("ecn_own").small(1u);
  o.objects("curve", 2, [&](const Object& each, std::size_t i) { read(each, out.curve[i]); });
}

void read(const Object& o, vm_remark_image& out) {
  o.knows({"dscp", "on"});
  out.dscp = o.value("dscp").small(63u);
  out.on = o.value("on").small(1u);
}

void read(const Object& o, vm_flow_image& out) {
  o.knows({"kind", "increase", "ack", "alpha", "ns", "na", "a0", "idle", "half_open"});
  out.kind = o.value("kind").small(3u);
  out.increase = o.value("increase").small(1u);
  out.ack = o.value("ack").small(1u);
  out.alpha = o.value("alpha").small(8u);
  out.ns = o.value("ns").small(255u);
  out.na = o.value("na").small(255u);
  out.a0 = o.value("a0").small(16777215u);
  out.idle = o.value("idle").small(65535u);
  out.half_open = o.value("half_open").small(65535u);
}

void read(const Object& o, vm_marker_image& out) {
  o.knows({"kind", "colour_aware", "length", "out", "drop", "packet", "cost", "burst", "low_threshold", "high_threshold", "demote", "promote", "p_drop", "meter", "remark", "flow"});
  out.kind = o.value("kind").small(5u);
  out.colour_aware = o.value("colour_aware").small(1u);
  out.length = o.value("length").small(1u);
  out.out = o.value("out").small(2u);
  out.drop = o.value("drop").small(7u);
  out.packet = o.value("packet").small(65535u);
  o.each("cost", 2, [&](const Value& v, std::size_t i) { out.cost[i] = v.scaled(18, 63u); });
  o.each("burst", 2, [&](const Value& v, std::size_t i) { out.burst[i] = v.number(17592186044415ull); });
  out.low_threshold = o.value("low_threshold").number(17592186044415ull);
  out.high_threshold = o.value("high_threshold").number(17592186044415ull);
  out.demote = o.value("demote").scaled(18, 63u);
  out.promote = o.value("promote").scaled(18, 63u);
  out.p_drop = o.value("p_drop").small(131071u);
  out.meter = o.value("meter").number(17592186044415ull);
  o.objects("remark", 3, [&](const Object& each, std::size_t i) { read(each, out.remark[i]); });
  o.object("flow", [&](const Object& each) { read(each, out.flow); });
}

void read(const Object& o, vm_distance_image& out) {
  o.knows({"option", "infer", "share"});
  out.option = o.value("option").small(1u);
  out.infer = o.value("infer").small(1u);
  out.share = o.value("share").small(1u);
}

void read(const Object& o, vm_codel_image& out) {
  o.knows({"on", "ce_mask", "ce_selector", "target", "interval", "ce_threshold", "mtu"});
  out.on = o.value("on").small(1u);
  out.ce_mask = o.value("ce_mask").small(255u);
  out.ce_selector = o.value("ce_selector").small(255u);
  out.target = o.value("target").small(4294967295u);
  out.interval = o.value("interval").small(4294967295u);
  out.ce_threshold = o.value("ce_threshold").small(4294967295u);
  out.mtu = o.value("mtu").small(134217727u);
}

void read(const Object& o, vm_pie_image& out) {
  o.knows({"on", "byte_mode", "interval", "target", "burst", "alpha", "beta", "mtu"});
  out.on = o.value("on").small(1u);
  out.byte_mode = o.value("byte_mode").small(1u);
  out.interval = o.value("interval").small(16383u);
  out.target = o.value("target").small(67108863u);
  out.burst = o.value("burst").small(67108863u);
  out.alpha = o.value("alpha").number(17179869183ull);
  out.beta = o.value("beta").number(17179869183ull);
  out.mtu = o.value("mtu").small(262143u);
}

void read(const Object& o, vm_dualpi2_image& out) {
  o.knows({"on", "drop_overload", "l4s_mask", "coupling", "interval", "target", "step", "alpha", "beta", "most", "mtu"});
  out.on = o.value("on").small(1u);
  out.drop_overload = o.value("drop_overload").small(1u);
  out.l4s_mask = o.value("l4s_mask").small(3u);
  out.coupling = o.value("coupling").small(255u);
  out.interval = o.value("interval").small(16383u);
  out.target = o.value("target").small(67108863u);
  out.step = o.value("step").small(67108863u);
  out.alpha = o.value("alpha").small(4294967295u);
  out.beta = o.value("beta").small(4294967295u);
  out.most = o.value("most").small(4294967295u);
  out.mtu = o.value("mtu").small(262143u);
}

}  // namespace

void readQueueImage(const Object& o, vm_queue_image& out) {
  o.knows({"index", "name", "unit", "update", "ecn", "size_weight", "spacing", "strict", "mark_late", "priority", "alpha", "masks", "limit", "limit_packets", "lambda", "inv_mean_len", "weight", "quantum", "cost", "burst", "ttl_option", "victim", "victim_by_colour", "victim_window", "marker", "idle_step", "fq", "colour", "distance", "codel", "pie", "dualpi2"});
  out.unit = o.value("unit").small(1u);
  out.update = o.value("update").small(1u);
  out.ecn = o.value("ecn").small(1u);
  out.size_weight = o.value("size_weight").small(1u);
  out.spacing = o.value("spacing").small(2u);
  out.strict = o.value("strict").small(1u);
  out.mark_late = o.value("mark_late").small(1u);
  out.priority = o.value("priority").small(15u);
  out.alpha = o.value("alpha").small(11u);
  o.each("masks", 3, [&](const Value& v, std::size_t i) { out.masks[i] = v.small(7u); });
  out.limit = o.value("limit").small(134217727u);
  out.limit_packets = o.value("limit_packets").small(134217727u);
  out.lambda = o.value("lambda").scaled(16, 48u);
  out.inv_mean_len = o.value("inv_mean_len").scaled(16, 63u);
  o.each("weight", 6, [&](const Value& v, std::size_t i) { out.weight[i] = v.scaled(9, 31u); });
  out.quantum = o.value("quantum").small(262143u);
  out.cost = o.value("cost").scaled(18, 63u);
  out.burst = o.value("burst").number(1099511627775ull);
  out.ttl_option = o.value("ttl_option").small(1u);
  out.victim = o.value("victim").small(1u);
  out.victim_by_colour = o.value("victim_by_colour").small(1u);
  out.victim_window = o.value("victim_window").small(16u);
  out.idle_step = o.value("idle_step").number(281474976710655ull);
  out.fq = o.value("fq").small(15u);
  o.object("marker", [&](const Object& each) { read(each, out.marker); });
  o.objects("colour", 3, [&](const Object& each, std::size_t i) { read(each, out.colour[i]); });
  o.object("distance", [&](const Object& each) { read(each, out.distance); });
  o.object("codel", [&](const Object& each) { read(each, out.codel); });
  o.object("pie", [&](const Object& each) { read(each, out.pie); });
  o.object("dualpi2", [&](const Object& each) { read(each, out.dualpi2); });
}

}  // namespace vermilion
