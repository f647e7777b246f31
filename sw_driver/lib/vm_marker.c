// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Markers. Depths and thresholds are held as the time in which the bucket's rate fills them, worked out with the cost of a byte
 * as the hardware has it and rounded up: what n packets cost is never more than a depth of n packets, so that a full bucket
 * passes them all at once, and nothing that was asked for becomes 0. srTCM's second bucket is the sum of both depths, each
 * rounded up by itself, for E = T_B - T_A. REDP's spans follow from the thresholds as held.
 */
#include "vm_profile.h"

void vm_marker_times(const struct vm_marker *m, u64 burst_ns[2], u64 *low_ns, u64 *high_ns)
{
	burst_ns[1] = 0;
	*low_ns = 0;
	*high_ns = 0;
	switch (m->kind) {
	case VM_SRTCM:
		burst_ns[0] = vm_depth_ns(m->cbs, m->cir);
		burst_ns[1] = burst_ns[0] + vm_depth_ns(m->ebs, m->cir);
		break;
	case VM_TRTCM:
		burst_ns[0] = vm_depth_ns(m->pbs, m->pir);
		burst_ns[1] = vm_depth_ns(m->cbs, m->cir);
		break;
	case VM_REDP:
		burst_ns[0] = vm_depth_ns(m->bucket, m->rate);
		*low_ns = vm_depth_ns(m->low, m->rate);
		*high_ns = vm_depth_ns(m->high, m->rate);
		break;
	default:
		burst_ns[0] = vm_depth_ns(m->burst, m->rate);
	}
}

static void no_marker(struct vm_marker_words *w)
{
	const struct vm_scaled none = { 0, 0 };
	u32 i;

	w->kind = VM_NO_MARKER;
	w->colour_aware = 0;
	w->ip_length = 0;
	w->packet_bytes = 0;
	for (i = 0; i < 2; i++) {
		w->cost[i] = none;
		w->burst_ns[i] = 0;
	}
	w->out_colour = 0;
	w->low_ns = 0;
	w->high_ns = 0;
	w->demote = none;
	w->promote = none;
	w->drop = 0;
	w->yellow_ns = 0;
	w->drop_colours = 0;
	w->flow_kind = VM_FLOW_NONE;
	w->alpha_eighths = 0;
	w->initial_average = 0;
	w->start_credits = 0;
	w->recovery_credits = 0;
	w->by_factor = 0;
	w->ack_green = 0;
	w->idle_age = 0;
	w->half_open_age = 0;
}

static void flow_marker(const struct vm_marker *m, struct vm_marker_words *w)
{
	w->flow_kind = m->flow_kind;
	w->alpha_eighths = m->alpha_eighths;
	w->initial_average = vm_flow_average(m->initial_average);
	w->start_credits = m->start_credits;
	w->recovery_credits = m->recovery_credits;
	w->by_factor = m->by_factor;
	w->ack_green = m->ack_green;
	w->idle_age = vm_flow_age(m->idle_ns);
	w->half_open_age = vm_flow_age(m->half_open_ns);
}

void vm_marker_convert(const struct vm_marker *m, struct vm_marker_words *w)
{
	no_marker(w);
	if (m->kind == VM_NO_MARKER || m->kind > VM_FLOW)
		return;
	w->kind = m->kind;
	w->drop_colours = m->drop_colours;
	if (m->kind == VM_FLOW) {
		flow_marker(m, w);
		return;
	}
	w->colour_aware = m->colour_aware;
	w->ip_length = m->ip_length && !m->packet_bytes;
	w->packet_bytes = m->packet_bytes;
	w->out_colour = m->out_colour;
	vm_marker_times(m, w->burst_ns, &w->low_ns, &w->high_ns);
	switch (m->kind) {
	case VM_SRTCM:
		w->cost[0] = vm_cost(m->cir);
		w->cost[1] = w->cost[0];
		break;
	case VM_TRTCM:
		w->cost[0] = vm_cost(m->pir);
		w->cost[1] = vm_cost(m->cir);
		break;
	default:
		w->cost[0] = vm_cost(m->rate);
	}
	if (m->kind != VM_REDP)
		return;
	w->demote = vm_span(w->low_ns, m->max_demote);
	w->promote = vm_span(w->burst_ns[0] - w->high_ns, m->max_promote);
	w->drop = (u32)vm_probability(m->p_drop, VM_MARK_DRAW_BITS);
	w->yellow_ns = m->meter_ns;
}
