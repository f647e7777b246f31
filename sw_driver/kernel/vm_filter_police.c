// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* action police: a leaf marker that drops what is red. A rule uses the marker of a queue, so each
 * police takes one queue that has no owner, no class and no other settings, the last one first.
 *
 * Linux' police and the leaf marker have the same token bucket: depth burst, filled at rate, in bytes
 * of frames; a frame that fits takes its bytes, and one that does not fit takes none.
 */
#include <linux/slab.h>

#include "vm_filter.h"

#define RATE_MAX (U64_MAX / 8)

/**
 * struct vm_police - a police that filters use
 * @list: in vm_filters.polices
 * @index: the kernel's number of the action; filters that name it share the bucket. 0: no filter is
 *	left, but the lane has not taken the queue's reset yet
 * @queue: the queue whose marker it is
 * @users: number of filters
 */
struct vm_police {
	struct list_head list;
	u32 index;
	u32 queue;
	u32 users;
};

bool vm_filter_polices(const struct vm_repr *repr)
{
	return repr->filters && !list_empty(&repr->filters->polices);
}

static bool vm_police_check(struct vm_repr *repr, const struct flow_action_entry *action, struct vm_why *why)
{
	u32 queue;

	for (queue = 0; queue < repr->lane.has.queues; queue++) {
		const struct vm_tc_qdisc *leaf = vm_tc_leaf(repr, queue);

		if (leaf && leaf->kind == VM_TC_GRED) {
			vm_why_set(why, "police makes packets green, and gred needs their colours; legal without gred");
			return false;
		}
	}
	if (action->police.exceed.act_id != FLOW_ACTION_DROP)
		vm_why_set(why, "police has conform-exceed with another exceed; legal is drop");
	else if (action->police.notexceed.act_id != FLOW_ACTION_PIPE &&
		 action->police.notexceed.act_id != FLOW_ACTION_ACCEPT)
		vm_why_set(why, "police has conform-exceed with another conform; legal are pipe and ok");
	else if (action->police.rate_pkt_ps)
		vm_why_set(why, "police counts packets; legal is a rate in bits per second");
	else if (!action->police.rate_bytes_ps)
		vm_why_set(why, "police rate is 0; legal is a rate in bits per second");
	else if (action->police.peakrate_bytes_ps || action->police.avrate || action->police.overhead)
		vm_why_set(why, "police has peakrate, avrate or overhead; legal are rate and burst");
	else
		return true;
	return false;
}

/* Whether packets come to the queue without a police. */
static bool vm_police_queue_is_used(struct vm_repr *repr, u32 queue)
{
	const struct vm_filter *filter;
	u32 i, other;

	for (i = 0; i < VM_DSCPS; i++)
		if (repr->classes[i].queue == queue)
			return true;
	list_for_each_entry(filter, &repr->filters->list, list)
		if (filter->has_priority && vm_filter_queue(repr, filter->priority, &other) && other == queue)
			return true;
	return false;
}

/* @settings: a buffer; holds the queue's settings afterwards. */
static bool vm_police_find_queue(struct vm_repr *repr, u32 *queue, struct vm_queue *settings, struct vm_why *why)
{
	struct vm_queue *defaults = &repr->tc->wanted;
	enum vm_owner owner;

	vm_queue_defaults(defaults);
	for (*queue = repr->lane.has.queues; (*queue)--;) {
		if (vm_repr_get_queue(repr, *queue, settings, &owner, why))
			return false;
		if (owner == VM_OWNER_NONE && !memcmp(settings, defaults, sizeof(*settings)) &&
		    !vm_police_queue_is_used(repr, *queue))
			return true;
	}
	vm_why_set(why, "police needs the marker of a queue that nothing else uses, and no such queue is left");
	return false;
}

static bool vm_police_start(struct vm_repr *repr, struct vm_police *police, const struct flow_action_entry *action,
			    struct vm_why *why)
{
	struct vm_queue *settings = &repr->tc->settings;
	struct vm_why reason;

	if (!vm_police_find_queue(repr, &police->queue, settings, why))
		return false;
	settings->marker.kind = VM_MARKER_LEAF;
	settings->marker.rate = 8 * min(action->police.rate_bytes_ps, RATE_MAX);
	settings->marker.burst = action->police.burst;
	settings->marker.out = VM_COLOUR_RED;
	settings->marker.drop = BIT(VM_COLOUR_RED);
	settings->marker.length = VM_LENGTH_FRAME;
	if (!vm_repr_set_queue(repr, police->queue, settings, VM_OWNER_FILTER, &reason))
		return true;
	vm_why_set(why, "police: %s", reason.text);
	return false;
}

/* The queue has its defaults again. During a reset of the card it keeps the marker until its end. */
static void vm_police_stop(struct vm_repr *repr, struct vm_police *police)
{
	struct vm_why why;

	if (vm_repr_reset_queue(repr, police->queue, VM_OWNER_FILTER, &why) && !vm_card_is_gone(repr->card)) {
		vm_repr_refuse(repr, &why);
		return;
	}
	list_del(&police->list);
	kfree(police);
}

bool vm_filter_police_get(struct vm_repr *repr, struct vm_filter *filter, const struct flow_action_entry *action,
			  struct vm_why *why)
{
	struct vm_police *police;

	if (filter->police) {
		vm_why_set(why, "a second police is given; legal is one for each filter");
		return false;
	}
	if (!vm_police_check(repr, action, why))
		return false;
	list_for_each_entry(police, &repr->filters->polices, list)
		if (police->index == action->hw_index)
			goto found;
	police = kzalloc(sizeof(*police), GFP_KERNEL);
	if (!police) {
		vm_why_set(why, "no memory");
		return false;
	}
	if (!vm_police_start(repr, police, action, why)) {
		kfree(police);
		return false;
	}
	police->index = action->hw_index;
	list_add_tail(&police->list, &repr->filters->polices);
found:
	police->users++;
	filter->police = police;
	filter->rule.actions |= VM_ACT_MARKER;
	filter->rule.marker = police->queue;
	return true;
}

void vm_filter_police_put(struct vm_repr *repr, struct vm_filter *filter)
{
	struct vm_police *police = filter->police;

	filter->police = NULL;
	if (!police || --police->users)
		return;
	police->index = 0;
	vm_police_stop(repr, police);
}

void vm_filter_police_restore(struct vm_repr *repr)
{
	struct vm_police *police, *next;

	list_for_each_entry_safe(police, next, &repr->filters->polices, list)
		if (!police->users)
			vm_police_stop(repr, police);
}

void vm_filter_police_exit(struct vm_repr *repr)
{
	struct vm_police *police, *next;

	list_for_each_entry_safe(police, next, &repr->filters->polices, list)
		kfree(police);
}
