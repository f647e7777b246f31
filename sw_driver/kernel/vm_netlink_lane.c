// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Netlink commands on lanes. */
#include <linux/rtnetlink.h>
#include <net/sock.h>
#include "vm_netlink.h"
#include "vm_regs.h"

#define ROUTER_ALERT_IP4 148u
#define ROUTER_ALERT_IP6 5u

static bool vm_nl_lane_put_capabilities(struct sk_buff *skb, const struct vm_lane *lane)
{
	const struct vm_capabilities *has = &lane->has;
	const struct {
		u32 attribute, value;
	} all[] = {
		{ VERMILION_A_CAPABILITIES_MAJOR, VM_GET(VM_REG_VERSION_MAJOR, lane->block.version) },
		{ VERMILION_A_CAPABILITIES_MINOR, VM_GET(VM_REG_VERSION_MINOR, lane->block.version) },
		{ VERMILION_A_CAPABILITIES_QUEUES, has->queues },
		{ VERMILION_A_CAPABILITIES_CELLS, has->cells },
		{ VERMILION_A_CAPABILITIES_DATA_BITS, has->data_bits },
		{ VERMILION_A_CAPABILITIES_INPUTS, has->inputs },
		{ VERMILION_A_CAPABILITIES_STAGES, has->stages },
		{ VERMILION_A_CAPABILITIES_MAX_FRAME_BYTES, has->max_frame_bytes },
		{ VERMILION_A_CAPABILITIES_FLOWS, has->flows },
		{ VERMILION_A_CAPABILITIES_VICTIMS, has->victims },
		{ VERMILION_A_CAPABILITIES_PROTECT, has->protect },
		{ VERMILION_A_CAPABILITIES_CODEL, has->codel },
		{ VERMILION_A_CAPABILITIES_PIE, has->pie },
		{ VERMILION_A_CAPABILITIES_DUALPI2, has->dualpi2 },
		{ VERMILION_A_CAPABILITIES_REPORTS, has->reports },
		{ VERMILION_A_CAPABILITIES_FQ, has->fq },
		{ VERMILION_A_CAPABILITIES_EGRESSES, max(has->egresses, 1u) },
	};
	struct nlattr *nest = nla_nest_start(skb, VERMILION_A_LANE_CAPABILITIES);
	u32 i;

	static_assert(ARRAY_SIZE(all) == VERMILION_A_CAPABILITIES_MAX);
	if (!nest)
		return false;
	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (nla_put_u32(skb, all[i].attribute, all[i].value))
			return false;
	nla_nest_end(skb, nest);
	return true;
}

