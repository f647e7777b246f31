// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Netlink commands on counters. */
#include <linux/slab.h>
#include "vm_netlink.h"

static_assert(VERMILION_A_COLOUR_STATISTICS_DEPARTURE_MARKED == VERMILION_A_COLOUR_STATISTICS_ARRIVED + VM_EVENTS - 1);
static_assert(VERMILION_A_STATISTICS_RED == VERMILION_A_STATISTICS_GREEN + VM_COLOURS - 1);

static bool vm_nl_stats_put_count(struct sk_buff *skb, u32 attribute, const struct vm_count *count)
{
	struct nlattr *nest = nla_nest_start(skb, attribute);

	if (!nest || nla_put_u64_64bit(skb, VERMILION_A_COUNT_PACKETS, count->packets, VERMILION_A_COUNT_PAD) ||
	    nla_put_u64_64bit(skb, VERMILION_A_COUNT_BYTES, count->bytes, VERMILION_A_COUNT_PAD))
		return false;
	nla_nest_end(skb, nest);
	return true;
}

static bool vm_nl_stats_put_colour(struct sk_buff *skb, const struct vm_statistics *statistics, u32 c)
{
	struct nlattr *nest = nla_nest_start(skb, VERMILION_A_STATISTICS_GREEN + c);
	u32 event;

	if (!nest || nla_put_u64_64bit(skb, VERMILION_A_COLOUR_STATISTICS_AVERAGE, statistics->average[c],
				       VERMILION_A_COLOUR_STATISTICS_PAD))
		return false;
	for (event = 0; event < VM_EVENTS; event++)
		if (!vm_nl_stats_put_count(skb, VERMILION_A_COLOUR_STATISTICS_ARRIVED + event,
					   &statistics->count[c][event]))
			return false;
	nla_nest_end(skb, nest);
	return true;
}

static bool vm_nl_stats_put_wide(struct sk_buff *skb, u32 attribute, u64 value)
{
	return !nla_put_u64_64bit(skb, attribute, value, VERMILION_A_STATISTICS_PAD);
}

static bool vm_nl_stats_put_all(struct sk_buff *skb, struct vm_repr *repr, u32 queue, const struct vm_statistics *s)
{
	u32 c;

	if (nla_put_u32(skb, VERMILION_A_STATISTICS_IFINDEX, repr->netdev->ifindex) ||
	    nla_put_u32(skb, VERMILION_A_STATISTICS_QUEUE, queue) ||
	    nla_put_u32(skb, VERMILION_A_STATISTICS_BACKLOG_BYTES, s->backlog_bytes) ||
	    nla_put_u32(skb, VERMILION_A_STATISTICS_BACKLOG_PACKETS, s->backlog_packets) ||
	    nla_put_u32(skb, VERMILION_A_STATISTICS_MAX_BYTES, s->max_bytes) ||
	    nla_put_u32(skb, VERMILION_A_STATISTICS_MAX_PACKETS, s->max_packets))
		return false;
	for (c = 0; c < VM_COLOURS; c++)
		if (!vm_nl_stats_put_colour(skb, s, c))
			return false;
	return vm_nl_stats_put_wide(skb, VERMILION_A_STATISTICS_TIME_NS, s->time_ns) &&
	       vm_nl_stats_put_wide(skb, VERMILION_A_STATISTICS_PUSH_OUTS, s->push_outs) &&
	       vm_nl_stats_put_wide(skb, VERMILION_A_STATISTICS_STALE, s->stale) &&
	       !nla_put(skb, VERMILION_A_STATISTICS_LATENCY, sizeof(s->latency), s->latency) &&
	       !nla_put(skb, VERMILION_A_STATISTICS_MARKED, sizeof(s->marked), s->marked) &&
	       !nla_put(skb, VERMILION_A_STATISTICS_LOST_DISTANCE, sizeof(s->lost_distance), s->lost_distance) &&
	       !nla_put(skb, VERMILION_A_STATISTICS_VICTIM_DISTANCE, sizeof(s->victim_distance), s->victim_distance);
}

static int vm_nl_stats_fill(struct sk_buff *skb, struct vm_repr *repr, u32 queue, struct vm_why *why)
{
	struct vm_statistics *statistics = kmalloc(sizeof(*statistics), GFP_KERNEL);
	int error;

	if (queue >= repr->lane.has.queues) {
		vm_why_set(why, "queue is %u; legal is 0 to %u", queue, repr->lane.has.queues - 1);
		kfree(statistics);
		return -ENOENT;
	}
	if (!statistics)
		return -ENOMEM;
	error = vm_repr_statistics(repr, queue, statistics, why);
	if (!error && !vm_nl_stats_put_all(skb, repr, queue, statistics))
		error = -EMSGSIZE;
	kfree(statistics);
	return error;
}

int vm_nl_statistics_get(struct sk_buff *skb, struct genl_info *info)
{
	struct vm_repr *repr = vm_nl_repr(info, VERMILION_A_STATISTICS_IFINDEX, 0);
	int error = -EINVAL;
	u32 queue;

	if (IS_ERR(repr))
		return PTR_ERR(repr);
	if (vm_nl_need(info->attrs, VERMILION_A_STATISTICS_QUEUE, "queue is missing", &queue, info->extack))
		error = vm_nl_answer(info, VERMILION_CMD_STATISTICS_GET, vm_nl_stats_fill, repr, queue);
	vm_repr_put(repr);
	return error;
}

int vm_nl_statistics_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return vm_nl_dump_queues(skb, cb, VERMILION_CMD_STATISTICS_GET, vm_nl_stats_fill,
				 VERMILION_A_STATISTICS_IFINDEX, VERMILION_A_STATISTICS_QUEUE);
}

int vm_nl_statistics_clear(struct sk_buff *skb, struct genl_info *info)
{
	struct vm_repr *repr = vm_nl_repr(info, VERMILION_A_LANE_IFINDEX, 0);
	struct vm_why why = {};
	int error;

	if (IS_ERR(repr))
		return PTR_ERR(repr);
	error = vm_repr_clear_statistics(repr, &why);
	vm_repr_put(repr);
	return vm_nl_refuse(info->extack, error, &why);
}
