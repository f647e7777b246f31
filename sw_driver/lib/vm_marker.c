// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Markers. Depths and thresholds are held as the time in which the bucket's rate fills them, worked out with the cost of a byte
 * as the hardware has it and rounded up: what n packets cost is never more than a depth of n packets, so that a full bucket
 * passes them all at once, and nothing that was asked for becomes 0. srTCM's second bucket is the sum of both depths, each
 * rounded up by itself, for E = T_B - T_A. REDP's spans follow from the thresholds as held.
 */
#include "vm_profile.h"

void vm_marker_times(const struct vm_marker *m, u64 burst[2], u64 *low, u64 *high)
{
	burst[1] = 0;
	*low = 0;
	*high = 0;
	switch (m->kind) {
	case VM_MARKER_SRTCM:
		burst[0] = vm_depth_ns(m->cbs, m->cir);
		burst[1] = burst[0] + vm_depth_ns(m->ebs, m->cir);
		break;
	case VM_MARKER_TRTCM:
		burst[0] = vm_depth_ns(m->pbs, m->pir);
		burst[1] = vm_depth_ns(m->cbs, m->cir);
		break;
	case VM_MARKER_REDP:
		burst[0] = vm_depth_ns(m->bucket, m->rate);
		*low = vm_depth_ns(m->low, m->rate);
		*high = vm_depth_ns(m->high, m->rate);
		break;
	default:
		burst[0] = vm_depth_ns(m->burst, m->rate);
	}
}

static void flow_marker(const struct vm_marker *m, struct vm_flow_image *w)
{
	w->kind = m->kind - VM_MARKER_NM;
	w->alpha = (u32)vm_probability(m->alpha, VM_FLOW_ALPHA_FRAC);
	w->a0 = vm_flow_average(m->a0);
	w->ns = m->ns;
	w->na = m->na;
	w->increase = m->increase;
	w->ack = m->ack;
	w->idle = vm_flow_age(m->idle);
	w->half_open = vm_flow_age(m->half_open);
}

static void costs(const struct vm_marker *m, struct vm_scaled cost[2])
{
	switch (m->kind) {
	case VM_MARKER_SRTCM:
		cost[0] = vm_cost(m->cir);
		cost[1] = cost[0];
		break;
	case VM_MARKER_TRTCM:
		cost[0] = vm_cost(m->pir);
		cost[1] = vm_cost(m->cir);
		break;
	default:
		cost[0] = vm_cost(m->rate);
	}
}

void vm_marker_convert(const struct vm_marker *m, struct vm_marker_image *w)
{
	vm_clear(w, sizeof(*w));
	if (m->kind == VM_MARKER_NONE || m->kind > VM_MARKER_APM)
		return;
	w->drop = m->drop;
	if (m->kind >= VM_MARKER_NM) {
		w->kind = VM_MARKER_FLOW;
		flow_marker(m, &w->flow);
		return;
	}
	w->kind = m->kind;
	w->colour_aware = m->colour_aware;
	w->length = m->length == VM_LENGTH_IP && !m->packet;
	w->packet = m->packet;
	w->out = m->out;
	vm_marker_times(m, w->burst, &w->low_threshold, &w->high_threshold);
	costs(m, w->cost);
	if (m->kind != VM_MARKER_REDP)
		return;
	w->demote = vm_span(w->low_threshold, m->max_demote);
	w->promote = vm_span(w->burst[0] - w->high_threshold, m->max_promote);
	w->p_drop = (u32)vm_probability(m->p_drop, VM_MARK_DRAW_BITS);
	w->meter = m->meter;
}
