// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Netlink commands on class tables. */
#include <linux/rtnetlink.h>
#include "vm_netlink.h"

static void vm_nl_class_copy(struct vm_repr *repr, struct vm_class classes[VM_DSCPS], u32 *owner)
{
	mutex_lock(&repr->engine->lock);
	memcpy(classes, repr->classes, sizeof(repr->classes));
	*owner = repr->classes_owner;
	mutex_unlock(&repr->engine->lock);
}

static int vm_nl_class_fill(struct sk_buff *skb, struct vm_repr *repr, u32 queue, struct vm_why *why)
{
	struct vm_class classes[VM_DSCPS];
	struct nlattr *nest;
	u32 dscp, owner;

	vm_nl_class_copy(repr, classes, &owner);
	if (nla_put_u32(skb, VERMILION_A_CLASS_IFINDEX, repr->netdev->ifindex) ||
	    nla_put_u32(skb, VERMILION_A_CLASS_OWNER, owner))
		return -EMSGSIZE;
	for (dscp = 0; dscp < VM_DSCPS; dscp++) {
		nest = nla_nest_start(skb, VERMILION_A_CLASS_ENTRY);
		if (!nest || nla_put_u32(skb, VERMILION_A_CLASS_ENTRY_DSCP, dscp) ||
		    nla_put_u32(skb, VERMILION_A_CLASS_ENTRY_QUEUE, classes[dscp].queue) ||
		    nla_put_u32(skb, VERMILION_A_CLASS_ENTRY_COLOUR, classes[dscp].colour))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

int vm_nl_class_get(struct sk_buff *skb, struct genl_info *info)
{
	struct vm_repr *repr = vm_nl_repr(info, VERMILION_A_CLASS_IFINDEX, 0);
	int error;

	if (IS_ERR(repr))
		return PTR_ERR(repr);
	error = vm_nl_answer(info, VERMILION_CMD_CLASS_GET, vm_nl_class_fill, repr, 0);
	vm_repr_put(repr);
	return error;
}

static int vm_nl_class_range(struct netlink_ext_ack *extack, const char *field, u32 value, u32 most)
{
	if (value <= most)
		return 0;
	vm_nl_say(extack, "entry.%s is %u; legal is 0 to %u", field, value, most);
	return -ERANGE;
}

/* Writes one entry to `classes`. `seen` has a bit for each DSCP that the message has given. */
static int vm_nl_class_take(struct nlattr *entry, const struct vm_repr *repr, struct vm_class classes[VM_DSCPS],
			    unsigned long *seen, struct netlink_ext_ack *extack)
{
	struct nlattr *attributes[VERMILION_A_CLASS_ENTRY_MAX + 1] = {};
	u32 dscp, queue, colour, rest;
	struct nlattr *at;
	int error;

	error = vm_nl_once(nla_data(entry), nla_len(entry), 0, extack);
	if (error)
		return error;
	nla_for_each_nested(at, entry, rest)
		if (nla_type(at) <= VERMILION_A_CLASS_ENTRY_MAX)
			attributes[nla_type(at)] = at;
	if (!vm_nl_need(attributes, VERMILION_A_CLASS_ENTRY_DSCP, "entry.dscp is missing", &dscp, extack) ||
	    !vm_nl_need(attributes, VERMILION_A_CLASS_ENTRY_QUEUE, "entry.queue is missing", &queue, extack) ||
	    !vm_nl_need(attributes, VERMILION_A_CLASS_ENTRY_COLOUR, "entry.colour is missing", &colour, extack))
		return -EINVAL;
	error = vm_nl_class_range(extack, "dscp", dscp, VM_DSCPS - 1);
	if (!error)
		error = vm_nl_class_range(extack, "queue", queue, repr->lane.has.queues - 1);
	if (!error)
		error = vm_nl_class_range(extack, "colour", colour, VM_COLOURS - 1);
	if (error)
		return error;
	if (__test_and_set_bit(dscp, seen)) {
		vm_nl_say(extack, "entry.dscp is %u twice", dscp);
		return -EINVAL;
	}
	classes[dscp].queue = queue;
	classes[dscp].colour = colour;
	return 0;
}

static int vm_nl_class_change(struct vm_repr *repr, struct genl_info *info)
{
	DECLARE_BITMAP(seen, VM_DSCPS) = {};
	struct vm_class classes[VM_DSCPS];
	struct vm_why why = {};
	struct nlattr *at;
	int rest, error;
	u32 owner;

	vm_nl_class_copy(repr, classes, &owner);
	nlmsg_for_each_attr(at, info->nlhdr, GENL_HDRLEN, rest) {
		if (nla_type(at) != VERMILION_A_CLASS_ENTRY)
			continue;
		error = vm_nl_class_take(at, repr, classes, seen, info->extack);
		if (error)
			return error;
	}
	if (bitmap_empty(seen, VM_DSCPS)) {
		vm_nl_say(info->extack, "entry is missing");
		return -EINVAL;
	}
	error = vm_repr_set_classes(repr, classes, VM_OWNER_NETLINK, &why);
	return vm_nl_refuse(info->extack, error, &why);
}

int vm_nl_class_set(struct sk_buff *skb, struct genl_info *info)
{
	struct vm_repr *repr = vm_nl_repr(info, VERMILION_A_CLASS_IFINDEX, VERMILION_A_CLASS_ENTRY);
	int error;

	if (IS_ERR(repr))
		return PTR_ERR(repr);
	rtnl_lock(); /* tc must not change the table between read and write */
	error = vm_nl_class_change(repr, info);
	rtnl_unlock();
	vm_repr_put(repr);
	return error;
}

int vm_nl_class_reset(struct sk_buff *skb, struct genl_info *info)
{
	struct vm_repr *repr = vm_nl_repr(info, VERMILION_A_CLASS_IFINDEX, 0);
	struct vm_why why = {};
	int error;

	if (IS_ERR(repr))
		return PTR_ERR(repr);
	error = vm_repr_reset_classes(repr, VM_OWNER_NETLINK, &why);
	vm_repr_put(repr);
	return vm_nl_refuse(info->extack, error, &why);
}
