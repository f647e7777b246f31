// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The generic netlink family `vermilion`: its commands, and the message to the group `monitor` when
 * a queue has changed.
 *
 * The core of generic netlink checks the policies strictly and runs one command at a time. Commands
 * that change something need CAP_NET_ADMIN over the network namespace of the lane's netdev, as tc
 * does.
 */
#include <linux/module.h>
#include "vm_netlink.h"

static const struct genl_ops commands[] = {
	{
		.cmd = VERMILION_CMD_LANE_GET,
		.doit = vm_nl_lane_get,
		.dumpit = vm_nl_lane_dump,
		.policy = vm_nl_lane_get_policy,
		.maxattr = ARRAY_SIZE(vm_nl_lane_get_policy) - 1,
	},
	{
		.cmd = VERMILION_CMD_LANE_SET,
		.doit = vm_nl_lane_set,
		.policy = vm_nl_lane_set_policy,
		.maxattr = ARRAY_SIZE(vm_nl_lane_set_policy) - 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = VERMILION_CMD_QUEUE_GET,
		.doit = vm_nl_queue_get,
		.dumpit = vm_nl_queue_dump,
		.policy = vm_nl_queue_get_policy,
		.maxattr = ARRAY_SIZE(vm_nl_queue_get_policy) - 1,
	},
	{
		.cmd = VERMILION_CMD_QUEUE_SET,
		.doit = vm_nl_queue_set,
		.policy = vm_nl_queue_set_policy,
		.maxattr = ARRAY_SIZE(vm_nl_queue_set_policy) - 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = VERMILION_CMD_QUEUE_RESET,
		.doit = vm_nl_queue_reset,
		.policy = vm_nl_queue_reset_policy,
		.maxattr = ARRAY_SIZE(vm_nl_queue_reset_policy) - 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = VERMILION_CMD_CLASS_GET,
		.doit = vm_nl_class_get,
		.policy = vm_nl_class_get_policy,
		.maxattr = ARRAY_SIZE(vm_nl_class_get_policy) - 1,
	},
	{
		.cmd = VERMILION_CMD_CLASS_SET,
		.doit = vm_nl_class_set,
		.policy = vm_nl_class_set_policy,
		.maxattr = ARRAY_SIZE(vm_nl_class_set_policy) - 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = VERMILION_CMD_CLASS_RESET,
		.doit = vm_nl_class_reset,
		.policy = vm_nl_class_reset_policy,
		.maxattr = ARRAY_SIZE(vm_nl_class_reset_policy) - 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = VERMILION_CMD_STATISTICS_GET,
		.doit = vm_nl_statistics_get,
		.dumpit = vm_nl_statistics_dump,
		.policy = vm_nl_statistics_get_policy,
		.maxattr = ARRAY_SIZE(vm_nl_statistics_get_policy) - 1,
	},
	{
		.cmd = VERMILION_CMD_STATISTICS_CLEAR,
		.doit = vm_nl_statistics_clear,
		.policy = vm_nl_statistics_clear_policy,
		.maxattr = ARRAY_SIZE(vm_nl_statistics_clear_policy) - 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
	{
		.cmd = VERMILION_CMD_QUEUE_FLUSH,
		.doit = vm_nl_queue_flush,
		.policy = vm_nl_queue_flush_policy,
		.maxattr = ARRAY_SIZE(vm_nl_queue_flush_policy) - 1,
		.flags = GENL_UNS_ADMIN_PERM,
	},
};

static const struct genl_multicast_group groups[] = { { .name = "monitor" } };

static struct genl_family family __ro_after_init = {
	.name = VERMILION_FAMILY_NAME,
	.version = VERMILION_FAMILY_VERSION,
	.module = THIS_MODULE,
	.netnsok = true,
	.ops = commands,
	.n_ops = ARRAY_SIZE(commands),
	.resv_start_op = VERMILION_CMD_LANE_GET,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

const struct genl_family *vm_nl_family(void)
{
	return &family;
}

void vm_netlink_changed(struct vm_repr *repr, u32 queue)
{
	struct net *net = dev_net(repr->netdev);
	struct sk_buff *skb;
	void *header;

	if (!genl_has_listeners(&family, net, 0))
		return;
	skb = genlmsg_new(2 * nla_total_size(sizeof(u32)), GFP_KERNEL);
	if (!skb)
		return;
	header = genlmsg_put(skb, 0, 0, &family, 0, VERMILION_CMD_QUEUE_CHANGED);
	if (!header || nla_put_u32(skb, VERMILION_A_QUEUE_IFINDEX, repr->netdev->ifindex) ||
	    nla_put_u32(skb, VERMILION_A_QUEUE_QUEUE, queue)) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, header);
	genlmsg_multicast_netns(&family, net, skb, 0, 0, GFP_KERNEL);
}

int vm_netlink_init(void)
{
	static_assert((int)VERMILION_OWNER_TC == VM_OWNER_TC && (int)VERMILION_OWNER_NETLINK == VM_OWNER_NETLINK);
	static_assert((int)VERMILION_OWNER_FILTER == VM_OWNER_FILTER);
	static_assert((int)VERMILION_MARKER_KIND_APM ==
		      VM_MARKER_APM); /* this and all others come from hw/regs/profile.yaml */
	return genl_register_family(&family);
}

void vm_netlink_exit(void)
{
	genl_unregister_family(&family);
}
