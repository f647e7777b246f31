/* Generated from sw_driver/netlink/vermilion.yaml by sim/vermilion/generate/netlink_spec.py. Do not edit. */
/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* clang-format off */
#include <linux/build_bug.h>
#include <linux/stddef.h>

#include "vm_netlink.h"

#define SIZE_U32 sizeof(u32)
#define SIZE_U64 sizeof(u64)
#define SIZE_NUMBER sizeof(struct vm_number)
#define IS_SIZE(kind, type, member) BUILD_BUG_ON_ZERO(sizeof_field(type, member) != SIZE_##kind)
#define FIELD(attribute, kind, type, member) \
	{ attribute, VM_NL_##kind, offsetof(type, member) + IS_SIZE(kind, type, member), NULL }
#define SET(fields, last, pad) { fields, ARRAY_SIZE(fields), last, pad }

static const struct nla_policy number_policy[VERMILION_A_NUMBER_MAX + 1] = {
	[VERMILION_A_NUMBER_NUM] = { .type = NLA_U64 },
	[VERMILION_A_NUMBER_DEN] = { .type = NLA_U64 },
	[VERMILION_A_NUMBER_TENS] = { .type = NLA_U32 },
};

static const struct nla_policy curve_policy[VERMILION_A_CURVE_MAX + 1] = {
	[VERMILION_A_CURVE_KIND] = { .type = NLA_U32 },
	[VERMILION_A_CURVE_MIN_TH] = { .type = NLA_U32 },
	[VERMILION_A_CURVE_MAX_TH] = { .type = NLA_U32 },
	[VERMILION_A_CURVE_END_TH] = { .type = NLA_U32 },
	[VERMILION_A_CURVE_P] = NLA_POLICY_NESTED(number_policy),
};

static const struct nla_policy curves_policy[VERMILION_A_CURVES_MAX + 1] = {
	[VERMILION_A_CURVES_DROPS] = NLA_POLICY_NESTED(curve_policy),
	[VERMILION_A_CURVES_MARKS] = NLA_POLICY_NESTED(curve_policy),
};

static const struct nla_policy marker_policy[VERMILION_A_MARKER_MAX + 1] = {
	[VERMILION_A_MARKER_KIND] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_COLOUR_AWARE] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_IP_LENGTH] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_PACKET_BYTES] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_RATE] = { .type = NLA_U64 },
	[VERMILION_A_MARKER_CIR] = { .type = NLA_U64 },
	[VERMILION_A_MARKER_PIR] = { .type = NLA_U64 },
	[VERMILION_A_MARKER_BURST] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_CBS] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_EBS] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_PBS] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_BUCKET] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_LOW] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_HIGH] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_OUT_COLOUR] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_MAX_DEMOTE] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_MARKER_MAX_PROMOTE] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_MARKER_P_DROP] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_MARKER_METER_NS] = { .type = NLA_U64 },
	[VERMILION_A_MARKER_DROP_COLOURS] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_FLOW_KIND] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_ALPHA_EIGHTHS] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_INITIAL_AVERAGE] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_MARKER_START_CREDITS] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_RECOVERY_CREDITS] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_BY_FACTOR] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_ACK_GREEN] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_IDLE_NS] = { .type = NLA_U64 },
	[VERMILION_A_MARKER_HALF_OPEN_NS] = { .type = NLA_U64 },
};

static const struct nla_policy class_entry_policy[VERMILION_A_CLASS_ENTRY_MAX + 1] = {
	[VERMILION_A_CLASS_ENTRY_DSCP] = { .type = NLA_U32 },
	[VERMILION_A_CLASS_ENTRY_QUEUE] = { .type = NLA_U32 },
	[VERMILION_A_CLASS_ENTRY_COLOUR] = { .type = NLA_U32 },
};

const struct nla_policy vm_nl_lane_get_policy[VERMILION_A_LANE_MAX + 1] = {
	[VERMILION_A_LANE_IFINDEX] = { .type = NLA_U32 },
};

