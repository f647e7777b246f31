/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The core's functions on an egress of a lane. vm_core.h has their types, and includes this file. */
#ifndef VM_REPR_H
#define VM_REPR_H

#include "vm_core.h"

/* vm_repr.c, vm_repr_lane.c, vm_repr_pool.c: one egress of a lane. All return 0 or an errno. After
 * an error @why, if not NULL, holds a sentence, else an empty text.
 */

/* Reads the lane and refuses what this driver does not know; writes nothing. */
int vm_repr_open(struct vm_repr *repr, const struct vm_block *block, struct vm_why *why);
/* Initialises the egress: default queues, all packets to queue 0, no shaper; egress 0: seeds. */
int vm_repr_start(struct vm_repr *repr, struct vm_why *why);
void vm_repr_close(struct vm_repr *repr);
/* Write the software copies into the lane: those of port and queues; all; all, and new seeds with
 * egress 0; the given seed alone. vm_engine.lock is held. They return an enum vm_error.
 */
int vm_repr_write_queues_locked(struct vm_repr *repr);
int vm_repr_write_settings_locked(struct vm_repr *repr);
int vm_repr_write_all_locked(struct vm_repr *repr);
int vm_repr_write_seed_locked(struct vm_repr *repr, u64 seed);
/* Checks whether the card answers and whether the lane was reset; writes a stale lane again. */
int vm_repr_watch(struct vm_repr *repr, bool *reset);

/* The egress that a netdev represents, or NULL. The caller holds RTNL or a reference. */
struct vm_repr *vm_repr_of(struct net_device *netdev);
/* The same by index. It takes a reference: the representor stays until vm_repr_put(). */
struct vm_repr *vm_repr_get(struct net *net, int ifindex);
void vm_repr_put(struct vm_repr *repr);

/* The settings that the queue runs with, and the queue's owner. @owner may be NULL. */
int vm_repr_get_queue(struct vm_repr *repr, u32 queue, struct vm_queue *settings, enum vm_owner *owner,
		      struct vm_why *why);
/**
 * vm_repr_set_queue() - replaces all settings of a queue between two packets, or none
 * @repr: the egress
 * @queue: its queue
 * @settings: all of them; start from vm_repr_get_queue()
 * @by: the interface that asks. It becomes the owner. Exception:
 *	netlink changes only settings that tc cannot express; then the owner stays
 * @why: see above
 *
 * Checks (vm_queue_check()), converts, writes and reads back through the library. After an error
 * the queue and its software copy keep the settings of before.
 *
 * Return: -EINVAL illegal settings, -ENOENT no such queue, -EBUSY the other interface owns it,
 * -EOPNOTSUPP not in this build, -ENODEV the card is gone, -ETIMEDOUT or -EIO the card fails.
 */
int vm_repr_set_queue(struct vm_repr *repr, u32 queue, const struct vm_queue *settings, enum vm_owner by,
		      struct vm_why *why);
/* Releases the queue. tc: the settings that tc can express get their defaults, and the queue has no
 * owner; -EBUSY if netlink owns it. netlink: the same for all settings. If tc owns the queue,
 * netlink resets only the settings that tc cannot express, and tc stays the owner.
 */
int vm_repr_reset_queue(struct vm_repr *repr, u32 queue, enum vm_owner by, struct vm_why *why);
/* The port for the conversion: the rate is the shaper's, or the line rate without a shaper. The
 * queues are those of all egresses, as they share one time-multiplexed shaper.
 */
struct vm_port vm_repr_port_locked(const struct vm_repr *repr);
/* vm_owner.c */
/* Whether two settings differ only in what tc cannot set: weight and idle packet of the averages,
 * steps on departures, spacing, size weight, dynamic threshold, marker, remark, distances, victims, CoDel, ce_threshold.
 */
bool vm_queue_same_for_tc(const struct vm_queue *a, const struct vm_queue *b);
bool vm_queue_same_weight(const struct vm_queue *a, const struct vm_queue *b);
/* Copies the settings that tc can set. */
void vm_queue_copy_for_tc(struct vm_queue *to, const struct vm_queue *from);

/* All 65 entries of the class table; entries that do not change are not written. */
int vm_repr_set_classes(struct vm_repr *repr, const struct vm_class classes[VM_DSCPS], enum vm_owner by,
			struct vm_why *why);
