// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "vm_rule.h"

#include "vm_profile.h"

/* Words of the key, and where a field begins in its word: docs/rules.md. */
enum { SOURCE_WORD = 0, DESTINATION_WORD = 4, PORT_WORD = 8, TAG_WORD = 9, KIND_WORD = 10 };
enum { PCP_AT = 12, TAG_AT = 15, PROTOCOL_AT = 16, DSCP_AT = 24, ECN_AT = 30 };
enum { IP4_AT = 4, IP6_AT = 5, PORTS_AT = 6, IP_AT = 7, RANGE_AT = 8 };

static void put(struct vm_rule_image *image, u32 word, u32 value, u32 mask)
{
	image->value[word] |= value;
	image->mask[word] |= mask;
}

static void field(struct vm_rule_image *image, u32 word, u32 at, u32 value, u32 most)
{
	put(image, word, value << at, most << at);
}

static void address(struct vm_rule_image *image, u32 word, const u32 value[4], const u32 mask[4])
{
	u32 i;

	for (i = 0; i < 4; i++)
		put(image, word + i, value[i] & mask[i], mask[i]);
}

/* DSCP and ECN change places: the key has the ECN bits on top. */
static void traffic(struct vm_rule_image *image, u32 value, u32 mask)
{
	put(image, TAG_WORD, (value & mask) >> 2 << DSCP_AT, mask >> 2 << DSCP_AT);
	put(image, TAG_WORD, (value & mask & 3) << ECN_AT, (mask & 3) << ECN_AT);
}

/* The number of a range of one side, 0 or 1; VM_PORT_RANGES: there is no room. */
static u32 range_of(struct vm_port_ranges *ranges, u32 side, const u32 ends[2])
{
	struct vm_port_range *range = &ranges->range[side * VM_PORT_RANGES];
	u32 i;

	for (i = 0; i < ranges->used[side]; i++)
		if (range[i].low == ends[0] && range[i].high == ends[1])
			return i;
	if (i == VM_PORT_RANGES)
		return i;
	range[i].low = ends[0];
	range[i].high = ends[1];
	ranges->used[side]++;
	return i;
}

static bool ports(struct vm_rule_image *image, struct vm_port_ranges *ranges, u32 side, const u32 ends[2])
{
	u32 last = ends[1] - ends[0], at = side == 0 ? 16 : 0, number;

	field(image, KIND_WORD, PORTS_AT, 1, 1);
	if ((last & (last + 1)) == 0 && (ends[0] & last) == 0) {
		field(image, PORT_WORD, at, ends[0], VM_PORT_MAX & ~last);
		return true;
	}
	number = range_of(ranges, side, ends);
	if (number == VM_PORT_RANGES)
		return false;
	field(image, KIND_WORD, RANGE_AT + side * VM_PORT_RANGES + number, 1, 1);
	return true;
}

static void actions(const struct vm_rule *rule, struct vm_rule_image *image)
{
	u32 act = rule->actions;

	image->action = 1u << 31;
	if (act & VM_ACT_QUEUE)
		image->action |= 1u << 24 | rule->queue;
	if (act & VM_ACT_COLOUR)
		image->action |= 1u << 25 | rule->colour << 12;
	if (act & VM_ACT_DSCP)
		image->action |= 1u << 26 | rule->new_dscp << 16;
	if (act & VM_ACT_DROP)
		image->action |= 1u << 27;
	image->marker = act & VM_ACT_MARKER ? 1u << 31 | rule->marker : 0;
}

void vm_port_ranges_clear(struct vm_port_ranges *ranges)
{
	u32 i;

	vm_clear(ranges, sizeof(*ranges));
	for (i = 0; i < VM_PORT_RANGES_ALL; i++)
		ranges->range[i].low = 1;
}

bool vm_rule_convert(const struct vm_rule *rule, struct vm_port_ranges *ranges, struct vm_rule_image *image)
{
	u32 match = rule->match;

	vm_clear(image, sizeof(*image));
	actions(rule, image);
	if (match & VM_MATCH_INGRESS)
		field(image, KIND_WORD, 0, rule->ingress, 15);
	if (match & (VM_MATCH_VLAN | VM_MATCH_PCP))
		field(image, TAG_WORD, TAG_AT, 1, 1);
	if (match & VM_MATCH_TAGGED)
		field(image, TAG_WORD, TAG_AT, rule->tagged, 1);
	if (match & VM_MATCH_VLAN)
		field(image, TAG_WORD, 0, rule->vlan, 0xfff);
	if (match & VM_MATCH_PCP)
		field(image, TAG_WORD, PCP_AT, rule->pcp, 7);
	if (match & VM_MATCH_VERSION) {
		field(image, KIND_WORD, IP4_AT, rule->version == 4, 1);
		field(image, KIND_WORD, IP6_AT, rule->version == 6, 1);
	}
	if (match & VM_MATCH_SOURCE)
		address(image, SOURCE_WORD, rule->source, rule->source_mask);
	if (match & VM_MATCH_DESTINATION)
		address(image, DESTINATION_WORD, rule->destination, rule->destination_mask);
	if (match & (VM_MATCH_PROTOCOL | VM_MATCH_DSCP | VM_MATCH_ECN | VM_MATCH_TRAFFIC))
		field(image, KIND_WORD, IP_AT, 1, 1);
	if (match & VM_MATCH_PROTOCOL)
		field(image, TAG_WORD, PROTOCOL_AT, rule->protocol, 255);
	if (match & VM_MATCH_DSCP)
		field(image, TAG_WORD, DSCP_AT, rule->dscp, 63);
	if (match & VM_MATCH_ECN)
		field(image, TAG_WORD, ECN_AT, rule->ecn, 3);
	if (match & VM_MATCH_TRAFFIC)
		traffic(image, rule->traffic, rule->traffic_mask);
	if (match & VM_MATCH_SOURCE_PORT && !ports(image, ranges, 0, rule->source_port))
		return false;
	return !(match & VM_MATCH_DESTINATION_PORT) || ports(image, ranges, 1, rule->destination_port);
}
