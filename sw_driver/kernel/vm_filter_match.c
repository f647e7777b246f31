// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* From the keys of a filter to what a rule compares. What a rule cannot compare is refused.
 *
 * As in Linux, `protocol ip` and `protocol ipv6` mean frames without a tag, and `protocol 802.1q`
 * those with one.
 */
#include <linux/if_vlan.h>

#include "vm_filter.h"

#define KEY(name) BIT_ULL(FLOW_DISSECTOR_KEY_##name)
#define COMPARED                                                                                                       \
	(KEY(CONTROL) | KEY(BASIC) | KEY(IPV4_ADDRS) | KEY(IPV6_ADDRS) | KEY(PORTS) | KEY(PORTS_RANGE) | KEY(IP) |     \
	 KEY(VLAN))
#define SIDES 2 /* source and destination */

static const char *vm_filter_key_name(u64 key)
{
	switch (key) {
	case KEY(ETH_ADDRS):
		return "MAC addresses";
	case KEY(META):
		return "indev";
	case KEY(CVLAN):
		return "tags behind the first";
	case KEY(TCP):
		return "TCP flags";
	case KEY(ICMP):
		return "ICMP type and code";
	case KEY(ARP):
		return "ARP fields";
	case KEY(MPLS):
		return "MPLS labels";
	case KEY(CT):
		return "connection tracking";
	case KEY(ENC_KEYID):
	case KEY(ENC_IPV4_ADDRS):
	case KEY(ENC_IPV6_ADDRS):
	case KEY(ENC_CONTROL):
	case KEY(ENC_PORTS):
	case KEY(ENC_IP):
	case KEY(ENC_OPTS):
		return "tunnels";
	default:
		return "one of these fields";
	}
}

bool vm_filter_match_protocol(struct vm_rule *rule, __be16 protocol, struct vm_why *why)
{
	switch (protocol) {
	case htons(ETH_P_ALL):
		return true;
	case htons(ETH_P_8021Q):
		rule->match |= VM_MATCH_TAGGED;
		rule->tagged = 1;
		return true;
	case htons(ETH_P_IP):
	case htons(ETH_P_IPV6):
		rule->match |= VM_MATCH_TAGGED | VM_MATCH_VERSION;
		rule->version = protocol == htons(ETH_P_IP) ? 4 : 6;
		return true;
	default:
		vm_why_set(why, "protocol is 0x%04x; legal is all, ip, ipv6 and 802.1q", ntohs(protocol));
		return false;
	}
}

static bool vm_filter_match_basic(struct vm_rule *rule, const struct flow_rule *flow, struct vm_why *why)
{
	struct flow_match_basic basic;
	u32 version;

	if (!flow_rule_match_key(flow, FLOW_DISSECTOR_KEY_BASIC))
		return true;
	flow_rule_match_basic(flow, &basic);
	if (basic.mask->n_proto) {
		version = basic.key->n_proto == htons(ETH_P_IP) ? 4 : basic.key->n_proto == htons(ETH_P_IPV6) ? 6 : 0;
		if (!version || (rule->match & VM_MATCH_VERSION && rule->version != version)) {
			vm_why_set(why, "eth_type is 0x%04x; legal is ip and ipv6", ntohs(basic.key->n_proto));
			return false;
		}
		rule->match |= VM_MATCH_VERSION;
		rule->version = version;
	}
	if (!basic.mask->ip_proto)
		return true;
	if (basic.mask->ip_proto != U8_MAX) {
		vm_why_set(why, "ip_proto has mask 0x%02x; legal is the whole number", basic.mask->ip_proto);
		return false;
	}
	rule->match |= VM_MATCH_PROTOCOL;
	rule->protocol = basic.key->ip_proto;
	return true;
}

