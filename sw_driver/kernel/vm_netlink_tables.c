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

static const struct nla_policy curve_policy[VERMILION_A_CURVE_LAST + 1] = {
	[VERMILION_A_CURVE_CURVE] = { .type = NLA_U32 },
	[VERMILION_A_CURVE_MIN] = { .type = NLA_U32 },
	[VERMILION_A_CURVE_MAX] = { .type = NLA_U32 },
	[VERMILION_A_CURVE_P] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_CURVE_END] = { .type = NLA_U32 },
};

static const struct nla_policy colour_policy[VERMILION_A_COLOUR_LAST + 1] = {
	[VERMILION_A_COLOUR_CURVE] = { .type = NLA_U32 },
	[VERMILION_A_COLOUR_MIN] = { .type = NLA_U32 },
	[VERMILION_A_COLOUR_MAX] = { .type = NLA_U32 },
	[VERMILION_A_COLOUR_P] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_COLOUR_END] = { .type = NLA_U32 },
	[VERMILION_A_COLOUR_ECN] = NLA_POLICY_NESTED(curve_policy),
};

static const struct nla_policy marker_policy[VERMILION_A_MARKER_MAX + 1] = {
	[VERMILION_A_MARKER_KIND] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_DROP] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_PACKET] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_RATE] = { .type = NLA_U64 },
	[VERMILION_A_MARKER_BURST] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_CIR] = { .type = NLA_U64 },
	[VERMILION_A_MARKER_CBS] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_EBS] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_PIR] = { .type = NLA_U64 },
	[VERMILION_A_MARKER_PBS] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_BUCKET] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_LOW] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_HIGH] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_OUT] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_COLOUR_AWARE] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_MAX_DEMOTE] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_MARKER_MAX_PROMOTE] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_MARKER_P_DROP] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_MARKER_METER] = { .type = NLA_U64 },
	[VERMILION_A_MARKER_LENGTH] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_ALPHA] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_MARKER_A0] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_MARKER_NS] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_NA] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_INCREASE] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_ACK] = { .type = NLA_U32 },
	[VERMILION_A_MARKER_IDLE] = { .type = NLA_U64 },
	[VERMILION_A_MARKER_HALF_OPEN] = { .type = NLA_U64 },
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
	[VERMILION_A_LANE_BURST] = { .type = NLA_U32 },
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
	[VERMILION_A_QUEUE_AVERAGE_WEIGHT] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_QUEUE_AVERAGE_KIND] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_AVERAGE_UNIT] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_AVERAGE_UPDATE] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_AVERAGE_IDLE_PACKET] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_SPACING] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_SIZE_WEIGHT] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_ECN] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_LIMIT] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_LIMIT_PACKETS] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_ALPHA] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_QUEUE_STRICT] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_PRIORITY] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_QUANTUM] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_RATE] = { .type = NLA_U64 },
	[VERMILION_A_QUEUE_BURST] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_GREEN] = NLA_POLICY_NESTED(colour_policy),
	[VERMILION_A_QUEUE_YELLOW] = NLA_POLICY_NESTED(colour_policy),
	[VERMILION_A_QUEUE_RED] = NLA_POLICY_NESTED(colour_policy),
	[VERMILION_A_QUEUE_REMARK_GREEN] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_REMARK_YELLOW] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_REMARK_RED] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_DISTANCE_OPTION] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_DISTANCE_INFER] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_DISTANCE_SHARE] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_TTL_OPTION] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_VICTIM] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_VICTIM_BY_COLOUR] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_VICTIM_WINDOW] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_MARKER] = NLA_POLICY_NESTED(marker_policy),
	[VERMILION_A_QUEUE_AQM] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_TARGET] = { .type = NLA_U64 },
	[VERMILION_A_QUEUE_INTERVAL] = { .type = NLA_U64 },
	[VERMILION_A_QUEUE_MTU] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_CE_THRESHOLD] = { .type = NLA_U64 },
	[VERMILION_A_QUEUE_CE_MASK] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_CE_SELECTOR] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_TUPDATE] = { .type = NLA_U64 },
	[VERMILION_A_QUEUE_PIE_ALPHA] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_QUEUE_PIE_BETA] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_QUEUE_BURST_ALLOWANCE] = { .type = NLA_U64 },
	[VERMILION_A_QUEUE_BYTEMODE] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_COUPLING] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_STEP_THRESHOLD] = { .type = NLA_U64 },
	[VERMILION_A_QUEUE_DUALPI2_ALPHA] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_QUEUE_DUALPI2_BETA] = NLA_POLICY_NESTED(number_policy),
	[VERMILION_A_QUEUE_OVERLOAD] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_L4S_MASK] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_MARK_AT] = { .type = NLA_U32 },
	[VERMILION_A_QUEUE_FQ] = { .type = NLA_U32 },
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
	FIELD(VERMILION_A_CURVE_CURVE, U32, struct vm_curve, curve),
	FIELD(VERMILION_A_CURVE_MIN, U32, struct vm_curve, min),
	FIELD(VERMILION_A_CURVE_MAX, U32, struct vm_curve, max),
	FIELD(VERMILION_A_CURVE_P, NUMBER, struct vm_curve, p),
	FIELD(VERMILION_A_CURVE_END, U32, struct vm_curve, end),
};

