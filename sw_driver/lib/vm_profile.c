// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "vm_profile.h"
#include "vm_ratio.h"

/* Bit c of an estimator's mask: it counts colour c. docs/configuration.md, "average". */
static const u32 masks_of[][VM_COLOURS] = {
	[VM_AVERAGE_RED] = { 7, 7, 7 },	  [VM_AVERAGE_WRED] = { 7, 7, 7 },   [VM_AVERAGE_RIO_C] = { 1, 3, 7 },
	[VM_AVERAGE_RIO_2] = { 1, 7, 7 }, [VM_AVERAGE_RIO_DC] = { 1, 2, 4 },
};

static void clear(void *out, u32 bytes)
{
	volatile u8 *at = out; /* volatile: or else a call of memset */

	while (bytes--)
		*at++ = 0;
}

static struct vm_number decimal(u64 num, u32 tens)
{
	const struct vm_number out = { num, 1, tens };

	return out;
}

static void marker_defaults(struct vm_marker *m)
{
	m->out_colour = 2;
	m->max_demote = decimal(5, 1);
	m->max_promote = decimal(5, 1);
	m->meter_ns = 100000000;
	m->alpha_eighths = 4;
	m->initial_average = decimal(7, 0);
	m->start_credits = 5;
	m->recovery_credits = 5;
	m->idle_ns = 60000000000ull;
	m->half_open_ns = 3000000000ull;
}

void vm_queue_defaults(struct vm_queue *q)
{
	clear(q, sizeof(*q));
	q->weight = decimal(2, 3);
	q->idle_packet_bytes = 1000;
	q->alpha = decimal(0, 0);
	q->quantum_bytes = 1522;
	q->burst_bytes = 3044;
	q->distance_option = 1;
	q->distance_infer = 1;
	marker_defaults(&q->marker);
}

u32 vm_curve_end(const struct vm_queue *q, const struct vm_curve *c)
{
	if (c->end)
		return c->end;
	return q->unit_packets ? q->limit_packets : q->limit_bytes;
}

/* 2^16 gained / width, rounded down, so that the curve never falls where the segment ends; (0, 0) for nothing gained. */
static struct vm_scaled square(const struct vm_ratio *gained, u32 width)
{
	struct vm_ratio x = *gained;

	vm_wide_shl(&x.num, VM_PROB_FRAC - VM_AVG_FRAC);
	vm_wide_mul_u64(&x.den, width);
	return vm_ratio_scaled(&x, VM_INV_MANT_BITS, VM_SHIFT_MAX, VM_DOWN);
}

static u64 gained(const struct vm_ratio *x)
{
	const u64 out = vm_ratio_fixed(x, VM_PROB_FRAC, VM_PROB_FRAC + 1), one = (u64)1 << VM_PROB_FRAC;

	return out < one ? out : one;
}

/*
 * The second segment, p = base2 + slope2 y + b2 y^2 in y = (a - max) / (end - max), from p(max) = P:
 *   RED with an end of its own: 1
 *   gentle: P + (1-P) y
 *   ExRED (k_l, k_h, K): P + s x + a2 x^2 with x = (K-k_h) y, s = P/(k_h-k_l), a2 = ((k_h-k_l) - (K-k_l) P) / ((k_h-k_l) (K-k_h)^2),
 *   so slope2 = P (K-k_h)/(k_h-k_l) and b2 = ((k_h-k_l) - (K-k_l) P) / (k_h-k_l)
 */
static void second_segment(const struct vm_curve *c, struct vm_curve_words *w)
{
	const u32 first = c->max - c->min, second = w->end - c->max;
	struct vm_ratio p, x;

	if (c->kind == VM_RED) {
		w->base2 = (u64)1 << VM_PROB_FRAC;
		return;
	}
	vm_ratio_of(&p, c->p);
	w->base2 = gained(&p);
	x = p;
	if (c->kind == VM_GENTLE) {
		x.num = p.den;
		vm_wide_sub(&x.num, &p.num);
		w->slope2 = gained(&x);
		return;
	}
	vm_wide_mul_u64(&x.num, second);
	vm_wide_mul_u64(&x.den, first);
	w->slope2 = gained(&x);
	x.num = p.den;
	vm_wide_mul_u64(&x.num, first);
	vm_wide_mul_u64(&p.num, (u64)first + second);
	if (vm_wide_less(&x.num, &p.num))
		return;
	vm_wide_sub(&x.num, &p.num);
	w->square2 = square(&x, second);
}

void vm_curve_convert(const struct vm_curve *c, u32 end, struct vm_curve_words *w)
{
	clear(w, sizeof(*w));
	if (c->kind == VM_TAIL)
		return;
	w->on = 1;
	w->min = c->min & VM_LEN_MAX;
	w->max = c->max & VM_LEN_MAX;
	w->end = (c->kind == VM_RED && !c->end ? c->max : c->kind == VM_GENTLE ? 2 * c->max : end) & VM_LEN_MAX;
	w->inv1 = vm_inverse(w->max - w->min);
	w->slope1 = vm_probability(c->p, VM_PROB_FRAC);
	w->inv2 = vm_inverse(w->end - w->max);
	if (w->end > w->max)
		second_segment(c, w);
}

void vm_queue_convert(const struct vm_queue *q, const struct vm_port *port, struct vm_queue_words *w)
{
	const u64 rate = q->rate && q->rate < port->rate ? q->rate : port->rate;
	const u32 *masks = masks_of[q->average_kind <= VM_AVERAGE_RIO_DC ? q->average_kind : 0];
	u32 c, n, which;

	for (n = 0; n < VM_STAGES; n++)
		w->weight[n] = vm_weight(q->weight, n + 1);
	w->lambda = vm_idle_decay(q->weight, q->idle_packet_bytes, rate);
	w->idle_step = vm_idle_step(q->weight, w->lambda);
	w->unit_packets = q->unit_packets;
	w->update_depart = q->update_depart;
	w->spacing = q->spacing;
	w->size_on = q->size_weight_bytes != 0;
	w->size.mant = 0;
	w->size.shift = 0;
	if (w->size_on)
		w->size = vm_size_weight(q->size_weight_bytes);
	w->ecn = q->ecn;
	w->limit_bytes = q->limit_bytes ? q->limit_bytes : VM_LEN_MAX;
	w->limit_packets = q->limit_packets ? q->limit_packets : VM_LEN_MAX;
	w->alpha = vm_alpha(q->alpha);
	w->strict = q->strict;
	w->priority = q->priority;
	w->quantum = q->quantum_bytes;
	w->cost = vm_cost(q->rate);
	w->burst_ns = vm_burst_ns(q->burst_bytes, q->rate, port->queues);
	for (c = 0; c < VM_COLOURS; c++) {
		w->masks[c] = masks[c];
		for (which = VM_DROPS; which <= VM_MARKS; which++)
			vm_curve_convert(&q->curve[c][which], vm_curve_end(q, &q->curve[c][which]),
					 &w->curve[c][which]);
		w->ecn_own[c] = q->curve[c][VM_MARKS].kind != VM_TAIL;
		w->remark_dscp[c] = q->remark >> c & 1 ? q->remark_dscp[c] : 0;
	}
	vm_marker_convert(&q->marker, &w->marker);
	w->remark = q->remark;
	w->distance_option = q->distance_option;
	w->distance_infer = q->distance_infer;
	w->distance_share = q->distance_share;
	w->remove_ttl_option = q->remove_ttl_option;
	w->nearest = q->nearest;
	w->by_colour = q->by_colour;
	w->window = q->window;
}
