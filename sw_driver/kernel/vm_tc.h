/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Offloaded qdiscs. What tc has said is kept as a tree; what a queue, the class table and the port are is worked out from the whole
 * tree (vm_tc_settings.c), so that the order in which qdiscs come and go does not matter. All of it is guarded by RTNL.
 *
 *   place of a qdisc                      what it means
 *   root, or under a tbf at the root      red, gred: queue 0, and all packets go there; prio, ets: band b is queue b; tbf: the port's shaper
 *   under band b of prio or ets           red, gred: queue b; tbf: its shaper
 *
 * Packets find their band by their DSCP: priority DSCP / 8, then the qdisc's priomap. Packets find their DP of gred by their drop
 * precedence: AFx1 to AFx3 are DP 0 to 2, all else is the default DP. A DP is a colour of the queue.
 */
#ifndef VM_TC_H
#define VM_TC_H

#include <linux/list.h>
#include <net/pkt_cls.h>

#include "vm_core.h"

enum vm_tc_kind { VM_TC_RED, VM_TC_GRED, VM_TC_PRIO, VM_TC_ETS, VM_TC_TBF };

/* What a qdisc of one colour, or of all, has counted. */
struct vm_tc_counts {
	u64 packets, bytes; /* sent */
	u64 prob_drop, forced_drop, prob_mark;
	u64 pdrop; /* at the limit, and for want of buffer */
};

/**
 * struct vm_tc_qdisc - an offloaded qdisc
 * @list: in vm_tc.qdiscs, parents before children
 * @kind: what it is
 * @handle: its own
 * @parent: class that it hangs on, or TC_H_ROOT
 * @whole: of the whole lane: at the root, or under a tbf that is
 * @queue: its queue; the first one where it has several
 * @queues: how many
 * @bands: prio, ets: strict ones have quantum 0
 * @qstats: the kernel's, where reported backlog has to be taken back; NULL where not
 * @epoch: vm_engine.epoch that the counts are of
 * @told: counters as of the last STATS, for each colour of gred, else in [0]
 * @told_more: the same of the last XSTATS
 * @backlog: bytes reported and not yet taken back by the driver or the kernel, in the same way
 * @qlen: packets
 */
struct vm_tc_qdisc {
	struct list_head list;
	enum vm_tc_kind kind;
	u32 handle, parent;
	bool whole;
	u32 queue, queues;
	union {
		struct tc_red_qopt_offload_params red;
		struct tc_gred_qopt_offload_params gred;
		struct {
			u32 quanta[TCQ_ETS_MAX_BANDS];
			u8 priomap[TC_PRIO_MAX + 1];
		} bands;
		struct {
			u64 rate;
			u32 burst;
			bool frames; /* neither overhead nor mpu nor cells */
		} tbf;
	};
	struct gnet_stats_queue *qstats;
	u32 epoch;
	struct vm_tc_counts told[VM_COLOURS], told_more[VM_COLOURS];
	u32 backlog[VM_COLOURS], qlen[VM_COLOURS];
};

struct vm_tc {
	struct list_head qdiscs;
	struct vm_statistics snapshot; /* room for one, as for the next two: too large for the stack */
	struct vm_queue settings, wanted;
};

/* vm_tc_tree.c */
struct vm_tc_qdisc *vm_tc_find(struct vm_repr *repr, u32 handle);
struct vm_tc_qdisc *vm_tc_child(struct vm_repr *repr, u32 parent);
/* The leaf (red, gred) or shaper (tbf) of a queue; prio or ets of the lane. NULL where there is none. */
struct vm_tc_qdisc *vm_tc_leaf(struct vm_repr *repr, u32 queue);
struct vm_tc_qdisc *vm_tc_shaper(struct vm_repr *repr, u32 queue);
struct vm_tc_qdisc *vm_tc_scheduler(struct vm_repr *repr);
/* Puts a qdisc with new parameters into the tree and programs the lane; the one with this handle, or at this place, makes room
 * for it. After an error there is none at this place.
 */
int vm_tc_replace(struct vm_repr *repr, struct vm_tc_qdisc *qdisc);
/* Takes a qdisc and all below it out of the tree, and programs the lane. */
void vm_tc_remove(struct vm_repr *repr, struct vm_tc_qdisc *qdisc);
/* The child of a class has been replaced. */
int vm_tc_graft(struct vm_repr *repr, u32 minor, u32 child_handle);

/* vm_tc_settings.c */
int vm_tc_check(const struct vm_repr *repr, const struct vm_tc_qdisc *qdisc, struct vm_why *why);
/* Programs queues @first to @first + @count - 1, class table and port as the tree says. What one of them is refused does not keep
 * it from the others; the first error comes back.
 */
int vm_tc_program(struct vm_repr *repr, u32 first, u32 count, struct vm_why *why);

/* vm_tc_statistics.c: all give 0, or -EOPNOTSUPP where the card does not answer: then tc must not say "offloaded". */
int vm_tc_begin_statistics(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct vm_why *why);
int vm_tc_statistics(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct tc_qopt_offload_stats *out);
int vm_tc_red_statistics(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct red_stats *out);
int vm_tc_gred_statistics(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct tc_gred_qopt_offload_stats *out);
/* The kernel has emptied the qdisc, and taken what it had been told to stand there out of all qdiscs above it. */
void vm_tc_purged(struct vm_repr *repr, const struct vm_tc_qdisc *qdisc);
/* Takes the reported backlog back from the kernel's counters. */
void vm_tc_unreport(struct vm_tc_qdisc *qdisc);

#endif
