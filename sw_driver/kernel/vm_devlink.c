// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* devlink of a card: its description (info), and its resources with the part in use. */
#include <linux/slab.h>

#include "vm_devlink.h"
#include "vm_regs.h"

static int vm_devlink_put(struct devlink_info_req *request, u32 lane, const char *name, u32 value)
{
	char full[40], text[16];

	snprintf(full, sizeof(full), "lane%u.%s", lane, name);
	snprintf(text, sizeof(text), "%u", value);
	return devlink_info_version_fixed_put(request, full, text);
}

static int vm_devlink_put_lane(struct devlink_info_req *request, const struct vm_engine *engine)
{
	const struct vm_repr *repr = engine->egress[0];
	const struct vm_capabilities *has = &repr->lane.has;
	const u32 version = repr->lane.block.version;
	const struct {
		const char *name;
		u32 value;
	} all[] = {
		{ "queues", has->queues * engine->egresses },
		{ "cells", has->cells },
		{ "inputs", has->inputs },
		{ "data_bits", has->data_bits },
		{ "flows", has->flows },
		{ "max_frame_bytes", has->max_frame_bytes },
		{ "victims", has->victims * engine->egresses },
		{ "protect", has->protect },
		{ "codel", has->codel },
		{ "pie", has->pie },
		{ "dualpi2", has->dualpi2 },
		{ "reports", has->reports },
		{ "fq", has->fq },
		{ "rules", has->rules },
		{ "egresses", engine->egresses },
	};
	char full[40], text[16];
	int error;
	u32 i;

	snprintf(full, sizeof(full), "lane%u.registers", engine->index);
	snprintf(text, sizeof(text), "%u.%u", VM_GET(VM_REG_VERSION_MAJOR, version),
		 VM_GET(VM_REG_VERSION_MINOR, version));
	error = devlink_info_version_fixed_put(request, full, text);
	for (i = 0; i < ARRAY_SIZE(all) && !error; i++)
		error = vm_devlink_put(request, engine->index, all[i].name, all[i].value);
	return error;
}

static int vm_devlink_info_get(struct devlink *devlink, struct devlink_info_req *request,
			       struct netlink_ext_ack *extack)
{
	struct vm_card *card = devlink_priv(devlink);
	int error = vm_devlink_put_driver(request);
	u32 i;

	if (!error)
		error = devlink_info_version_running_put(request, "driver", VM_DRIVER_VERSION);
	for (i = 0; i < card->engines && !error; i++)
		error = vm_devlink_put_lane(request, &card->engine[i]);
	return error;
}

const struct devlink_ops vm_devlink_ops = {
	.info_get = vm_devlink_info_get,
	.sb_pool_get = vm_sb_pool_get,
	.sb_pool_set = vm_sb_pool_set,
	.sb_port_pool_get = vm_sb_port_pool_get,
	.sb_port_pool_set = vm_sb_port_pool_set,
	.sb_tc_pool_bind_get = vm_sb_tc_pool_bind_get,
	.sb_tc_pool_bind_set = vm_sb_tc_pool_bind_set,
	.sb_occ_snapshot = vm_sb_occ_snapshot,
	.sb_occ_port_pool_get = vm_sb_occ_port_pool_get,
	.sb_occ_tc_port_bind_get = vm_sb_occ_tc_port_bind_get,
};

/* Number of queues of a lane that have an owner. */
static u64 vm_devlink_queues_in_use(void *context)
{
	struct vm_engine *engine = context;
	u64 out = 0;
	u32 e, i;

	mutex_lock(&engine->lock);
	for (e = 0; e < engine->egresses; e++)
		for (i = 0; i < engine->egress[e]->lane.has.queues; i++)
			out += engine->egress[e]->slots[i].owner != VM_OWNER_NONE;
	mutex_unlock(&engine->lock);
	return out;
}

static int vm_devlink_add(struct devlink *devlink, u32 id, const char *name, u32 size)
{
	struct devlink_resource_size_params fixed;

	devlink_resource_size_params_init(&fixed, size, size, 1, DEVLINK_RESOURCE_UNIT_ENTRY);
	return devl_resource_register(devlink, name, size, id, DEVLINK_RESOURCE_ID_PARENT_TOP, &fixed);
}

/* Registers queues, cells and flows of a lane, in this order. Resource ids begin at 1. The build
 * defines the sizes.
 */
static int vm_devlink_add_lane(struct vm_card *card, struct vm_engine *engine)
{
	static const char *const names[VM_RESOURCES] = { "queues", "cells", "flows" };
	const struct vm_capabilities *has = &engine->egress[0]->lane.has;
	const u32 sizes[VM_RESOURCES] = { has->queues * engine->egresses, has->cells, has->flows };
	const u32 first = engine->index * VM_RESOURCES + 1;
	char *name;
	int error = 0;
	u32 i;

	for (i = 0; i < VM_RESOURCES && !error; i++) {
		name = card->about->names[engine->index][i];
		snprintf(name, sizeof(card->about->names[0][0]), "lane%u_%s", engine->index, names[i]);
		error = vm_devlink_add(card->devlink, first + i, name, sizes[i]);
	}
	if (!error)
		devl_resource_occ_get_register(card->devlink, first, vm_devlink_queues_in_use, engine);
	return error;
}

static void vm_devlink_free_about(struct vm_card *card)
{
	u32 i;

	for (i = 0; i < card->reprs; i++)
		kvfree(card->about->occupancy[i]);
	kfree(card->about);
	card->about = NULL;
}

static int vm_devlink_alloc_about(struct vm_card *card)
{
	u32 i;

	card->about = kzalloc(sizeof(*card->about), GFP_KERNEL);
	if (!card->about)
		return -ENOMEM;
	card->about->card = card;
	for (i = 0; i < card->reprs; i++) {
		card->about->occupancy[i] =
			kvcalloc(card->repr[i]->lane.has.queues, sizeof(struct vm_occupancy), GFP_KERNEL);
		if (!card->about->occupancy[i]) {
			vm_devlink_free_about(card);
			return -ENOMEM;
		}
	}
	return 0;
}

static int vm_devlink_add_all(struct vm_card *card)
{
	int error = 0;
	u32 i;

	devl_lock(card->devlink);
	for (i = 0; i < card->engines && !error; i++)
		error = vm_devlink_add_lane(card, &card->engine[i]);
	if (!error)
		error = vm_sb_register(card);
	if (error)
		devl_resources_unregister(card->devlink);
	devl_unlock(card->devlink);
	return error;
}

static void vm_devlink_remove_all(struct vm_card *card)
{
	u32 i;

	devl_lock(card->devlink);
	vm_sb_unregister(card);
	for (i = 0; i < card->engines; i++)
		devl_resource_occ_get_unregister(card->devlink, i * VM_RESOURCES + 1);
	devl_resources_unregister(card->devlink);
	devl_unlock(card->devlink);
}

int vm_devlink_register(struct vm_card *card)
{
	int error = vm_devlink_alloc_about(card);

	if (error)
		return error;
	error = vm_devlink_add_all(card);
	if (error)
		goto no_resources;
	error = vm_param_register(card);
	if (error)
		goto no_params;
	error = vm_health_register(card);
	if (!error)
		return 0;
	vm_param_unregister(card);
no_params:
	vm_devlink_remove_all(card);
no_resources:
	vm_devlink_free_about(card);
	return error;
}

void vm_devlink_unregister(struct vm_card *card)
{
	vm_health_unregister(card);
	vm_param_unregister(card);
	vm_devlink_remove_all(card);
	vm_devlink_free_about(card);
}
