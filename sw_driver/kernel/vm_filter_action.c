// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* From the actions of a filter to what a rule does.
 *
 *   pass, ok                          nothing; no later filter applies
 *   drop                              the packet is dropped
 *   skbedit priority                  the queue that prio or ets gives to this skb->priority
 *   pedit ex munge ip dsfield,        DSCP; only with retain 0xfc, as a rule has no ECN to set
 *     ip6 traffic_class
 *   police rate burst conform-exceed    the marker of a queue drops what exceeds
 *     drop/pipe or drop/ok              (vm_filter_police.c)
 *   csum iphdr after such a pedit     nothing: the lane corrects the checksum anyway
 */
#include <linux/tc_act/tc_csum.h>

#include "vm_filter.h"

/* The first word of either header, in host order. */
#define IP4_DSCP 0x00fc0000u
#define IP4_DSCP_SHIFT 18
#define IP6_DSCP 0x0fc00000u
#define IP6_DSCP_SHIFT 22
#define DSCP_MAX 63

static const char *vm_filter_action_name(enum flow_action_id id)
{
	switch (id) {
	case FLOW_ACTION_TRAP:
		return "trap";
	case FLOW_ACTION_GOTO:
		return "goto chain";
	case FLOW_ACTION_REDIRECT:
	case FLOW_ACTION_MIRRED:
	case FLOW_ACTION_REDIRECT_INGRESS:
	case FLOW_ACTION_MIRRED_INGRESS:
		return "mirred";
	case FLOW_ACTION_VLAN_PUSH:
	case FLOW_ACTION_VLAN_POP:
	case FLOW_ACTION_VLAN_MANGLE:
		return "vlan";
	case FLOW_ACTION_ADD:
		return "pedit add";
	case FLOW_ACTION_CSUM:
		return "csum of more than a changed IP header";
	case FLOW_ACTION_MARK:
		return "skbedit mark";
	case FLOW_ACTION_PTYPE:
		return "skbedit ptype";
	case FLOW_ACTION_SAMPLE:
		return "sample";
	case FLOW_ACTION_CT:
		return "ct";
	default:
		return "one of these actions";
	}
}

/* As prio_classify() and ets_classify() choose the band. Without prio and ets a priority is the
 * number of a queue, unless another qdisc sends all packets to queue 0.
 */
bool vm_filter_queue(struct vm_repr *repr, u32 priority, u32 *queue)
{
	const struct vm_tc_qdisc *scheduler = vm_tc_scheduler(repr);
	u32 band;

	if (!scheduler) {
		*queue = priority;
		return repr->classes_owner != VM_OWNER_TC && priority < repr->lane.has.queues;
	}
	if (TC_H_MAJ(priority) != scheduler->handle) {
		band = TC_H_MAJ(priority) ? 0 : priority & TC_PRIO_MAX;
		*queue = scheduler->bands.priomap[band];
		return true;
	}
	band = TC_H_MIN(priority) - 1;
	*queue = band < scheduler->queues ? band : scheduler->bands.priomap[0];
	return true;
}

/* Linux gives a priority that no band has to a default band. Here that is a mistake of the user. */
static bool vm_filter_priority(struct vm_repr *repr, struct vm_filter *filter, u32 priority, struct vm_why *why)
{
	const struct vm_tc_qdisc *scheduler = vm_tc_scheduler(repr);
	const u32 major = TC_H_MAJ(priority) >> 16, minor = TC_H_MIN(priority);

	filter->priority = priority;
	filter->has_priority = true;
	if (!scheduler && repr->classes_owner == VM_OWNER_TC)
		vm_why_set(why, "skbedit priority is %x:%x; legal with an offloaded prio or ets", major, minor);
	else if (!scheduler && priority < repr->lane.has.queues && repr->slots[priority].owner == VM_OWNER_FILTER)
		vm_why_set(why, "skbedit priority is %x:%x; queue %u has the marker of a police", major, minor,
			   priority);
	else if (!scheduler && priority >= repr->lane.has.queues)
		vm_why_set(why, "skbedit priority is %x:%x; legal is 0 to %u, a queue, or with prio or ets a class",
			   major, minor, repr->lane.has.queues - 1);
	else if (scheduler && major ? TC_H_MAJ(priority) != scheduler->handle || !minor || minor > scheduler->queues
				    : scheduler && minor > TC_PRIO_MAX)
		vm_why_set(why, "skbedit priority is %x:%x; legal is 0 to %u, or %x:1 to %x:%x", major, minor,
			   TC_PRIO_MAX, scheduler->handle >> 16, scheduler->handle >> 16, scheduler->queues);
	else
		return true;
	return false;
}