static bool vm_filter_match_vlan(struct vm_rule *rule, const struct flow_rule *flow, struct vm_why *why)
{
	struct flow_match_vlan vlan;

	if (!flow_rule_match_key(flow, FLOW_DISSECTOR_KEY_VLAN))
		return true;
	flow_rule_match_vlan(flow, &vlan);
	if (vlan.mask->vlan_tpid && vlan.key->vlan_tpid != htons(ETH_P_8021Q)) {
		vm_why_set(why, "the tag's protocol is 0x%04x; legal is 802.1q", ntohs(vlan.key->vlan_tpid));
		return false;
	}
	if (vlan.mask->vlan_eth_type && eth_type_vlan(vlan.key->vlan_eth_type)) {
		vm_why_set(why, "a rule compares no tags behind the first");
		return false;
	}
	if (vlan.mask->vlan_dei || (vlan.mask->vlan_id && vlan.mask->vlan_id != VLAN_VID_MASK) ||
	    (vlan.mask->vlan_priority && vlan.mask->vlan_priority != 7)) {
		vm_why_set(why, "a part of the tag is given; legal is the whole vlan_id and the whole vlan_prio");
		return false;
	}
	rule->match |= VM_MATCH_TAGGED;
	rule->tagged = 1;
	if (vlan.mask->vlan_id) {
		rule->match |= VM_MATCH_VLAN;
		rule->vlan = vlan.key->vlan_id;
	}
	if (vlan.mask->vlan_priority) {
		rule->match |= VM_MATCH_PCP;
		rule->pcp = vlan.key->vlan_priority;
	}
	return true;
}

/* The rule has the least significant word first. */
static void vm_filter_match_words(u32 value[4], u32 mask[4], const __be32 *key_value, const __be32 *key_mask, u32 words)
{
	u32 i;

	for (i = 0; i < words; i++) {
		value[i] = ntohl(key_value[words - 1 - i]);
		mask[i] = ntohl(key_mask[words - 1 - i]);
	}
}

static bool vm_filter_match_addresses(struct vm_rule *rule, const struct flow_rule *flow, struct vm_why *why)
{
	struct flow_match_ipv4_addrs ip4;
	struct flow_match_ipv6_addrs ip6;
	struct flow_match_control control;
	bool four;

	if (!flow_rule_match_key(flow, FLOW_DISSECTOR_KEY_IPV4_ADDRS) &&
	    !flow_rule_match_key(flow, FLOW_DISSECTOR_KEY_IPV6_ADDRS))
		return true;
	flow_rule_match_control(flow, &control); /* flower's addresses are a union, and so are both keys set */
	four = control.key->addr_type == FLOW_DISSECTOR_KEY_IPV4_ADDRS;
	if (!(rule->match & VM_MATCH_VERSION) || rule->version != (four ? 4 : 6)) {
		vm_why_set(why, "addresses are those of IPv%u; legal with protocol or vlan_ethtype %s", four ? 4 : 6,
			   four ? "ip" : "ipv6");
		return false;
	}
	rule->match |= VM_MATCH_SOURCE | VM_MATCH_DESTINATION;
	if (four) {
		flow_rule_match_ipv4_addrs(flow, &ip4);
		vm_filter_match_words(rule->source, rule->source_mask, &ip4.key->src, &ip4.mask->src, 1);
		vm_filter_match_words(rule->destination, rule->destination_mask, &ip4.key->dst, &ip4.mask->dst, 1);
		return true;
	}
	flow_rule_match_ipv6_addrs(flow, &ip6);
	vm_filter_match_words(rule->source, rule->source_mask, ip6.key->src.s6_addr32, ip6.mask->src.s6_addr32, 4);
	vm_filter_match_words(rule->destination, rule->destination_mask, ip6.key->dst.s6_addr32,
			      ip6.mask->dst.s6_addr32, 4);
	return true;
}

static bool vm_filter_match_traffic(struct vm_rule *rule, const struct flow_rule *flow, struct vm_why *why)
{
	struct flow_match_ip ip;

	if (!flow_rule_match_key(flow, FLOW_DISSECTOR_KEY_IP))
		return true;
	flow_rule_match_ip(flow, &ip);
	if (ip.mask->ttl) {
		vm_why_set(why, "a rule does not compare ip_ttl");
		return false;
	}
	rule->match |= VM_MATCH_TRAFFIC;
	rule->traffic = ip.key->tos;
	rule->traffic_mask = ip.mask->tos;
	return true;
}

