// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The cells of a card's lanes as devlink's shared buffer: occupancy and its maximum since a clear.
 *
 *   pool                  size of the pool     threshold of a port   of a traffic class
 *                                              (an egress)           (a queue)
 *   LANE, each lane       the pool of cells    none                  alpha, or static: the limit
 *   after these, for each lane with several egresses:
 *     reserves, static    their sum            its reserve, bytes
 *     caps, static        the pool of cells    its cap, bytes
 *
 * A port's occupancy is the number of bytes that it holds of a pool. For the reserves this is at
 * most its own reserve; for the other two it is all of its cells.
 *
 * Occupancy is that of the last `devlink sb occupancy snapshot`. A queue's occupancy is in bytes of
 * packets, a pool's in bytes of its cells. If a build counts no cells, the pool's value is the sum
 * over its queues. Its high-water mark is then at least the true one.
 *
 * A lane with a pool of cells (docs/configuration/ports.md, "Pool") has dynamic thresholds, the alpha of
 * each queue: alpha = 2^(threshold - 10), where devlink's threshold is 0 to 20. Without a pool the
 * thresholds are static: each queue's limit in bytes, which devlink only shows.
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

enum pool_kind { POOL_OF_CELLS, POOL_OF_RESERVES, POOL_OF_CAPS };
#define POOLS_OF_SHARES 2u

/* Rounds down to whole cells. */
static u32 vm_sb_whole(u32 bytes)
{
	return vm_pool_cells(bytes) * VM_CELL_BYTES;
}

/* The pool's size; 0: the lane has no pool. */
static u32 vm_sb_pool_size(struct vm_repr *repr)
{
	struct vm_pool pool;

	vm_repr_get_pool(repr, &pool);
	return vm_sb_whole(pool.size);
}

static struct vm_repr *vm_sb_lane_of(struct devlink_port *port)
{
	return container_of(port, struct vm_repr, devlink_port);
}

static u32 vm_sb_pools_of_shares(const struct vm_engine *engine)
{
	return engine->egresses > 1 ? POOLS_OF_SHARES : 0;
}

/* The number of a lane's pool of reserves. The next number is the pool of its caps. */
static u32 vm_sb_first_of_shares(const struct vm_card *card, const struct vm_engine *engine)
{
	u32 i, pool = card->engines;

	for (i = 0; i < engine->index; i++)
		pool += vm_sb_pools_of_shares(&card->engine[i]);
	return pool;
}

/* The lane of a pool, and the kind of the pool. devlink asks only for registered numbers. */
static const struct vm_engine *vm_sb_engine_of(const struct vm_card *card, u16 pool, enum pool_kind *kind)
{
	const struct vm_engine *engine = card->engine;

	*kind = POOL_OF_CELLS;
	if (pool < card->engines)
		return engine + pool;
	while (pool >= vm_sb_first_of_shares(card, engine) + vm_sb_pools_of_shares(engine))
		engine++;
	*kind = pool - vm_sb_first_of_shares(card, engine) ? POOL_OF_CAPS : POOL_OF_RESERVES;
	return engine;
}

int vm_sb_register(struct vm_card *card)
{
	u32 i, size = 0, queues = 0, pools = card->engines;

	for (i = 0; i < card->engines; i++) {
		size += vm_repr_pool_most(card->engine[i].egress[0]);
		queues = max(queues, card->engine[i].egress[0]->lane.has.queues);
		pools += vm_sb_pools_of_shares(&card->engine[i]);
	}
	return devl_sb_register(card->devlink, SB, size, 0, pools, 0, queues);
}

void vm_sb_unregister(struct vm_card *card)
{
	devl_sb_unregister(card->devlink, SB);
}

int vm_sb_pool_get(struct devlink *devlink, unsigned int sb, u16 pool, struct devlink_sb_pool_info *info)
{
	enum pool_kind kind;
	const struct vm_engine *engine = vm_sb_engine_of(devlink_priv(devlink), pool, &kind);
	struct vm_repr *repr = engine->egress[0];
	const u32 size = vm_sb_pool_size(repr);

	info->pool_type = DEVLINK_SB_POOL_TYPE_EGRESS;
	info->size = size ?: vm_repr_pool_most(repr);
	info->threshold_type =
		size && kind == POOL_OF_CELLS ? DEVLINK_SB_THRESHOLD_TYPE_DYNAMIC : DEVLINK_SB_THRESHOLD_TYPE_STATIC;
	info->cell_size = VM_CELL_BYTES;
	if (kind != POOL_OF_RESERVES)
		return 0;
	mutex_lock(&repr->engine->lock);
	info->size = vm_engine_reserves_locked(engine, NULL) * VM_CELL_BYTES;
	mutex_unlock(&repr->engine->lock);
	return 0;
}

