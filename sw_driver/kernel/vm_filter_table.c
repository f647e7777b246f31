// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The numbers of the filters' rules, changes of the lane's table, and counters.
 *
 * A rule's counters stay with its number. A filter keeps its number, unless a new filter needs room
 * between its neighbours: then filters move by one, each by a commit of its own to a number that no
 * rule has. So the counts before the move are those of the old number, and those after it of the new
 * one. Up to 16 frames of each input, whose heads were in before the commit, still count under the
 * old number. The move waits for them.
 */
#include <linux/delay.h>

#include "vm_filter.h"

#define IN_FLIGHT_US 200 /* 16 frames of 9 KB at 10 Gbit/s take 120 us */

/* Computes the table of all filters. */
static int vm_filter_images(struct vm_repr *repr, struct vm_why *why)
{
	struct vm_filters *all = repr->filters;
	struct vm_rule_image unplaced;
	struct vm_filter *filter;

	memset(all->image, 0, repr->lane.has.rules * sizeof(all->image[0]));
	vm_port_ranges_clear(&all->ranges);
	list_for_each_entry(filter, &all->list, list) {
		const bool placed = filter->number != VM_FILTER_UNPLACED;
		struct vm_rule rule = filter->rule;

		if (filter->has_priority && vm_filter_queue(repr, filter->priority, &rule.queue))
			rule.actions |= VM_ACT_QUEUE;
		if (!vm_rule_convert(&rule, &all->ranges, placed ? &all->image[filter->number] : &unplaced)) {
			vm_why_set(why, "the filters need a ninth range of %s ports; legal are %u, and any prefixes",
				   all->ranges.used[0] == VM_PORT_RANGES ? "source" : "destination", VM_PORT_RANGES);
			return -ENOSPC;
		}
	}
	return 0;
}

int vm_filter_program(struct vm_repr *repr, struct vm_why *why)
{
	int error;

	if (!repr->filters)
		return 0;
	error = vm_filter_images(repr, why);
	return error ? error : vm_repr_set_rules(repr, repr->filters->image, &repr->filters->ranges, why);
}

/* If there is less than was seen, the lane was reset and counts from 0. */
static u64 vm_filter_more(u64 now, u64 seen)
{
	return now < seen ? now : now - seen;
}

static int vm_filter_read_number(struct vm_repr *repr, struct vm_filter *filter, u32 number, struct vm_why *why)
{
	struct vm_count now;
	const int error = vm_repr_rule_count(repr, number, &now, why);

	if (error)
		return error;
	if (now.packets != filter->seen.packets)
		filter->used = jiffies;
	filter->total.packets += vm_filter_more(now.packets, filter->seen.packets);
	filter->total.bytes += vm_filter_more(now.bytes, filter->seen.bytes);
	filter->seen = now;
	return 0;
}

int vm_filter_read(struct vm_repr *repr, struct vm_filter *filter, struct vm_why *why)
{
	return vm_filter_read_number(repr, filter, filter->number, why);
}

/* Gives the filter another number, which no rule has. */
static int vm_filter_move(struct vm_repr *repr, struct vm_filter *filter, u32 number, struct vm_why *why)
{
	const u32 before = filter->number;
	struct vm_count start;
	int error = vm_repr_rule_count(repr, number, &start, why);

	if (error)
		return error;
	filter->number = number;
	error = vm_filter_program(repr, why);
	if (error) {
		filter->number = before;
		return error;
	}
	usleep_range(IN_FLIGHT_US, 2 * IN_FLIGHT_US);
	error = vm_filter_read_number(repr, filter, before, why);
	filter->seen = start;
	return error;
}

/* Whether @link is a filter, with a number beside @number. */
static bool vm_filter_is_at(struct vm_filters *all, struct list_head *link, u32 number)
{
	return link != &all->list && list_entry(link, struct vm_filter, list)->number == number;
}