/* Takes a port and its mask, or both ends of a range. */
static bool vm_filter_match_port(struct vm_rule *rule, u32 side, u32 low, u32 high, struct vm_why *why)
{
	static const u32 bits[SIDES] = { VM_MATCH_SOURCE_PORT, VM_MATCH_DESTINATION_PORT };
	u32 *ends = side ? rule->destination_port : rule->source_port;

	if (rule->match & bits[side]) {
		vm_why_set(why, "%s_port is given as a port and as a range", side ? "dst" : "src");
		return false;
	}
	rule->match |= bits[side];
	ends[0] = low;
	ends[1] = high;
	return true;
}

static bool vm_filter_match_ports(struct vm_rule *rule, const struct flow_rule *flow, struct vm_why *why)
{
	struct flow_match_ports ports;
	u32 side;

	if (!flow_rule_match_key(flow, FLOW_DISSECTOR_KEY_PORTS))
		return true;
	flow_rule_match_ports(flow, &ports);
	for (side = 0; side < SIDES; side++) {
		const u32 value = ntohs(side ? ports.key->dst : ports.key->src);
		const u32 mask = ntohs(side ? ports.mask->dst : ports.mask->src), rest = ~mask & VM_PORT_MAX;

		if (!mask)
			continue;
		if (rest & (rest + 1)) {
			vm_why_set(why, "%s_port has mask 0x%04x; legal are ones, then zeros", side ? "dst" : "src",
				   mask);
			return false;
		}
		if (!vm_filter_match_port(rule, side, value & mask, (value & mask) | rest, why))
			return false;
	}
	return true;
}

static bool vm_filter_match_ranges(struct vm_rule *rule, const struct flow_rule *flow, struct vm_why *why)
{
	struct flow_match_ports_range range;
	u32 side;

	if (!flow_rule_match_key(flow, FLOW_DISSECTOR_KEY_PORTS_RANGE))
		return true;
	flow_rule_match_ports_range(flow, &range);
	for (side = 0; side < SIDES; side++) {
		const u32 low = ntohs(side ? range.key->tp_min.dst : range.key->tp_min.src);
		const u32 high = ntohs(side ? range.key->tp_max.dst : range.key->tp_max.src);

		if (!(side ? range.mask->tp_min.dst : range.mask->tp_min.src))
			continue;
		if (!vm_filter_match_port(rule, side, low, high, why))
			return false;
	}
	return true;
}

static bool vm_filter_match_no_flags(const struct flow_rule *flow, struct vm_why *why)
{
	struct flow_match_control control;

	if (!flow_rule_match_key(flow, FLOW_DISSECTOR_KEY_CONTROL))
		return true;
	flow_rule_match_control(flow, &control);
	if (!control.mask->flags)
		return true;
	vm_why_set(why, "a rule does not compare ip_flags");
	return false;
}

bool vm_filter_match(struct vm_rule *rule, __be16 protocol, const struct flow_rule *flow, struct vm_why *why)
{
	const u64 more = flow->match.dissector->used_keys & ~COMPARED;

	if (more) {
		vm_why_set(why, "a rule does not compare %s", vm_filter_key_name(more & -more));
		return false;
	}
	if (!vm_filter_match_protocol(rule, protocol, why) || !vm_filter_match_no_flags(flow, why) ||
	    !vm_filter_match_vlan(rule, flow, why) || !vm_filter_match_basic(rule, flow, why) ||
	    !vm_filter_match_addresses(rule, flow, why) || !vm_filter_match_traffic(rule, flow, why) ||
	    !vm_filter_match_ports(rule, flow, why) || !vm_filter_match_ranges(rule, flow, why))
		return false;
	if (!(rule->match & (VM_MATCH_SOURCE_PORT | VM_MATCH_DESTINATION_PORT)) ||
	    (rule->match & VM_MATCH_PROTOCOL && (rule->protocol == IPPROTO_TCP || rule->protocol == IPPROTO_UDP)))
		return true;
	vm_why_set(why, "ports are those of ip_proto %u; legal with tcp and udp", rule->protocol);
	return false;
}
