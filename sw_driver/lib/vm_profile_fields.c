/* Generated from hw/regs/profile.yaml by sim/vermilion/generate/profile.py. Do not edit. */
/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* clang-format off */
#include "vm_profile.h"

const char *const vm_colours[VM_COLOURS] = { "green", "yellow", "red" };

bool vm_average_ranges(const struct vm_average *s, const char *place, struct vm_refusal *fault)
{
	return vm_check_number(fault, place, "weight", s->weight, 1, 32768, 1, 1, "2^-15 (0.0000306) to 1") &&
	       vm_check_range(fault, place, "kind", s->kind, 0u, 4u, "red, wred, rio-c, rio-2, rio-dc (0 to 4)") &&
	       vm_check_range(fault, place, "unit", s->unit, 0u, 1u, "byte, packet (0 to 1)") &&
	       vm_check_range(fault, place, "update", s->update, 0u, 1u, "arrival, both (0 to 1)") &&
	       vm_check_range(fault, place, "idle_packet", s->idle_packet, 64u, 9600u, "64B to 9600B");
}

bool vm_curve_ranges(const struct vm_curve *s, const char *place, struct vm_refusal *fault)
{
	return vm_check_range(fault, place, "curve", s->curve, 0u, 3u, "tail, red, gentle, exred (0 to 3)") &&
	       vm_check_number(fault, place, "p", s->p, 0, 1, 1, 1, "0 to 1");
}

bool vm_distance_ranges(const struct vm_distance *s, const char *place, struct vm_refusal *fault)
{
	return vm_check_range(fault, place, "option", s->option, 0u, 1u, "0 and 1") &&
	       vm_check_range(fault, place, "infer", s->infer, 0u, 1u, "0 and 1") &&
	       vm_check_range(fault, place, "share", s->share, 0u, 1u, "0 and 1");
}

