// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The pool of cells: the lane's size, and the reserve and cap of an egress. And the flush, which
 * empties queues.
 *
 * Rules and registers: docs/configuration/ports.md, "Pool". The software copies keep sizes in bytes as
 * the user gave them; the lane has whole cells.
 */
#include "vm_core.h"
#include "vm_regs.h"

void vm_repr_get_pool(struct vm_repr *repr, struct vm_pool *pool)
{
	mutex_lock(&repr->engine->lock);
	pool->size = repr->engine->pool_bytes;
	pool->reserve = repr->reserve_bytes;
	pool->cap = repr->cap_bytes;
	mutex_unlock(&repr->engine->lock);
}

static int vm_pool_check_size(const struct vm_repr *repr, const char *field, u32 bytes, struct vm_why *why)
{
	const u32 most = vm_repr_pool_most(repr);

	if (!bytes || (bytes >= VM_CELL_BYTES && bytes <= most))
		return 0;
	vm_why_set(why, "pool.%s is %u; legal is 0 for none, or %u to %u, the cells of this build", field, bytes,
		   VM_CELL_BYTES, most);
	return -EINVAL;
}

u32 vm_engine_reserves_locked(const struct vm_engine *engine, const struct vm_repr *but)
{
	u32 i, cells = 0;

	for (i = 0; i < engine->egresses; i++)
		if (engine->egress[i] != but)
			cells += vm_pool_cells(engine->egress[i]->reserve_bytes);
	return cells;
}

/* The reserves of all egresses must fit into the pool, and a cap must not be below its reserve. */
static int vm_pool_check_share(const struct vm_repr *repr, const struct vm_pool *pool, struct vm_why *why)
{
	const u32 others = vm_engine_reserves_locked(repr->engine, repr), cells = vm_pool_cells(pool->size);
	const u32 reserve = vm_pool_cells(pool->reserve), cap = vm_pool_cells(pool->cap);

	if (cap && cap < reserve) {
		vm_why_set(why, "pool.cap is %u; legal is 0 for none, or %u, the reserve, and more", pool->cap,
			   pool->reserve);
		return -EINVAL;
	}
	if (!cells || reserve + others <= cells)
		return 0;
	if (pool->reserve == repr->reserve_bytes || others > cells)
		vm_why_set(why, "pool.size is %u; legal is 0 for none, or %u and more, the reserves of all egresses",
			   pool->size, VM_CELL_BYTES * (reserve + others));
	else
		vm_why_set(why, "pool.reserve is %u; legal is 0 to %u, what the pool of %u B has beside other reserves",
			   pool->reserve, VM_CELL_BYTES * (cells - others), VM_CELL_BYTES * cells);
	return -EINVAL;
}

static int vm_pool_check_locked(const struct vm_repr *repr, const struct vm_pool *pool, struct vm_why *why)
{
	int error;

	if ((pool->size || pool->reserve || pool->cap) && !vm_lane_has_pool(&repr->lane)) {
		vm_why_set(why, "%s", vm_error_text(VM_ERROR_POOL));
		return -EOPNOTSUPP;
	}
	if (repr->engine->egresses == 1 && (pool->reserve || pool->cap)) {
		vm_why_set(why, "pool.%s is %u; legal is 0: a lane with one egress shares its pool with no other",
			   pool->reserve ? "reserve" : "cap", pool->reserve ?: pool->cap);
		return -EOPNOTSUPP;
	}
	error = vm_pool_check_size(repr, "size", pool->size, why);
	if (!error)
		error = vm_pool_check_size(repr, "reserve", pool->reserve, why);
	if (!error)
		error = vm_pool_check_size(repr, "cap", pool->cap, why);
	return error ? error : vm_pool_check_share(repr, pool, why);
}

int vm_repr_check_pool(struct vm_repr *repr, const struct vm_pool *pool, struct vm_why *why)
{
	int error;

	mutex_lock(&repr->engine->lock);
	error = vm_pool_check_locked(repr, pool, why);
	mutex_unlock(&repr->engine->lock);
	return error;
}

int vm_repr_write_pool_locked(struct vm_repr *repr, const struct vm_pool *pool)
{
	const int error = vm_lane_write_pool(&repr->lane, vm_pool_cells(pool->size));

	if (error || repr->engine->egresses == 1)
		return error;
	return vm_lane_write_share(&repr->lane, vm_pool_cells(pool->reserve), vm_pool_cells(pool->cap));
}

int vm_repr_set_pool(struct vm_repr *repr, const struct vm_pool *pool, struct vm_why *why)
{
	int error = vm_repr_begin(repr, why);

	if (error)
		return error;
	error = vm_pool_check_locked(repr, pool, why);
	if (error) {
		mutex_unlock(&repr->engine->lock);
		return error;
	}
	error = vm_repr_write_pool_locked(repr, pool);
	if (!error) {
		repr->engine->pool_bytes = pool->size;
		repr->reserve_bytes = pool->reserve;
		repr->cap_bytes = pool->cap;
	} else if (error == VM_ERROR_READBACK) {
		repr->stale = true;
	}
	return vm_repr_end(repr, error, why);
}

int vm_repr_flush(struct vm_repr *repr, const u32 *queue, struct vm_why *why)
{
	int error;

	vm_why_set(why, "%s", "");
	if (queue && *queue >= repr->lane.has.queues) {
		vm_why_set(why, "queue is %u; legal is 0 to %u", *queue, repr->lane.has.queues - 1);
		return -ENOENT;
	}
	error = vm_repr_begin(repr, why);
	return error ? error : vm_repr_end(repr, vm_lane_flush(&repr->lane, queue ? *queue : VM_ALL_QUEUES), why);
}
