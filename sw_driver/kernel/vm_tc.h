/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Offloaded qdiscs. The driver keeps the qdiscs as a tree. It computes the settings of queues,
 * class table and port from the whole tree (vm_tc_settings.c). So the order in which qdiscs are
 * added and removed does not matter. RTNL guards the tree.
 *
 *   place of a qdisc                   what it means
 *   root                               tbf: the port's shaper
 *   root, or under a tbf at the root   prio, ets: band b is queue b
 *                                      red, gred, fifo: queue 0, and all packets go there
 *   under a tbf at the root            tbf: shaper of queue 0
 *   under band b of prio or ets        red, gred, fifo: queue b
 *                                      tbf: shaper of queue b
 *   under such a red                   tbf, fifo: the same queue
 *   under such a tbf                   red, gred, fifo: the same queue
 *
 * A queue has one shaper and one red or gred, in any order. A fifo has no settings of its own:
 * Linux does not tell drivers its limit. tbf and red have one class; all its minors mean the same.
 *
 * A packet's DSCP selects its band: it has a priority (vm_dcb.c), without `dcb app` DSCP / 8, and
 * the qdisc's priomap gives the band. Its drop precedence selects the DP of gred: AFx1 to AFx3 are DP 0 to 2, all else is the
 * default DP. A DP is a colour of the queue.
 */
#ifndef VM_TC_H
#define VM_TC_H

#include <linux/list.h>
#include <net/pkt_cls.h>

#include "vm_core.h"

#define LOWEST_DSCP_BITS 3 /* below the class: drop precedence, and a bit that is 0 in AF */

enum vm_tc_kind { VM_TC_RED, VM_TC_GRED, VM_TC_PRIO, VM_TC_ETS, VM_TC_TBF, VM_TC_FIFO };

/* Counters of a qdisc, for one colour or for all. */
struct vm_tc_counts {
	u64 packets, bytes; /* sent */
	u64 prob_drop, forced_drop, prob_mark;
	u64 pdrop; /* at the limit, or no buffer */
};

/**
 * struct vm_tc_qdisc - an offloaded qdisc
 * @list: in vm_tc.qdiscs, parents before children
 * @kind: its kind
 * @handle: its own; 0: a fifo that Linux has made for a class without a qdisc
 * @parent: the class that it is attached to, or TC_H_ROOT; minor 1 of tbf and red
 * @queue: its queue, or the first of several
 * @queues: number of queues
 * @bands: prio, ets: strict bands have quantum 0
 * @qstats: the kernel's counters, from which the driver has to subtract the reported backlog when
 *	the qdisc goes; NULL: it must not. Linux gives those of a fifo with the first STATS
 * @epoch: vm_engine.epoch of the counters
 * @told: counters as of the last STATS, for each colour of gred, else in [0]
 * @told_more: counters as of the last XSTATS, in the same way
 * @backlog: bytes that were reported and not yet subtracted by the driver or the kernel, in the
 *	same way
 * @qlen: packets, in the same way
 */
struct vm_tc_qdisc {
	struct list_head list;
	enum vm_tc_kind kind;
	u32 handle, parent;
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
	/* buffers, too large for the stack */
	struct vm_statistics snapshot;
	struct vm_queue settings, wanted;
};

/* vm_tc_place.c */
struct vm_tc_qdisc *vm_tc_find(struct vm_repr *repr, u32 handle);
/* The class as the tree has it: minor 1 under tbf and red, whatever minor was given. */
u32 vm_tc_class(struct vm_repr *repr, u32 parent);
struct vm_tc_qdisc *vm_tc_child(struct vm_repr *repr, u32 parent);
/* The qdisc above, NULL for the root; whether a qdisc is a tbf at the root. */
struct vm_tc_qdisc *vm_tc_above(struct vm_repr *repr, const struct vm_tc_qdisc *qdisc);
bool vm_tc_is_port(const struct vm_tc_qdisc *qdisc);
/* The red or gred, the shaper (tbf) or the fifo that a user gave to a queue; the lane's prio or
 * ets. NULL: there is none.
 */
struct vm_tc_qdisc *vm_tc_leaf(struct vm_repr *repr, u32 queue);
struct vm_tc_qdisc *vm_tc_shaper(struct vm_repr *repr, u32 queue);
struct vm_tc_qdisc *vm_tc_fifo(struct vm_repr *repr, u32 queue);
struct vm_tc_qdisc *vm_tc_scheduler(struct vm_repr *repr);
/* Finds the queues of a qdisc by its place. */
bool vm_tc_place(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct vm_why *why);

/* vm_tc_tree.c */
/* Inserts a qdisc with new parameters into the tree and programs the lane. It replaces the qdisc
 * with this handle, or at this place. After an error there is no qdisc at this place.
 */
int vm_tc_replace(struct vm_repr *repr, struct vm_tc_qdisc *qdisc);
/* Removes a qdisc and all below it from the tree, and programs the lane. */
void vm_tc_remove(struct vm_repr *repr, struct vm_tc_qdisc *qdisc);
/* The child of a class has been replaced. */
int vm_tc_graft(struct vm_repr *repr, u32 minor, u32 child_handle);

/* vm_tc.c */
struct vm_tc_qdisc *vm_tc_new(enum vm_tc_kind kind, u32 handle, u32 parent, struct gnet_stats_queue *qstats);

/* vm_tc_settings.c */
int vm_tc_check(const struct vm_repr *repr, const struct vm_tc_qdisc *qdisc, struct vm_why *why);
/* Programs queues @first to @first + @count - 1, class table and port by the tree. A refusal of one
 * does not stop the others, a failing card does. Returns the first error.
 */
int vm_tc_program(struct vm_repr *repr, u32 first, u32 count, struct vm_why *why);

/* vm_dcb.c: the priority of each DSCP, and of frames without IP in the last one, as `dcb app` has them. */
void vm_dcb_priorities(const struct vm_repr *repr, u8 priority[VM_DSCPS]);

/* vm_tc_statistics.c: the last three return 0, or -EOPNOTSUPP if the card does not answer: then tc
 * must not show "offloaded". The first returns 0 or an errno and a sentence.
 */
int vm_tc_begin_statistics(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct vm_why *why);
int vm_tc_statistics(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct tc_qopt_offload_stats *out);
int vm_tc_red_statistics(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct red_stats *out);
int vm_tc_gred_statistics(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct tc_gred_qopt_offload_stats *out);
/* Call after the kernel has purged the qdisc, which subtracts the reported backlog from all its
 * ancestors. This does the same for the driver's copies.
 */
void vm_tc_purged(struct vm_repr *repr, const struct vm_tc_qdisc *qdisc);
/* Subtracts the reported backlog from the kernel's counters. */
void vm_tc_unreport(struct vm_tc_qdisc *qdisc);

#endif