bool vm_marker_ranges(const struct vm_marker *s, const char *place, struct vm_refusal *fault)
{
	switch (s->kind) {
	case VM_MARKER_NONE:
		return true;
	case VM_MARKER_LEAF:
		return vm_check_range(fault, place, "drop", s->drop, 0u, 7u, "a mask of three colours, 0 to 7") &&
		       (s->packet == 0u || vm_check_range(fault, place, "packet", s->packet, 64u, 9600u, "64B to 9600B")) &&
		       vm_check_range(fault, place, "rate", s->rate, 64000u, 200000000000ull, "64kbit to 200Gbit") &&
		       vm_check_range(fault, place, "out", s->out, 1u, 2u, "yellow, red (1 and 2)") &&
		       vm_check_range(fault, place, "length", s->length, 0u, 1u, "frame, ip (0 to 1)");
	case VM_MARKER_SRTCM:
		return vm_check_range(fault, place, "drop", s->drop, 0u, 7u, "a mask of three colours, 0 to 7") &&
		       (s->packet == 0u || vm_check_range(fault, place, "packet", s->packet, 64u, 9600u, "64B to 9600B")) &&
		       vm_check_range(fault, place, "cir", s->cir, 64000u, 200000000000ull, "64kbit to 200Gbit") &&
		       vm_check_range(fault, place, "colour_aware", s->colour_aware, 0u, 1u, "0 and 1") &&
		       vm_check_range(fault, place, "length", s->length, 0u, 1u, "frame, ip (0 to 1)");
	case VM_MARKER_TRTCM:
		return vm_check_range(fault, place, "drop", s->drop, 0u, 7u, "a mask of three colours, 0 to 7") &&
		       (s->packet == 0u || vm_check_range(fault, place, "packet", s->packet, 64u, 9600u, "64B to 9600B")) &&
		       vm_check_range(fault, place, "cir", s->cir, 64000u, 200000000000ull, "64kbit to 200Gbit") &&
		       vm_check_range(fault, place, "pir", s->pir, 64000u, 200000000000ull, "64kbit to 200Gbit") &&
		       vm_check_range(fault, place, "colour_aware", s->colour_aware, 0u, 1u, "0 and 1") &&
		       vm_check_range(fault, place, "length", s->length, 0u, 1u, "frame, ip (0 to 1)");
	case VM_MARKER_REDP:
		return vm_check_range(fault, place, "drop", s->drop, 0u, 7u, "a mask of three colours, 0 to 7") &&
		       (s->packet == 0u || vm_check_range(fault, place, "packet", s->packet, 64u, 9600u, "64B to 9600B")) &&
		       vm_check_range(fault, place, "rate", s->rate, 64000u, 200000000000ull, "64kbit to 200Gbit") &&
		       vm_check_number(fault, place, "max_demote", s->max_demote, 0, 1, 1, 1, "above 0 to 1") &&
		       vm_check_number(fault, place, "max_promote", s->max_promote, 0, 1, 1, 1, "above 0 to 1") &&
		       vm_check_number(fault, place, "p_drop", s->p_drop, 0, 1, 1, 1, "0 to 1") &&
		       vm_check_range(fault, place, "meter", s->meter, 0u, 3600000000000ull, "0ns to 3600s") &&
		       vm_check_range(fault, place, "length", s->length, 0u, 1u, "frame, ip (0 to 1)");
	case VM_MARKER_NM:
		return vm_check_range(fault, place, "drop", s->drop, 0u, 7u, "a mask of three colours, 0 to 7");
	case VM_MARKER_3CPM:
		return vm_check_range(fault, place, "drop", s->drop, 0u, 7u, "a mask of three colours, 0 to 7") &&
		       vm_check_number(fault, place, "alpha", s->alpha, 1, 8, 1, 1, "0.125 to 1 in steps of 0.125") &&
		       vm_check_number(fault, place, "a0", s->a0, 0, 1, 65535, 1, "0 to 65535 packets") &&
		       vm_check_range(fault, place, "ns", s->ns, 0u, 255u, "0 to 255 packets, whole") &&
		       vm_check_range(fault, place, "na", s->na, 0u, 255u, "0 to 255 packets, whole") &&
		       vm_check_range(fault, place, "increase", s->increase, 0u, 1u, "double, factor (0 to 1)") &&
		       vm_check_range(fault, place, "ack", s->ack, 0u, 1u, "yellow, green (0 to 1)") &&
		       vm_check_range(fault, place, "idle", s->idle, 4194304u, 274873712640ull, "5ms to 274s") &&
		       vm_check_range(fault, place, "half_open", s->half_open, 4194304u, 274873712640ull, "5ms to 274s");
	case VM_MARKER_WPM:
		return vm_check_range(fault, place, "drop", s->drop, 0u, 7u, "a mask of three colours, 0 to 7") &&
		       vm_check_range(fault, place, "ns", s->ns, 0u, 255u, "0 to 255 packets, whole") &&
		       vm_check_range(fault, place, "na", s->na, 0u, 255u, "0 to 255 packets, whole") &&
		       vm_check_range(fault, place, "ack", s->ack, 0u, 1u, "yellow, green (0 to 1)") &&
		       vm_check_range(fault, place, "idle", s->idle, 4194304u, 274873712640ull, "5ms to 274s") &&
		       vm_check_range(fault, place, "half_open", s->half_open, 4194304u, 274873712640ull, "5ms to 274s");
	case VM_MARKER_APM:
		return vm_check_range(fault, place, "drop", s->drop, 0u, 7u, "a mask of three colours, 0 to 7") &&
		       vm_check_number(fault, place, "alpha", s->alpha, 1, 8, 1, 1, "0.125 to 1 in steps of 0.125") &&
		       vm_check_number(fault, place, "a0", s->a0, 0, 1, 65535, 1, "0 to 65535 packets") &&
		       vm_check_range(fault, place, "increase", s->increase, 0u, 1u, "double, factor (0 to 1)") &&
		       vm_check_range(fault, place, "idle", s->idle, 4194304u, 274873712640ull, "5ms to 274s") &&
		       vm_check_range(fault, place, "half_open", s->half_open, 4194304u, 274873712640ull, "5ms to 274s");
	default:
		return vm_check_range(fault, place, "kind", s->kind, 0, 8, "none, leaf, srtcm, trtcm, redp, nm, 3cpm, wpm, apm (0 to 8)");
	}
}

