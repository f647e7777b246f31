// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Which settings are legal: the rules of docs/configuration.md, one by one. */
#include "vm_profile.h"
#include "vm_ratio.h"

#define RATE_MIN 64000ull
#define RATE_MAX 200000000000ull
#define BURST_MAX 100000000u

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

static bool flag(struct vm_refusal *fault, const char *place, const char *field, u32 value)
{
	return vm_check_range(fault, place, field, value, 0, 1, "0 and 1");
}

bool vm_number_at_most(struct vm_number x, u64 num, u64 den)
{
	struct vm_ratio a;

	vm_ratio_of(&a, x);
	vm_wide_mul_u64(&a.num, den);
	vm_wide_mul_u64(&a.den, num);
	return !vm_wide_less(&a.den, &a.num);
}

static bool rate(struct vm_refusal *fault, u64 value)
{
	return vm_check_range(fault, "", "rate", value, RATE_MIN, RATE_MAX, "64kbit to 200Gbit");
}

static bool burst(struct vm_refusal *fault, u32 value)
{
	return vm_check_range(fault, "", "burst", value, 0, BURST_MAX, "0B to 100MB");
}

bool vm_port_check(const struct vm_port *port, struct vm_refusal *fault)
{
	return rate(fault, port->rate) && burst(fault, port->burst_bytes) &&
	       vm_check_range(fault, "", "queues", port->queues, 1, 4096, "1 to 4096");
}

/* min <= max <= what the format holds, and what gentle and ExRED ask for beyond. */
static bool curve_check(const struct vm_queue *q, const struct vm_curve *c, const char *place, struct vm_refusal *fault)
{
	const u32 end = vm_curve_end(q, c);
	struct vm_ratio p;

	if (!vm_check_range(fault, place, "curve", c->kind, VM_TAIL, VM_EXRED, "tail, red, gentle, exred (0 to 3)"))
		return false;
	if (c->kind == VM_TAIL)
		return true;
	if (!vm_number_at_most(c->p, 1, 1))
		return vm_check_fail(fault, place, "p", c->p, "0 to 1");
	if (!vm_check_range(fault, place, "max", c->max, 0, VM_LEN_MAX, "0 to 134217727") ||
	    !vm_check_range(fault, place, "min", c->min, 0, c->max, "0 up to max"))
		return false;
	if (c->kind == VM_GENTLE)
		return vm_check_range(fault, place, "max", c->max, 1, VM_LEN_MAX / 2, "1 to 67108863 for gentle");
	if (c->kind == VM_RED)
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
		if (q->curve[c][VM_MARKS].kind != VM_TAIL && !q->ecn)
			return fail(fault, places[c][VM_MARKS], "curve", q->curve[c][VM_MARKS].kind,
				    "tail (0) where ecn is 0");
		if (q->remark >> c & 1 && q->remark_dscp[c] > 63)
			return fail(fault, "remark", places[c][VM_DROPS], q->remark_dscp[c], "0 to 63");
	}
	return vm_check_range(fault, "", "remark", q->remark, 0, 7, "a mask of three colours, 0 to 7");
}

static bool average_check(const struct vm_queue *q, struct vm_refusal *fault)
{
	const struct vm_number w = q->weight;
	struct vm_ratio x;

	vm_ratio_of(&x, w);
	vm_wide_shl(&x.num, 15); /* w >= 2^-15 */
	if (vm_wide_less(&x.num, &x.den) || !vm_number_at_most(w, 1, 1))
		return vm_check_fail(fault, "average", "weight", w, "2^-15 (0.0000306) to 1");
	return vm_check_range(fault, "average", "kind", q->average_kind, 0, VM_AVERAGE_RIO_DC,
			      "red, wred, rio-c, rio-2, rio-dc (0 to 4)") &&
	       flag(fault, "average", "unit", q->unit_packets) && flag(fault, "average", "update", q->update_depart) &&
	       vm_check_range(fault, "average", "idle_packet", q->idle_packet_bytes, 64, 9600, "64B to 9600B");
}

static bool victim_check(const struct vm_queue *q, struct vm_refusal *fault)
{
	if (!flag(fault, "", "victim", q->nearest) || !flag(fault, "", "victim_by_colour", q->by_colour) ||
	    !vm_check_range(fault, "", "victim_window", q->window, 0, 16, "1 to 16 packets"))
		return false;
	if (!q->nearest && q->by_colour)
		return fail(fault, "", "victim_by_colour", q->by_colour, "0 where the arriving packet is dropped");
	if (!q->nearest && q->window)
		return fail(fault, "", "victim_window", q->window, "0 where the arriving packet is dropped");
	if (q->window && !q->limit_bytes && !q->limit_packets)
		return fail(fault, "", "victim_window", q->window, "0 where the queue has no limit");
	return flag(fault, "distance", "option", q->distance_option) &&
	       flag(fault, "distance", "infer", q->distance_infer) &&
	       flag(fault, "distance", "share", q->distance_share) &&
	       flag(fault, "", "ttl_option", q->remove_ttl_option);
}

bool vm_queue_check(const struct vm_queue *q, const struct vm_port *port, struct vm_refusal *fault)
{
	if (!vm_port_check(port, fault) || !average_check(q, fault))
		return false;
	if (!vm_check_range(fault, "", "spacing", q->spacing, 0, VM_WAIT, "geometric, uniform, wait (0 to 2)") ||
	    !flag(fault, "", "ecn", q->ecn) || !flag(fault, "", "strict", q->strict))
		return false;
	if (q->size_weight_bytes &&
	    !vm_check_range(fault, "", "size_weight", q->size_weight_bytes, 64, 9600, "64B to 9600B"))
		return false;
	if (!vm_check_range(fault, "", "limit", q->limit_bytes, 0, VM_LEN_MAX, "1B to 134217727B") ||
	    !vm_check_range(fault, "", "limit_packets", q->limit_packets, 0, VM_LEN_MAX, "1p to 134217727p") ||
	    !vm_check_range(fault, "", "priority", q->priority, 0, 7, "0 to 7, higher goes first") ||
	    !vm_check_range(fault, "", "quantum", q->quantum_bytes, 64, 65535, "64B to 65535B"))
		return false;
	if (q->alpha.num && !vm_alpha(q->alpha))
		return vm_check_fail(fault, "", "alpha", q->alpha, "a power of two from 2^-7 (0.0078125) to 8");
	if ((q->rate && !rate(fault, q->rate)) || !burst(fault, q->burst_bytes))
		return false;
	return curves_check(q, fault) && victim_check(q, fault) && vm_marker_check(&q->marker, fault);
}