static int vm_sb_set_size(struct vm_repr *repr, u32 size, struct vm_why *why)
{
	struct vm_pool pool;
	int error;

	rtnl_lock(); /* netlink must not change it between read and write */
	vm_repr_get_pool(repr, &pool);
	pool.size = size;
	error = vm_repr_set_pool(repr, &pool, why);
	rtnl_unlock();
	return error;
}

/* Static thresholds switch the pool off, so the only legal size is that of the buffer. */
int vm_sb_pool_set(struct devlink *devlink, unsigned int sb, u16 pool, u32 size, enum devlink_sb_threshold_type type,
		   struct netlink_ext_ack *extack)
{
	const struct vm_card *card = devlink_priv(devlink);
	enum pool_kind kind;
	struct vm_repr *repr = vm_sb_engine_of(card, pool, &kind)->egress[0];
	const u32 most = vm_repr_pool_most(repr);
	struct vm_why why = {};

	if (kind != POOL_OF_CELLS) {
		vm_nl_say(extack, "pool is %u; legal is below %u: reserves and caps have no size of their own", pool,
			  card->engines);
		return -EINVAL;
	}
	if (type == DEVLINK_SB_THRESHOLD_TYPE_STATIC && size != most) {
		vm_nl_say(extack, "size is %u; legal with static thresholds is %u, the cells of this build", size,
			  most);
		return -EINVAL;
	}
	if (type == DEVLINK_SB_THRESHOLD_TYPE_DYNAMIC && (size < VM_CELL_BYTES || size > most)) {
		vm_nl_say(extack, "size is %u; legal with dynamic thresholds is %u to %u", size, VM_CELL_BYTES, most);
		return -EINVAL;
	}
	return vm_nl_refuse(extack, vm_sb_set_size(repr, type == DEVLINK_SB_THRESHOLD_TYPE_DYNAMIC ? size : 0, &why),
			    &why);
}

/* An egress may fill its lane's pool up to its cap. It takes nothing from other lanes' pools. */
int vm_sb_port_pool_get(struct devlink_port *port, unsigned int sb, u16 pool, u32 *threshold)
{
	struct vm_repr *repr = vm_sb_lane_of(port);
	const u32 most = vm_repr_pool_most(repr);
	enum pool_kind kind;
	struct vm_pool held;

	*threshold = 0;
	if (vm_sb_engine_of(repr->card, pool, &kind) != repr->engine)
		return 0;
	vm_repr_get_pool(repr, &held);
	if (kind == POOL_OF_RESERVES)
		*threshold = vm_sb_whole(held.reserve);
	else if (kind == POOL_OF_CAPS)
		*threshold = vm_sb_whole(held.cap) ?: most;
	else
		*threshold = held.size ? THRESHOLD_NONE : most;
	return 0;
}

int vm_sb_port_pool_set(struct devlink_port *port, unsigned int sb, u16 pool, u32 threshold,
			struct netlink_ext_ack *extack)
{
	struct vm_repr *repr = vm_sb_lane_of(port);
	const u32 first = vm_sb_first_of_shares(repr->card, repr->engine);
	struct vm_why why = {};
	enum pool_kind kind;
	struct vm_pool held;
	int error;

	if (!vm_sb_pools_of_shares(repr->engine)) {
		vm_nl_say(extack, "a lane with one egress shares its pool with no other");
		return -EOPNOTSUPP;
	}
	if (vm_sb_engine_of(repr->card, pool, &kind) != repr->engine || kind == POOL_OF_CELLS) {
		vm_nl_say(extack, "pool is %u; legal is %u, the reserves of this lane, or %u, its caps", pool, first,
			  first + 1);
		return -EINVAL;
	}
	rtnl_lock(); /* netlink must not change it between read and write */
	vm_repr_get_pool(repr, &held);
	if (kind == POOL_OF_RESERVES)
		held.reserve = threshold;
	else
		held.cap = threshold;
	error = vm_repr_set_pool(repr, &held, &why);
	rtnl_unlock();
	return vm_nl_refuse(extack, error, &why);
}

/* A queue's alpha, or its limit in bytes, at most the bytes of all cells. 0 for queues that this
 * lane does not have.
 */
int vm_sb_tc_pool_bind_get(struct devlink_port *port, unsigned int sb, u16 tc, enum devlink_sb_pool_type type,
			   u16 *pool, u32 *threshold)
{
	struct vm_repr *repr = vm_sb_lane_of(port);
	const u32 most = vm_repr_pool_most(repr);
	u32 limit, code;
	bool dynamic;

	*pool = repr->engine->index;
	*threshold = 0;
	if (type != DEVLINK_SB_POOL_TYPE_EGRESS)
		return -EOPNOTSUPP;
	if (tc >= repr->lane.has.queues)
		return 0;
	mutex_lock(&repr->engine->lock);
	dynamic = repr->engine->pool_bytes;
	limit = repr->slots[tc].settings.limit;
	code = vm_alpha(repr->slots[tc].settings.alpha);
	mutex_unlock(&repr->engine->lock);
	if (dynamic)
		*threshold = code ? code + ALPHA_ONE - VM_ALPHA_FRAC : THRESHOLD_NONE;
	else
		*threshold = limit && limit < most ? limit : most;
	return 0;
}

