// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The tree of offloaded qdiscs: inserts and removes them. */
#include "vm_tc.h"

/* Extends the range from @first to @end by the queues of @a. */
static void vm_tc_span(const struct vm_tc_qdisc *a, u32 *first, u32 *end)
{
	*first = min(*first, a->queue);
	*end = max(*end, a->queue + a->queues);
}

/* Removes a qdisc and those below it, without programming the lane. */
static void vm_tc_forget(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, u32 *first, u32 *end)
{
	struct vm_tc_qdisc *below;
	u32 minor;

	for (minor = 1; minor <= max_t(u32, qdisc->queues, 1); minor++) {
		below = vm_tc_child(repr, TC_H_MAKE(qdisc->handle, minor));
		if (below)
			vm_tc_forget(repr, below, first, end);
	}
	vm_tc_span(qdisc, first, end);
	vm_tc_unreport(qdisc);
	list_del(&qdisc->list);
	kfree(qdisc);
}

/* Gives each class without a qdisc the fifo that Linux makes for it. If its counters cannot be read,
 * or there is no memory, it is not offloaded.
 */
static void vm_tc_fill(struct vm_repr *repr, const struct vm_tc_qdisc *above)
{
	struct vm_tc_qdisc *fifo;
	struct vm_why why;
	u32 minor;

	if (above->kind == VM_TC_GRED || above->kind == VM_TC_FIFO)
		return;
	for (minor = 1; minor <= above->queues; minor++) {
		if (vm_tc_child(repr, TC_H_MAKE(above->handle, minor)))
			continue;
		fifo = vm_tc_new(VM_TC_FIFO, 0, TC_H_MAKE(above->handle, minor), NULL);
		if (!fifo)
			return;
		if (vm_tc_place(repr, fifo, &why) && !vm_tc_begin_statistics(repr, fifo, &why))
			list_add_tail(&fifo->list, &repr->tc->qdiscs);
		else
			kfree(fifo);
	}
}

static const char *vm_tc_name_of(const struct vm_tc_qdisc *qdisc)
{
	static const char *const names[] = {
		[VM_TC_RED] = "red", [VM_TC_GRED] = "gred", [VM_TC_PRIO] = "prio",
		[VM_TC_ETS] = "ets", [VM_TC_TBF] = "tbf",   [VM_TC_FIFO] = "fifo",
	};

	return names[qdisc->kind];
}

static int vm_tc_refuse(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, const struct vm_why *reason)
{
	struct vm_why why;

	vm_why_set(&why, "%s %x: %s", vm_tc_name_of(qdisc), TC_H_MAJ(qdisc->handle) >> 16, reason->text);
	vm_repr_refuse(repr, &why);
	return -EOPNOTSUPP;
}

/* A change keeps the reported counters, as the kernel's counters continue. */
static void vm_tc_inherit(struct vm_tc_qdisc *qdisc, const struct vm_tc_qdisc *before)
{
	qdisc->epoch = before->epoch;
	memcpy(qdisc->told, before->told, sizeof(qdisc->told));
	memcpy(qdisc->told_more, before->told_more, sizeof(qdisc->told_more));
	memcpy(qdisc->backlog, before->backlog, sizeof(qdisc->backlog));
	memcpy(qdisc->qlen, before->qlen, sizeof(qdisc->qlen));
	if (qdisc->kind == VM_TC_FIFO)
		qdisc->qstats = before->qstats; /* a change of it does not give them */
}

/* Programs the queues of a change, and reports a refusal unless the card is gone. */
static void vm_tc_settle(struct vm_repr *repr, u32 first, u32 end)
{
	struct vm_why why;

	if (first < end && vm_tc_program(repr, first, end - first, &why) && !vm_card_is_gone(repr->card))
		vm_repr_refuse(repr, &why);
}

void vm_tc_remove(struct vm_repr *repr, struct vm_tc_qdisc *qdisc)
{
	u32 first = U32_MAX, end = 0;

	vm_tc_forget(repr, qdisc, &first, &end);
	vm_tc_settle(repr, first, end);
}

/* The kernel frees a qdisc that it has purged, and those below it. So the driver must not subtract
 * the reported backlog from their counters.
 */
