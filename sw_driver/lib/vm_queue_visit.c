// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The shadow record: which word of a queue stands where. Registers: docs/registers.md, "shadow". */
#include "vm_access.h"
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

static void put_wide(struct walk *walk, u32 low_address, u32 high_address, u64 value)
{
	put(walk, low_address, (u32)value);
	put(walk, high_address, (u32)(value >> 32));
}

/* Mantissa from bit 0 on, shift from bit 24 on: the same in every register of a scaled number. */
static u32 scaled(struct vm_scaled x)
{
	return x.mant | x.shift << 24;
}

static void curve(struct walk *walk, u32 c, u32 which, const struct vm_curve_words *w)
{
	put(walk, VM_REG_SHADOW_COLOUR_CURVE_FLAGS(c, which),
	    VM_PUT(VM_REG_SHADOW_COLOUR_CURVE_FLAGS_ON, w->on) |
		    VM_PUT(VM_REG_SHADOW_COLOUR_CURVE_FLAGS_SLOPE1_ONE, w->slope1 >> 32) |
		    VM_PUT(VM_REG_SHADOW_COLOUR_CURVE_FLAGS_BASE2_ONE, w->base2 >> 32) |
		    VM_PUT(VM_REG_SHADOW_COLOUR_CURVE_FLAGS_SLOPE2_ONE, w->slope2 >> 32));
	put(walk, VM_REG_SHADOW_COLOUR_CURVE_MIN_TH(c, which), w->min);
	put(walk, VM_REG_SHADOW_COLOUR_CURVE_MAX_TH(c, which), w->max);
	put(walk, VM_REG_SHADOW_COLOUR_CURVE_END_TH(c, which), w->end);
	put(walk, VM_REG_SHADOW_COLOUR_CURVE_INV1(c, which), scaled(w->inv1));
	put(walk, VM_REG_SHADOW_COLOUR_CURVE_SLOPE1(c, which), (u32)w->slope1);
	put(walk, VM_REG_SHADOW_COLOUR_CURVE_INV2(c, which), scaled(w->inv2));
	put(walk, VM_REG_SHADOW_COLOUR_CURVE_BASE2(c, which), (u32)w->base2);
	put(walk, VM_REG_SHADOW_COLOUR_CURVE_SLOPE2(c, which), (u32)w->slope2);
	put(walk, VM_REG_SHADOW_COLOUR_CURVE_SQUARE2(c, which), scaled(w->square2));
}

static void marker(struct walk *walk, const struct vm_marker_words *w)
{
	u32 i;

	put(walk, VM_REG_SHADOW_MARKER_FLAGS,
	    VM_PUT(VM_REG_SHADOW_MARKER_FLAGS_KIND, w->kind) |
		    VM_PUT(VM_REG_SHADOW_MARKER_FLAGS_COLOUR_AWARE, w->colour_aware) |
		    VM_PUT(VM_REG_SHADOW_MARKER_FLAGS_IP_LENGTH, w->ip_length) |
		    VM_PUT(VM_REG_SHADOW_MARKER_FLAGS_OUT_COLOUR, w->out_colour) |
		    VM_PUT(VM_REG_SHADOW_MARKER_FLAGS_DROP_COLOURS, w->drop_colours) |
		    VM_PUT(VM_REG_SHADOW_MARKER_FLAGS_PACKET_BYTES, w->packet_bytes));
	for (i = 0; i < 2; i++)
		put(walk, VM_REG_SHADOW_MARKER_COST(i), scaled(w->cost[i]));
	for (i = 0; i < 2; i++)
		put_wide(walk, VM_REG_SHADOW_MARKER_BURST_LOW(i), VM_REG_SHADOW_MARKER_BURST_HIGH(i), w->burst_ns[i]);
	put_wide(walk, VM_REG_SHADOW_MARKER_LOW_THRESHOLD_LOW, VM_REG_SHADOW_MARKER_LOW_THRESHOLD_HIGH, w->low_ns);
	put_wide(walk, VM_REG_SHADOW_MARKER_HIGH_THRESHOLD_LOW, VM_REG_SHADOW_MARKER_HIGH_THRESHOLD_HIGH, w->high_ns);
	put(walk, VM_REG_SHADOW_MARKER_DEMOTE, scaled(w->demote));
	put(walk, VM_REG_SHADOW_MARKER_PROMOTE, scaled(w->promote));
	put(walk, VM_REG_SHADOW_MARKER_DROP, w->drop);
	put_wide(walk, VM_REG_SHADOW_MARKER_YELLOW_LOW, VM_REG_SHADOW_MARKER_YELLOW_HIGH, w->yellow_ns);
	put(walk, VM_REG_SHADOW_MARKER_FLOW,
	    VM_PUT(VM_REG_SHADOW_MARKER_FLOW_KIND, w->flow_kind) |
		    VM_PUT(VM_REG_SHADOW_MARKER_FLOW_BY_FACTOR, w->by_factor) |
		    VM_PUT(VM_REG_SHADOW_MARKER_FLOW_ACK_GREEN, w->ack_green) |
		    VM_PUT(VM_REG_SHADOW_MARKER_FLOW_ALPHA, w->alpha_eighths) |
		    VM_PUT(VM_REG_SHADOW_MARKER_FLOW_START_CREDITS, w->start_credits) |
		    VM_PUT(VM_REG_SHADOW_MARKER_FLOW_RECOVERY_CREDITS, w->recovery_credits));
	put(walk, VM_REG_SHADOW_MARKER_FLOW_AVERAGE, w->initial_average);
	put(walk, VM_REG_SHADOW_MARKER_FLOW_AGES,
	    VM_PUT(VM_REG_SHADOW_MARKER_FLOW_AGES_IDLE, w->idle_age) |
		    VM_PUT(VM_REG_SHADOW_MARKER_FLOW_AGES_HALF_OPEN, w->half_open_age));
}

