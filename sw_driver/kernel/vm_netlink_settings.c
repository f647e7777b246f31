// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Reads settings from a netlink message and writes them into one, by the generated table. */
#include "vm_netlink.h"

int vm_nl_once(struct nlattr *head, int length, u32 repeated, struct netlink_ext_ack *extack)
{
	struct nlattr *at;
	u64 seen = 0;
	int rest;

	nla_for_each_attr(at, head, length, rest) {
		const u32 type = nla_type(at);

		if (type >= 64 || type == repeated)
			continue; /* the policy refuses the first */
		if (seen >> type & 1) {
			NL_SET_ERR_MSG_ATTR(extack, at, "the attribute is given twice");
			return -EINVAL;
		}
		seen |= 1ull << type;
	}
	return 0;
}

static int vm_nl_settings_take_number(struct nlattr *nest, struct vm_number *out, struct netlink_ext_ack *extack)
{
	struct vm_number number = { .den = 1 };
	bool given = false;
	struct nlattr *at;
	int rest, error;

	error = vm_nl_once(nla_data(nest), nla_len(nest), 0, extack);
	if (error)
		return error;
	nla_for_each_nested(at, nest, rest) {
		switch (nla_type(at)) {
		case VERMILION_A_NUMBER_NUM:
			number.num = nla_get_u64(at);
			given = true;
			break;
		case VERMILION_A_NUMBER_DEN:
			number.den = nla_get_u64(at);
			break;
		case VERMILION_A_NUMBER_TENS:
			number.tens = nla_get_u32(at);
			break;
		}
	}
	if (!given) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "num of a number is missing");
		return -EINVAL;
	}
	if (!number.den) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "den of a number is 0; legal is 1 up");
		return -ERANGE;
	}
	*out = number;
	return 0;
}

static int vm_nl_settings_take(const struct vm_nl_field *field, struct nlattr *at, void *base,
			       struct netlink_ext_ack *extack)
{
	void *value = base + field->offset;

	switch (field->kind) {
	case VM_NL_U32:
		*(u32 *)value = nla_get_u32(at);
		return 0;
	case VM_NL_U64:
		*(u64 *)value = nla_get_u64(at);
		return 0;
	case VM_NL_NUMBER:
		return vm_nl_settings_take_number(at, value, extack);
	default:
		return vm_nl_take(field->nest, nla_data(at), nla_len(at), value, extack);
	}
}

static const struct vm_nl_field *vm_nl_settings_find(const struct vm_nl_set *set, u32 attribute)
{
	u32 i;

	for (i = 0; i < set->count; i++)
		if (set->fields[i].attribute == attribute)
			return &set->fields[i];
	return NULL;
}

int vm_nl_take(const struct vm_nl_set *set, struct nlattr *head, int length, void *base, struct netlink_ext_ack *extack)
{
	struct nlattr *at;
	int rest, error;

	error = vm_nl_once(head, length, 0, extack);
	if (error)
		return error;
	nla_for_each_attr(at, head, length, rest) {
		const struct vm_nl_field *field = vm_nl_settings_find(set, nla_type(at));

		error = field ? vm_nl_settings_take(field, at, base, extack) : 0;
		if (error)
			return error;
	}
	return 0;
}

static int vm_nl_settings_put_number(struct sk_buff *skb, u32 attribute, const struct vm_number *number)
{
	struct nlattr *nest = nla_nest_start(skb, attribute);

	if (!nest || nla_put_u64_64bit(skb, VERMILION_A_NUMBER_NUM, number->num, VERMILION_A_NUMBER_PAD) ||
	    nla_put_u64_64bit(skb, VERMILION_A_NUMBER_DEN, number->den ?: 1, VERMILION_A_NUMBER_PAD) ||
	    nla_put_u32(skb, VERMILION_A_NUMBER_TENS, number->tens))
		return -EMSGSIZE; /* the function that began the message cancels it */
	nla_nest_end(skb, nest);
	return 0;
}

static int vm_nl_settings_put(struct sk_buff *skb, const struct vm_nl_set *set, const struct vm_nl_field *field,
			      const void *value)
{
	struct nlattr *nest;
	int error;

	switch (field->kind) {
	case VM_NL_U32:
		return nla_put_u32(skb, field->attribute, *(const u32 *)value);
	case VM_NL_U64:
		return nla_put_u64_64bit(skb, field->attribute, *(const u64 *)value, set->pad);
	case VM_NL_NUMBER:
		return vm_nl_settings_put_number(skb, field->attribute, value);
	}
	nest = nla_nest_start(skb, field->attribute);
	if (!nest)
		return -EMSGSIZE;
	error = vm_nl_put(skb, field->nest, value);
	if (!error)
		nla_nest_end(skb, nest);
	return error;
}

int vm_nl_put(struct sk_buff *skb, const struct vm_nl_set *set, const void *base)
{
	u32 i;
	int error;

	for (i = 0; i < set->count; i++) {
		error = vm_nl_settings_put(skb, set, &set->fields[i], base + set->fields[i].offset);
		if (error)
			return error;
	}
	return 0;
}
