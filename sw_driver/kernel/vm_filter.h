/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Offloaded tc filters: flower and matchall at clsact's egress of a representor. A filter is one of
 * the lane's rules. RTNL guards the list of filters.
 *
 *   vm_filter.c         the kernel's requests: blocks, replace, destroy, stats, refusals
 *   vm_filter_match.c   keys of a filter -> what the rule compares
 *   vm_filter_action.c  actions of a filter -> what the rule does
 *   vm_filter_police.c  action police -> the marker of a queue
 *   vm_filter_table.c   the numbers of rules, changes of the table, counters
 *
 * Filters are in the order of their pref, then in the order in which they were added. The first one
 * that matches a packet applies. The lane's rules have the same order, with gaps.
 */
#ifndef VM_FILTER_H
#define VM_FILTER_H

#include <net/pkt_cls.h>

#include "vm_tc.h"

#define VM_FILTER_UNPLACED U32_MAX

struct vm_police;

/**
 * struct vm_filter - an offloaded filter
 * @list: in vm_filters.list, in the order of matching
 * @cookie: the kernel's name of the filter
 * @pref: its pref
 * @rule: what the rule compares and does. The action "queue" is not set here, see @priority
 * @priority: what skbedit gives to skb->priority. The queue depends on the qdiscs, so it is
 *	computed anew with each change of them
 * @has_priority: whether @priority is given
 * @police: its police, or NULL
 * @number: the number of its rule, or VM_FILTER_UNPLACED
 * @seen: the rule's counters as of the last read
 * @total: packets and bytes since the filter was added, whatever numbers its rule had
 * @told: the part of @total that the kernel knows
 * @used: jiffies of the last read that found new packets
 */
struct vm_filter {
	struct list_head list;
	unsigned long cookie;
	u32 pref;
	struct vm_rule rule;
	u32 priority;
	bool has_priority;
	struct vm_police *police;
	u32 number;
	struct vm_count seen, total, told;
	u64 used;
};

/**
 * struct vm_filters - the filters of an egress
 * @list: struct vm_filter
 * @count: their number
 * @polices: the polices of all filters, vm_filter_police.c
 * @ranges: buffer: the ranges of ports of all filters
 * @image: buffer: the table that the filters give
 */
struct vm_filters {
	struct list_head list;
	u32 count;
	struct list_head polices;
	struct vm_port_ranges ranges;
	struct vm_rule_image image[];
};

/* vm_filter_match.c: false, and a sentence: the lane has no such rule. */
bool vm_filter_match_protocol(struct vm_rule *rule, __be16 protocol, struct vm_why *why);
bool vm_filter_match(struct vm_rule *rule, __be16 protocol, const struct flow_rule *flow, struct vm_why *why);

/* vm_filter_action.c */
bool vm_filter_actions(struct vm_repr *repr, struct vm_filter *filter, const struct flow_action *actions,
		       struct vm_why *why);
/* The queue of packets with this skb->priority; false: the class table gives it. */
bool vm_filter_queue(struct vm_repr *repr, u32 priority, u32 *queue);

/* vm_filter_police.c */
/* Gives the filter the police of the action, a new one or one that other filters have, too. */
bool vm_filter_police_get(struct vm_repr *repr, struct vm_filter *filter, const struct flow_action_entry *action,
			  struct vm_why *why);
/* Takes it away, if the filter has one. The filter's rule must be off. */
void vm_filter_police_put(struct vm_repr *repr, struct vm_filter *filter);
/* Ends polices that could not end during a reset of the card. */
void vm_filter_police_restore(struct vm_repr *repr);
void vm_filter_police_exit(struct vm_repr *repr);
/* Whether any filter has a police. */
bool vm_filter_polices(const struct vm_repr *repr);

/* vm_filter_table.c: return 0, or an errno and a sentence. */
/* Inserts the filter and programs the lane. @covered: the pref of a filter before it that matches all
 * its packets; 0: there is none.
 */
int vm_filter_insert(struct vm_repr *repr, struct vm_filter *filter, u32 *covered, struct vm_why *why);
/* Takes the filter out of the list, whatever the lane does, and programs the lane. */
int vm_filter_remove(struct vm_repr *repr, struct vm_filter *filter, struct vm_why *why);
/* Programs the lane by the list. */
int vm_filter_program(struct vm_repr *repr, struct vm_why *why);
/* Adds what the rule has counted since the last read. */
int vm_filter_read(struct vm_repr *repr, struct vm_filter *filter, struct vm_why *why);

#endif