static void service(struct walk *walk, const struct vm_queue_words *w)
{
	u32 n;

	put(walk, VM_REG_SHADOW_FLAGS,
	    VM_PUT(VM_REG_SHADOW_FLAGS_UNIT_PACKETS, w->unit_packets) |
		    VM_PUT(VM_REG_SHADOW_FLAGS_UPDATE_DEPART, w->update_depart) |
		    VM_PUT(VM_REG_SHADOW_FLAGS_ECN, w->ecn) | VM_PUT(VM_REG_SHADOW_FLAGS_SIZE_WEIGHT, w->size_on) |
		    VM_PUT(VM_REG_SHADOW_FLAGS_SPACING, w->spacing) | VM_PUT(VM_REG_SHADOW_FLAGS_STRICT, w->strict) |
		    VM_PUT(VM_REG_SHADOW_FLAGS_PRIORITY, w->priority) | VM_PUT(VM_REG_SHADOW_FLAGS_ALPHA, w->alpha) |
		    VM_PUT(VM_REG_SHADOW_FLAGS_MASK_GREEN, w->masks[0]) |
		    VM_PUT(VM_REG_SHADOW_FLAGS_MASK_YELLOW, w->masks[1]) |
		    VM_PUT(VM_REG_SHADOW_FLAGS_MASK_RED, w->masks[2]));
	put(walk, VM_REG_SHADOW_LIMIT_BYTES, w->limit_bytes);
	put(walk, VM_REG_SHADOW_LIMIT_PACKETS, w->limit_packets);
	put(walk, VM_REG_SHADOW_LAMBDA, scaled(w->lambda));
	put_wide(walk, VM_REG_SHADOW_IDLE_STEP_LOW, VM_REG_SHADOW_IDLE_STEP_HIGH, w->idle_step);
	put(walk, VM_REG_SHADOW_INV_MEAN_LEN, scaled(w->size));
	for (n = 0; n < VM_STAGES; n++)
		put(walk, VM_REG_SHADOW_WEIGHT(n), scaled(w->weight[n]));
	put(walk, VM_REG_SHADOW_QUANTUM, w->quantum);
	put(walk, VM_REG_SHADOW_COST, scaled(w->cost));
	put_wide(walk, VM_REG_SHADOW_BURST_LOW, VM_REG_SHADOW_BURST_HIGH, w->burst_ns);
	put(walk, VM_REG_SHADOW_DISTANCE,
	    VM_PUT(VM_REG_SHADOW_DISTANCE_OPTION, w->distance_option) |
		    VM_PUT(VM_REG_SHADOW_DISTANCE_INFER, w->distance_infer) |
		    VM_PUT(VM_REG_SHADOW_DISTANCE_SHARE, w->distance_share) |
		    VM_PUT(VM_REG_SHADOW_DISTANCE_REMOVE_OPTION, w->remove_ttl_option) |
		    VM_PUT(VM_REG_SHADOW_DISTANCE_NEAREST, w->nearest) |
		    VM_PUT(VM_REG_SHADOW_DISTANCE_BY_COLOUR, w->by_colour) |
		    VM_PUT(VM_REG_SHADOW_DISTANCE_LAST, w->window));
}

int vm_queue_visit(const struct vm_queue_words *w, vm_visit *visit, void *context)
{
	struct walk walk = { visit, context, 0 };
	u32 c, which;

	service(&walk, w);
	marker(&walk, &w->marker);
	for (c = 0; c < VM_COLOURS; c++) {
		put(&walk, VM_REG_SHADOW_MARKER_REMARK(c),
		    VM_PUT(VM_REG_SHADOW_MARKER_REMARK_DSCP, w->remark_dscp[c]) |
			    VM_PUT(VM_REG_SHADOW_MARKER_REMARK_ON, w->remark >> c & 1));
		for (which = VM_DROPS; which <= VM_MARKS; which++)
			curve(&walk, c, which, &w->curve[c][which]);
		put(&walk, VM_REG_SHADOW_COLOUR_ECN_OWN(c), w->ecn_own[c]);
	}
	return walk.result;
}