const struct nla_policy vm_nl_lane_set_policy[VERMILION_A_LANE_MAX + 1] = {
	[VERMILION_A_LANE_IFINDEX] = { .type = NLA_U32 },
	[VERMILION_A_LANE_RATE] = { .type = NLA_U64 },
	[VERMILION_A_LANE_BURST_BYTES] = { .type = NLA_U32 },
	[VERMILION_A_LANE_OPTION_IP4] = { .type = NLA_U32 },
	[VERMILION_A_LANE_OPTION_IP6] = { .type = NLA_U32 },
	[VERMILION_A_LANE_SEED] = { .type = NLA_U64 },
	[VERMILION_A_LANE_QUEUES] = { .type = NLA_U32 },
	[VERMILION_A_LANE_POOL_BYTES] = { .type = NLA_U32 },
	[VERMILION_A_LANE_RESERVE_BYTES] = { .type = NLA_U32 },
	[VERMILION_A_LANE_CAP_BYTES] = { .type = NLA_U32 },
};

const struct nla_policy vm_nl_queue_get_policy[VERMILION_A_QUEUE_MAX + 1] = {
	[VERMILION_A_QUEUE_IFINDEX] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_QUEUE] = { .type = NLA_U32 },
};

const struct nla_policy vm_nl_queue_set_policy[VERMILION_A_QUEUE_MAX + 1] = {
	[VERMILION_A_QUEUE_IFINDEX] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_QUEUE] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_DEFAULTS] = { .type = NLA_FLAG },
	[VERMILION_A_QUEUE_WEIGHT] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_QUEUE_AVERAGE_KIND] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_UNIT_PACKETS] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_UPDATE_DEPART] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_IDLE_PACKET_BYTES] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_SPACING] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_SIZE_WEIGHT_BYTES] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_ECN] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_LIMIT_BYTES] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_LIMIT_PACKETS] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_STRICT] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_PRIORITY] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_QUANTUM_BYTES] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_RATE] = { .type = NLA_U64 },
	[VERMILION_A_QUEUE_BURST_BYTES] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_GREEN] = NLA_POLICY_NESTED(curves_policy),
	[VERMILION_A_QUEUE_YELLOW] = NLA_POLICY_NESTED(curves_policy),
	[VERMILION_A_QUEUE_RED] = NLA_POLICY_NESTED(curves_policy),
	[VERMILION_A_QUEUE_REMARK] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_REMARK_GREEN] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_REMARK_YELLOW] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_REMARK_RED] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_DISTANCE_OPTION] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_DISTANCE_INFER] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_DISTANCE_SHARE] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_REMOVE_TTL_OPTION] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_NEAREST] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_BY_COLOUR] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_WINDOW] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_MARKER] = NLA_POLICY_NESTED(marker_policy),
	[VERMILION_A_QUEUE_ALPHA] = NLA_POLICY_NESTED(number_policy),
};

const struct nla_policy vm_nl_queue_reset_policy[VERMILION_A_QUEUE_MAX + 1] = {
	[VERMILION_A_QUEUE_IFINDEX] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_QUEUE] = { .type = NLA_U32 },
};

const struct nla_policy vm_nl_class_get_policy[VERMILION_A_CLASS_MAX + 1] = {
	[VERMILION_A_CLASS_IFINDEX] = { .type = NLA_U32 },
};

const struct nla_policy vm_nl_class_set_policy[VERMILION_A_CLASS_MAX + 1] = {
	[VERMILION_A_CLASS_IFINDEX] = { .type = NLA_U32 },
	[VERMILION_A_CLASS_ENTRY] = NLA_POLICY_NESTED(class_entry_policy),
};

const struct nla_policy vm_nl_class_reset_policy[VERMILION_A_CLASS_MAX + 1] = {
	[VERMILION_A_CLASS_IFINDEX] = { .type = NLA_U32 },
};

const struct nla_policy vm_nl_statistics_get_policy[VERMILION_A_STATISTICS_MAX + 1] = {
	[VERMILION_A_STATISTICS_IFINDEX] = { .type = NLA_U32 },
	[VERMILION_A_STATISTICS_QUEUE] = { .type = NLA_U32 },
};

const struct nla_policy vm_nl_statistics_clear_policy[VERMILION_A_LANE_MAX + 1] = {
	[VERMILION_A_LANE_IFINDEX] = { .type = NLA_U32 },
};

const struct nla_policy vm_nl_queue_flush_policy[VERMILION_A_QUEUE_MAX + 1] = {
	[VERMILION_A_QUEUE_IFINDEX] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_QUEUE] = { .type = NLA_U32 },
};

