// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The cells of a card's lanes as devlink's shared buffer: what stands in the queues, and the most that ever did.
 *
 * Occupancy is that of the last `devlink sb occupancy snapshot`: a queue's are bytes of packets, a pool's are bytes of its cells.
 * A lane whose build counts no cells gives a pool the sum of its queues, whose high-water mark is at least the true one.
 *
 * A lane with a pool of cells (docs/configuration.md, "Pool") has dynamic thresholds, a queue's alpha. Without one they are static,
 * a queue's limit in bytes, which devlink only shows. devlink says alpha as a threshold of 0 to 20, alpha = 2^(threshold - 10).
 */
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "vm_devlink.h"
#include "vm_netlink.h"
#include "vm_regs.h"

#define SB 0
#define ALPHA_ONE 10u /* the threshold that is alpha 1 */
#define THRESHOLD_MIN (ALPHA_ONE + 1 - VM_ALPHA_FRAC)
#define THRESHOLD_MAX (ALPHA_ONE + VM_ALPHA_MOST - VM_ALPHA_FRAC)
#define THRESHOLD_NONE DEVLINK_SB_THRESHOLD_TO_ALPHA_MAX

/* The pool's size; 0: the lane has none. */
static u32 pool_size(struct vm_repr *repr)
{
	u32 bytes;

	mutex_lock(&repr->lock);
	bytes = vm_pool_cells(repr->pool_bytes) * VM_CELL_BYTES;
	mutex_unlock(&repr->lock);
	return bytes;
}

static struct vm_repr *lane_of(struct devlink_port *port)
{
	return container_of(port, struct vm_repr, devlink_port);
}

int vm_sb_register(struct vm_card *card)
{
	u32 i, size = 0, queues = 0;

	for (i = 0; i < card->lanes; i++) {
		size += vm_repr_pool_most(card->lane[i]);
		queues = max(queues, card->lane[i]->lane.has.queues);
	}
	return devl_sb_register(card->devlink, SB, size, 0, card->lanes, 0, queues);
}

void vm_sb_unregister(struct vm_card *card)
{
	devl_sb_unregister(card->devlink, SB);
}

int vm_sb_pool_get(struct devlink *devlink, unsigned int sb, u16 pool, struct devlink_sb_pool_info *info)
{
	const struct vm_card *card = devlink_priv(devlink);
	const u32 size = pool_size(card->lane[pool]);

	info->pool_type = DEVLINK_SB_POOL_TYPE_EGRESS;
	info->size = size ?: vm_repr_pool_most(card->lane[pool]);
	info->threshold_type = size ? DEVLINK_SB_THRESHOLD_TYPE_DYNAMIC : DEVLINK_SB_THRESHOLD_TYPE_STATIC;
	info->cell_size = VM_CELL_BYTES;
	return 0;
}

/* Static thresholds: there is no pool, and so the size is that of the buffer. */
int vm_sb_pool_set(struct devlink *devlink, unsigned int sb, u16 pool, u32 size, enum devlink_sb_threshold_type type,
		   struct netlink_ext_ack *extack)
{
	const struct vm_card *card = devlink_priv(devlink);
	struct vm_repr *repr = card->lane[pool];
	const u32 most = vm_repr_pool_most(repr);
	struct vm_why why = {};
	int error;

	if (type == DEVLINK_SB_THRESHOLD_TYPE_STATIC && size != most) {
		vm_nl_say(extack, "size is %u; legal with static thresholds is %u, the cells of this build", size,
			  most);
		return -EINVAL;
	}
	if (type == DEVLINK_SB_THRESHOLD_TYPE_DYNAMIC && (size < VM_CELL_BYTES || size > most)) {
		vm_nl_say(extack, "size is %u; legal with dynamic thresholds is %u to %u", size, VM_CELL_BYTES, most);
		return -EINVAL;
	}
	error = vm_repr_set_pool(repr, type == DEVLINK_SB_THRESHOLD_TYPE_DYNAMIC ? size : 0, &why);
	return vm_nl_refuse(extack, error, &why);
}

/* A lane may fill its own pool and none of another one's. */
int vm_sb_port_pool_get(struct devlink_port *port, unsigned int sb, u16 pool, u32 *threshold)
{
	struct vm_repr *repr = lane_of(port);

	*threshold = 0;
	if (pool == repr->index)
		*threshold = pool_size(repr) ? THRESHOLD_NONE : vm_repr_pool_most(repr);
	return 0;
}

/* A queue's alpha, or its limit in bytes, as far as there are cells for it; 0 for queues that this lane does not have. */
int vm_sb_tc_pool_bind_get(struct devlink_port *port, unsigned int sb, u16 tc, enum devlink_sb_pool_type type,
			   u16 *pool, u32 *threshold)
{
	struct vm_repr *repr = lane_of(port);
	const u32 most = vm_repr_pool_most(repr);
	u32 limit, code;
	bool dynamic;

	*pool = repr->index;
	*threshold = 0;
	if (type != DEVLINK_SB_POOL_TYPE_EGRESS)
		return -EOPNOTSUPP;
	if (tc >= repr->lane.has.queues)
		return 0;
	mutex_lock(&repr->lock);
	dynamic = repr->pool_bytes;
	limit = repr->slots[tc].settings.limit_bytes;
	code = vm_alpha(repr->slots[tc].settings.alpha);
	mutex_unlock(&repr->lock);
	if (dynamic)
		*threshold = code ? code + ALPHA_ONE - VM_ALPHA_FRAC : THRESHOLD_NONE;
	else
		*threshold = limit && limit < most ? limit : most;
	return 0;
}

