// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* ndo_setup_tc: decodes the kernel's requests about qdiscs. Rules: vm_tc.h. */
#include <linux/rtnetlink.h>
#include <net/red.h>

#include "vm_tc.h"

int vm_tc_init(struct vm_repr *repr)
{
	repr->tc = kzalloc(sizeof(*repr->tc), GFP_KERNEL);
	if (!repr->tc)
		return -ENOMEM;
	INIT_LIST_HEAD(&repr->tc->qdiscs);
	return 0;
}

void vm_tc_exit(struct vm_repr *repr)
{
	struct vm_tc_qdisc *qdisc, *next;

	list_for_each_entry_safe(qdisc, next, &repr->tc->qdiscs, list)
		kfree(qdisc);
	kfree(repr->tc);
}

void vm_tc_restore(struct vm_repr *repr)
{
	struct vm_why why;

	ASSERT_RTNL();
	if (vm_tc_program(repr, 0, repr->lane.has.queues, &why) && !vm_card_is_gone(repr->card))
		vm_repr_refuse(repr, &why);
	vm_filter_restore(repr);
}

struct vm_number vm_tc_weight(const struct vm_repr *repr)
{
	const struct vm_number weight = { .num = 1, .den = repr->card->average_packets };

	return weight;
}

bool vm_tc_active(struct vm_repr *repr)
{
	ASSERT_RTNL();
	return !list_empty(&repr->tc->qdiscs) || vm_filter_active(repr);
}

struct vm_tc_qdisc *vm_tc_new(enum vm_tc_kind kind, u32 handle, u32 parent, struct gnet_stats_queue *qstats)
{
	struct vm_tc_qdisc *qdisc = kzalloc(sizeof(*qdisc), GFP_KERNEL);

	if (!qdisc)
		return NULL;
	qdisc->kind = kind;
	qdisc->handle = handle;
	qdisc->parent = parent;
	qdisc->queues = 1;
	qdisc->qstats = qstats;
	return qdisc;
}

/* Removes the qdisc if the tree has it. The kernel also reports the end of a qdisc that was
 * replaced or refused. The kernel frees its counters, and gred has already freed its DPs.
 */
static int vm_tc_destroy(struct vm_repr *repr, struct vm_tc_qdisc *qdisc)
{
	if (!qdisc)
		return 0;
	qdisc->qstats = NULL;
	vm_tc_remove(repr, qdisc);
	return 0;
}

static int vm_tc_setup_red(struct vm_repr *repr, struct tc_red_qopt_offload *opt)
{
	struct vm_tc_qdisc *qdisc = vm_tc_find(repr, opt->handle);

	switch (opt->command) {
	case TC_RED_REPLACE:
		qdisc = vm_tc_new(VM_TC_RED, opt->handle, opt->parent, opt->set.qstats);
		if (!qdisc)
			return -ENOMEM;
		qdisc->red = opt->set;
		return vm_tc_replace(repr, qdisc);
	case TC_RED_DESTROY:
		return vm_tc_destroy(repr, qdisc);
	case TC_RED_STATS:
		return qdisc ? vm_tc_statistics(repr, qdisc, &opt->stats) : -EOPNOTSUPP;
	case TC_RED_XSTATS:
		return qdisc ? vm_tc_red_statistics(repr, qdisc, opt->xstats) : -EOPNOTSUPP;
	case TC_RED_GRAFT:
		return qdisc ? vm_tc_graft(repr, TC_H_MAKE(opt->handle, 1), opt->child_handle) : -EOPNOTSUPP;
	default:
		return -EOPNOTSUPP;
	}
}