static const struct vm_nl_field curve_fields[] = {
	FIELD(VERMILION_A_CURVE_KIND, U32, struct vm_curve, kind),
	FIELD(VERMILION_A_CURVE_MIN_TH, U32, struct vm_curve, min),
	FIELD(VERMILION_A_CURVE_MAX_TH, U32, struct vm_curve, max),
	FIELD(VERMILION_A_CURVE_END_TH, U32, struct vm_curve, end),
	FIELD(VERMILION_A_CURVE_P, NUMBER, struct vm_curve, p),
};

static const struct vm_nl_set curve_set = SET(curve_fields, VERMILION_A_CURVE_MAX, 0);

static const struct vm_nl_field curves_fields[] = {
	{ VERMILION_A_CURVES_DROPS, VM_NL_NEST, 0, &curve_set },
	{ VERMILION_A_CURVES_MARKS, VM_NL_NEST, sizeof(struct vm_curve), &curve_set },
};

static const struct vm_nl_set curves_set = SET(curves_fields, VERMILION_A_CURVES_MAX, 0);

static const struct vm_nl_field marker_fields[] = {
	FIELD(VERMILION_A_MARKER_KIND, U32, struct vm_marker, kind),
	FIELD(VERMILION_A_MARKER_COLOUR_AWARE, U32, struct vm_marker, colour_aware),
	FIELD(VERMILION_A_MARKER_IP_LENGTH, U32, struct vm_marker, ip_length),
	FIELD(VERMILION_A_MARKER_PACKET_BYTES, U32, struct vm_marker, packet_bytes),
	FIELD(VERMILION_A_MARKER_RATE, U64, struct vm_marker, rate),
	FIELD(VERMILION_A_MARKER_CIR, U64, struct vm_marker, cir),
	FIELD(VERMILION_A_MARKER_PIR, U64, struct vm_marker, pir),
	FIELD(VERMILION_A_MARKER_BURST, U32, struct vm_marker, burst),
	FIELD(VERMILION_A_MARKER_CBS, U32, struct vm_marker, cbs),
	FIELD(VERMILION_A_MARKER_EBS, U32, struct vm_marker, ebs),
	FIELD(VERMILION_A_MARKER_PBS, U32, struct vm_marker, pbs),
	FIELD(VERMILION_A_MARKER_BUCKET, U32, struct vm_marker, bucket),
	FIELD(VERMILION_A_MARKER_LOW, U32, struct vm_marker, low),
	FIELD(VERMILION_A_MARKER_HIGH, U32, struct vm_marker, high),
	FIELD(VERMILION_A_MARKER_OUT_COLOUR, U32, struct vm_marker, out_colour),
	FIELD(VERMILION_A_MARKER_MAX_DEMOTE, NUMBER, struct vm_marker, max_demote),
	FIELD(VERMILION_A_MARKER_MAX_PROMOTE, NUMBER, struct vm_marker, max_promote),
	FIELD(VERMILION_A_MARKER_P_DROP, NUMBER, struct vm_marker, p_drop),
	FIELD(VERMILION_A_MARKER_METER_NS, U64, struct vm_marker, meter_ns),
	FIELD(VERMILION_A_MARKER_DROP_COLOURS, U32, struct vm_marker, drop_colours),
	FIELD(VERMILION_A_MARKER_FLOW_KIND, U32, struct vm_marker, flow_kind),
	FIELD(VERMILION_A_MARKER_ALPHA_EIGHTHS, U32, struct vm_marker, alpha_eighths),
	FIELD(VERMILION_A_MARKER_INITIAL_AVERAGE, NUMBER, struct vm_marker, initial_average),
	FIELD(VERMILION_A_MARKER_START_CREDITS, U32, struct vm_marker, start_credits),
	FIELD(VERMILION_A_MARKER_RECOVERY_CREDITS, U32, struct vm_marker, recovery_credits),
	FIELD(VERMILION_A_MARKER_BY_FACTOR, U32, struct vm_marker, by_factor),
	FIELD(VERMILION_A_MARKER_ACK_GREEN, U32, struct vm_marker, ack_green),
	FIELD(VERMILION_A_MARKER_IDLE_NS, U64, struct vm_marker, idle_ns),
	FIELD(VERMILION_A_MARKER_HALF_OPEN_NS, U64, struct vm_marker, half_open_ns),
};