static void vm_tc_disown(struct vm_repr *repr, struct vm_tc_qdisc *qdisc)
{
	struct vm_tc_qdisc *below;
	u32 minor;

	qdisc->qstats = NULL;
	for (minor = 1; minor <= max_t(u32, qdisc->queues, 1); minor++) {
		below = vm_tc_child(repr, TC_H_MAKE(qdisc->handle, minor));
		if (below)
			vm_tc_disown(repr, below);
	}
}

/* Before they report a change, ets purges the bands that it removes, and red its child, which it
 * replaces with a fifo. prio purges bands afterwards.
 */
static void vm_tc_purge_bands(struct vm_repr *repr, const struct vm_tc_qdisc *before, u32 bands)
{
	struct vm_tc_qdisc *there;
	u32 minor;

	for (minor = bands + 1; minor <= before->queues; minor++) {
		there = vm_tc_child(repr, TC_H_MAKE(before->handle, minor));
		if (!there)
			continue;
		vm_tc_purged(repr, there);
		vm_tc_disown(repr, there);
	}
}

/* Removes the children of bands that no longer exist. */
static void vm_tc_forget_bands(struct vm_repr *repr, const struct vm_tc_qdisc *before, u32 bands, u32 *first, u32 *end)
{
	struct vm_tc_qdisc *there;
	u32 minor;

	for (minor = bands + 1; minor <= before->queues; minor++) {
		there = vm_tc_child(repr, TC_H_MAKE(before->handle, minor));
		if (there)
			vm_tc_forget(repr, there, first, end);
	}
}

int vm_tc_replace(struct vm_repr *repr, struct vm_tc_qdisc *qdisc)
{
	struct vm_tc_qdisc *before = vm_tc_find(repr, qdisc->handle), *there;
	u32 first = U32_MAX, end = 0;
	struct vm_why why;

	qdisc->parent = vm_tc_class(repr, qdisc->parent);
	there = vm_tc_child(repr, qdisc->parent);
	if (there && there != before)
		vm_tc_forget(repr, there, &first, &end);
	if (before) {
		if (before->kind == VM_TC_ETS)
			vm_tc_purge_bands(repr, before, qdisc->queues);
		if (before->kind == VM_TC_RED && qdisc->red.limit) {
			vm_tc_purge_bands(repr, before, 0);
			vm_tc_forget_bands(repr, before, 0, &first, &end);
		}
		vm_tc_inherit(qdisc, before);
		before->qstats = NULL; /* gred's pointers may be stale by now */
	}
	if (!vm_tc_place(repr, qdisc, &why) || vm_tc_check(repr, qdisc, &why)) {
		vm_tc_unreport(qdisc);
		if (before)
			vm_tc_forget(repr, before, &first, &end);
		vm_tc_settle(repr, first, end);
		vm_tc_refuse(repr, qdisc, &why);
		kfree(qdisc);
		return -EOPNOTSUPP;
	}
	vm_tc_span(qdisc, &first, &end);
	if (before) {
		vm_tc_span(before, &first, &end);
		vm_tc_forget_bands(repr, before, qdisc->queues, &first, &end);
		list_replace(&before->list, &qdisc->list);
		kfree(before);
	} else {
		list_add_tail(&qdisc->list, &repr->tc->qdiscs);
	}
	if ((before || !vm_tc_begin_statistics(repr, qdisc, &why)) && !vm_tc_program(repr, first, end - first, &why)) {
		vm_tc_fill(repr, qdisc);
		return 0;
	}
	vm_tc_refuse(repr, qdisc, &why);
	vm_tc_remove(repr, qdisc);
	return -EOPNOTSUPP;
}

int vm_tc_graft(struct vm_repr *repr, u32 minor, u32 child_handle)
{
	struct vm_tc_qdisc *there = vm_tc_child(repr, minor), *above = vm_tc_find(repr, TC_H_MAJ(minor));
	struct vm_why why;

	if (there && there->handle == child_handle)
		return 0;
	if (there) {
		vm_tc_purged(repr, there);
		vm_tc_disown(repr, there);
		vm_tc_remove(repr, there);
	}
	if (!child_handle)
		vm_tc_fill(repr, above);
	if (above->kind != VM_TC_RED || !child_handle)
		return 0;
	vm_why_set(&why, "a lane has no other qdisc under red");
	vm_tc_refuse(repr, above, &why);
	vm_tc_remove(repr, above);
	return -EOPNOTSUPP;
}
