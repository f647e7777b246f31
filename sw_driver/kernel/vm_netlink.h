/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Generic netlink: tables generated from sw_driver/netlink/vermilion.yaml, and the functions that
 * read and write messages by these tables.
 *
 *   vm_netlink_tables.c    generated: policies of the commands, offset of each setting in vm_queue
 *   vm_netlink_settings.c  reads settings from a message and writes them into one, by that table
 *   vm_netlink_queue.c     commands on queues
 *   vm_netlink_lane.c      commands on lanes
 *   vm_netlink_class.c     commands on class tables
 *   vm_netlink_stats.c     commands on counters
 *   vm_netlink_reply.c     shared by all commands: finds the lane; replies, dumps, sentences
 *   vm_netlink.c           the family
 */
#ifndef VM_NETLINK_H
#define VM_NETLINK_H

#include <net/genetlink.h>
#include "vermilion_netlink.h"
#include "vm_core.h"

enum vm_nl_kind { VM_NL_U32, VM_NL_U64, VM_NL_NUMBER, VM_NL_NEST };

struct vm_nl_set;

/* A setting: its attribute, and the offset of its value in the struct of its set. */
struct vm_nl_field {
	u16 attribute;
	u16 kind;
	u32 offset;
	const struct vm_nl_set *nest;
};

struct vm_nl_set {
	const struct vm_nl_field *fields;
	u32 count;
	u32 last; /* greatest attribute */
	u32 pad;  /* attribute for padding before a u64; 0: the set has none */
};

extern const struct vm_nl_set vm_nl_queue;
extern const struct nla_policy vm_nl_lane_get_policy[VERMILION_A_LANE_MAX + 1];
extern const struct nla_policy vm_nl_lane_set_policy[VERMILION_A_LANE_MAX + 1];
extern const struct nla_policy vm_nl_queue_get_policy[VERMILION_A_QUEUE_MAX + 1];
extern const struct nla_policy vm_nl_queue_set_policy[VERMILION_A_QUEUE_MAX + 1];
extern const struct nla_policy vm_nl_queue_reset_policy[VERMILION_A_QUEUE_MAX + 1];
extern const struct nla_policy vm_nl_queue_flush_policy[VERMILION_A_QUEUE_MAX + 1];
extern const struct nla_policy vm_nl_class_get_policy[VERMILION_A_CLASS_MAX + 1];
extern const struct nla_policy vm_nl_class_set_policy[VERMILION_A_CLASS_MAX + 1];
extern const struct nla_policy vm_nl_class_reset_policy[VERMILION_A_CLASS_MAX + 1];
extern const struct nla_policy vm_nl_statistics_get_policy[VERMILION_A_STATISTICS_MAX + 1];
extern const struct nla_policy vm_nl_statistics_clear_policy[VERMILION_A_LANE_MAX + 1];

/* Writes the settings in a range of attributes to `base`, a struct of the set. It ignores
 * attributes that are no fields of the set, and refuses an attribute that is given twice. The
 * policy has already checked types and lengths.
 */
int vm_nl_take(const struct vm_nl_set *set, struct nlattr *head, int length, void *base,
	       struct netlink_ext_ack *extack);
/* Writes all settings of `base` as attributes; -EMSGSIZE if they do not fit. */
int vm_nl_put(struct sk_buff *skb, const struct vm_nl_set *set, const void *base);

/* Refuses an attribute that is given twice, except `repeated`; 0: no exception. */
int vm_nl_once(struct nlattr *head, int length, u32 repeated, struct netlink_ext_ack *extack);

/* Puts a formatted sentence into extack. */
__printf(2, 3) void vm_nl_say(struct netlink_ext_ack *extack, const char *format, ...);
/* Puts a refusal of the driver's core into extack; returns `error`. */
int vm_nl_refuse(struct netlink_ext_ack *extack, int error, const struct vm_why *why);

/* Finds the lane that the attribute `ifindex` names; the caller releases it by vm_repr_put(). It
 * returns an error and a sentence if the attribute is missing or names no netdev of this driver, or
 * if an attribute other than `repeated` is given twice.
 */
struct vm_repr *vm_nl_repr(struct genl_info *info, u32 ifindex, u32 repeated);
/* Reads a u32 that a command needs; false, and the literal `missing` in extack, if it is absent. */
bool vm_nl_need(struct nlattr *const *attributes, u32 attribute, const char *missing, u32 *value,
		struct netlink_ext_ack *extack);

const struct genl_family *vm_nl_family(void);

/* Writes a reply's attributes: 0, -EMSGSIZE, or an errno with a sentence. Replies about lanes
 * ignore `queue`.
 */
typedef int vm_nl_fill(struct sk_buff *skb, struct vm_repr *repr, u32 queue, struct vm_why *why);
int vm_nl_answer(struct genl_info *info, u8 command, vm_nl_fill *fill, struct vm_repr *repr, u32 queue);
/* Adds a reply to a dump; -EMSGSIZE if it has to go into the next buffer. */
int vm_nl_add(struct sk_buff *skb, struct netlink_callback *cb, u8 command, vm_nl_fill *fill, struct vm_repr *repr,
	      u32 queue);
/* Dumps all queues of the lane that `ifindex` names; the request must not have `queue`. */
int vm_nl_dump_queues(struct sk_buff *skb, struct netlink_callback *cb, u8 command, vm_nl_fill *fill, u32 ifindex,
		      u32 queue);

int vm_nl_lane_get(struct sk_buff *skb, struct genl_info *info);
int vm_nl_lane_dump(struct sk_buff *skb, struct netlink_callback *cb);
int vm_nl_lane_set(struct sk_buff *skb, struct genl_info *info);
int vm_nl_queue_get(struct sk_buff *skb, struct genl_info *info);
int vm_nl_queue_dump(struct sk_buff *skb, struct netlink_callback *cb);
int vm_nl_queue_set(struct sk_buff *skb, struct genl_info *info);
int vm_nl_queue_reset(struct sk_buff *skb, struct genl_info *info);
int vm_nl_queue_flush(struct sk_buff *skb, struct genl_info *info);
int vm_nl_class_get(struct sk_buff *skb, struct genl_info *info);
int vm_nl_class_set(struct sk_buff *skb, struct genl_info *info);
int vm_nl_class_reset(struct sk_buff *skb, struct genl_info *info);
int vm_nl_statistics_get(struct sk_buff *skb, struct genl_info *info);
int vm_nl_statistics_dump(struct sk_buff *skb, struct netlink_callback *cb);
int vm_nl_statistics_clear(struct sk_buff *skb, struct genl_info *info);

#endif
