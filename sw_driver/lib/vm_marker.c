// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Markers. The hardware holds depths and thresholds as the time in which the bucket's rate fills
 * them. This file computes them from the cost of a byte in the hardware's format, and rounds up. So
 * n packets never cost more than a depth of n packets: a full bucket passes all of them at once.
 * And no depth above 0 becomes 0.
 *
 * srTCM's second bucket is the sum of both depths, each rounded up by itself, for E = T_B - T_A.
 * REDP's spans are computed from the rounded thresholds.
 */
#include "vm_profile.h"

/* Cost of a byte and depth of buckets A and B. */
static void buckets(const struct vm_marker *m, struct vm_scaled cost[2], u64 burst[2])
{
	struct vm_bucket bucket[2];
	u32 i, j;

	vm_marker_buckets(m, bucket);
	for (i = 0; i < 2; i++) {
		if (!bucket[i].rate)
			continue;
		cost[i] = vm_cost(bucket[i].rate);
		for (j = 0; j < sizeof(bucket[i].depth) / sizeof(bucket[i].depth[0]); j++)
			burst[i] += vm_depth_ns(bucket[i].depth[j], bucket[i].rate);
	}
}

void vm_redp_widths(const struct vm_marker *m, u64 *low, u64 *high, u64 *above)
{
	*low = vm_depth_ns(m->low, m->rate);
	*high = vm_depth_ns(m->high, m->rate);
	*above = vm_depth_ns(m->bucket, m->rate) - *high;
}

/* All settings except the kind. */
static void flow_marker(const struct vm_marker *m, struct vm_flow_image *w)
{
	w->alpha = (u32)vm_probability(m->alpha, VM_FLOW_ALPHA_FRAC);
	w->a0 = vm_flow_average(m->a0);
	w->ns = m->ns;
	w->na = m->na;
	w->increase = m->increase;
	w->ack = m->ack;
	w->idle = vm_flow_age(m->idle);
	w->half_open = vm_flow_age(m->half_open);
}

void vm_marker_convert(const struct vm_marker *m, struct vm_marker_image *w)
{
	u64 above;

	vm_clear(w, sizeof(*w));
	vm_marker_codes(m->kind, &w->kind, &w->flow.kind);
	if (w->kind == VM_MARKS_NONE)
		return;
	w->drop = m->drop;
	if (w->kind == VM_MARKS_FLOW) {
		flow_marker(m, &w->flow);
		return;
	}
	w->colour_aware = m->colour_aware;
	w->length = m->length == VM_LENGTH_IP && !m->packet;
	w->packet = m->packet;
	w->out = m->out;
	buckets(m, w->cost, w->burst);
	if (m->kind != VM_MARKER_REDP)
		return;
	vm_redp_widths(m, &w->low_threshold, &w->high_threshold, &above);
	w->demote = vm_span(w->low_threshold, m->max_demote);
	w->promote = vm_span(above, m->max_promote);
	w->p_drop = (u32)vm_probability(m->p_drop, VM_MARK_DRAW_BITS);
	w->meter = m->meter;
}
