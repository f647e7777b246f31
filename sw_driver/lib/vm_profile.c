// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "vm_profile.h"
#include "vm_ratio.h"

/* Bit c of an estimator's mask: it counts colour c. docs/configuration/queue.md, "average". */
static const u32 masks_of[][VM_COLOURS] = {
	[VM_AVERAGE_RED] = { 7, 7, 7 },	  [VM_AVERAGE_WRED] = { 7, 7, 7 },   [VM_AVERAGE_RIO_C] = { 1, 3, 7 },
	[VM_AVERAGE_RIO_2] = { 1, 7, 7 }, [VM_AVERAGE_RIO_DC] = { 1, 2, 4 },
};

void vm_clear(void *out, u32 bytes)
{
	volatile u8 *at = out; /* volatile, else the compiler calls memset */

	while (bytes--)
		*at++ = 0;
}

u32 vm_curve_end(const struct vm_queue *q, const struct vm_curve *c)
{
	if (c->end)
		return c->end;
	return q->average.unit == VM_UNIT_PACKET ? q->limit_packets : q->limit;
}

/* 2^16 gained / width, rounded down, so that the curve does not fall where the segment ends. (0, 0)
 * if nothing is gained.
 */
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
 * The second segment, p = base2 + slope2 y + b2 y^2, y = (a - max) / (end - max), from p(max) = P:
 *   RED with an end of its own: 1
 *   gentle: P + (1-P) y
 *   ExRED (k_l, k_h, K): P + s x + a2 x^2 with x = (K-k_h) y, s = P/(k_h-k_l),
 *   a2 = ((k_h-k_l) - (K-k_l) P) / ((k_h-k_l) (K-k_h)^2),
 *   so slope2 = P (K-k_h)/(k_h-k_l) and b2 = ((k_h-k_l) - (K-k_l) P) / (k_h-k_l)
 */