bool vm_queue_ranges(const struct vm_queue *s, const char *place, struct vm_refusal *fault)
{
	u32 c;

	for (c = 0; c < VM_COLOURS; c++)
		if (!vm_check_range(fault, "remark", vm_colours[c], s->remark[c], 0u, 64u, "0 to 63, or 64 to keep the packet's"))
			return false;
	return vm_check_range(fault, place, "spacing", s->spacing, 0u, 2u, "geometric, uniform, wait (0 to 2)") &&
	       (s->size_weight == 0u || vm_check_range(fault, place, "size_weight", s->size_weight, 64u, 9600u, "64B to 9600B")) &&
	       vm_check_range(fault, place, "ecn", s->ecn, 0u, 1u, "0 and 1") &&
	       (s->limit == 0u || vm_check_range(fault, place, "limit", s->limit, 1u, 134217727u, "1B to 134217727B")) &&
	       (s->limit_packets == 0u || vm_check_range(fault, place, "limit_packets", s->limit_packets, 1u, 134217727u, "1p to 134217727p")) &&
	       vm_check_power(fault, place, "alpha", s->alpha, "a power of two from 2^-7 (0.0078125) to 8") &&
	       vm_check_range(fault, place, "strict", s->strict, 0u, 1u, "0 and 1") &&
	       vm_check_range(fault, place, "priority", s->priority, 0u, 7u, "0 to 7, higher goes first") &&
	       vm_check_range(fault, place, "quantum", s->quantum, 64u, 65535u, "64B to 65535B") &&
	       (s->rate == 0u || vm_check_range(fault, place, "rate", s->rate, 64000u, 200000000000ull, "64kbit to 200Gbit")) &&
	       vm_check_range(fault, place, "burst", s->burst, 0u, 100000000u, "0B to 100MB") &&
	       vm_check_range(fault, place, "ttl_option", s->ttl_option, 0u, 1u, "keep, remove (0 to 1)") &&
	       vm_check_range(fault, place, "victim", s->victim, 0u, 1u, "arriving, nearest (0 to 1)") &&
	       vm_check_range(fault, place, "victim_by_colour", s->victim_by_colour, 0u, 1u, "0 and 1") &&
	       (s->victim_window == 0u || vm_check_range(fault, place, "victim_window", s->victim_window, 1u, 16u, "1 to 16 packets")) &&
	       vm_check_range(fault, place, "aqm", s->aqm, 0u, 3u, "curve, codel, pie, dualpi2 (0 to 3)") &&
	       (s->target == 0u || vm_check_range(fault, place, "target", s->target, 1024u, 60000000000ull, "1024ns to 60s")) &&
	       (s->interval == 0u || vm_check_range(fault, place, "interval", s->interval, 1024u, 60000000000ull, "1024ns to 60s")) &&
	       vm_check_range(fault, place, "mtu", s->mtu, 64u, 16384u, "64B to 16384B") &&
	       (s->ce_threshold == 0u || vm_check_range(fault, place, "ce_threshold", s->ce_threshold, 1024u, 60000000000ull, "1024ns to 60s")) &&
	       vm_check_range(fault, place, "ce_mask", s->ce_mask, 0u, 255u, "0 to 255") &&
	       vm_check_range(fault, place, "ce_selector", s->ce_selector, 0u, 255u, "0 to 255") &&
	       (s->tupdate == 0u || vm_check_range(fault, place, "tupdate", s->tupdate, 65536u, 1073676288u, "65536ns to 1073ms")) &&
	       vm_check_number(fault, place, "pie_alpha", s->pie_alpha, 0, 1, 3, 1, "0 to 3") &&
	       vm_check_number(fault, place, "pie_beta", s->pie_beta, 0, 1, 3, 1, "0 to 3") &&
	       vm_check_range(fault, place, "burst_allowance", s->burst_allowance, 0u, 4000000000ull, "0ns to 4s") &&
	       vm_check_range(fault, place, "bytemode", s->bytemode, 0u, 1u, "0 and 1") &&
	       vm_check_range(fault, place, "coupling", s->coupling, 1u, 255u, "1 to 255") &&
	       vm_check_range(fault, place, "step_threshold", s->step_threshold, 64u, 4000000000ull, "64ns to 4s") &&
	       vm_check_number(fault, place, "dualpi2_alpha", s->dualpi2_alpha, 0, 1, 255, 1, "0 to 255") &&
	       vm_check_number(fault, place, "dualpi2_beta", s->dualpi2_beta, 0, 1, 255, 1, "0 to 255") &&
	       vm_check_range(fault, place, "overload", s->overload, 0u, 1u, "drop, mark (0 to 1)") &&
	       vm_check_range(fault, place, "l4s_mask", s->l4s_mask, 1u, 3u, "1 to 3") &&
	       vm_check_range(fault, place, "mark_at", s->mark_at, 0u, 1u, "enqueue, dequeue (0 to 1)") &&
	       (s->fq == 0u || vm_check_range(fault, place, "fq", s->fq, 2u, 1024u, "2 to 1024, a power of two")) &&
	       vm_average_ranges(&s->average, "average", fault) &&
	       vm_distance_ranges(&s->distance, "distance", fault);
}