static int vm_tc_setup_gred(struct vm_repr *repr, struct tc_gred_qopt_offload *opt)
{
	struct vm_tc_qdisc *qdisc = vm_tc_find(repr, opt->handle);

	switch (opt->command) {
	case TC_GRED_REPLACE:
		qdisc = vm_tc_new(VM_TC_GRED, opt->handle, opt->parent, opt->set.qstats);
		if (!qdisc)
			return -ENOMEM;
		qdisc->gred = opt->set;
		return vm_tc_replace(repr, qdisc);
	case TC_GRED_DESTROY:
		return vm_tc_destroy(repr, qdisc);
	case TC_GRED_STATS:
		return qdisc ? vm_tc_gred_statistics(repr, qdisc, &opt->stats) : -EOPNOTSUPP;
	default:
		return -EOPNOTSUPP;
	}
}

static int vm_tc_setup_prio(struct vm_repr *repr, struct tc_prio_qopt_offload *opt)
{
	struct vm_tc_qdisc *qdisc = vm_tc_find(repr, opt->handle);

	switch (opt->command) {
	case TC_PRIO_REPLACE:
		qdisc = vm_tc_new(VM_TC_PRIO, opt->handle, opt->parent, opt->replace_params.qstats);
		if (!qdisc)
			return -ENOMEM;
		qdisc->queues = opt->replace_params.bands;
		memcpy(qdisc->bands.priomap, opt->replace_params.priomap, sizeof(qdisc->bands.priomap));
		return vm_tc_replace(repr, qdisc);
	case TC_PRIO_DESTROY:
		return vm_tc_destroy(repr, qdisc);
	case TC_PRIO_STATS:
		return qdisc ? vm_tc_statistics(repr, qdisc, &opt->stats) : -EOPNOTSUPP;
	case TC_PRIO_GRAFT:
		return qdisc ? vm_tc_graft(repr, TC_H_MAKE(opt->handle, opt->graft_params.band + 1),
					   opt->graft_params.child_handle)
			     : -EOPNOTSUPP;
	default:
		return -EOPNOTSUPP;
	}
}

static int vm_tc_setup_ets(struct vm_repr *repr, struct tc_ets_qopt_offload *opt)
{
	struct vm_tc_qdisc *qdisc = vm_tc_find(repr, opt->handle);

	switch (opt->command) {
	case TC_ETS_REPLACE:
		qdisc = vm_tc_new(VM_TC_ETS, opt->handle, opt->parent, opt->replace_params.qstats);
		if (!qdisc)
			return -ENOMEM;
		qdisc->queues = opt->replace_params.bands;
		memcpy(qdisc->bands.priomap, opt->replace_params.priomap, sizeof(qdisc->bands.priomap));
		memcpy(qdisc->bands.quanta, opt->replace_params.quanta, sizeof(qdisc->bands.quanta));
		return vm_tc_replace(repr, qdisc);
	case TC_ETS_DESTROY:
		return vm_tc_destroy(repr, qdisc);
	case TC_ETS_STATS:
		return qdisc ? vm_tc_statistics(repr, qdisc, &opt->stats) : -EOPNOTSUPP;
	case TC_ETS_GRAFT:
		return qdisc ? vm_tc_graft(repr, TC_H_MAKE(opt->handle, opt->graft_params.band + 1),
					   opt->graft_params.child_handle)
			     : -EOPNOTSUPP;
	default:
		return -EOPNOTSUPP;
	}
}

static int vm_tc_setup_tbf(struct vm_repr *repr, struct tc_tbf_qopt_offload *opt)
{
	struct vm_tc_qdisc *qdisc = vm_tc_find(repr, opt->handle);
	const struct psched_ratecfg *rate;

	switch (opt->command) {
	case TC_TBF_REPLACE:
		rate = &opt->replace_params.rate;
		qdisc = vm_tc_new(VM_TC_TBF, opt->handle, opt->parent, opt->replace_params.qstats);
		if (!qdisc)
			return -ENOMEM;
		qdisc->tbf.frames = !rate->overhead && !rate->mpu && rate->linklayer != TC_LINKLAYER_ATM;
		qdisc->tbf.rate = 8 * rate->rate_bytes_ps;
		qdisc->tbf.burst = opt->replace_params.max_size;
		return vm_tc_replace(repr, qdisc);
	case TC_TBF_DESTROY:
		return vm_tc_destroy(repr, qdisc);
	case TC_TBF_STATS:
		return qdisc ? vm_tc_statistics(repr, qdisc, &opt->stats) : -EOPNOTSUPP;
	case TC_TBF_GRAFT:
		return qdisc ? vm_tc_graft(repr, TC_H_MAKE(opt->handle, 1), opt->child_handle) : -EOPNOTSUPP;
	default:
		return -EOPNOTSUPP;
	}
}