static const struct vm_nl_set curve_set = SET(curve_fields, VERMILION_A_CURVE_LAST, 0);

static const struct vm_nl_field colour_fields[] = {
	FIELD(VERMILION_A_COLOUR_CURVE, U32, struct vm_curve, curve),
	FIELD(VERMILION_A_COLOUR_MIN, U32, struct vm_curve, min),
	FIELD(VERMILION_A_COLOUR_MAX, U32, struct vm_curve, max),
	FIELD(VERMILION_A_COLOUR_P, NUMBER, struct vm_curve, p),
	FIELD(VERMILION_A_COLOUR_END, U32, struct vm_curve, end),
	{ VERMILION_A_COLOUR_ECN, VM_NL_NEST, sizeof(struct vm_curve), &curve_set },
};

static const struct vm_nl_set colour_set = SET(colour_fields, VERMILION_A_COLOUR_LAST, 0);

static const struct vm_nl_field marker_fields[] = {
	FIELD(VERMILION_A_MARKER_KIND, U32, struct vm_marker, kind),
	FIELD(VERMILION_A_MARKER_DROP, U32, struct vm_marker, drop),
	FIELD(VERMILION_A_MARKER_PACKET, U32, struct vm_marker, packet),
	FIELD(VERMILION_A_MARKER_RATE, U64, struct vm_marker, rate),
	FIELD(VERMILION_A_MARKER_BURST, U32, struct vm_marker, burst),
	FIELD(VERMILION_A_MARKER_CIR, U64, struct vm_marker, cir),
	FIELD(VERMILION_A_MARKER_CBS, U32, struct vm_marker, cbs),
	FIELD(VERMILION_A_MARKER_EBS, U32, struct vm_marker, ebs),
	FIELD(VERMILION_A_MARKER_PIR, U64, struct vm_marker, pir),
	FIELD(VERMILION_A_MARKER_PBS, U32, struct vm_marker, pbs),
	FIELD(VERMILION_A_MARKER_BUCKET, U32, struct vm_marker, bucket),
	FIELD(VERMILION_A_MARKER_LOW, U32, struct vm_marker, low),
	FIELD(VERMILION_A_MARKER_HIGH, U32, struct vm_marker, high),
	FIELD(VERMILION_A_MARKER_OUT, U32, struct vm_marker, out),
	FIELD(VERMILION_A_MARKER_COLOUR_AWARE, U32, struct vm_marker, colour_aware),
	FIELD(VERMILION_A_MARKER_MAX_DEMOTE, NUMBER, struct vm_marker, max_demote),
	FIELD(VERMILION_A_MARKER_MAX_PROMOTE, NUMBER, struct vm_marker, max_promote),
	FIELD(VERMILION_A_MARKER_P_DROP, NUMBER, struct vm_marker, p_drop),
	FIELD(VERMILION_A_MARKER_METER, U64, struct vm_marker, meter),
	FIELD(VERMILION_A_MARKER_LENGTH, U32, struct vm_marker, length),
	FIELD(VERMILION_A_MARKER_ALPHA, NUMBER, struct vm_marker, alpha),
	FIELD(VERMILION_A_MARKER_A0, NUMBER, struct vm_marker, a0),
	FIELD(VERMILION_A_MARKER_NS, U32, struct vm_marker, ns),
	FIELD(VERMILION_A_MARKER_NA, U32, struct vm_marker, na),
	FIELD(VERMILION_A_MARKER_INCREASE, U32, struct vm_marker, increase),
	FIELD(VERMILION_A_MARKER_ACK, U32, struct vm_marker, ack),
	FIELD(VERMILION_A_MARKER_IDLE, U64, struct vm_marker, idle),
	FIELD(VERMILION_A_MARKER_HALF_OPEN, U64, struct vm_marker, half_open),
};

static const struct vm_nl_set marker_set = SET(marker_fields, VERMILION_A_MARKER_MAX, VERMILION_A_MARKER_PAD);