/* All packets to queue 0, green, and no owner. -EBUSY if the other interface owns the table. */
int vm_repr_reset_classes(struct vm_repr *repr, enum vm_owner by, struct vm_why *why);

/* Sets the port's shaper; rate 0: no shaper and no owner; queues 0: all queues of the build. Writes
 * every queue again, as idle decay and least bursts depend on it.
 */
int vm_repr_set_port(struct vm_repr *repr, const struct vm_port *port, enum vm_owner by, struct vm_why *why);

/* vm_repr_rule.c: the table of rules. vm_repr_set_rules() replaces it between the heads of two frames,
 * or not at all; @image has as many entries as the lane has rules, with action 0 where a rule is off.
 */
int vm_repr_open_rules(struct vm_repr *repr);
void vm_repr_close_rules(struct vm_repr *repr);
int vm_repr_set_rules(struct vm_repr *repr, const struct vm_rule_image *image, const struct vm_port_ranges *ranges,
		      struct vm_why *why);
/* What the rule has counted since the lane's reset, whatever packets it matched before. */
int vm_repr_rule_count(struct vm_repr *repr, u32 number, struct vm_count *count, struct vm_why *why);
/* Writes the software copy into the lane; returns an enum vm_error. */
int vm_repr_write_rules_locked(struct vm_repr *repr);

/* Takes a snapshot of the queue. The result is too large for the stack. */
int vm_repr_statistics(struct vm_repr *repr, u32 queue, struct vm_statistics *statistics, struct vm_why *why);
/* Frames that an input lost. */
int vm_repr_lost(struct vm_repr *repr, u32 input, struct vm_count *lost, struct vm_why *why);
int vm_repr_clear_statistics(struct vm_repr *repr, struct vm_why *why);
int vm_repr_seed(struct vm_repr *repr, u64 seed, struct vm_why *why);
int vm_repr_set_option(struct vm_repr *repr, u32 ip4, u32 ip6, struct vm_why *why);
/* The pool of cells. The caller holds RTNL from vm_repr_get_pool() to vm_repr_set_pool(), which
 * sets all values or none. -EINVAL: a size other than 0 is less than a cell or more than the
 * buffer, the reserves of all egresses exceed the pool, or a cap is below its reserve.
 * -EOPNOTSUPP: the build has no pool, or one egress and so no reserve and no cap.
 */
void vm_repr_get_pool(struct vm_repr *repr, struct vm_pool *pool);
int vm_repr_check_pool(struct vm_repr *repr, const struct vm_pool *pool, struct vm_why *why);
int vm_repr_set_pool(struct vm_repr *repr, const struct vm_pool *pool, struct vm_why *why);
/* Writes without a check; returns an enum vm_error. */
int vm_repr_write_pool_locked(struct vm_repr *repr, const struct vm_pool *pool);
/* Cells of the reserves of all egresses of a lane except @but, which may be NULL. */
u32 vm_engine_reserves_locked(const struct vm_engine *engine, const struct vm_repr *but);
/* Discards the packets of a queue, or with NULL of all queues of the egress; owners do not matter.
 * -EBUSY: packets arrive faster than they are discarded, or other queues are served first, or
 * another queue of the lane is being flushed. -EOPNOTSUPP: the build has no flush.
 */
int vm_repr_flush(struct vm_repr *repr, const u32 *queue, struct vm_why *why);
/* The largest pool: bytes of the buffer's cells. */
static inline u32 vm_repr_pool_most(const struct vm_repr *repr)
{
	return repr->lane.has.cells * VM_CELL_BYTES;
}

/* Begin and end an atomic sequence of library calls on @repr->lane. vm_repr_begin() locks the lane;
 * -ENODEV: the card is gone, -EBUSY: it is being reset. vm_repr_end() unlocks it and turns an enum
 * vm_error into an errno and a sentence.
 */
int vm_repr_begin(struct vm_repr *repr, struct vm_why *why);
int vm_repr_end(struct vm_repr *repr, int vm_error, struct vm_why *why);

/* Records a refusal as the last one of the egress and logs it. vm_engine.lock not held. */
void vm_repr_refuse(struct vm_repr *repr, const struct vm_why *why);
/* The last refusal; returns the number of refusals. */
u32 vm_repr_refused(struct vm_repr *repr, struct vm_why *why);

#endif