/* Moves the filters from @link on by one, upwards or downwards, until one moves to a free number. */
static int vm_filter_shift(struct vm_repr *repr, struct list_head *link, bool up, struct vm_why *why)
{
	struct vm_filter *filter = list_entry(link, struct vm_filter, list);
	const u32 to = up ? filter->number + 1 : filter->number - 1;
	struct list_head *last = link;
	int error = 0;

	while (vm_filter_is_at(repr->filters, up ? last->next : last->prev,
			       list_entry(last, struct vm_filter, list)->number + (up ? 1 : -1)))
		last = up ? last->next : last->prev;
	for (; !error && filter->number != to; last = up ? last->prev : last->next) {
		struct vm_filter *moved = list_entry(last, struct vm_filter, list);

		error = vm_filter_move(repr, moved, moved->number + (up ? 1 : -1), why);
	}
	return error;
}

/* Whether the filters from @link on, in steps of one, leave a number free before the table's end. */
static bool vm_filter_has_room(struct vm_repr *repr, struct list_head *link)
{
	u32 number;

	if (link == &repr->filters->list)
		return false;
	number = list_entry(link, struct vm_filter, list)->number;
	for (; vm_filter_is_at(repr->filters, link, number); link = link->next)
		number++;
	return number < repr->lane.has.rules;
}

/* Finds a number between those of the neighbours in the list; the table is not full. */
static int vm_filter_place(struct vm_repr *repr, struct vm_filter *filter, u32 *number, struct vm_why *why)
{
	struct list_head *before = filter->list.prev, *after = filter->list.next, *head = &repr->filters->list;
	const u32 low = before == head ? 0 : list_entry(before, struct vm_filter, list)->number + 1;
	const u32 high = after == head ? repr->lane.has.rules : list_entry(after, struct vm_filter, list)->number;
	const bool up = vm_filter_has_room(repr, after);

	*number = low < high || up ? low : low - 1;
	if (low < high)
		return 0;
	return vm_filter_shift(repr, up ? after : before, up, why);
}

/* Whether rule @a matches all packets that @b matches. */
static bool vm_filter_covers(const struct vm_rule_image *a, const struct vm_rule_image *b)
{
	u32 i;

	for (i = 0; i < VM_RULE_WORDS; i++)
		if (a->mask[i] & (~b->mask[i] | (a->value[i] ^ b->value[i])))
			return false;
	return true;
}

static u32 vm_filter_covered(struct vm_repr *repr, const struct vm_filter *filter)
{
	const struct vm_rule_image *image = repr->filters->image;
	const struct vm_filter *other;

	list_for_each_entry(other, &repr->filters->list, list) {
		if (other == filter)
			return 0;
		if (vm_filter_covers(&image[other->number], &image[filter->number]))
			return other->pref;
	}
	return 0;
}

static void vm_filter_link(struct vm_filters *all, struct vm_filter *filter)
{
	struct vm_filter *other;

	list_for_each_entry(other, &all->list, list)
		if (other->pref > filter->pref)
			break;
	list_add_tail(&filter->list, &other->list);
	all->count++;
}

static void vm_filter_unlink(struct vm_filters *all, struct vm_filter *filter)
{
	list_del(&filter->list);
	all->count--;
}

/* The new filter counts from the counters that an earlier rule of its number has left. */
static int vm_filter_start(struct vm_repr *repr, struct vm_filter *filter, struct vm_why *why)
{
	u32 number;
	int error = vm_filter_images(repr, why);

	if (!error)
		error = vm_filter_place(repr, filter, &number, why);
	if (!error)
		error = vm_repr_rule_count(repr, number, &filter->seen, why);
	if (error)
		return error;
	filter->number = number;
	filter->used = jiffies;
	return vm_filter_program(repr, why);
}

int vm_filter_insert(struct vm_repr *repr, struct vm_filter *filter, u32 *covered, struct vm_why *why)
{
	struct vm_filters *all = repr->filters;
	int error;

	if (all->count == repr->lane.has.rules) {
		vm_why_set(why, "the lane has no free rule; legal are up to %u filters", repr->lane.has.rules);
		return -ENOSPC;
	}
	filter->number = VM_FILTER_UNPLACED;
	vm_filter_link(all, filter);
	error = vm_filter_start(repr, filter, why);
	if (error)
		vm_filter_unlink(all, filter);
	else
		*covered = vm_filter_covered(repr, filter);
	return error;
}

int vm_filter_remove(struct vm_repr *repr, struct vm_filter *filter, struct vm_why *why)
{
	vm_filter_unlink(repr->filters, filter);
	return vm_filter_program(repr, why);
}
