// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* A card: finds its lanes, registers their interfaces, and handles its removal or reset. */
#include <linux/delay.h>
#include <linux/pm.h>
#include <linux/rtnetlink.h>

#include "vm_core.h"
#include "vm_regs.h"

#define BLOCKS_MAX 32
#define BLOCK_APP 2
#define WATCH_PERIOD (2 * HZ)
/* Commits end within the time of a few packets, a queue's snapshot within 3 us, or 0.3 ms under
 * load. The polls below take at least half a second, far more than either.
 */
#define POLLS 25000
#define POLL_US 20

static u32 vm_card_bus_read(void *context, u32 offset)
{
	const struct vm_card *card = context;

	return ioread32(card->registers + offset);
}

static void vm_card_bus_write(void *context, u32 offset, u32 value)
{
	const struct vm_card *card = context;

	iowrite32(value, card->registers + offset);
}

static void vm_card_bus_pause(void *context)
{
	usleep_range(POLL_US, 2 * POLL_US);
}

void vm_card_gone(struct vm_card *card)
{
	u32 i;

	if (test_and_set_bit(VM_CARD_GONE, &card->flags))
		return;
	dev_err(card->dev, "%s; unbind the driver before the card comes back\n", vm_error_text(VM_ERROR_GONE));
	for (i = 0; i < card->reprs; i++)
		netif_carrier_off(card->repr[i]->netdev);
	vm_devlink_changed(card);
}

/* After this the driver accesses no register. */
static void vm_card_shut(struct vm_card *card)
{
	u32 i;

	set_bit(VM_CARD_RESETTING, &card->flags);
	for (i = 0; i < card->reprs; i++) { /* wait for accesses in progress */
		mutex_lock(&card->repr[i]->engine->lock);
		mutex_unlock(&card->repr[i]->engine->lock);
	}
}

/* Writes the software copies into the lanes; counters start from 0. The lanes missed qdiscs that
 * were added or removed during the reset, so tc's settings are programmed again from its tree.
 */
static void vm_card_do_restore(struct vm_card *card)
{
	struct vm_why why;
	u32 i;

	for (i = 0; i < card->reprs && !vm_card_is_gone(card); i++) {
		struct vm_repr *repr = card->repr[i];
		int error;

		mutex_lock(&repr->engine->lock);
		error = VM_OK;
		if (!repr->lane.egress) { /* the counters of all egresses */
			error = vm_lane_clear_statistics(&repr->lane);
			if (!error)
				repr->engine->epoch++;
		}
		if (!error)
			error = vm_repr_write_all_locked(repr);
		if (vm_repr_end(repr, error, &why))
			dev_err(card->dev, "lane %u is not as before the reset: %s\n", repr->engine->index, why.text);
	}
	clear_bit(VM_CARD_RESETTING, &card->flags);
	rtnl_lock();
	for (i = 0; i < card->reprs && !vm_card_is_gone(card); i++)
		vm_tc_restore(card->repr[i]);
	vm_app_restore(card);
	rtnl_unlock();
}

/* Detects a card that is gone even if nothing else reads a register for hours. Also detects a reset
 * by the NIC's own driver, which does not report it.
 */
static void vm_card_watch(struct work_struct *work)
{
	struct vm_card *card = container_of(to_delayed_work(work), struct vm_card, watch);
	bool reset = false;
	u32 i;

	for (i = 0; i < card->reprs && !reset; i++)
		vm_repr_watch(card->repr[i], &reset);
	if (vm_card_is_gone(card))
		return;
	if (reset) {
		dev_warn(card->dev, "the lanes were reset; all settings are written again\n");
		vm_card_shut(card);
		vm_card_do_restore(card);
	}
	schedule_delayed_work(&card->watch, WATCH_PERIOD);
}

struct vm_card *vm_card_alloc(struct device *dev, const char *front, void __iomem *registers, u32 bytes)
{
	struct devlink *devlink = devlink_alloc(&vm_devlink_ops, sizeof(struct vm_card), dev);
	struct vm_card *card;

	if (!devlink)
		return NULL;
	card = devlink_priv(devlink);
	card->dev = dev;
	card->devlink = devlink;
	card->front = front;
	card->registers = registers;
	card->bus.read = vm_card_bus_read;
	card->bus.write = vm_card_bus_write;
	card->bus.pause = vm_card_bus_pause;
	card->bus.context = card;
	card->bus.polls = POLLS;
	card->bus.bytes = bytes;
	card->average_packets = 1; /* the queue itself, as switches have it */
	INIT_DELAYED_WORK(&card->watch, vm_card_watch);
	return card;
}

void vm_card_free(struct vm_card *card)
{
	devlink_free(card->devlink);
}

static void vm_card_close_lanes(struct vm_card *card)
{
	while (card->reprs) {
		struct vm_repr *repr = card->repr[--card->reprs];

		vm_filter_exit(repr);
		vm_tc_exit(repr);
		vm_repr_close(repr);
		vm_netdev_free(repr);
	}
	while (card->engines)
		mutex_destroy(&card->engine[--card->engines].lock);
}