static const struct vm_nl_field queue_fields[] = {
	FIELD(VERMILION_A_QUEUE_AVERAGE_WEIGHT, NUMBER, struct vm_queue, average.weight),
	FIELD(VERMILION_A_QUEUE_AVERAGE_KIND, U32, struct vm_queue, average.kind),
	FIELD(VERMILION_A_QUEUE_AVERAGE_UNIT, U32, struct vm_queue, average.unit),
	FIELD(VERMILION_A_QUEUE_AVERAGE_UPDATE, U32, struct vm_queue, average.update),
	FIELD(VERMILION_A_QUEUE_AVERAGE_IDLE_PACKET, U32, struct vm_queue, average.idle_packet),
	FIELD(VERMILION_A_QUEUE_SPACING, U32, struct vm_queue, spacing),
	FIELD(VERMILION_A_QUEUE_SIZE_WEIGHT, U32, struct vm_queue, size_weight),
	FIELD(VERMILION_A_QUEUE_ECN, U32, struct vm_queue, ecn),
	FIELD(VERMILION_A_QUEUE_LIMIT, U32, struct vm_queue, limit),
	FIELD(VERMILION_A_QUEUE_LIMIT_PACKETS, U32, struct vm_queue, limit_packets),
	FIELD(VERMILION_A_QUEUE_ALPHA, NUMBER, struct vm_queue, alpha),
	FIELD(VERMILION_A_QUEUE_STRICT, U32, struct vm_queue, strict),
	FIELD(VERMILION_A_QUEUE_PRIORITY, U32, struct vm_queue, priority),
	FIELD(VERMILION_A_QUEUE_QUANTUM, U32, struct vm_queue, quantum),
	FIELD(VERMILION_A_QUEUE_RATE, U64, struct vm_queue, rate),
	FIELD(VERMILION_A_QUEUE_BURST, U32, struct vm_queue, burst),
	{ VERMILION_A_QUEUE_GREEN, VM_NL_NEST, offsetof(struct vm_queue, curve[0]), &colour_set },
	{ VERMILION_A_QUEUE_YELLOW, VM_NL_NEST, offsetof(struct vm_queue, curve[1]), &colour_set },
	{ VERMILION_A_QUEUE_RED, VM_NL_NEST, offsetof(struct vm_queue, curve[2]), &colour_set },
	FIELD(VERMILION_A_QUEUE_REMARK_GREEN, U32, struct vm_queue, remark[0]),
	FIELD(VERMILION_A_QUEUE_REMARK_YELLOW, U32, struct vm_queue, remark[1]),
	FIELD(VERMILION_A_QUEUE_REMARK_RED, U32, struct vm_queue, remark[2]),
	FIELD(VERMILION_A_QUEUE_DISTANCE_OPTION, U32, struct vm_queue, distance.option),
	FIELD(VERMILION_A_QUEUE_DISTANCE_INFER, U32, struct vm_queue, distance.infer),
	FIELD(VERMILION_A_QUEUE_DISTANCE_SHARE, U32, struct vm_queue, distance.share),
	FIELD(VERMILION_A_QUEUE_TTL_OPTION, U32, struct vm_queue, ttl_option),
	FIELD(VERMILION_A_QUEUE_VICTIM, U32, struct vm_queue, victim),
	FIELD(VERMILION_A_QUEUE_VICTIM_BY_COLOUR, U32, struct vm_queue, victim_by_colour),
	FIELD(VERMILION_A_QUEUE_VICTIM_WINDOW, U32, struct vm_queue, victim_window),
	{ VERMILION_A_QUEUE_MARKER, VM_NL_NEST, offsetof(struct vm_queue, marker), &marker_set },
	FIELD(VERMILION_A_QUEUE_AQM, U32, struct vm_queue, aqm),
	FIELD(VERMILION_A_QUEUE_TARGET, U64, struct vm_queue, target),
	FIELD(VERMILION_A_QUEUE_INTERVAL, U64, struct vm_queue, interval),
	FIELD(VERMILION_A_QUEUE_MTU, U32, struct vm_queue, mtu),
	FIELD(VERMILION_A_QUEUE_CE_THRESHOLD, U64, struct vm_queue, ce_threshold),
	FIELD(VERMILION_A_QUEUE_CE_MASK, U32, struct vm_queue, ce_mask),
	FIELD(VERMILION_A_QUEUE_CE_SELECTOR, U32, struct vm_queue, ce_selector),
	FIELD(VERMILION_A_QUEUE_TUPDATE, U64, struct vm_queue, tupdate),
	FIELD(VERMILION_A_QUEUE_PIE_ALPHA, NUMBER, struct vm_queue, pie_alpha),
	FIELD(VERMILION_A_QUEUE_PIE_BETA, NUMBER, struct vm_queue, pie_beta),
	FIELD(VERMILION_A_QUEUE_BURST_ALLOWANCE, U64, struct vm_queue, burst_allowance),
	FIELD(VERMILION_A_QUEUE_BYTEMODE, U32, struct vm_queue, bytemode),
	FIELD(VERMILION_A_QUEUE_COUPLING, U32, struct vm_queue, coupling),
	FIELD(VERMILION_A_QUEUE_STEP_THRESHOLD, U64, struct vm_queue, step_threshold),
	FIELD(VERMILION_A_QUEUE_DUALPI2_ALPHA, NUMBER, struct vm_queue, dualpi2_alpha),
	FIELD(VERMILION_A_QUEUE_DUALPI2_BETA, NUMBER, struct vm_queue, dualpi2_beta),
	FIELD(VERMILION_A_QUEUE_OVERLOAD, U32, struct vm_queue, overload),
	FIELD(VERMILION_A_QUEUE_L4S_MASK, U32, struct vm_queue, l4s_mask),
	FIELD(VERMILION_A_QUEUE_MARK_AT, U32, struct vm_queue, mark_at),
	FIELD(VERMILION_A_QUEUE_FQ, U32, struct vm_queue, fq),
};

const struct vm_nl_set vm_nl_queue = SET(queue_fields, VERMILION_A_QUEUE_MAX, VERMILION_A_QUEUE_PAD);