static void second_segment(const struct vm_curve *c, struct vm_curve_image *w)
{
	const u32 first = c->max - c->min, second = w->end - c->max;
	struct vm_ratio p, x;

	if (c->curve == VM_CURVE_RED) {
		w->base2 = (u64)1 << VM_PROB_FRAC;
		return;
	}
	vm_ratio_of(&p, c->p);
	w->base2 = gained(&p);
	x = p;
	if (c->curve == VM_CURVE_GENTLE) {
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

void vm_curve_convert(const struct vm_curve *c, u32 end, struct vm_curve_image *w)
{
	vm_clear(w, sizeof(*w));
	if (c->curve == VM_CURVE_TAIL)
		return;
	w->on = 1;
	w->min = c->min & VM_LEN_MAX;
	w->max = c->max & VM_LEN_MAX;
	w->end = (c->curve == VM_CURVE_RED && !c->end ? c->max
		  : c->curve == VM_CURVE_GENTLE	      ? 2 * c->max
						      : end) &
		 VM_LEN_MAX;
	w->inv1 = vm_inverse(w->max - w->min);
	w->slope1 = vm_probability(c->p, VM_PROB_FRAC);
	w->inv2 = vm_inverse(w->end - w->max);
	if (w->end > w->max)
		second_segment(c, w);
}

static void average(const struct vm_queue *q, u64 rate, struct vm_queue_image *w)
{
	const u32 *masks = masks_of[q->average.kind <= VM_AVERAGE_RIO_DC ? q->average.kind : 0];
	u32 c, n;

	for (n = 0; n < VM_STAGES; n++)
		w->weight[n] = vm_weight(q->average.weight, n + 1);
	for (c = 0; c < VM_COLOURS; c++)
		w->masks[c] = masks[c];
	w->lambda = vm_idle_decay(q->average.weight, q->average.idle_packet, rate);
	w->idle_step = vm_idle_step(q->average.weight, w->lambda);
	w->unit = q->average.unit;
	w->update = q->average.update;
}

static void colours(const struct vm_queue *q, struct vm_queue_image *w)
{
	const struct vm_curve *curve;
	u32 c, which;

	for (c = 0; c < VM_COLOURS; c++) {
		for (which = VM_DROPS; which <= VM_MARKS; which++) {
			curve = &q->curve[c][which];
			vm_curve_convert(curve, vm_curve_end(q, curve), &w->colour[c].curve[which]);
		}
		w->colour[c].ecn_own = q->curve[c][VM_MARKS].curve != VM_CURVE_TAIL;
		w->marker.remark[c].on = q->remark[c] < VM_REMARK_KEEP;
		w->marker.remark[c].dscp = q->remark[c] < VM_REMARK_KEEP ? q->remark[c] : 0;
	}
}

/* CoDel and ce_threshold, in CoDel's unit of 1,024 ns. Without CoDel the target is never reached. */
static void departure(const struct vm_queue *q, struct vm_codel_image *w)
{
	const bool codel = q->aqm == VM_AQM_CODEL;

	w->on = codel || q->ce_threshold;
	if (!w->on)
		return;
	w->target = codel ? vm_codel_time(q->target ? q->target : VM_CODEL_TARGET) : VM_CODEL_NEVER;
	w->interval = codel ? vm_codel_time(q->interval ? q->interval : VM_CODEL_INTERVAL) : 0;
	w->mtu = codel ? q->mtu : VM_LEN_MAX;
	w->ce_threshold = q->ce_threshold ? vm_codel_time(q->ce_threshold) : VM_CODEL_NEVER;
	w->ce_mask = q->ce_mask;
	w->ce_selector = q->ce_selector;
}

static void pie(const struct vm_queue *q, struct vm_pie_image *w)
{
	w->on = q->aqm == VM_AQM_PIE;
	if (!w->on)
		return;
	w->byte_mode = q->bytemode;
	w->interval = vm_pie_ticks(q->tupdate ? q->tupdate : VM_PIE_TUPDATE);
	w->target = (u32)((q->target ? q->target : VM_PIE_TARGET) >> VM_PIE_SHIFT);
	w->burst = (u32)(q->burst_allowance >> VM_PIE_SHIFT);
	w->alpha = vm_pie_gain(q->pie_alpha);
	w->beta = vm_pie_gain(q->pie_beta);
	w->mtu = q->mtu;
}

/* Of a pair; of L only `on` is used. */
static void dualpi2(const struct vm_queue *q, struct vm_dualpi2_image *w)
{
	w->on = q->aqm == VM_AQM_DUALPI2;
	if (!w->on)
		return;
	w->drop_overload = q->overload == VM_OVERLOAD_DROP;
	w->l4s_mask = q->l4s_mask;
	w->coupling = q->coupling;
	w->interval = vm_pie_ticks(q->tupdate ? q->tupdate : VM_DUALPI2_TUPDATE);
	w->target = (u32)((q->target ? q->target : VM_DUALPI2_TARGET) >> VM_PIE_SHIFT);
	w->step = (u32)(q->step_threshold >> VM_PIE_SHIFT);
	w->alpha = vm_dualpi2_gain(q->dualpi2_alpha);
	w->beta = vm_dualpi2_gain(q->dualpi2_beta);
	w->most = w->drop_overload ? 0xFFFFFFFFu : 0xFFFFFFFFu / q->coupling;
	w->mtu = q->mtu;
}

/* Bits of the number of queues in a group, a power of two; 0: no group. */
static u32 group_bits(u32 queues)
{
	u32 bits = 0;

	while (queues > 1u << bits)
		bits++;
	return bits;
}

void vm_queue_convert(const struct vm_queue *q, const struct vm_port *port, struct vm_queue_image *w)
{
	vm_clear(w, sizeof(*w));
	average(q, q->rate && q->rate < port->rate ? q->rate : port->rate, w);
	w->spacing = q->spacing;
	w->size_weight = q->size_weight != 0;
	if (w->size_weight)
		w->inv_mean_len = vm_size_weight(q->size_weight);
	w->ecn = q->ecn;
	w->mark_late = q->mark_at == VM_MARK_AT_DEQUEUE;
	w->limit = q->limit ? q->limit : VM_LEN_MAX;
	w->limit_packets = q->limit_packets ? q->limit_packets : VM_LEN_MAX;
	w->alpha = vm_alpha(q->alpha);
	w->strict = q->strict;
	w->priority = q->priority;
	w->quantum = q->quantum;
	w->cost = vm_cost(q->rate);
	w->burst = vm_burst_ns(q->burst, q->rate, port->queues);
	vm_marker_convert(&q->marker, &w->marker);
	colours(q, w);
	w->distance.option = q->distance.option;
	w->distance.infer = q->distance.infer;
	w->distance.share = q->distance.share;
	w->ttl_option = q->ttl_option;
	w->victim = q->victim;
	w->victim_by_colour = q->victim_by_colour;
	w->victim_window = q->victim_window;
	departure(q, &w->codel);
	pie(q, &w->pie);
	dualpi2(q, &w->dualpi2);
	w->fq = group_bits(q->fq);
}
