// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Which settings are legal: the rules of docs/configuration.md, one by one. */
#include "vm_profile.h"
#include "vm_ratio.h"

static const char *const places[VM_COLOURS][2] = {
	{ "green", "green.ecn" },
	{ "yellow", "yellow.ecn" },
	{ "red", "red.ecn" },
};

bool vm_check_fail(struct vm_refusal *fault, const char *place, const char *field, struct vm_number value,
		   const char *legal)
{
	fault->place = place;
	fault->field = field;
	fault->value = value;
	fault->legal = legal;
	return false;
}

static bool fail(struct vm_refusal *fault, const char *place, const char *field, u64 value, const char *legal)
{
	const struct vm_number number = { value, 1, 0 };

	return vm_check_fail(fault, place, field, number, legal);
}

bool vm_check_range(struct vm_refusal *fault, const char *place, const char *field, u64 value, u64 low, u64 high,
		    const char *legal)
{
	return (low <= value && value <= high) || fail(fault, place, field, value, legal);
}

/* x <= num / den */
static bool at_most(struct vm_number x, u64 num, u64 den)
{
	struct vm_ratio a;

	vm_ratio_of(&a, x);
	vm_wide_mul_u64(&a.num, den);
	vm_wide_mul_u64(&a.den, num);
	return !vm_wide_less(&a.den, &a.num);
}

static bool at_least(struct vm_number x, u64 num, u64 den)
{
	struct vm_ratio a;

	vm_ratio_of(&a, x);
	vm_wide_mul_u64(&a.num, den);
	vm_wide_mul_u64(&a.den, num);
	return !vm_wide_less(&a.num, &a.den);
}

bool vm_check_number(struct vm_refusal *fault, const char *place, const char *field, struct vm_number value,
		     u64 low_num, u64 low_den, u64 high_num, u64 high_den, const char *legal)
{
	return (at_least(value, low_num, low_den) && at_most(value, high_num, high_den)) ||
	       vm_check_fail(fault, place, field, value, legal);
}

bool vm_check_power(struct vm_refusal *fault, const char *place, const char *field, struct vm_number value,
		    const char *legal)
{
	return !value.num || vm_alpha(value) || vm_check_fail(fault, place, field, value, legal);
}

static bool rate(struct vm_refusal *fault, u64 value)
{
	return vm_check_range(fault, "", "rate", value, VM_RATE_MIN, VM_RATE_MAX, VM_RATE_LEGAL);
}

static bool burst(struct vm_refusal *fault, u32 value)
{
	return vm_check_range(fault, "", "burst", value, VM_BURST_MIN, VM_BURST_MAX, VM_BURST_LEGAL);
}

bool vm_port_check(const struct vm_port *port, struct vm_refusal *fault)
{
	return rate(fault, port->rate) && burst(fault, port->burst) &&
	       vm_check_range(fault, "", "queues", port->queues, 1, 4096, "1 to 4096");
}

/* min <= max <= the format's largest value, and the further rules of gentle and ExRED. */
static bool curve_check(const struct vm_queue *q, const struct vm_curve *c, const char *place, struct vm_refusal *fault)
{
	const u32 end = vm_curve_end(q, c);
	struct vm_ratio p;

	if (c->curve == VM_CURVE_TAIL)
		return true;
	if (!vm_curve_ranges(c, place, fault))
		return false;
	if (!vm_check_range(fault, place, "max", c->max, 0, VM_LEN_MAX, "0 to 134217727") ||
	    !vm_check_range(fault, place, "min", c->min, 0, c->max, "0 up to max"))
		return false;
	if (c->curve == VM_CURVE_GENTLE)
		return vm_check_range(fault, place, "max", c->max, 1, VM_LEN_MAX / 2, "1 to 67108863 for gentle");
	if (c->curve == VM_CURVE_RED)
		return !c->end || vm_check_range(fault, place, "end", c->end, (u64)c->max + 1, VM_LEN_MAX,
						 "0, or above max to 134217727 for red");
	if (!vm_check_range(fault, place, "end", end, 1, VM_LEN_MAX, "1 to 134217727, or the queue's limit"))
		return false;
	if (c->min >= c->max || c->max >= end)
		return fail(fault, place, "max", c->max, "more than min and less than end for exred");
	vm_ratio_of(&p, c->p);
	vm_wide_mul_u64(&p.num, end - c->min);
	vm_wide_mul_u64(&p.den, c->max - c->min);
	return !vm_wide_less(&p.den, &p.num) ||
	       vm_check_fail(fault, place, "p", c->p, "0 to (max - min) / (end - min) for exred");
}

static bool curves_check(const struct vm_queue *q, struct vm_refusal *fault)
{
	u32 c, which;

	for (c = 0; c < VM_COLOURS; c++) {
		for (which = VM_DROPS; which <= VM_MARKS; which++)
			if (!curve_check(q, &q->curve[c][which], places[c][which], fault))
				return false;
		if (q->curve[c][VM_MARKS].curve != VM_CURVE_TAIL && !q->ecn)
			return fail(fault, places[c][VM_MARKS], "curve", q->curve[c][VM_MARKS].curve,
				    "tail (0) where ecn is 0");
	}
	return true;
}

