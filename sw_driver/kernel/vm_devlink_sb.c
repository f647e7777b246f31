// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The cells of a card's lanes as devlink's shared buffer: what stands in the queues, and the most that ever did.
 *
 * Occupancy is that of the last `devlink sb occupancy snapshot`. The hardware keeps a high-water mark a queue and none for all of
 * a lane's cells: a pool's is the sum of its queues', which is at least the true one.
 */
#include <linux/slab.h>

#include "vm_devlink.h"

#define SB 0

/* Lengths are bytes of packets; cells of 64 bytes hold them, the last one of a packet in part. */
static u32 pool_bytes(const struct vm_repr *repr)
{
	return repr->lane.has.cells * VM_CELL_BYTES;
}

static struct vm_repr *lane_of(struct devlink_port *port)
{
	return container_of(port, struct vm_repr, devlink_port);
}

int vm_sb_register(struct vm_card *card)
{
	u32 i, size = 0, queues = 0;

	for (i = 0; i < card->lanes; i++) {
		size += pool_bytes(card->lane[i]);
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

	info->pool_type = DEVLINK_SB_POOL_TYPE_EGRESS;
	info->size = pool_bytes(card->lane[pool]);
	info->threshold_type = DEVLINK_SB_THRESHOLD_TYPE_STATIC;
	info->cell_size = VM_CELL_BYTES;
	return 0;
}

/* A lane may fill its own pool and none of another one's. */
int vm_sb_port_pool_get(struct devlink_port *port, unsigned int sb, u16 pool, u32 *threshold)
{
	const struct vm_repr *repr = lane_of(port);

	*threshold = pool == repr->index ? pool_bytes(repr) : 0;
	return 0;
}

/* A queue's limit in bytes, as far as there are cells for it; 0 for queues that this lane does not have. */
int vm_sb_tc_pool_bind_get(struct devlink_port *port, unsigned int sb, u16 tc, enum devlink_sb_pool_type type,
			   u16 *pool, u32 *threshold)
{
	struct vm_repr *repr = lane_of(port);
	u32 limit;

	*pool = repr->index;
	*threshold = 0;
	if (type != DEVLINK_SB_POOL_TYPE_EGRESS)
		return -EOPNOTSUPP;
	if (tc >= repr->lane.has.queues)
		return 0;
	mutex_lock(&repr->lock);
	limit = repr->slots[tc].settings.limit_bytes;
	mutex_unlock(&repr->lock);
	*threshold = limit && limit < pool_bytes(repr) ? limit : pool_bytes(repr);
	return 0;
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
	return 0;
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

	occupancy(repr, 0, pool == repr->index ? repr->lane.has.queues : 0, now, most);
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