static bool vm_filter_mangle(struct vm_filter *filter, const struct flow_action_entry *action, struct vm_why *why)
{
	const u32 changed = ~ntohl((__force __be32)action->mangle.mask);
	const u32 value = ntohl((__force __be32)action->mangle.val);
	struct vm_rule *rule = &filter->rule;
	const bool four = action->mangle.htype == FLOW_ACT_MANGLE_HDR_TYPE_IP4;

	if ((!four && action->mangle.htype != FLOW_ACT_MANGLE_HDR_TYPE_IP6) || action->mangle.offset ||
	    changed != (four ? IP4_DSCP : IP6_DSCP)) {
		vm_why_set(why, "pedit changes more than a DSCP, or less; legal is %s",
			   "munge ip dsfield or ip6 traffic_class with retain 0xfc");
		return false;
	}
	if (!(rule->match & VM_MATCH_VERSION) || rule->version != (four ? 4 : 6)) {
		vm_why_set(why, "pedit munges %s; legal with protocol or vlan_ethtype %s", four ? "ip" : "ip6",
			   four ? "ip" : "ipv6");
		return false;
	}
	rule->actions |= VM_ACT_DSCP;
	rule->new_dscp = value >> (four ? IP4_DSCP_SHIFT : IP6_DSCP_SHIFT) & DSCP_MAX;
	return true;
}

/* @last: the action before; NULL for the first one. */
static bool vm_filter_action(struct vm_repr *repr, struct vm_filter *filter, const struct flow_action_entry *action,
			     const struct flow_action_entry *last, struct vm_why *why)
{
	if (last && (last->id == FLOW_ACTION_ACCEPT || last->id == FLOW_ACTION_DROP)) {
		vm_why_set(why, "an action follows %s, which is the last",
			   last->id == FLOW_ACTION_DROP ? "drop" : "pass");
		return false;
	}
	if (last && last->id == FLOW_ACTION_POLICE && last->police.notexceed.act_id == FLOW_ACTION_ACCEPT) {
		vm_why_set(why, "an action follows police with conform ok, which is the last; legal is conform pipe");
		return false;
	}
	if (!(action->hw_stats & FLOW_ACTION_HW_STATS_IMMEDIATE)) {
		vm_why_set(why, "hw_stats is %s; legal are any and immediate",
			   action->hw_stats & FLOW_ACTION_HW_STATS_DELAYED ? "delayed" : "disabled");
		return false;
	}
	switch (action->id) {
	case FLOW_ACTION_ACCEPT:
	case FLOW_ACTION_PIPE:
		return true;
	case FLOW_ACTION_DROP:
		filter->rule.actions |= VM_ACT_DROP;
		return true;
	case FLOW_ACTION_PRIORITY:
		return vm_filter_priority(repr, filter, action->priority, why);
	case FLOW_ACTION_MANGLE:
		return vm_filter_mangle(filter, action, why);
	case FLOW_ACTION_POLICE:
		return vm_filter_police_get(repr, filter, action, why);
	case FLOW_ACTION_CSUM:
		if (last && last->id == FLOW_ACTION_MANGLE && action->csum_flags == TCA_CSUM_UPDATE_FLAG_IPV4HDR)
			return true;
		fallthrough;
	default:
		vm_why_set(why, "a rule has no action %s", vm_filter_action_name(action->id));
		return false;
	}
}

bool vm_filter_actions(struct vm_repr *repr, struct vm_filter *filter, const struct flow_action *actions,
		       struct vm_why *why)
{
	const struct flow_action_entry *action, *last = NULL;
	int i;

	flow_action_for_each(i, action, actions)
	{
		if (!vm_filter_action(repr, filter, action, last, why))
			return false;
		last = action;
	}
	return true;
}
