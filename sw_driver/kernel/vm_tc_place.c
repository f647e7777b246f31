// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Finds qdiscs in the tree, and the queues of a qdisc by its place. Table of places: vm_tc.h. */
#include "vm_tc.h"

struct vm_tc_qdisc *vm_tc_find(struct vm_repr *repr, u32 handle)
{
	struct vm_tc_qdisc *qdisc;

	list_for_each_entry(qdisc, &repr->tc->qdiscs, list)
		if (handle && qdisc->handle == handle)
			return qdisc;
	return NULL;
}

/* tbf and red take every minor as their one class. */
u32 vm_tc_class(struct vm_repr *repr, u32 parent)
{
	const struct vm_tc_qdisc *above = parent == TC_H_ROOT ? NULL : vm_tc_find(repr, TC_H_MAJ(parent));

	if (above && (above->kind == VM_TC_TBF || above->kind == VM_TC_RED))
		return TC_H_MAKE(above->handle, 1);
	return parent;
}

struct vm_tc_qdisc *vm_tc_child(struct vm_repr *repr, u32 parent)
{
	struct vm_tc_qdisc *qdisc;

	list_for_each_entry(qdisc, &repr->tc->qdiscs, list)
		if (qdisc->parent == parent)
			return qdisc;
	return NULL;
}

struct vm_tc_qdisc *vm_tc_above(struct vm_repr *repr, const struct vm_tc_qdisc *qdisc)
{
	return qdisc->parent == TC_H_ROOT ? NULL : vm_tc_find(repr, TC_H_MAJ(qdisc->parent));
}

bool vm_tc_is_port(const struct vm_tc_qdisc *qdisc)
{
	return qdisc->kind == VM_TC_TBF && qdisc->parent == TC_H_ROOT;
}

static bool vm_tc_is_scheduler(const struct vm_tc_qdisc *qdisc)
{
	return qdisc->kind == VM_TC_PRIO || qdisc->kind == VM_TC_ETS;
}

static bool vm_tc_is_leaf(const struct vm_tc_qdisc *qdisc)
{
	return qdisc->kind == VM_TC_RED || qdisc->kind == VM_TC_GRED;
}

static bool vm_tc_is_shaper(const struct vm_tc_qdisc *qdisc)
{
	return qdisc->kind == VM_TC_TBF && !vm_tc_is_port(qdisc);
}

/* A fifo that Linux made for a class takes no queue for tc: nobody has asked for it. */
static bool vm_tc_is_named_fifo(const struct vm_tc_qdisc *qdisc)
{
	return qdisc->kind == VM_TC_FIFO && qdisc->handle;
}

static struct vm_tc_qdisc *vm_tc_of(struct vm_repr *repr, u32 queue, bool (*is)(const struct vm_tc_qdisc *))
{
	struct vm_tc_qdisc *qdisc;

	list_for_each_entry(qdisc, &repr->tc->qdiscs, list)
		if (is(qdisc) && qdisc->queue == queue)
			return qdisc;
	return NULL;
}

struct vm_tc_qdisc *vm_tc_leaf(struct vm_repr *repr, u32 queue)
{
	return vm_tc_of(repr, queue, vm_tc_is_leaf);
}

struct vm_tc_qdisc *vm_tc_shaper(struct vm_repr *repr, u32 queue)
{
	return vm_tc_of(repr, queue, vm_tc_is_shaper);
}

struct vm_tc_qdisc *vm_tc_fifo(struct vm_repr *repr, u32 queue)
{
	return vm_tc_of(repr, queue, vm_tc_is_named_fifo);
}

struct vm_tc_qdisc *vm_tc_scheduler(struct vm_repr *repr)
{
	return vm_tc_of(repr, 0, vm_tc_is_scheduler);
}

/* Whether the queue can have the qdisc below @above: it has one shaper, and one red or gred. */
static bool vm_tc_fits(struct vm_repr *repr, const struct vm_tc_qdisc *qdisc, const struct vm_tc_qdisc *above)
{
	for (; above && !vm_tc_is_scheduler(above); above = vm_tc_above(repr, above)) {
		if (vm_tc_is_leaf(qdisc) && vm_tc_is_leaf(above))
			return false;
		if (vm_tc_is_shaper(qdisc) && vm_tc_is_shaper(above))
			return false;
	}
	return true;
}

bool vm_tc_place(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct vm_why *why)
{
	const u32 minor = TC_H_MIN(qdisc->parent);
	const struct vm_tc_qdisc *above;

	if (qdisc->parent == TC_H_ROOT)
		return true;
	above = vm_tc_above(repr, qdisc);
	if (!above) {
		vm_why_set(why, "its parent %x: is not offloaded", TC_H_MAJ(qdisc->parent) >> 16);
		return false;
	}
	switch (above->kind) {
	case VM_TC_PRIO:
	case VM_TC_ETS:
		if (minor < 1 || minor > above->queues || vm_tc_is_scheduler(qdisc))
			break;
		qdisc->queue = minor - 1;
		return true;
	case VM_TC_TBF:
	case VM_TC_RED:
		if (vm_tc_is_scheduler(qdisc) ? !vm_tc_is_port(above) : !vm_tc_fits(repr, qdisc, above))
			break;
		qdisc->queue = above->queue;
		return true;
	default:
		break;
	}
	vm_why_set(why, "a lane has no such qdisc under class %x:%x", TC_H_MAJ(qdisc->parent) >> 16, minor);
	return false;
}
