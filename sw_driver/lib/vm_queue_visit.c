/* Generated from hw/regs/profile.yaml by sim/vermilion/generate/profile.py. Do not edit. */
/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* clang-format off */
/* The shadow record: which value of a queue's image stands in which register. */
#include "vm_profile.h"
#include "vm_regs.h"

struct walk {
	vm_visit *visit;
	void *context;
	int result;
};

static void put(struct walk *walk, u32 address, u32 value)
{
	if (!walk->result)
		walk->result = walk->visit(walk->context, address, value);
}

int vm_queue_visit(const struct vm_queue_image *image, vm_visit *visit, void *context)
{
	struct walk walk = { visit, context, 0 };
	u32 i, j;

	put(&walk, VM_REG_SHADOW_FLAGS,
		VM_PUT(VM_REG_SHADOW_FLAGS_UNIT, image->unit) |
		VM_PUT(VM_REG_SHADOW_FLAGS_UPDATE, image->update) |
		VM_PUT(VM_REG_SHADOW_FLAGS_ECN, image->ecn) |
		VM_PUT(VM_REG_SHADOW_FLAGS_SIZE_WEIGHT, image->size_weight) |
		VM_PUT(VM_REG_SHADOW_FLAGS_SPACING, image->spacing) |
		VM_PUT(VM_REG_SHADOW_FLAGS_STRICT, image->strict) |
		VM_PUT(VM_REG_SHADOW_FLAGS_MARK_LATE, image->mark_late) |
		VM_PUT(VM_REG_SHADOW_FLAGS_PRIORITY, image->priority) |
		VM_PUT(VM_REG_SHADOW_FLAGS_ALPHA, image->alpha) |
		VM_PUT(VM_REG_SHADOW_FLAGS_MASK_GREEN, image->masks[0]) |
		VM_PUT(VM_REG_SHADOW_FLAGS_MASK_YELLOW, image->masks[1]) |
		VM_PUT(VM_REG_SHADOW_FLAGS_MASK_RED, image->masks[2]));
	put(&walk, VM_REG_SHADOW_LIMIT, (u32)image->limit);
	put(&walk, VM_REG_SHADOW_LIMIT_PACKETS, (u32)image->limit_packets);
	put(&walk, VM_REG_SHADOW_LAMBDA, image->lambda.mant | image->lambda.shift << 24);
	put(&walk, VM_REG_SHADOW_INV_MEAN_LEN, image->inv_mean_len.mant | image->inv_mean_len.shift << 24);
	for (i = 0; i < 6; i++) {
		put(&walk, VM_REG_SHADOW_WEIGHT(i), image->weight[i].mant | image->weight[i].shift << 24);
	}
	put(&walk, VM_REG_SHADOW_QUANTUM, (u32)image->quantum);
	put(&walk, VM_REG_SHADOW_COST, image->cost.mant | image->cost.shift << 24);
	put(&walk, VM_REG_SHADOW_BURST_LOW, (u32)image->burst);
	put(&walk, VM_REG_SHADOW_BURST_HIGH, (u32)(image->burst >> 32));
	put(&walk, VM_REG_SHADOW_DISTANCE,
		VM_PUT(VM_REG_SHADOW_DISTANCE_OPTION, image->distance.option) |
		VM_PUT(VM_REG_SHADOW_DISTANCE_INFER, image->distance.infer) |
		VM_PUT(VM_REG_SHADOW_DISTANCE_SHARE, image->distance.share) |
		VM_PUT(VM_REG_SHADOW_DISTANCE_TTL_OPTION, image->ttl_option) |
		VM_PUT(VM_REG_SHADOW_DISTANCE_VICTIM, image->victim) |
		VM_PUT(VM_REG_SHADOW_DISTANCE_VICTIM_BY_COLOUR, image->victim_by_colour) |
		VM_PUT(VM_REG_SHADOW_DISTANCE_VICTIM_WINDOW, image->victim_window));
	put(&walk, VM_REG_SHADOW_MARKER_FLAGS,
		VM_PUT(VM_REG_SHADOW_MARKER_FLAGS_KIND, image->marker.kind) |
		VM_PUT(VM_REG_SHADOW_MARKER_FLAGS_COLOUR_AWARE, image->marker.colour_aware) |
		VM_PUT(VM_REG_SHADOW_MARKER_FLAGS_LENGTH, image->marker.length) |
		VM_PUT(VM_REG_SHADOW_MARKER_FLAGS_OUT, image->marker.out) |
		VM_PUT(VM_REG_SHADOW_MARKER_FLAGS_DROP, image->marker.drop) |
		VM_PUT(VM_REG_SHADOW_MARKER_FLAGS_PACKET, image->marker.packet));
	for (i = 0; i < 2; i++) {
		put(&walk, VM_REG_SHADOW_MARKER_COST(i), image->marker.cost[i].mant | image->marker.cost[i].shift << 24);
	}
	for (i = 0; i < 2; i++) {
		put(&walk, VM_REG_SHADOW_MARKER_BURST_LOW(i), (u32)image->marker.burst[i]);
		put(&walk, VM_REG_SHADOW_MARKER_BURST_HIGH(i), (u32)(image->marker.burst[i] >> 32));
	}
	put(&walk, VM_REG_SHADOW_MARKER_LOW_THRESHOLD_LOW, (u32)image->marker.low_threshold);
	put(&walk, VM_REG_SHADOW_MARKER_LOW_THRESHOLD_HIGH, (u32)(image->marker.low_threshold >> 32));
	put(&walk, VM_REG_SHADOW_MARKER_HIGH_THRESHOLD_LOW, (u32)image->marker.high_threshold);
	put(&walk, VM_REG_SHADOW_MARKER_HIGH_THRESHOLD_HIGH, (u32)(image->marker.high_threshold >> 32));
	put(&walk, VM_REG_SHADOW_MARKER_DEMOTE, image->marker.demote.mant | image->marker.demote.shift << 24);
	put(&walk, VM_REG_SHADOW_MARKER_PROMOTE, image->marker.promote.mant | image->marker.promote.shift << 24);
	put(&walk, VM_REG_SHADOW_MARKER_P_DROP, (u32)image->marker.p_drop);
	put(&walk, VM_REG_SHADOW_MARKER_METER_LOW, (u32)image->marker.meter);
	put(&walk, VM_REG_SHADOW_MARKER_METER_HIGH, (u32)(image->marker.meter >> 32));
	for (i = 0; i < 3; i++) {
		put(&walk, VM_REG_SHADOW_MARKER_REMARK(i),
			VM_PUT(VM_REG_SHADOW_MARKER_REMARK_DSCP, image->marker.remark[i].dscp) |
			VM_PUT(VM_REG_SHADOW_MARKER_REMARK_ON, image->marker.remark[i].on));
	}
	put(&walk, VM_REG_SHADOW_MARKER_FLOW,
		VM_PUT(VM_REG_SHADOW_MARKER_FLOW_KIND, image->marker.flow.kind) |
		VM_PUT(VM_REG_SHADOW_MARKER_FLOW_INCREASE, image->marker.flow.increase) |
		VM_PUT(VM_REG_SHADOW_MARKER_FLOW_ACK, image->marker.flow.ack) |
		VM_PUT(VM_REG_SHADOW_MARKER_FLOW_ALPHA, image->marker.flow.alpha) |
		VM_PUT(VM_REG_SHADOW_MARKER_FLOW_NS, image->marker.flow.ns) |
		VM_PUT(VM_REG_SHADOW_MARKER_FLOW_NA, image->marker.flow.na));
	put(&walk, VM_REG_SHADOW_MARKER_FLOW_A0, (u32)image->marker.flow.a0);
	put(&walk, VM_REG_SHADOW_MARKER_FLOW_AGES,
		VM_PUT(VM_REG_SHADOW_MARKER_FLOW_AGES_IDLE, image->marker.flow.idle) |
		VM_PUT(VM_REG_SHADOW_MARKER_FLOW_AGES_HALF_OPEN, image->marker.flow.half_open));
	put(&walk, VM_REG_SHADOW_IDLE_STEP_LOW, (u32)image->idle_step);
	put(&walk, VM_REG_SHADOW_IDLE_STEP_HIGH, (u32)(image->idle_step >> 32));
	put(&walk, VM_REG_SHADOW_CODEL,
		VM_PUT(VM_REG_SHADOW_CODEL_ON, image->codel.on) |
		VM_PUT(VM_REG_SHADOW_CODEL_CE_MASK, image->codel.ce_mask) |
		VM_PUT(VM_REG_SHADOW_CODEL_CE_SELECTOR, image->codel.ce_selector));
	put(&walk, VM_REG_SHADOW_CODEL_TARGET, (u32)image->codel.target);
	put(&walk, VM_REG_SHADOW_CODEL_INTERVAL, (u32)image->codel.interval);
	put(&walk, VM_REG_SHADOW_CE_THRESHOLD, (u32)image->codel.ce_threshold);
	put(&walk, VM_REG_SHADOW_CODEL_MTU, (u32)image->codel.mtu);
	put(&walk, VM_REG_SHADOW_FQ, (u32)image->fq);
	put(&walk, VM_REG_SHADOW_PIE,
		VM_PUT(VM_REG_SHADOW_PIE_ON, image->pie.on) |
		VM_PUT(VM_REG_SHADOW_PIE_BYTE_MODE, image->pie.byte_mode) |
		VM_PUT(VM_REG_SHADOW_PIE_INTERVAL, image->pie.interval));
	put(&walk, VM_REG_SHADOW_PIE_TARGET, (u32)image->pie.target);
	put(&walk, VM_REG_SHADOW_PIE_BURST, (u32)image->pie.burst);
	put(&walk, VM_REG_SHADOW_PIE_ALPHA_LOW, (u32)image->pie.alpha);
	put(&walk, VM_REG_SHADOW_PIE_ALPHA_HIGH, (u32)(image->pie.alpha >> 32));
	put(&walk, VM_REG_SHADOW_PIE_BETA_LOW, (u32)image->pie.beta);
	put(&walk, VM_REG_SHADOW_PIE_BETA_HIGH, (u32)(image->pie.beta >> 32));
	put(&walk, VM_REG_SHADOW_PIE_MTU, (u32)image->pie.mtu);
	put(&walk, VM_REG_SHADOW_DUALPI2,
		VM_PUT(VM_REG_SHADOW_DUALPI2_ON, image->dualpi2.on) |
		VM_PUT(VM_REG_SHADOW_DUALPI2_DROP_OVERLOAD, image->dualpi2.drop_overload) |
		VM_PUT(VM_REG_SHADOW_DUALPI2_L4S_MASK, image->dualpi2.l4s_mask) |
		VM_PUT(VM_REG_SHADOW_DUALPI2_COUPLING, image->dualpi2.coupling) |
		VM_PUT(VM_REG_SHADOW_DUALPI2_INTERVAL, image->dualpi2.interval));
	put(&walk, VM_REG_SHADOW_DUALPI2_TARGET, (u32)image->dualpi2.target);
	put(&walk, VM_REG_SHADOW_DUALPI2_STEP, (u32)image->dualpi2.step);
	put(&walk, VM_REG_SHADOW_DUALPI2_ALPHA, (u32)image->dualpi2.alpha);
	put(&walk, VM_REG_SHADOW_DUALPI2_BETA, (u32)image->dualpi2.beta);
	put(&walk, VM_REG_SHADOW_DUALPI2_MOST, (u32)image->dualpi2.most);
	put(&walk, VM_REG_SHADOW_DUALPI2_MTU, (u32)image->dualpi2.mtu);
	for (i = 0; i < 3; i++) {
		for (j = 0; j < 2; j++) {
			put(&walk, VM_REG_SHADOW_COLOUR_CURVE_FLAGS(i, j),
				VM_PUT(VM_REG_SHADOW_COLOUR_CURVE_FLAGS_ON, image->colour[i].curve[j].on) |
				VM_PUT(VM_REG_SHADOW_COLOUR_CURVE_FLAGS_SLOPE1_ONE, (u32)(image->colour[i].curve[j].slope1 >> 32)) |
				VM_PUT(VM_REG_SHADOW_COLOUR_CURVE_FLAGS_BASE2_ONE, (u32)(image->colour[i].curve[j].base2 >> 32)) |
				VM_PUT(VM_REG_SHADOW_COLOUR_CURVE_FLAGS_SLOPE2_ONE, (u32)(image->colour[i].curve[j].slope2 >> 32)));
			put(&walk, VM_REG_SHADOW_COLOUR_CURVE_MIN(i, j), (u32)image->colour[i].curve[j].min);
			put(&walk, VM_REG_SHADOW_COLOUR_CURVE_MAX(i, j), (u32)image->colour[i].curve[j].max);
			put(&walk, VM_REG_SHADOW_COLOUR_CURVE_END(i, j), (u32)image->colour[i].curve[j].end);
			put(&walk, VM_REG_SHADOW_COLOUR_CURVE_INV1(i, j), image->colour[i].curve[j].inv1.mant | image->colour[i].curve[j].inv1.shift << 24);
			put(&walk, VM_REG_SHADOW_COLOUR_CURVE_SLOPE1(i, j), (u32)image->colour[i].curve[j].slope1);
			put(&walk, VM_REG_SHADOW_COLOUR_CURVE_INV2(i, j), image->colour[i].curve[j].inv2.mant | image->colour[i].curve[j].inv2.shift << 24);
			put(&walk, VM_REG_SHADOW_COLOUR_CURVE_BASE2(i, j), (u32)image->colour[i].curve[j].base2);
			put(&walk, VM_REG_SHADOW_COLOUR_CURVE_SLOPE2(i, j), (u32)image->colour[i].curve[j].slope2);
			put(&walk, VM_REG_SHADOW_COLOUR_CURVE_SQUARE2(i, j), image->colour[i].curve[j].square2.mant | image->colour[i].curve[j].square2.shift << 24);
		}
		put(&walk, VM_REG_SHADOW_COLOUR_ECN_OWN(i),
			VM_PUT(VM_REG_SHADOW_COLOUR_ECN_OWN_OWN, image->colour[i].ecn_own));
	}
	return walk.result;
}