/* alpha = 2^(threshold - 10), at most 2^3 in the hardware. The greatest threshold means none. */
static struct vm_number vm_sb_alpha_of(u32 threshold)
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

static int vm_sb_set_alpha(struct vm_repr *repr, u32 queue, u32 threshold, struct vm_why *why)
{
	struct vm_queue *settings = kmalloc(sizeof(*settings), GFP_KERNEL);
	int error;

	if (!settings)
		return -ENOMEM;
	rtnl_lock(); /* tc must not change the settings between read and write */
	error = vm_repr_get_queue(repr, queue, settings, NULL, why);
	if (!error) {
		settings->alpha = vm_sb_alpha_of(threshold);
		error = vm_repr_set_queue(repr, queue, settings, VM_OWNER_NETLINK, why);
	}
	rtnl_unlock();
	kfree(settings);
	return error;
}

int vm_sb_tc_pool_bind_set(struct devlink_port *port, unsigned int sb, u16 tc, enum devlink_sb_pool_type type, u16 pool,
			   u32 threshold, struct netlink_ext_ack *extack)
{
	struct vm_repr *repr = vm_sb_lane_of(port);
	struct vm_why why = {};

	if (type != DEVLINK_SB_POOL_TYPE_EGRESS)
		return -EOPNOTSUPP;
	if (pool != repr->engine->index) {
		vm_nl_say(extack, "pool is %u; legal is %u, the pool of this lane", pool, repr->engine->index);
		return -EINVAL;
	}
	if (!vm_sb_pool_size(repr)) {
		vm_nl_say(extack, "thresholds are static: the queues' limits, which tc or netlink set");
		return -EOPNOTSUPP;
	}
	if (threshold != THRESHOLD_NONE && (threshold < THRESHOLD_MIN || threshold > THRESHOLD_MAX)) {
		vm_nl_say(extack, "th is %u; legal is %u to %u, or %u for none", threshold, THRESHOLD_MIN,
			  THRESHOLD_MAX, THRESHOLD_NONE);
		return -EINVAL;
	}
	return vm_nl_refuse(extack, vm_sb_set_alpha(repr, tc, threshold, &why), &why);
}

/* Reads the lane's count of cells that the egress holds of the pool. */
static int vm_sb_count_cells(struct vm_repr *repr, struct vm_occupancy *cells, struct vm_why *why)
{
	int error = vm_repr_begin(repr, why);

	if (error)
		return error;
	error = vm_lane_read(&repr->lane, VM_REG_POOL_USED(repr->lane.egress), &cells->now);
	if (!error)
		error = vm_lane_read(&repr->lane, VM_REG_POOL_MOST(repr->lane.egress), &cells->most);
	return vm_repr_end(repr, error, why);
}

static int vm_sb_snapshot(struct vm_repr *repr, struct vm_statistics *statistics)
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
	error = vm_sb_count_cells(repr, &repr->card->about->cells[repr->index], &why);
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
	for (i = 0; i < card->reprs && !error; i++)
		error = vm_sb_snapshot(card->repr[i], statistics);
	kfree(statistics);
	return error;
}

/* The sum over @count queues of an egress from @first on. */
static void vm_sb_occupancy_of(const struct vm_repr *repr, u32 first, u32 count, u32 *now, u32 *most)
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
	struct vm_repr *repr = vm_sb_lane_of(port);
	const struct vm_occupancy *cells = &repr->card->about->cells[repr->index];
	enum pool_kind kind;
	const bool own = vm_sb_engine_of(repr->card, pool, &kind) == repr->engine;
	struct vm_pool held;

	vm_sb_occupancy_of(repr, 0, own ? repr->lane.has.queues : 0, now, most);
	if (!own || !vm_lane_has_pool(&repr->lane))
		return 0;
	*now = cells->now * VM_CELL_BYTES;
	*most = cells->most * VM_CELL_BYTES;
	if (kind != POOL_OF_RESERVES)
		return 0;
	vm_repr_get_pool(repr, &held);
	*now = min(*now, vm_sb_whole(held.reserve));
	*most = min(*most, vm_sb_whole(held.reserve));
	return 0;
}

int vm_sb_occ_tc_port_bind_get(struct devlink_port *port, unsigned int sb, u16 tc, enum devlink_sb_pool_type type,
			       u32 *now, u32 *most)
{
	if (type != DEVLINK_SB_POOL_TYPE_EGRESS)
		return -EOPNOTSUPP;
	vm_sb_occupancy_of(vm_sb_lane_of(port), tc, 1, now, most);
	return 0;
}
