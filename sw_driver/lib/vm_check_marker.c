// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Which markers are legal: the rules of docs/configuration.md and docs/markers.md, one by one. */
#include "vm_profile.h"
#include "vm_ratio.h"

#define SPAN_MAX_NS ((((u64)1 << VM_COST_MANT_BITS) - 1) << VM_SPAN_SHIFT)

#define GREEN 1u
#define YELLOW 2u
#define RED 4u

static const char place[] = "marker";

static bool range(struct vm_refusal *fault, const char *field, u64 value, u64 low, u64 high, const char *legal)
{
	return vm_check_range(fault, place, field, value, low, high, legal);
}

bool vm_check_bucket(struct vm_refusal *fault, const char *where, const char *field, u32 bytes,
		     const struct vm_marker *m)
{
	const u32 least = m->packet ? m->packet : m->length == VM_LENGTH_IP ? VM_SHORTEST_IP : VM_SHORTEST_FRAME;

	return vm_check_range(fault, where, field, bytes, least, VM_DEPTH_MAX,
			      m->packet			  ? "1p to 64MiB"
			      : m->length == VM_LENGTH_IP ? "20B to 64MiB, or 1p up"
							  : "60B to 64MiB, or 1p up");
}

/* MAX is above 0, at most 1, and its span fits the register: width / MAX <= SPAN_MAX_NS. */
static bool max_p(struct vm_refusal *fault, const char *field, struct vm_number value, u64 width_ns)
{
	struct vm_ratio x;

	vm_ratio_of(&x, value);
	if (vm_wide_is_zero(&x.num) || vm_wide_less(&x.den, &x.num))
		return vm_check_fail(fault, place, field, value, "above 0 to 1");
	vm_wide_mul_u64(&x.num, SPAN_MAX_NS);
	vm_wide_mul_u64(&x.den, width_ns);
	return !vm_wide_less(&x.num, &x.den) ||
	       vm_check_fail(fault, place, field, value,
			     "what its register holds for these thresholds and rate, or more");
}

static bool redp(struct vm_refusal *fault, const struct vm_marker *m)
{
	u64 low, high, above;

	if (!range(fault, "high", m->high, 0, m->bucket, "low up to bucket") ||
	    !range(fault, "low", m->low, 0, m->high, "0 up to high"))
		return false;
	vm_redp_widths(m, &low, &high, &above);
	if (!max_p(fault, "max_demote", m->max_demote, low) || !max_p(fault, "max_promote", m->max_promote, above))
		return false;
	return !m->p_drop.num || vm_probability(m->p_drop, VM_MARK_DRAW_BITS) ||
	       vm_check_fail(fault, place, "p_drop", m->p_drop, "0, or 7.7e-06 to 1");
}

/* alpha is a whole number of eighths. With increase `factor` it is below 1, as the average becomes
 * A / (1 - alpha).
 */
static bool alpha(struct vm_refusal *fault, const struct vm_marker *m)
{
	const struct vm_number eighths = { vm_probability(m->alpha, VM_FLOW_ALPHA_FRAC), 1u << VM_FLOW_ALPHA_FRAC, 0 };
	struct vm_ratio asked, held;

	vm_ratio_of(&asked, m->alpha);
	vm_ratio_of(&held, eighths);
	vm_wide_mul_u64(&asked.num, eighths.den);
	vm_wide_mul_u64(&asked.den, eighths.num);
	if (vm_wide_less(&asked.num, &asked.den) || vm_wide_less(&asked.den, &asked.num))
		return vm_check_fail(fault, place, "alpha", m->alpha, "0.125 to 1 in steps of 0.125");
	return m->increase == VM_INCREASE_DOUBLE || eighths.num < eighths.den ||
	       vm_check_fail(fault, place, "alpha", m->alpha, "up to 0.875 with increase factor");
}

static bool flow(struct vm_refusal *fault, const struct vm_marker *m)
{
	if (m->kind == VM_MARKER_NM)
		return true;
	if (m->kind != VM_MARKER_WPM) {
		if (!alpha(fault, m))
			return false;
		if (m->a0.num && !vm_flow_average(m->a0))
			return vm_check_fail(fault, place, "a0", m->a0, "0, or 0.00196 to 65535 packets");
	}
	return range(fault, "half_open", m->half_open, 0, m->idle, "5ms to idle");
}

/* The colours that a packet can leave the marker with. */
static u32 colours(const struct vm_marker *m)
{
	switch (m->kind) {
	case VM_MARKER_LEAF:
		return GREEN | 1u << m->out;
	case VM_MARKER_SRTCM:
		return (m->cbs ? GREEN : 0) | (m->ebs ? YELLOW : 0) | RED;
	default:
		return vm_marker_colours(m->kind);
	}
}

static bool rules(struct vm_refusal *fault, const struct vm_marker *m)
{
	u32 code, kind;

	vm_marker_codes(m->kind, &code, &kind);
	if (code == VM_MARKS_FLOW)
		return flow(fault, m);
	return vm_marker_rules(m, place, fault) && (m->kind != VM_MARKER_REDP || redp(fault, m));
}

bool vm_marker_check(const struct vm_marker *m, struct vm_refusal *fault)
{
	if (m->kind == VM_MARKER_NONE)
		return true;
	return vm_marker_ranges(m, place, fault) && rules(fault, m) &&
	       !(m->drop & ~colours(m) &&
		 !range(fault, "drop", m->drop, 0, 0, "a mask of colours that this marker gives"));
}
