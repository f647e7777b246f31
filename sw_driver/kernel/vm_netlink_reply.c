// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* What all netlink commands share: finding the lane, replies, dumps, sentences. */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <net/sock.h>
#include "vm_netlink.h"

#define REPLY_ROOM 8000u
#define SENTENCES 64u

/* extack has a buffer for 79 characters, and none in 6.1. A longer sentence is kept in `texts`
 * until the kernel sends it, when the command returns. 64 further refusals in that time would
 * overwrite it. So only administrators of the machine get such a sentence. All others get a
 * constant text, as they can cause refusals, too: by any get, and by a set in a network namespace
 * of their own.
 */
void vm_nl_say(struct netlink_ext_ack *extack, const char *format, ...)
{
	static char texts[SENTENCES][VM_WHY_CHARS];
	static atomic_t turn;
	va_list arguments;
	struct vm_why why;
	char *text;

	if (!extack)
		return;
	va_start(arguments, format);
	vscnprintf(why.text, sizeof(why.text), format, arguments);
	va_end(arguments);
	if (vm_extack_holds(extack, why.text))
		return;
	if (!ns_capable_noaudit(&init_user_ns, CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(extack, "refused; an administrator is told why");
		return;
	}
	text = texts[(u32)atomic_inc_return(&turn) % SENTENCES];
	memcpy(text, why.text, sizeof(why.text));
	extack->_msg = text;
}

int vm_nl_refuse(struct netlink_ext_ack *extack, int error, const struct vm_why *why)
{
	if (error && why->text[0])
		vm_nl_say(extack, "%s", why->text);
	return error;
}

bool vm_nl_need(struct nlattr *const *attributes, u32 attribute, const char *missing, u32 *value,
		struct netlink_ext_ack *extack)
{
	if (!attributes[attribute]) {
		if (extack)
			extack->_msg = missing;
		return false;
	}
	*value = nla_get_u32(attributes[attribute]);
	return true;
}

/* Finds the lane that an attribute of the request names; `header` is the request's header. */
static struct vm_repr *vm_nl_reply_find(struct net *net, const struct nlmsghdr *header,
					struct nlattr *const *attributes, u32 ifindex, u32 repeated,
					struct netlink_ext_ack *extack)
{
	struct vm_repr *repr;
	u32 index;
	int error;

	error = vm_nl_once(nlmsg_attrdata(header, GENL_HDRLEN), nlmsg_attrlen(header, GENL_HDRLEN), repeated, extack);
	if (error)
		return ERR_PTR(error);
	if (!vm_nl_need(attributes, ifindex, "ifindex is missing", &index, extack))
		return ERR_PTR(-EINVAL);
	repr = index <= INT_MAX ? vm_repr_get(net, index) : NULL;
	if (repr)
		return repr;
	NL_SET_BAD_ATTR(extack, attributes[ifindex]);
	vm_nl_say(extack, "ifindex is %u; legal is a lane's netdev", index);
	return ERR_PTR(-ENODEV);
}

struct vm_repr *vm_nl_repr(struct genl_info *info, u32 ifindex, u32 repeated)
{
	return vm_nl_reply_find(genl_info_net(info), info->nlhdr, info->attrs, ifindex, repeated, info->extack);
}

int vm_nl_answer(struct genl_info *info, u8 command, vm_nl_fill *fill, struct vm_repr *repr, u32 queue)
{
	struct sk_buff *skb = genlmsg_new(REPLY_ROOM, GFP_KERNEL);
	struct vm_why why = {};
	void *header;
	int error;

	if (!skb)
		return -ENOMEM;
	header = genlmsg_put_reply(skb, info, vm_nl_family(), 0, command);
	error = header ? fill(skb, repr, queue, &why) : -EMSGSIZE;
	if (error) {
		nlmsg_free(skb);
		return vm_nl_refuse(info->extack, error, &why);
	}
	genlmsg_end(skb, header);
	return genlmsg_reply(skb, info);
}

int vm_nl_add(struct sk_buff *skb, struct netlink_callback *cb, u8 command, vm_nl_fill *fill, struct vm_repr *repr,
	      u32 queue)
{
	struct vm_why why = {};
	void *header;
	int error;

	header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, vm_nl_family(), NLM_F_MULTI, command);
	if (!header)
		return -EMSGSIZE;
	error = fill(skb, repr, queue, &why);
	if (error) {
		genlmsg_cancel(skb, header);
		return vm_nl_refuse(cb->extack, error, &why);
	}
	genlmsg_end(skb, header);
	return 0;
}

int vm_nl_dump_queues(struct sk_buff *skb, struct netlink_callback *cb, u8 command, vm_nl_fill *fill, u32 ifindex,
		      u32 queue)
{
	struct nlattr *const *attributes = vm_dump_attributes(cb);
	struct vm_repr *repr;
	int error = 0;

	if (attributes[queue]) {
		NL_SET_ERR_MSG(cb->extack, "queue names one queue; a dump gives all");
		return -EINVAL;
	}
	repr = vm_nl_reply_find(sock_net(skb->sk), cb->nlh, attributes, ifindex, 0, cb->extack);
	if (IS_ERR(repr))
		return PTR_ERR(repr);
	for (; cb->args[0] < repr->lane.has.queues && !error; cb->args[0]++) {
		error = vm_nl_add(skb, cb, command, fill, repr, cb->args[0]);
		if (error)
			break;
	}
	vm_repr_put(repr);
	/* A reply that does not fit goes into the next buffer. It fails in an empty buffer. */
	return error == -EMSGSIZE && skb->len ? skb->len : error ?: skb->len;
}
