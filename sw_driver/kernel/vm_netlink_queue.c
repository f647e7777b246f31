// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Netlink commands on queues. */
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include "vm_netlink.h"

struct room {
	u32 *at, *end;
};

/* Settings and their register image: too large for the stack. */
struct queue {
	struct vm_queue settings;
	struct vm_queue_image words;
};

static int vm_nl_queue_pair(void *context, u32 address, u32 value)
{
	struct room *room = context;

	if (room->end - room->at < 2)
		return -EMSGSIZE;
	*room->at++ = address;
	*room->at++ = value;
	return 0;
}

static int vm_nl_queue_count(void *context, u32 address, u32 value)
{
	++*(u32 *)context;
	return 0;
}

/* The register image of these settings, as the driver has written it. */
static int vm_nl_queue_put_registers(struct sk_buff *skb, struct vm_repr *repr, const struct vm_queue *settings,
				     struct vm_queue_image *words)
{
	struct vm_port port;
	struct nlattr *nest;
	struct room room;
	u32 pairs = 0;

	mutex_lock(&repr->engine->lock);
	port = vm_repr_port_locked(repr);
	mutex_unlock(&repr->engine->lock);
	vm_queue_convert(settings, &port, words);
	vm_queue_visit(words, vm_nl_queue_count, &pairs);
	nest = nla_reserve(skb, VERMILION_A_QUEUE_REGISTERS, pairs * 8);
	if (!nest)
		return -EMSGSIZE;
	room.at = nla_data(nest);
	room.end = room.at + 2 * pairs;
	return vm_queue_visit(words, vm_nl_queue_pair, &room);
}

static int vm_nl_queue_fill(struct sk_buff *skb, struct vm_repr *repr, u32 queue, struct vm_why *why)
{
	struct queue *both;
	enum vm_owner owner;
	int error;

	both = kmalloc(sizeof(*both), GFP_KERNEL);
	if (!both)
		return -ENOMEM;
	error = vm_repr_get_queue(repr, queue, &both->settings, &owner, why);
	if (!error &&
	    (nla_put_u32(skb, VERMILION_A_QUEUE_IFINDEX, repr->netdev->ifindex) ||
	     nla_put_u32(skb, VERMILION_A_QUEUE_QUEUE, queue) || nla_put_u32(skb, VERMILION_A_QUEUE_OWNER, owner)))
		error = -EMSGSIZE;
	if (!error)
		error = vm_nl_put(skb, &vm_nl_queue, &both->settings);
	if (!error)
		error = vm_nl_queue_put_registers(skb, repr, &both->settings, &both->words);
	kfree(both);
	return error;
}

int vm_nl_queue_get(struct sk_buff *skb, struct genl_info *info)
{
	struct vm_repr *repr = vm_nl_repr(info, VERMILION_A_QUEUE_IFINDEX, 0);
	int error = -EINVAL;
	u32 queue;

	if (IS_ERR(repr))
		return PTR_ERR(repr);
	if (vm_nl_need(info->attrs, VERMILION_A_QUEUE_QUEUE, "queue is missing", &queue, info->extack))
		error = vm_nl_answer(info, VERMILION_CMD_QUEUE_GET, vm_nl_queue_fill, repr, queue);
	vm_repr_put(repr);
	return error;
}

int vm_nl_queue_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return vm_nl_dump_queues(skb, cb, VERMILION_CMD_QUEUE_GET, vm_nl_queue_fill, VERMILION_A_QUEUE_IFINDEX,
				 VERMILION_A_QUEUE_QUEUE);
}

/* Takes the present settings or the defaults, applies the message, and writes all to the lane. */
static int vm_nl_queue_change(struct vm_repr *repr, u32 queue, struct genl_info *info, struct vm_queue *settings)
{
	struct vm_why why = {};
	int error;

	error = vm_repr_get_queue(repr, queue, settings, NULL, &why);
	if (error)
		return vm_nl_refuse(info->extack, error, &why);
	if (nla_get_flag(info->attrs[VERMILION_A_QUEUE_DEFAULTS]))
		vm_queue_defaults(settings);
	error = vm_nl_take(&vm_nl_queue, nlmsg_attrdata(info->nlhdr, GENL_HDRLEN),
			   nlmsg_attrlen(info->nlhdr, GENL_HDRLEN), settings, info->extack);
	if (error)
		return error;
	error = vm_repr_set_queue(repr, queue, settings, VM_OWNER_NETLINK, &why);
	return vm_nl_refuse(info->extack, error, &why);
}

int vm_nl_queue_set(struct sk_buff *skb, struct genl_info *info)
{
	struct vm_repr *repr = vm_nl_repr(info, VERMILION_A_QUEUE_IFINDEX, 0);
	struct vm_queue *settings;
	int error = -EINVAL;
	u32 queue;

	if (IS_ERR(repr))
		return PTR_ERR(repr);
	settings = kmalloc(sizeof(*settings), GFP_KERNEL);
	if (!settings) {
		error = -ENOMEM;
	} else if (vm_nl_need(info->attrs, VERMILION_A_QUEUE_QUEUE, "queue is missing", &queue, info->extack)) {
		rtnl_lock(); /* tc must not change the settings between read and write */
		error = vm_nl_queue_change(repr, queue, info, settings);
		rtnl_unlock();
	}
	kfree(settings);
	vm_repr_put(repr);
	return error;
}

int vm_nl_queue_reset(struct sk_buff *skb, struct genl_info *info)
{
	struct vm_repr *repr = vm_nl_repr(info, VERMILION_A_QUEUE_IFINDEX, 0);
	struct vm_why why = {};
	int error = -EINVAL;
	u32 queue;

	if (IS_ERR(repr))
		return PTR_ERR(repr);
	if (vm_nl_need(info->attrs, VERMILION_A_QUEUE_QUEUE, "queue is missing", &queue, info->extack)) {
		rtnl_lock(); /* else tc, between read and write, could write old settings back */
		error = vm_repr_reset_queue(repr, queue, VM_OWNER_NETLINK, &why);
		rtnl_unlock();
	}
	vm_repr_put(repr);
	return vm_nl_refuse(info->extack, error, &why);
}

int vm_nl_queue_flush(struct sk_buff *skb, struct genl_info *info)
{
	struct vm_repr *repr = vm_nl_repr(info, VERMILION_A_QUEUE_IFINDEX, 0);
	const struct nlattr *one = info->attrs[VERMILION_A_QUEUE_QUEUE];
	struct vm_why why = {};
	u32 queue = 0;
	int error;

	if (IS_ERR(repr))
		return PTR_ERR(repr);
	if (one)
		queue = nla_get_u32(one);
	error = vm_repr_flush(repr, one ? &queue : NULL, &why);
	vm_repr_put(repr);
	return vm_nl_refuse(info->extack, error, &why);
}