static int vm_nl_lane_put_lost(struct sk_buff *skb, struct vm_repr *repr, struct vm_why *why)
{
	struct vm_count lost;
	struct nlattr *nest;
	u32 input;
	int error;

	for (input = 0; input < repr->lane.has.inputs; input++) {
		error = vm_repr_lost(repr, input, &lost, why);
		if (error)
			return error;
		nest = nla_nest_start(skb, VERMILION_A_LANE_LOST);
		if (!nest || nla_put_u64_64bit(skb, VERMILION_A_COUNT_PACKETS, lost.packets, VERMILION_A_COUNT_PAD) ||
		    nla_put_u64_64bit(skb, VERMILION_A_COUNT_BYTES, lost.bytes, VERMILION_A_COUNT_PAD))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static bool vm_nl_lane_put_way(struct sk_buff *skb, const struct vm_repr *repr)
{
	char way[16];

	if (!repr->way.known)
		return true;
	snprintf(way, sizeof(way), "%s%u", repr->way.to_host ? "host" : "wire", repr->way.port);
	return !nla_put_string(skb, VERMILION_A_LANE_WAY, way);
}

/* The values that the driver knows without a register access. */
static int vm_nl_lane_put_known(struct sk_buff *skb, struct vm_repr *repr)
{
	char device[64], name[IFNAMSIZ];
	enum vm_owner owner;
	struct vm_port port;
	struct vm_pool pool;
	u32 option[2];

	mutex_lock(&repr->engine->lock);
	port = repr->port;
	owner = repr->port_owner;
	memcpy(option, repr->engine->option, sizeof(option));
	mutex_unlock(&repr->engine->lock);
	vm_repr_get_pool(repr, &pool);
	snprintf(device, sizeof(device), "%s/%s", dev_bus_name(repr->card->dev), dev_name(repr->card->dev));
	strscpy(name, netdev_name(repr->netdev), sizeof(name));
	if (nla_put_u32(skb, VERMILION_A_LANE_IFINDEX, repr->netdev->ifindex) ||
	    nla_put_string(skb, VERMILION_A_LANE_NAME, name) || nla_put_string(skb, VERMILION_A_LANE_DEVICE, device) ||
	    nla_put_u32(skb, VERMILION_A_LANE_LANE, repr->engine->index) ||
	    nla_put_u32(skb, VERMILION_A_LANE_EGRESS, repr->lane.egress) || !vm_nl_lane_put_way(skb, repr) ||
	    !vm_nl_lane_put_capabilities(skb, &repr->lane) ||
	    nla_put_u64_64bit(skb, VERMILION_A_LANE_RATE, port.rate, VERMILION_A_LANE_PAD) ||
	    nla_put_u32(skb, VERMILION_A_LANE_BURST, port.burst) || nla_put_u32(skb, VERMILION_A_LANE_OWNER, owner) ||
	    nla_put_u32(skb, VERMILION_A_LANE_QUEUES, port.queues) ||
	    nla_put_u32(skb, VERMILION_A_LANE_OPTION_IP4, option[0]) ||
	    nla_put_u32(skb, VERMILION_A_LANE_OPTION_IP6, option[1]) ||
	    nla_put_u32(skb, VERMILION_A_LANE_POOL_BYTES, pool.size) ||
	    nla_put_u32(skb, VERMILION_A_LANE_RESERVE_BYTES, pool.reserve) ||
	    nla_put_u32(skb, VERMILION_A_LANE_CAP_BYTES, pool.cap))
		return -EMSGSIZE;
	return 0;
}

static int vm_nl_lane_fill(struct sk_buff *skb, struct vm_repr *repr, u32 queue, struct vm_why *why)
{
	const int error = vm_nl_lane_put_known(skb, repr);

	return error ? error : vm_nl_lane_put_lost(skb, repr, why);
}

/* A dump continues over a lane that does not answer. The reply then lacks the lost frames. */
static int vm_nl_lane_fill_of_all(struct sk_buff *skb, struct vm_repr *repr, u32 queue, struct vm_why *why)
{
	int error = vm_nl_lane_put_known(skb, repr);
	const unsigned char *behind = skb_tail_pointer(skb);

	if (error)
		return error;
	error = vm_nl_lane_put_lost(skb, repr, why);
	if (!error || error == -EMSGSIZE)
		return error;
	nlmsg_trim(skb, behind);
	return 0;
}

int vm_nl_lane_get(struct sk_buff *skb, struct genl_info *info)
{
	struct vm_repr *repr = vm_nl_repr(info, VERMILION_A_LANE_IFINDEX, 0);
	int error;

	if (IS_ERR(repr))
		return PTR_ERR(repr);
	error = vm_nl_answer(info, VERMILION_CMD_LANE_GET, vm_nl_lane_fill, repr, 0);
	vm_repr_put(repr);
	return error;
}

/* The lane with the lowest ifindex above `after`, or NULL; vm_repr_put() releases it. */
static struct vm_repr *vm_nl_lane_next(struct net *net, int after)
{
	struct net_device *netdev, *lowest = NULL;

	rtnl_lock();
	for_each_netdev(net, netdev)
		if (vm_repr_of(netdev) && netdev->ifindex > after && (!lowest || netdev->ifindex < lowest->ifindex))
			lowest = netdev;
	dev_hold(lowest);
	rtnl_unlock();
	return lowest ? netdev_priv(lowest) : NULL;
}

int vm_nl_lane_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct vm_repr *repr;
	int error = 0;

	if (vm_dump_attributes(cb)[VERMILION_A_LANE_IFINDEX]) {
		NL_SET_ERR_MSG(cb->extack, "ifindex names one lane; a dump gives all");
		return -EINVAL;
	}
	while (!error) {
		repr = vm_nl_lane_next(sock_net(skb->sk), cb->args[0]);
		if (!repr)
			return skb->len;
		error = vm_nl_add(skb, cb, VERMILION_CMD_LANE_GET, vm_nl_lane_fill_of_all, repr, 0);
		if (!error)
			cb->args[0] = repr->netdev->ifindex;
		vm_repr_put(repr);
	}
	return error == -EMSGSIZE && skb->len ? skb->len : error;
}

static bool vm_nl_lane_option_is_legal(struct netlink_ext_ack *extack, const char *name, u32 value, u32 alert)
{
	if (value != 1 && value <= 255 && value != alert)
		return true;
	vm_nl_say(extack, "%s is %u; legal is 0 for none, or 2 to 255 but %u (router alert)", name, value, alert);
	return false;
}

/* Sets the TTL option's types; a type that is not given stays. RTNL is held. */
static int vm_nl_lane_set_option(struct vm_repr *repr, struct genl_info *info, struct vm_why *why)
{
	const struct nlattr *given[] = { info->attrs[VERMILION_A_LANE_OPTION_IP4],
					 info->attrs[VERMILION_A_LANE_OPTION_IP6] };
	u32 option[2], i;

	if (!given[0] && !given[1])
		return 0;
	mutex_lock(&repr->engine->lock);
	memcpy(option, repr->engine->option, sizeof(option));
	mutex_unlock(&repr->engine->lock);
	for (i = 0; i < ARRAY_SIZE(option); i++)
		if (given[i])
			option[i] = nla_get_u32(given[i]);
	return vm_repr_set_option(repr, option[0], option[1], why);
}

static int vm_nl_lane_set_port(struct vm_repr *repr, struct genl_info *info, struct vm_why *why)
{
	const struct nlattr *rate = info->attrs[VERMILION_A_LANE_RATE];
	const struct nlattr *burst = info->attrs[VERMILION_A_LANE_BURST];
	const struct nlattr *queues = info->attrs[VERMILION_A_LANE_QUEUES];
	struct vm_port port;

	if (!rate && !burst && !queues)
		return 0;
	if (queues && nla_get_u32(queues) > repr->lane.has.queues) {
		vm_why_set(why, "queues is %u; legal is 0 to %u", nla_get_u32(queues), repr->lane.has.queues);
		return -EINVAL;
	}
	mutex_lock(&repr->engine->lock);
	port = repr->port;
	mutex_unlock(&repr->engine->lock);
	port.rate = rate ? nla_get_u64(rate) : port.rate;
	port.burst = burst ? nla_get_u32(burst) : port.burst;
	if (queues)
		port.queues = nla_get_u32(queues);
	else if (!port.rate)
		port.queues = 0; /* no shaper any more: all queues, as at the start */
	return vm_repr_set_port(repr, &port, VM_OWNER_NETLINK, why);
}

/* The present pool with the values of the message; true if the message has any. RTNL is held. */
static bool vm_nl_lane_take_pool(struct vm_repr *repr, struct genl_info *info, struct vm_pool *pool)
{
	const struct nlattr *size = info->attrs[VERMILION_A_LANE_POOL_BYTES];
	const struct nlattr *reserve = info->attrs[VERMILION_A_LANE_RESERVE_BYTES];
	const struct nlattr *cap = info->attrs[VERMILION_A_LANE_CAP_BYTES];

	vm_repr_get_pool(repr, pool);
	pool->size = size ? nla_get_u32(size) : pool->size;
	pool->reserve = reserve ? nla_get_u32(reserve) : pool->reserve;
	pool->cap = cap ? nla_get_u32(cap) : pool->cap;
	return size || reserve || cap;
}

/* Checks first everything that can be refused. After that only the card itself can fail. */
static int vm_nl_lane_change(struct vm_repr *repr, struct genl_info *info)
{
	struct nlattr **attributes = info->attrs;
	struct vm_why why = {};
	struct vm_pool pool;
	int error = 0;
	bool pooled;

	if (attributes[VERMILION_A_LANE_OPTION_IP4] &&
	    !vm_nl_lane_option_is_legal(info->extack, "option-ip4",
					nla_get_u32(attributes[VERMILION_A_LANE_OPTION_IP4]), ROUTER_ALERT_IP4))
		return -ERANGE;
	if (attributes[VERMILION_A_LANE_OPTION_IP6] &&
	    !vm_nl_lane_option_is_legal(info->extack, "option-ip6",
					nla_get_u32(attributes[VERMILION_A_LANE_OPTION_IP6]), ROUTER_ALERT_IP6))
		return -ERANGE;
	pooled = vm_nl_lane_take_pool(repr, info, &pool);
	if (pooled)
		error = vm_repr_check_pool(repr, &pool, &why);
	if (!error)
		error = vm_nl_lane_set_port(repr, info, &why);
	if (!error && pooled)
		error = vm_repr_set_pool(repr, &pool, &why);
	if (!error)
		error = vm_nl_lane_set_option(repr, info, &why);
	if (!error && attributes[VERMILION_A_LANE_SEED])
		error = vm_repr_seed(repr, nla_get_u64(attributes[VERMILION_A_LANE_SEED]), &why);
	return vm_nl_refuse(info->extack, error, &why);
}

int vm_nl_lane_set(struct sk_buff *skb, struct genl_info *info)
{
	struct vm_repr *repr = vm_nl_repr(info, VERMILION_A_LANE_IFINDEX, 0);
	int error;

	if (IS_ERR(repr))
		return PTR_ERR(repr);
	rtnl_lock(); /* tc must not change the port's shaper between read and write */
	error = vm_nl_lane_change(repr, info);
	rtnl_unlock();
	vm_repr_put(repr);
	return error;
}