/* Opens the next egress of a lane. */
static int vm_card_open_egress(struct vm_card *card, struct vm_engine *engine, const struct vm_block *block)
{
	struct vm_repr *repr = vm_netdev_alloc(card, engine);
	struct vm_why why;
	int error;

	if (!repr)
		return -ENOMEM;
	vm_why_set(&why, "no memory");
	error = vm_repr_open(repr, block, &why);
	if (!error)
		error = vm_filter_init(repr);
	if (!error)
		error = vm_tc_init(repr);
	if (error) {
		dev_err(card->dev, "lane %u: %s\n", engine->index, why.text);
		vm_filter_exit(repr);
		vm_repr_close(repr);
		vm_netdev_free(repr);
		return error;
	}
	engine->egress[engine->egresses++] = repr;
	card->repr[card->reprs++] = repr;
	return 0;
}

static int vm_card_open_lane(struct vm_card *card, const struct vm_block *block)
{
	struct vm_engine *engine = &card->engine[card->engines];
	u32 egresses = 1;
	int error;

	engine->index = card->engines++;
	mutex_init(&engine->lock);
	do {
		if (card->reprs == VM_REPRS_MAX) {
			dev_err(card->dev, "lane %u: egresses of all lanes are more than %u\n", engine->index,
				VM_REPRS_MAX);
			return -EOPNOTSUPP;
		}
		error = vm_card_open_egress(card, engine, block);
		if (!error)
			egresses = max(engine->egress[0]->lane.has.egresses, 1u);
	} while (!error && engine->egresses < egresses);
	return error;
}

static int vm_card_open_lanes(struct vm_card *card)
{
	struct vm_block blocks[BLOCKS_MAX];
	int error;
	u32 found, i;

	error = vm_blocks(&card->bus, 0, blocks, ARRAY_SIZE(blocks), &found);
	if (error) {
		dev_err(card->dev, "%s\n", vm_error_text(error));
		return -ENODEV;
	}
	if (found > BLOCKS_MAX)
		dev_warn(card->dev, "%u register blocks; those behind the first %u stay as they are\n", found,
			 BLOCKS_MAX);
	for (i = 0; i < min_t(u32, found, BLOCKS_MAX); i++) {
		if (VM_GET(VM_REG_BLOCK_TYPE_BLOCK, blocks[i].type) == BLOCK_APP)
			card->app = blocks[i];
		if (VM_GET(VM_REG_BLOCK_TYPE_BLOCK, blocks[i].type) != VM_BLOCK_LANE)
			continue;
		if (card->engines == VM_LANES_MAX) {
			dev_warn(card->dev, "more than %u lanes; that at 0x%x stays as it is\n", VM_LANES_MAX,
				 blocks[i].offset);
			continue; /* an app block may follow */
		}
		error = vm_card_open_lane(card, &blocks[i]);
		if (error)
			return error;
	}
	if (card->reprs)
		return 0;
	dev_err(card->dev, "the card's list of register blocks has no lane\n");
	return -ENODEV;
}

static int vm_card_start_lanes(struct vm_card *card)
{
	struct vm_why why;
	int error = 0;
	u32 i;

	for (i = 0; i < card->reprs && !error; i++) {
		error = vm_repr_start(card->repr[i], &why);
		if (error)
			dev_err(card->dev, "lane %u: %s\n", card->repr[i]->engine->index, why.text);
	}
	return error;
}

static void vm_card_unregister_netdevs(struct vm_card *card, u32 count)
{
	while (count--)
		vm_netdev_unregister(card->repr[count]);
}

int vm_card_register(struct vm_card *card)
{
	int error = vm_card_open_lanes(card);
	u32 i;

	if (!error)
		error = vm_app_check(card);
	if (!error) /* all lanes are known: they may be changed now */
		error = vm_card_start_lanes(card);
	if (error)
		goto no_lanes;
	error = vm_devlink_register(card);
	if (error)
		goto no_lanes;
	for (i = 0; i < card->reprs; i++) {
		error = vm_netdev_register(card->repr[i]);
		if (error) {
			vm_card_unregister_netdevs(card, i);
			goto no_netdevs;
		}
	}
	vm_debugfs_card(card);
	schedule_delayed_work(&card->watch, WATCH_PERIOD);
	devlink_register(card->devlink);
	vm_devlink_start(card);
	dev_info(card->dev, "%u egresses of %u lanes, the first as %s\n", card->reprs, card->engines,
		 netdev_name(card->repr[0]->netdev));
	return 0;

no_netdevs:
	vm_devlink_unregister(card);
no_lanes:
	vm_card_close_lanes(card);
	return error;
}

void vm_card_unregister(struct vm_card *card)
{
	vm_devlink_stop(card);
	devlink_unregister(card->devlink);
	cancel_delayed_work_sync(&card->watch);
	vm_debugfs_card_remove(card);
	vm_card_unregister_netdevs(card, card->reprs);
	vm_devlink_unregister(card);
	vm_card_close_lanes(card);
}

void vm_card_pause(struct vm_card *card)
{
	cancel_delayed_work_sync(&card->watch);
	vm_card_shut(card);
}

void vm_card_restore(struct vm_card *card)
{
	vm_card_do_restore(card);
	schedule_delayed_work(&card->watch, WATCH_PERIOD);
}

static int vm_card_suspend(struct device *dev)
{
	vm_card_pause(dev_get_drvdata(dev));
	return 0;
}

static int vm_card_resume(struct device *dev)
{
	vm_card_restore(dev_get_drvdata(dev));
	return 0;
}

DEFINE_SIMPLE_DEV_PM_OPS(vm_card_power, vm_card_suspend, vm_card_resume);