static const struct vm_nl_set marker_set = SET(marker_fields, VERMILION_A_MARKER_MAX, VERMILION_A_MARKER_PAD);

static const struct vm_nl_field queue_fields[] = {
	FIELD(VERMILION_A_QUEUE_WEIGHT, NUMBER, struct vm_queue, weight),
	FIELD(VERMILION_A_QUEUE_AVERAGE_KIND, U32, struct vm_queue, average_kind),
	FIELD(VERMILION_A_QUEUE_UNIT_PACKETS, U32, struct vm_queue, unit_packets),
	FIELD(VERMILION_A_QUEUE_UPDATE_DEPART, U32, struct vm_queue, update_depart),
	FIELD(VERMILION_A_QUEUE_IDLE_PACKET_BYTES, U32, struct vm_queue, idle_packet_bytes),
	FIELD(VERMILION_A_QUEUE_SPACING, U32, struct vm_queue, spacing),
	FIELD(VERMILION_A_QUEUE_SIZE_WEIGHT_BYTES, U32, struct vm_queue, size_weight_bytes),
	FIELD(VERMILION_A_QUEUE_ECN, U32, struct vm_queue, ecn),
	FIELD(VERMILION_A_QUEUE_LIMIT_BYTES, U32, struct vm_queue, limit_bytes),
	FIELD(VERMILION_A_QUEUE_LIMIT_PACKETS, U32, struct vm_queue, limit_packets),
	FIELD(VERMILION_A_QUEUE_STRICT, U32, struct vm_queue, strict),
	FIELD(VERMILION_A_QUEUE_PRIORITY, U32, struct vm_queue, priority),
	FIELD(VERMILION_A_QUEUE_QUANTUM_BYTES, U32, struct vm_queue, quantum_bytes),
	FIELD(VERMILION_A_QUEUE_RATE, U64, struct vm_queue, rate),
	FIELD(VERMILION_A_QUEUE_BURST_BYTES, U32, struct vm_queue, burst_bytes),
	{ VERMILION_A_QUEUE_GREEN, VM_NL_NEST, offsetof(struct vm_queue, curve[0]), &curves_set },
	{ VERMILION_A_QUEUE_YELLOW, VM_NL_NEST, offsetof(struct vm_queue, curve[1]), &curves_set },
	{ VERMILION_A_QUEUE_RED, VM_NL_NEST, offsetof(struct vm_queue, curve[2]), &curves_set },
	FIELD(VERMILION_A_QUEUE_REMARK, U32, struct vm_queue, remark),
	FIELD(VERMILION_A_QUEUE_REMARK_GREEN, U32, struct vm_queue, remark_dscp[0]),
	FIELD(VERMILION_A_QUEUE_REMARK_YELLOW, U32, struct vm_queue, remark_dscp[1]),
	FIELD(VERMILION_A_QUEUE_REMARK_RED, U32, struct vm_queue, remark_dscp[2]),
	FIELD(VERMILION_A_QUEUE_DISTANCE_OPTION, U32, struct vm_queue, distance_option),
	FIELD(VERMILION_A_QUEUE_DISTANCE_INFER, U32, struct vm_queue, distance_infer),
	FIELD(VERMILION_A_QUEUE_DISTANCE_SHARE, U32, struct vm_queue, distance_share),
	FIELD(VERMILION_A_QUEUE_REMOVE_TTL_OPTION, U32, struct vm_queue, remove_ttl_option),
	FIELD(VERMILION_A_QUEUE_NEAREST, U32, struct vm_queue, nearest),
	FIELD(VERMILION_A_QUEUE_BY_COLOUR, U32, struct vm_queue, by_colour),
	FIELD(VERMILION_A_QUEUE_WINDOW, U32, struct vm_queue, window),
	{ VERMILION_A_QUEUE_MARKER, VM_NL_NEST, offsetof(struct vm_queue, marker), &marker_set },
	FIELD(VERMILION_A_QUEUE_ALPHA, NUMBER, struct vm_queue, alpha),
};

const struct vm_nl_set vm_nl_queue = SET(queue_fields, VERMILION_A_QUEUE_MAX, VERMILION_A_QUEUE_PAD);
