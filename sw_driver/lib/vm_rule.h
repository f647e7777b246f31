/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Rules by any header fields: settings, struct vm_rule -> the words of the registers, struct vm_rule_image.
 *
 * docs/rules.md says what the fields mean. Fields are not checked here: who calls has refused what is not legal.
 */
#ifndef VM_RULE_H
#define VM_RULE_H

#include "vm_types.h"

#define VM_RULE_WORDS 11 /* of the key */
#define VM_PORT_RANGES 8 /* of source ports, and as many of destination ports */
#define VM_PORT_RANGES_ALL 16
#define VM_PORT_MAX 65535

/* Bits of `match`: the fields that a rule compares. */
enum vm_rule_field {
	VM_MATCH_INGRESS = 1,
	VM_MATCH_VLAN = 2,
	VM_MATCH_PCP = 4,
	VM_MATCH_VERSION = 8,
	VM_MATCH_SOURCE = 16,
	VM_MATCH_DESTINATION = 32,
	VM_MATCH_PROTOCOL = 64,
	VM_MATCH_SOURCE_PORT = 128,
	VM_MATCH_DESTINATION_PORT = 256,
	VM_MATCH_DSCP = 512,
	VM_MATCH_ECN = 1024,
	VM_MATCH_TAGGED = 2048,
	VM_MATCH_TRAFFIC = 4096,
};

/* Bits of `actions`: what a rule does. */
enum vm_rule_act {
	VM_ACT_QUEUE = 1,
	VM_ACT_COLOUR = 2,
	VM_ACT_DSCP = 4,
	VM_ACT_MARKER = 8,
	VM_ACT_DROP = 16,
};

struct vm_rule {
	u32 match;
	u32 ingress, vlan, pcp;
	u32 version;		       /* 4 or 6; 0: not IP. Addresses need it */
	u32 source[4], source_mask[4]; /* least significant word first; IPv4 in word 0 */
	u32 destination[4], destination_mask[4];
	u32 protocol;
	u32 source_port[2], destination_port[2]; /* both ends included */
	u32 dscp, ecn;
	u32 tagged;		   /* 0: frames without a tag, 1: those with one */
	u32 traffic, traffic_mask; /* bits of DSCP and ECN: IPv4's TOS, IPv6's traffic class */
	u32 actions;
	u32 queue, colour, new_dscp, marker; /* queue and marker within the packet's egress */
};

struct vm_rule_image {
	u32 value[VM_RULE_WORDS], mask[VM_RULE_WORDS];
	u32 action, marker;
};

struct vm_port_range {
	u32 low, high; /* empty if low is greater */
};

/* The ranges that the rules of a table use: of source ports, then of destination ports. */
struct vm_port_ranges {
	u32 used[2];
	struct vm_port_range range[VM_PORT_RANGES_ALL];
};

void vm_port_ranges_clear(struct vm_port_ranges *ranges);
/* Adds the ranges that the rule needs to `ranges`. A range that is a prefix needs none, and equal ranges are one.
 * False: a ninth range is needed, and nothing was added for the ports of that side.
 */
bool vm_rule_convert(const struct vm_rule *rule, struct vm_port_ranges *ranges, struct vm_rule_image *image);

#endif