/* Linux gives no limit. A fifo below a qdisc that is not offloaded is nothing that a lane refuses. */
static int vm_tc_replace_fifo(struct vm_repr *repr, const struct tc_fifo_qopt_offload *opt)
{
	struct vm_tc_qdisc *qdisc;

	if (!opt->handle || (opt->parent != TC_H_ROOT && !vm_tc_find(repr, TC_H_MAJ(opt->parent))))
		return -EOPNOTSUPP;
	qdisc = vm_tc_new(VM_TC_FIFO, opt->handle, opt->parent, NULL);
	return qdisc ? vm_tc_replace(repr, qdisc) : -ENOMEM;
}

/* The tree makes the fifos without a handle by itself: they are there if the class has no other
 * qdisc. Linux reports the end of one such fifo after the begin of the next at the same place.
 */
static int vm_tc_setup_fifo(struct vm_repr *repr, struct tc_fifo_qopt_offload *opt)
{
	struct vm_tc_qdisc *qdisc = vm_tc_find(repr, opt->handle);

	switch (opt->command) {
	case TC_FIFO_REPLACE:
		return vm_tc_replace_fifo(repr, opt);
	case TC_FIFO_DESTROY:
		return vm_tc_destroy(repr, qdisc);
	case TC_FIFO_STATS:
		if (!opt->handle)
			qdisc = vm_tc_child(repr, opt->parent);
		if (!qdisc || qdisc->kind != VM_TC_FIFO || qdisc->handle != opt->handle)
			return -EOPNOTSUPP;
		if (qdisc->handle)
			qdisc->qstats = opt->stats.qstats;
		return vm_tc_statistics(repr, qdisc, &opt->stats);
	default:
		return -EOPNOTSUPP;
	}
}

/* The kernel has a new root that is not in the tree, or no root: removes the old tree. */
static int vm_tc_setup_root(struct vm_repr *repr, struct tc_root_qopt_offload *opt)
{
	struct vm_tc_qdisc *root = vm_tc_child(repr, TC_H_ROOT);

	if (!opt->ingress && root && root->handle != opt->handle)
		vm_tc_remove(repr, root);
	return 0;
}

int vm_tc_setup(struct net_device *netdev, enum tc_setup_type type, void *type_data)
{
	struct vm_repr *repr = netdev_priv(netdev);

	switch (type) {
	case TC_SETUP_QDISC_RED:
		return vm_tc_setup_red(repr, type_data);
	case TC_SETUP_QDISC_GRED:
		return vm_tc_setup_gred(repr, type_data);
	case TC_SETUP_QDISC_PRIO:
		return vm_tc_setup_prio(repr, type_data);
	case TC_SETUP_QDISC_ETS:
		return vm_tc_setup_ets(repr, type_data);
	case TC_SETUP_QDISC_TBF:
		return vm_tc_setup_tbf(repr, type_data);
	case TC_SETUP_QDISC_FIFO:
		return vm_tc_setup_fifo(repr, type_data);
	case TC_SETUP_BLOCK:
		return vm_filter_setup_block(repr, type_data);
	case TC_SETUP_ROOT_QDISC:
		return vm_tc_setup_root(repr, type_data);
	default:
		return -EOPNOTSUPP;
	}
}
