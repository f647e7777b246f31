// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The kernel's requests about tc filters: decodes them and reports refusals. Rules: vm_filter.h. */
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "vm_filter.h"
#include "vm_netlink.h"

static LIST_HEAD(vm_filter_blocks);

int vm_filter_init(struct vm_repr *repr)
{
	const u32 rules = repr->lane.has.rules;

	if (!repr->rules)
		return 0;
	repr->filters = kvzalloc(struct_size(repr->filters, image, rules), GFP_KERNEL);
	if (!repr->filters)
		return -ENOMEM;
	INIT_LIST_HEAD(&repr->filters->list);
	INIT_LIST_HEAD(&repr->filters->polices);
	return 0;
}

void vm_filter_exit(struct vm_repr *repr)
{
	struct vm_filter *filter, *next;

	if (!repr->filters)
		return;
	list_for_each_entry_safe(filter, next, &repr->filters->list, list)
		kfree(filter);
	vm_filter_police_exit(repr);
	kvfree(repr->filters);
}

bool vm_filter_active(const struct vm_repr *repr)
{
	return repr->filters && repr->filters->count;
}

void vm_filter_restore(struct vm_repr *repr)
{
	struct vm_filter *filter;
	struct vm_why why;

	if (!repr->filters)
		return;
	vm_filter_police_restore(repr);
	list_for_each_entry(filter, &repr->filters->list, list)
		if (vm_filter_read(repr, filter, &why))
			return;
}

static struct vm_filter *vm_filter_find(struct vm_repr *repr, unsigned long cookie)
{
	struct vm_filter *filter;

	if (repr->filters)
		list_for_each_entry(filter, &repr->filters->list, list)
			if (filter->cookie == cookie)
				return filter;
	return NULL;
}

static int vm_filter_refuse(struct vm_repr *repr, const struct flow_cls_common_offload *common,
			    const struct vm_why *reason, int error)
{
	struct vm_why why;

	vm_why_set(&why, "filter of pref %u: %s", common->prio, reason->text);
	if (!vm_card_is_gone(repr->card))
		vm_repr_refuse(repr, &why);
	return vm_nl_refuse(common->extack, error, &why);
}

static bool vm_filter_check_lane(const struct vm_repr *repr, const struct flow_cls_common_offload *common,
				 struct vm_why *why)
{
	if (!repr->lane.has.rules)
		vm_why_set(why, "this build has no rules");
	else if (repr->engine->egresses > 1)
		vm_why_set(why, "all egresses of a lane share its rules; legal in a lane with one egress");
	else if (common->chain_index)
		vm_why_set(why, "chain is %u; legal is 0", common->chain_index);
	else
		return true;
	return false;
}

/* @flow is a flower's; a matchall has no keys. */
static int vm_filter_replace(struct vm_repr *repr, const struct flow_cls_common_offload *common, unsigned long cookie,
			     const struct flow_rule *flow, bool keys)
{
	struct vm_filter *filter;
	struct vm_why why = {};
	u32 covered = 0;
	int error = -EOPNOTSUPP;

	if (!vm_filter_check_lane(repr, common, &why))
		return vm_filter_refuse(repr, common, &why, error);
	filter = kzalloc(sizeof(*filter), GFP_KERNEL);
	if (!filter)
		return -ENOMEM;
	filter->cookie = cookie;
	filter->pref = common->prio;
	if ((keys ? vm_filter_match(&filter->rule, common->protocol, flow, &why)
		  : vm_filter_match_protocol(&filter->rule, common->protocol, &why)) &&
	    vm_filter_actions(repr, filter, &flow->action, &why))
		error = vm_filter_insert(repr, filter, &covered, &why);
	if (error) {
		vm_filter_police_put(repr, filter);
		kfree(filter);
		return vm_filter_refuse(repr, common, &why, error);
	}
	if (covered)
		vm_nl_say(common->extack, "the filter of pref %u matches all packets of this one", covered);
	return 0;
}

