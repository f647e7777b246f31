// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The tree of offloaded qdiscs: finds the place of each, inserts and removes them. */
#include "vm_tc.h"

struct vm_tc_qdisc *vm_tc_find(struct vm_repr *repr, u32 handle)
{
	struct vm_tc_qdisc *qdisc;

	list_for_each_entry(qdisc, &repr->tc->qdiscs, list)
		if (qdisc->handle == handle)
			return qdisc;
	return NULL;
}

struct vm_tc_qdisc *vm_tc_child(struct vm_repr *repr, u32 parent)
{
	struct vm_tc_qdisc *qdisc;

	list_for_each_entry(qdisc, &repr->tc->qdiscs, list)
		if (qdisc->parent == parent)
			return qdisc;
	return NULL;
}

struct vm_tc_qdisc *vm_tc_leaf(struct vm_repr *repr, u32 queue)
{
	struct vm_tc_qdisc *qdisc;

	list_for_each_entry(qdisc, &repr->tc->qdiscs, list)
		if ((qdisc->kind == VM_TC_RED || qdisc->kind == VM_TC_GRED) && qdisc->queue == queue)
			return qdisc;
	return NULL;
}

struct vm_tc_qdisc *vm_tc_shaper(struct vm_repr *repr, u32 queue)
{
	struct vm_tc_qdisc *qdisc;

	list_for_each_entry(qdisc, &repr->tc->qdiscs, list)
		if (qdisc->kind == VM_TC_TBF && !qdisc->whole && qdisc->queue == queue)
			return qdisc;
	return NULL;
}

struct vm_tc_qdisc *vm_tc_scheduler(struct vm_repr *repr)
{
	struct vm_tc_qdisc *qdisc;

	list_for_each_entry(qdisc, &repr->tc->qdiscs, list)
		if (qdisc->kind == VM_TC_PRIO || qdisc->kind == VM_TC_ETS)
			return qdisc;
	return NULL;
}

/* Finds the queues of a qdisc by its place; table in vm_tc.h. */
static bool place(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct vm_why *why)
{
	const u32 minor = TC_H_MIN(qdisc->parent);
	struct vm_tc_qdisc *parent;

	qdisc->whole = true;
	if (qdisc->parent == TC_H_ROOT)
		return true;
	parent = vm_tc_find(repr, TC_H_MAJ(qdisc->parent));
	if (!parent) {
		vm_why_set(why, "its parent %x: is not offloaded", TC_H_MAJ(qdisc->parent) >> 16);
		return false;
	}
	switch (parent->kind) {
	case VM_TC_PRIO:
	case VM_TC_ETS:
		if (minor < 1 || minor > parent->queues || qdisc->kind == VM_TC_PRIO || qdisc->kind == VM_TC_ETS)
			break;
		qdisc->whole = false;
		qdisc->queue = minor - 1;
		return true;
	case VM_TC_TBF:
		if (minor != 1 || qdisc->kind == VM_TC_TBF || (!parent->whole && qdisc->queues > 1))
			break;
		if (!parent->whole && (qdisc->kind == VM_TC_PRIO || qdisc->kind == VM_TC_ETS))
			break;
		qdisc->whole = parent->whole;
		qdisc->queue = parent->queue;
		return true;
	default:
		break;
	}
	vm_why_set(why, "a lane has no such qdisc under class %x:%x", TC_H_MAJ(qdisc->parent) >> 16, minor);
	return false;
}

/* Extends the range from @first to @end by the queues of @a. */
static void span(const struct vm_tc_qdisc *a, u32 *first, u32 *end)
{
	*first = min(*first, a->queue);
	*end = max(*end, a->queue + a->queues);
}

/* Removes a qdisc and those below it, without programming the lane. */
static void forget(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, u32 *first, u32 *end)
{
	struct vm_tc_qdisc *below;
	u32 minor;

	for (minor = 1; minor <= max_t(u32, qdisc->queues, 1); minor++) {
		below = vm_tc_child(repr, TC_H_MAKE(qdisc->handle, minor));
		if (below)
			forget(repr, below, first, end);
	}
	span(qdisc, first, end);
	vm_tc_unreport(qdisc);
	list_del(&qdisc->list);
	kfree(qdisc);
}

static const char *name_of(const struct vm_tc_qdisc *qdisc)
{
	static const char *const names[] = {
		[VM_TC_RED] = "red", [VM_TC_GRED] = "gred", [VM_TC_PRIO] = "prio",
		[VM_TC_ETS] = "ets", [VM_TC_TBF] = "tbf",
	};

	return names[qdisc->kind];
}

static int refuse(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, const struct vm_why *reason)
{
	struct vm_why why;

	vm_why_set(&why, "%s %x: %s", name_of(qdisc), TC_H_MAJ(qdisc->handle) >> 16, reason->text);
	vm_repr_refuse(repr, &why);
	return -EOPNOTSUPP;
}