bool vm_marker_rules(const struct vm_marker *s, const char *place, struct vm_refusal *fault)
{
	switch (s->kind) {
	case VM_MARKER_LEAF:
		return vm_check_bucket(fault, place, "burst", s->burst, s);
	case VM_MARKER_SRTCM:
		return (s->cbs || s->ebs || vm_check_range(fault, place, "cbs", 0, 1, 67108864u, "up to 64MiB, and more than 0 where ebs is 0 (RFC 2697)")) &&
		       (!s->cbs || vm_check_bucket(fault, place, "cbs", s->cbs, s)) &&
		       (!s->ebs || vm_check_bucket(fault, place, "ebs", s->ebs, s));
	case VM_MARKER_TRTCM:
		return vm_check_range(fault, place, "pir", s->pir, s->cir, 200000000000ull, "from cir up to 200Gbit (RFC 2698)") &&
		       vm_check_bucket(fault, place, "pbs", s->pbs, s) &&
		       vm_check_bucket(fault, place, "cbs", s->cbs, s);
	case VM_MARKER_REDP:
		return vm_check_bucket(fault, place, "bucket", s->bucket, s);
	default:
		return true;
	}
}

u32 vm_marker_colours(u32 kind)
{
	switch (kind) {
	case VM_MARKER_NM:
		return 2;
	case VM_MARKER_WPM:
		return 3;
	case VM_MARKER_APM:
		return 6;
	default:
		return 7;
	}
}

void vm_marker_buckets(const struct vm_marker *s, struct vm_bucket bucket[2])
{
	vm_clear(bucket, 2 * sizeof(*bucket));
	switch (s->kind) {
	case VM_MARKER_LEAF:
		bucket[0].rate = s->rate;
		bucket[0].depth[0] = s->burst;
		break;
	case VM_MARKER_SRTCM:
		bucket[0].rate = s->cir;
		bucket[0].depth[0] = s->cbs;
		bucket[1].rate = s->cir;
		bucket[1].depth[0] = s->cbs;
		bucket[1].depth[1] = s->ebs;
		break;
	case VM_MARKER_TRTCM:
		bucket[0].rate = s->pir;
		bucket[0].depth[0] = s->pbs;
		bucket[1].rate = s->cir;
		bucket[1].depth[0] = s->cbs;
		break;
	case VM_MARKER_REDP:
		bucket[0].rate = s->rate;
		bucket[0].depth[0] = s->bucket;
		break;
	default:
		break;
	}
}