static int vm_filter_destroy(struct vm_repr *repr, const struct flow_cls_common_offload *common, unsigned long cookie)
{
	struct vm_filter *filter = vm_filter_find(repr, cookie);
	struct vm_why why = {};
	int error;

	if (!filter)
		return -ENOENT;
	error = vm_filter_remove(repr, filter, &why);
	vm_filter_police_put(repr, filter);
	kfree(filter);
	return error ? vm_filter_refuse(repr, common, &why, error) : 0;
}

static int vm_filter_statistics(struct vm_repr *repr, const struct flow_cls_common_offload *common,
				unsigned long cookie, struct flow_stats *stats)
{
	struct vm_filter *filter = vm_filter_find(repr, cookie);
	struct vm_why why = {};
	int error;

	if (!filter)
		return -ENOENT;
	error = vm_filter_read(repr, filter, &why);
	if (error)
		return vm_filter_refuse(repr, common, &why, error);
	flow_stats_update(stats, filter->total.bytes - filter->told.bytes, filter->total.packets - filter->told.packets,
			  0, filter->used, FLOW_ACTION_HW_STATS_IMMEDIATE);
	filter->told = filter->total;
	return 0;
}

static int vm_filter_setup_flower(struct vm_repr *repr, struct flow_cls_offload *opt)
{
	switch (opt->command) {
	case FLOW_CLS_REPLACE:
		return vm_filter_replace(repr, &opt->common, opt->cookie, opt->rule, true);
	case FLOW_CLS_DESTROY:
		return vm_filter_destroy(repr, &opt->common, opt->cookie);
	case FLOW_CLS_STATS:
		return vm_filter_statistics(repr, &opt->common, opt->cookie, &opt->stats);
	default:
		return -EOPNOTSUPP;
	}
}

static int vm_filter_setup_matchall(struct vm_repr *repr, struct tc_cls_matchall_offload *opt)
{
	switch (opt->command) {
	case TC_CLSMATCHALL_REPLACE:
		return vm_filter_replace(repr, &opt->common, opt->cookie, opt->rule, false);
	case TC_CLSMATCHALL_DESTROY:
		return vm_filter_destroy(repr, &opt->common, opt->cookie);
	case TC_CLSMATCHALL_STATS:
		return vm_filter_statistics(repr, &opt->common, opt->cookie, &opt->stats);
	default:
		return -EOPNOTSUPP;
	}
}

static int vm_filter_block(enum tc_setup_type type, void *type_data, void *cb_priv)
{
	struct vm_repr *repr = cb_priv;

	ASSERT_RTNL();
	if (!tc_can_offload(repr->netdev))
		return -EOPNOTSUPP;
	switch (type) {
	case TC_SETUP_CLSFLOWER:
		return vm_filter_setup_flower(repr, type_data);
	case TC_SETUP_CLSMATCHALL:
		return vm_filter_setup_matchall(repr, type_data);
	default:
		return -EOPNOTSUPP;
	}
}

/* A lane's packets leave it at the representor, so its filters are those of clsact's egress.
 *
 * With -EOPNOTSUPP the kernel keeps a block in software. There the block of a qevent would never see a packet, while its qdisc
 * is offloaded; so qevents are refused.
 */
int vm_filter_setup_block(struct vm_repr *repr, struct flow_block_offload *block)
{
	struct vm_why why;

	if (block->binder_type == FLOW_BLOCK_BINDER_TYPE_RED_EARLY_DROP ||
	    block->binder_type == FLOW_BLOCK_BINDER_TYPE_RED_MARK) {
		if (block->command == FLOW_BLOCK_UNBIND)
			return 0;
		vm_why_set(&why, "qevent: a lane copies no packets, so it would never fire");
		vm_repr_refuse(repr, &why); /* the kernel has a sentence of its own for the user */
		return -EINVAL;
	}
	if (block->binder_type == FLOW_BLOCK_BINDER_TYPE_CLSACT_EGRESS)
		return flow_block_cb_setup_simple(block, &vm_filter_blocks, vm_filter_block, repr, repr, false);
	NL_SET_ERR_MSG_MOD(block->extack, "filters are offloaded at clsact egress only");
	return -EOPNOTSUPP;
}