/* A change keeps the reported counters, as the kernel's counters continue. */
static void inherit(struct vm_tc_qdisc *qdisc, const struct vm_tc_qdisc *before)
{
	qdisc->epoch = before->epoch;
	memcpy(qdisc->told, before->told, sizeof(qdisc->told));
	memcpy(qdisc->told_more, before->told_more, sizeof(qdisc->told_more));
	memcpy(qdisc->backlog, before->backlog, sizeof(qdisc->backlog));
	memcpy(qdisc->qlen, before->qlen, sizeof(qdisc->qlen));
}

/* Programs the queues of a change, and reports a refusal unless the card is gone. */
static void settle(struct vm_repr *repr, u32 first, u32 end)
{
	struct vm_why why;

	if (first < end && vm_tc_program(repr, first, end - first, &why) && !repr->card->gone)
		vm_repr_refuse(repr, &why);
}

void vm_tc_remove(struct vm_repr *repr, struct vm_tc_qdisc *qdisc)
{
	u32 first = U32_MAX, end = 0;

	forget(repr, qdisc, &first, &end);
	settle(repr, first, end);
}

/* The kernel frees a qdisc that it has purged, and those below it. So the driver must not subtract
 * the reported backlog from their counters.
 */
static void disown(struct vm_repr *repr, struct vm_tc_qdisc *qdisc)
{
	struct vm_tc_qdisc *below;
	u32 minor;

	qdisc->qstats = NULL;
	for (minor = 1; minor <= max_t(u32, qdisc->queues, 1); minor++) {
		below = vm_tc_child(repr, TC_H_MAKE(qdisc->handle, minor));
		if (below)
			disown(repr, below);
	}
}

/* ets purges the bands that it removes before it reports the change; prio does so afterwards. */
static void purge_bands(struct vm_repr *repr, const struct vm_tc_qdisc *before, u32 bands)
{
	struct vm_tc_qdisc *there;
	u32 minor;

	for (minor = bands + 1; minor <= before->queues; minor++) {
		there = vm_tc_child(repr, TC_H_MAKE(before->handle, minor));
		if (!there)
			continue;
		vm_tc_purged(repr, there);
		disown(repr, there);
	}
}

/* Removes the children of bands that no longer exist. */
static void forget_bands(struct vm_repr *repr, const struct vm_tc_qdisc *qdisc, u32 bands, u32 *first, u32 *end)
{
	struct vm_tc_qdisc *there;
	u32 minor;

	for (minor = qdisc->queues + 1; minor <= bands; minor++) {
		there = vm_tc_child(repr, TC_H_MAKE(qdisc->handle, minor));
		if (there)
			forget(repr, there, first, end);
	}
}

int vm_tc_replace(struct vm_repr *repr, struct vm_tc_qdisc *qdisc)
{
	struct vm_tc_qdisc *before = vm_tc_find(repr, qdisc->handle), *there = vm_tc_child(repr, qdisc->parent);
	u32 first = U32_MAX, end = 0;
	struct vm_why why;

	if (there && there != before)
		forget(repr, there, &first, &end);
	if (before) {
		if (before->kind == VM_TC_ETS)
			purge_bands(repr, before, qdisc->queues);
		inherit(qdisc, before);
		before->qstats = NULL; /* its pointers may be stale by now */
	}
	if (!place(repr, qdisc, &why) || vm_tc_check(repr, qdisc, &why)) {
		vm_tc_unreport(qdisc);
		if (before)
			forget(repr, before, &first, &end);
		settle(repr, first, end);
		refuse(repr, qdisc, &why);
		kfree(qdisc);
		return -EOPNOTSUPP;
	}
	span(qdisc, &first, &end);
	if (before) {
		span(before, &first, &end);
		forget_bands(repr, qdisc, before->queues, &first, &end);
		list_replace(&before->list, &qdisc->list);
		kfree(before);
	} else {
		list_add_tail(&qdisc->list, &repr->tc->qdiscs);
	}
	if ((before || !vm_tc_begin_statistics(repr, qdisc, &why)) && !vm_tc_program(repr, first, end - first, &why))
		return 0;
	refuse(repr, qdisc, &why);
	vm_tc_remove(repr, qdisc);
	return -EOPNOTSUPP;
}

int vm_tc_graft(struct vm_repr *repr, u32 minor, u32 child_handle)
{
	struct vm_tc_qdisc *parent = vm_tc_find(repr, TC_H_MAJ(minor)), *there = vm_tc_child(repr, minor);
	struct vm_why why;

	if (there && there->handle != child_handle) {
		vm_tc_purged(repr, there);
		disown(repr, there);
		vm_tc_remove(repr, there);
	}
	/* red has one queue, and a lane can have no qdisc below it; its own fifo has no handle. */
	if (parent->kind != VM_TC_RED || !child_handle)
		return 0;
	vm_why_set(&why, "a lane has no other qdisc under red");
	refuse(repr, parent, &why);
	vm_tc_remove(repr, parent);
	return -EOPNOTSUPP;
}
