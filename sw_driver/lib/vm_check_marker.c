// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Which markers are legal: the rules of docs/configuration.md and docs/markers.md, one by one. */
#include "vm_profile.h"
#include "vm_ratio.h"

#define RATE_MIN 64000ull
#define RATE_MAX 200000000000ull
#define DEPTH_MAX (64u << 20)
#define SHORTEST_FRAME 60u /* without FCS */
#define SHORTEST_IP 20u
#define SPAN_MAX_NS ((((u64)1 << VM_COST_MANT_BITS) - 1) << VM_SPAN_SHIFT)
#define METER_MAX_NS 3600000000000ull
#define AGE_MIN_NS ((u64)1 << VM_FLOW_TICK_BITS)
#define AGE_MAX_NS (65535 * AGE_MIN_NS)

#define GREEN 1u
#define YELLOW 2u
#define RED 4u

static const char place[] = "marker";

static bool range(struct vm_refusal *fault, const char *field, u64 value, u64 low, u64 high, const char *legal)
{
	return vm_check_range(fault, place, field, value, low, high, legal);
}

static bool rate(struct vm_refusal *fault, const char *field, u64 value)
{
	return range(fault, field, value, RATE_MIN, RATE_MAX, "64kbit to 200Gbit");
}

/* A bucket must hold the shortest packet there is. */
static bool bucket(struct vm_refusal *fault, const struct vm_marker *m, const char *field, u32 bytes)
{
	const u32 least = m->packet_bytes ? m->packet_bytes : m->ip_length ? SHORTEST_IP : SHORTEST_FRAME;

	return range(fault, field, bytes, least, DEPTH_MAX,
		     m->packet_bytes ? "1p to 64MiB"
		     : m->ip_length  ? "20B to 64MiB, or 1p up"
				     : "60B to 64MiB, or 1p up");
}

static bool srtcm(struct vm_refusal *fault, const struct vm_marker *m)
{
	if (!rate(fault, "cir", m->cir))
		return false;
	if (!m->cbs && !m->ebs)
		return range(fault, "cbs", 0, 1, DEPTH_MAX, "up to 64MiB, and more than 0 where ebs is 0 (RFC 2697)");
	return (!m->cbs || bucket(fault, m, "cbs", m->cbs)) && (!m->ebs || bucket(fault, m, "ebs", m->ebs));
}

static bool trtcm(struct vm_refusal *fault, const struct vm_marker *m)
{
	return rate(fault, "cir", m->cir) &&
	       range(fault, "pir", m->pir, m->cir, RATE_MAX, "from cir up to 200Gbit (RFC 2698)") &&
	       bucket(fault, m, "cbs", m->cbs) && bucket(fault, m, "pbs", m->pbs);
}

/* MAX above 0 to 1, and its span within the register: width / MAX <= SPAN_MAX_NS. */
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
	u64 burst_ns[2], low_ns, high_ns;

	if (!rate(fault, "rate", m->rate) || !bucket(fault, m, "bucket", m->bucket) ||
	    !range(fault, "high", m->high, 0, m->bucket, "low up to bucket") ||
	    !range(fault, "low", m->low, 0, m->high, "0 up to high"))
		return false;
	vm_marker_times(m, burst_ns, &low_ns, &high_ns);
	if (!max_p(fault, "max_demote", m->max_demote, low_ns) ||
	    !max_p(fault, "max_promote", m->max_promote, burst_ns[0] - high_ns))
		return false;
	if (!vm_number_at_most(m->p_drop, 1, 1) || (m->p_drop.num && !vm_probability(m->p_drop, VM_MARK_DRAW_BITS)))
		return vm_check_fail(fault, place, "p_drop", m->p_drop, "0, or 7.7e-06 to 1");
	return range(fault, "meter", m->meter_ns, 0, METER_MAX_NS, "0ns to 3600s");
}

static bool flow(struct vm_refusal *fault, const struct vm_marker *m)
{
	if (!range(fault, "kind", m->flow_kind, 0, VM_FLOW_ADAPTIVE, "nm, 3cpm, wpm, apm (0 to 3)") ||
	    !range(fault, "alpha", m->alpha_eighths, 1, m->by_factor ? 7 : 8,
		   m->by_factor ? "1 to 7 eighths with increase by factor" : "1 to 8 eighths"))
		return false;
	if (!vm_number_at_most(m->initial_average, 65535, 1) ||
	    (m->initial_average.num && !vm_flow_average(m->initial_average)))
		return vm_check_fail(fault, place, "a0", m->initial_average, "0, or 0.00196 to 65535 packets");
	return range(fault, "ns", m->start_credits, 0, 255, "0 to 255 packets") &&
	       range(fault, "na", m->recovery_credits, 0, 255, "0 to 255 packets") &&
	       range(fault, "increase", m->by_factor, 0, 1, "0 and 1") &&
	       range(fault, "ack", m->ack_green, 0, 1, "0 and 1") &&
	       range(fault, "idle", m->idle_ns, AGE_MIN_NS, AGE_MAX_NS, "4194304ns (5ms) to 274s") &&
	       range(fault, "half_open", m->half_open_ns, AGE_MIN_NS, m->idle_ns, "4194304ns (5ms) to idle");
}

/* The colours that a packet can leave the marker with. */
static u32 colours(const struct vm_marker *m)
{
	static const u32 of_flow[] = {
		[VM_FLOW_NONE] = YELLOW,
		[VM_FLOW_THREE_COLOUR] = GREEN | YELLOW | RED,
		[VM_FLOW_WEB] = GREEN | YELLOW,
		[VM_FLOW_ADAPTIVE] = YELLOW | RED,
	};

	switch (m->kind) {
	case VM_LEAF:
		return GREEN | 1u << m->out_colour;
	case VM_SRTCM:
		return (m->cbs ? GREEN : 0) | (m->ebs ? YELLOW : 0) | RED;
	case VM_FLOW:
		return of_flow[m->flow_kind];
	default:
		return GREEN | YELLOW | RED;
	}
}

static bool kind(struct vm_refusal *fault, const struct vm_marker *m)
{
	switch (m->kind) {
	case VM_LEAF:
		return rate(fault, "rate", m->rate) && bucket(fault, m, "burst", m->burst) &&
		       range(fault, "out", m->out_colour, 1, 2, "yellow, red (1 and 2)");
	case VM_SRTCM:
		return srtcm(fault, m);
	case VM_TRTCM:
		return trtcm(fault, m);
	case VM_REDP:
		return redp(fault, m);
	case VM_FLOW:
		return flow(fault, m);
	default:
		return range(fault, "kind", m->kind, 0, VM_FLOW, "none, leaf, srtcm, trtcm, redp, flow (0 to 5)");
	}
}

bool vm_marker_check(const struct vm_marker *m, struct vm_refusal *fault)
{
	if (m->kind == VM_NO_MARKER)
		return true;
	if (m->kind != VM_FLOW &&
	    (!range(fault, "colour_aware", m->colour_aware, 0, 1, "0 and 1") ||
	     !range(fault, "length", m->ip_length, 0, 1, "frame, ip (0 and 1)") ||
	     (m->packet_bytes && !range(fault, "packet", m->packet_bytes, 64, 9600, "64B to 9600B"))))
		return false;
	return kind(fault, m) && !(m->drop_colours & ~colours(m) && !range(fault, "drop", m->drop_colours, 0, 0,
									   "a mask of colours that this marker gives"));
}