/* alpha = 2^(threshold - 10), at most 2^3 in the hardware. The greatest threshold means none. */
static struct vm_number alpha_of(u32 threshold)
{
	struct vm_number alpha = { 1, 1, 0 };

	if (threshold == THRESHOLD_NONE)
		alpha.num = 0;
	else if (threshold < ALPHA_ONE)
		alpha.den <<= ALPHA_ONE - threshold;
	else
		alpha.num <<= threshold - ALPHA_ONE;
	return alpha;
}

static int set_alpha(struct vm_repr *repr, u32 queue, u32 threshold, struct vm_why *why)
{
	struct vm_queue *settings = kmalloc(sizeof(*settings), GFP_KERNEL);
	int error;

	if (!settings)
		return -ENOMEM;
	rtnl_lock(); /* between reading and writing the settings tc must not change them */
	error = vm_repr_get_queue(repr, queue, settings, NULL, why);
	if (!error) {
		settings->alpha = alpha_of(threshold);
		error = vm_repr_set_queue(repr, queue, settings, VM_OWNER_NETLINK, why);
	}
	rtnl_unlock();
	kfree(settings);
	return error;
}

int vm_sb_tc_pool_bind_set(struct devlink_port *port, unsigned int sb, u16 tc, enum devlink_sb_pool_type type, u16 pool,
			   u32 threshold, struct netlink_ext_ack *extack)
{
	struct vm_repr *repr = lane_of(port);
	struct vm_why why = {};

	if (type != DEVLINK_SB_POOL_TYPE_EGRESS)
		return -EOPNOTSUPP;
	if (pool != repr->index) {
		vm_nl_say(extack, "pool is %u; legal is %u, the pool of this lane", pool, repr->index);
		return -EINVAL;
	}
	if (!pool_size(repr)) {
		vm_nl_say(extack, "thresholds are static: the queues' limits, which tc or netlink set");
		return -EOPNOTSUPP;
	}
	if (threshold != THRESHOLD_NONE && (threshold < THRESHOLD_MIN || threshold > THRESHOLD_MAX)) {
		vm_nl_say(extack, "th is %u; legal is %u to %u, or %u for none", threshold, THRESHOLD_MIN,
			  THRESHOLD_MAX, THRESHOLD_NONE);
		return -EINVAL;
	}
	return vm_nl_refuse(extack, set_alpha(repr, tc, threshold, &why), &why);
}

/* The lane's own count of its pool, in cells. */
static int count_cells(struct vm_repr *repr, struct vm_occupancy *cells, struct vm_why *why)
{
	int error = vm_repr_begin(repr, why);

	if (error)
		return error;
	error = vm_lane_read(&repr->lane, VM_REG_POOL_USED(0), &cells->now);
	if (!error)
		error = vm_lane_read(&repr->lane, VM_REG_POOL_MOST(0), &cells->most);
	return vm_repr_end(repr, error, why);
}

static int snapshot(struct vm_repr *repr, struct vm_statistics *statistics)
{
	struct vm_occupancy *all = repr->card->about->occupancy[repr->index];
	struct vm_why why;
	u32 i;
	int error;

	for (i = 0; i < repr->lane.has.queues; i++) {
		error = vm_repr_statistics(repr, i, statistics, &why);
		if (error) {
			vm_repr_refuse(repr, &why);
			return error;
		}
		all[i].now = statistics->backlog_bytes;
		all[i].most = statistics->max_bytes;
	}
	if (!vm_lane_has_pool(&repr->lane))
		return 0;
	error = count_cells(repr, &repr->card->about->cells[repr->index], &why);
	if (error)
		vm_repr_refuse(repr, &why);
	return error;
}

int vm_sb_occ_snapshot(struct devlink *devlink, unsigned int sb)
{
	struct vm_statistics *statistics = kmalloc(sizeof(*statistics), GFP_KERNEL);
	struct vm_card *card = devlink_priv(devlink);
	int error = 0;
	u32 i;

	if (!statistics)
		return -ENOMEM;
	for (i = 0; i < card->lanes && !error; i++)
		error = snapshot(card->lane[i], statistics);
	kfree(statistics);
	return error;
}

/* All of a lane's queues, or one. */
static void occupancy(const struct vm_repr *repr, u32 first, u32 count, u32 *now, u32 *most)
{
	const struct vm_occupancy *all = repr->card->about->occupancy[repr->index];
	u32 i;

	*now = 0;
	*most = 0;
	for (i = first; i < repr->lane.has.queues && count--; i++) {
		*now += all[i].now;
		*most += all[i].most;
	}
}

int vm_sb_occ_port_pool_get(struct devlink_port *port, unsigned int sb, u16 pool, u32 *now, u32 *most)
{
	const struct vm_repr *repr = lane_of(port);
	const struct vm_occupancy *cells = &repr->card->about->cells[repr->index];

	occupancy(repr, 0, pool == repr->index ? repr->lane.has.queues : 0, now, most);
	if (pool == repr->index && vm_lane_has_pool(&repr->lane)) {
		*now = cells->now * VM_CELL_BYTES;
		*most = cells->most * VM_CELL_BYTES;
	}
	return 0;
}

int vm_sb_occ_tc_port_bind_get(struct devlink_port *port, unsigned int sb, u16 tc, enum devlink_sb_pool_type type,
			       u32 *now, u32 *most)
{
	if (type != DEVLINK_SB_POOL_TYPE_EGRESS)
		return -EOPNOTSUPP;
	occupancy(lane_of(port), tc, 1, now, most);
	return 0;
}