void vm_marker_codes(u32 kind, u32 *code, u32 *flow)
{
	*code = 0;
	*flow = 0;
	switch (kind) {
	case VM_MARKER_LEAF:
		*code = 1;
		break;
	case VM_MARKER_SRTCM:
		*code = 2;
		break;
	case VM_MARKER_TRTCM:
		*code = 3;
		break;
	case VM_MARKER_REDP:
		*code = 4;
		break;
	case VM_MARKER_NM:
		*code = 5;
		*flow = 0;
		break;
	case VM_MARKER_3CPM:
		*code = 5;
		*flow = 1;
		break;
	case VM_MARKER_WPM:
		*code = 5;
		*flow = 2;
		break;
	case VM_MARKER_APM:
		*code = 5;
		*flow = 3;
		break;
	default:
		break;
	}
}

const char *vm_marker_word(u32 code, u32 flow)
{
	if (code == 1)
		return "leaf";
	if (code == 2)
		return "srtcm";
	if (code == 3)
		return "trtcm";
	if (code == 4)
		return "redp";
	if (code == 5 && flow == 0)
		return "nm";
	if (code == 5 && flow == 1)
		return "3cpm";
	if (code == 5 && flow == 2)
		return "wpm";
	if (code == 5 && flow == 3)
		return "apm";
	return "none";
}

void vm_queue_defaults(struct vm_queue *queue)
{
	vm_clear(queue, sizeof(*queue));
	queue->average.weight.num = 2;
	queue->average.weight.den = 1;
	queue->average.weight.tens = 3;
	queue->average.idle_packet = 1000u;
	queue->alpha.den = 1;
	queue->quantum = 1522u;
	queue->burst = 3044u;
	queue->curve[0][0].p.den = 1;
	queue->curve[0][1].p.den = 1;
	queue->curve[1][0].p.den = 1;
	queue->curve[1][1].p.den = 1;
	queue->curve[2][0].p.den = 1;
	queue->curve[2][1].p.den = 1;
	queue->remark[0] = 64u;
	queue->remark[1] = 64u;
	queue->remark[2] = 64u;
	queue->distance.option = 1u;
	queue->distance.infer = 1u;
	queue->marker.out = 2u;
	queue->marker.max_demote.num = 5;
	queue->marker.max_demote.den = 1;
	queue->marker.max_demote.tens = 1;
	queue->marker.max_promote.num = 5;
	queue->marker.max_promote.den = 1;
	queue->marker.max_promote.tens = 1;
	queue->marker.p_drop.den = 1;
	queue->marker.meter = 100000000u;
	queue->marker.alpha.num = 5;
	queue->marker.alpha.den = 1;
	queue->marker.alpha.tens = 1;
	queue->marker.a0.num = 7;
	queue->marker.a0.den = 1;
	queue->marker.ns = 5u;
	queue->marker.na = 5u;
	queue->marker.idle = 60000000000ull;
	queue->marker.half_open = 3000000000ull;
	queue->mtu = 1514u;
	queue->pie_alpha.num = 125;
	queue->pie_alpha.den = 1;
	queue->pie_alpha.tens = 3;
	queue->pie_beta.num = 125;
	queue->pie_beta.den = 1;
	queue->pie_beta.tens = 2;
	queue->burst_allowance = 150000000u;
	queue->coupling = 2u;
	queue->step_threshold = 1000000u;
	queue->dualpi2_alpha.num = 16;
	queue->dualpi2_alpha.den = 1;
	queue->dualpi2_alpha.tens = 2;
	queue->dualpi2_beta.num = 32;
	queue->dualpi2_beta.den = 1;
	queue->dualpi2_beta.tens = 1;
	queue->l4s_mask = 1u;
}
