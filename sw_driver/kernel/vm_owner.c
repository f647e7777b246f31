// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Which settings of a queue are tc's: compares and copies them. */
#include "vm_core.h"

/* Compares the form, not the value: 1/2 and 2/4 differ. A den of 0 counts as 1, as in netlink. */
static bool vm_same_number(const struct vm_number *a, const struct vm_number *b)
{
	return a->num == b->num && (a->den ?: 1) == (b->den ?: 1) && a->tens == b->tens;
}

static bool vm_same_curve(const struct vm_curve *a, const struct vm_curve *b)
{
	return a->curve == b->curve && a->min == b->min && a->max == b->max && a->end == b->end &&
	       vm_same_number(&a->p, &b->p);
}

bool vm_queue_same_for_tc(const struct vm_queue *a, const struct vm_queue *b)
{
	u32 c, which;

	for (c = 0; c < VM_COLOURS; c++)
		for (which = VM_DROPS; which <= VM_MARKS; which++)
			if (!vm_same_curve(&a->curve[c][which], &b->curve[c][which]))
				return false;
	return a->aqm == b->aqm && a->mark_at == b->mark_at && a->average.kind == b->average.kind &&
	       a->average.unit == b->average.unit && a->ecn == b->ecn && a->limit == b->limit &&
	       a->limit_packets == b->limit_packets && a->strict == b->strict && a->priority == b->priority &&
	       a->quantum == b->quantum && a->rate == b->rate && a->burst == b->burst;
}

void vm_queue_copy_for_tc(struct vm_queue *to, const struct vm_queue *from)
{
	memcpy(to->curve, from->curve, sizeof(to->curve));
	to->aqm = from->aqm;
	to->mark_at = from->mark_at;
	to->average.kind = from->average.kind;
	to->average.unit = from->average.unit;
	to->ecn = from->ecn;
	to->limit = from->limit;
	to->limit_packets = from->limit_packets;
	to->strict = from->strict;
	to->priority = from->priority;
	to->quantum = from->quantum;
	to->rate = from->rate;
	to->burst = from->burst;
}

bool vm_queue_same_weight(const struct vm_queue *a, const struct vm_queue *b)
{
	return vm_same_number(&a->average.weight, &b->average.weight);
}