static bool victim_check(const struct vm_queue *q, struct vm_refusal *fault)
{
	if (q->victim == VM_VICTIM_ARRIVING && q->victim_by_colour)
		return fail(fault, "", "victim_by_colour", q->victim_by_colour,
			    "0 where the arriving packet is dropped");
	if (q->victim == VM_VICTIM_ARRIVING && q->victim_window)
		return fail(fault, "", "victim_window", q->victim_window, "0 where the arriving packet is dropped");
	return !q->victim_window || q->limit || q->limit_packets ||
	       fail(fault, "", "victim_window", q->victim_window, "0 where the queue has no limit");
}

/* What CoDel, PIE, DualPI2 and ce_threshold take. A field that differs from its default without its AQM is refused only where its
 * default is none.
 */
static bool departure_check(const struct vm_queue *q, struct vm_refusal *fault)
{
	u32 c, which;

	if (q->aqm == VM_AQM_CURVE && q->target)
		return fail(fault, "", "target", q->target, "0 where aqm is curve");
	if ((q->aqm == VM_AQM_PIE || q->aqm == VM_AQM_DUALPI2) && q->target > VM_PIE_TARGET_MAX)
		return fail(fault, "", "target", q->target, "up to 4s where aqm is pie or dualpi2");
	if (q->aqm != VM_AQM_CODEL && q->interval)
		return fail(fault, "", "interval", q->interval, "0 where aqm is not codel");
	if (q->aqm != VM_AQM_PIE && q->aqm != VM_AQM_DUALPI2 && q->tupdate)
		return fail(fault, "", "tupdate", q->tupdate, "0 where aqm is not pie or dualpi2");
	if (q->aqm != VM_AQM_DUALPI2 && q->overload)
		return fail(fault, "", "overload", q->overload, "drop (0) where aqm is not dualpi2");
	if (q->aqm != VM_AQM_PIE && q->bytemode)
		return fail(fault, "", "bytemode", q->bytemode, "0 where aqm is not pie");
	if (q->aqm == VM_AQM_PIE && q->victim && !q->victim_window)
		return fail(fault, "", "victim_window", 0, "1 to 16 where aqm is pie and victim is nearest");
	if (q->ce_mask && !q->ce_threshold)
		return fail(fault, "", "ce_mask", q->ce_mask, "0 where the queue has no ce_threshold");
	if (q->ce_selector & ~q->ce_mask)
		return fail(fault, "", "ce_selector", q->ce_selector, "only bits that ce_mask has");
	if (q->aqm == VM_AQM_CURVE)
		return true;
	for (c = 0; c < VM_COLOURS; c++)
		for (which = VM_DROPS; which <= VM_MARKS; which++)
			if (q->curve[c][which].curve != VM_CURVE_TAIL)
				return fail(fault, places[c][which], "curve", q->curve[c][which].curve,
					    "tail (0) where aqm is not curve");
	return true;
}

/* Marks at departure: one level decides, by a curve that can be inverted, and about no other packet than the one that leaves. */
static bool marks_check(const struct vm_queue *q, struct vm_refusal *fault)
{
	const struct vm_scaled weight = vm_weight(q->average.weight, 1);
	u32 c, which;

	if (q->mark_at == VM_MARK_AT_ENQUEUE)
		return true;
	if (q->aqm != VM_AQM_CURVE)
		return fail(fault, "", "mark_at", q->mark_at, "enqueue (0) where aqm is not curve");
	if (!q->ecn)
		return fail(fault, "", "mark_at", q->mark_at, "enqueue (0) where ecn is 0");
	if (q->spacing != VM_SPACING_GEOMETRIC)
		return fail(fault, "", "spacing", q->spacing, "geometric (0) where mark_at is dequeue");
	if (q->size_weight)
		return fail(fault, "", "size_weight", q->size_weight, "0 where mark_at is dequeue");
	if (q->victim)
		return fail(fault, "", "victim", q->victim, "arriving (0) where mark_at is dequeue");
	if (weight.mant == 1u << (VM_WEIGHT_MANT_BITS - 1) && !weight.shift && q->average.kind > VM_AVERAGE_WRED)
		return fail(fault, "", "average.kind", q->average.kind,
			    "red or wred (0 or 1) where mark_at is dequeue and average.weight is 1");
	for (c = 0; c < VM_COLOURS; c++) {
		which = q->curve[c][VM_MARKS].curve != VM_CURVE_TAIL ? VM_MARKS : VM_DROPS;
		if (q->curve[c][which].curve == VM_CURVE_EXRED)
			return fail(fault, places[c][which], "curve", VM_CURVE_EXRED,
				    "tail, red or gentle (0 to 2) where mark_at is dequeue");
	}
	return true;
}

/* A queue of a group is served by its quantum, and all queues of the group alike. */
static bool group_check(const struct vm_queue *q, struct vm_refusal *fault)
{
	if (q->fq & (q->fq - 1))
		return fail(fault, "", "fq", q->fq, "2 to 1024, a power of two");
	if (q->fq && q->aqm == VM_AQM_DUALPI2)
		return fail(fault, "", "fq", q->fq, "0 where aqm is dualpi2");
	if (q->fq && q->strict)
		return fail(fault, "", "fq", q->fq, "0 where the queue is strict");
	return !q->fq || !q->rate || fail(fault, "", "fq", q->fq, "0 where the queue has a rate");
}

bool vm_queue_check(const struct vm_queue *q, const struct vm_port *port, struct vm_refusal *fault)
{
	return vm_port_check(port, fault) && vm_queue_ranges(q, "", fault) && curves_check(q, fault) &&
	       victim_check(q, fault) && departure_check(q, fault) && marks_check(q, fault) && group_check(q, fault) &&
	       vm_marker_check(&q->marker, fault);
}
