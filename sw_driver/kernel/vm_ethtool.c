// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* ethtool on a representor: -i, -S by queue and colour, -d as pairs of address and value.
 * Self-test: vm_selftest.c.
 */
#include <linux/ethtool.h>
#include <linux/slab.h>

#include "vm_core.h"
#include "vm_regs.h"
#include "vm_selftest.h"

#define LANE_WORDS 64u /* registers at addresses below the shadow record */

static const char *const colours[VM_COLOURS] = { "green", "yellow", "red" };

/* The names of docs/registers.md, "window.colour", or shorter ones: at most 10 characters, as ethtool
 * keeps 31 of "q1023.yellow.ce_written.packets".
 */
static const char *const events[VM_EVENTS] = {
	[VM_ARRIVED] = "arrived",
	[VM_ENQUEUED] = "enqueued",
	[VM_EARLY] = "early",
	[VM_FORCED] = "forced",
	[VM_TAIL_DROPPED] = "tail",
	[VM_NOBUF] = "nobuf",
	[VM_BAD] = "bad",
	[VM_CE_CHOSEN] = "ce_chosen",
	[VM_CE_WRITTEN] = "ce_written",
	[VM_SENT] = "sent",
	[VM_POLICED] = "policed",
	[VM_EVICTED] = "evicted",
	[VM_FLUSHED] = "flushed",
	[VM_DEPARTURE_DROPPED] = "dep_drop",
	[VM_DEPARTURE_MARKED] = "dep_mark",
};

static const char *const marks[] = { "backlog_bytes", "backlog_packets", "max_bytes", "max_packets" };

#define OF_QUEUE (VM_COLOURS * VM_EVENTS * 2u + (u32)ARRAY_SIZE(marks))

static void vm_ethtool_get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	const struct vm_repr *repr = netdev_priv(netdev);
	const u32 version = repr->lane.block.version;

	strscpy(info->driver, VM_DRIVER, sizeof(info->driver));
	strscpy(info->version, VM_DRIVER_VERSION, sizeof(info->version));
	strscpy(info->bus_info, dev_name(repr->card->dev), sizeof(info->bus_info));
	snprintf(info->fw_version, sizeof(info->fw_version), "registers %u.%u", VM_GET(VM_REG_VERSION_MAJOR, version),
		 VM_GET(VM_REG_VERSION_MINOR, version));
}

/* Lost frames belong to the lane. Only egress 0 shows them, so that a sum over netdevs is right. */
static u32 vm_ethtool_inputs_of(const struct vm_repr *repr)
{
	return repr->lane.egress ? 0 : repr->lane.has.inputs;
}

static int vm_ethtool_get_sset_count(struct net_device *netdev, int set)
{
	const struct vm_repr *repr = netdev_priv(netdev);

	if (set == ETH_SS_STATS)
		return repr->lane.has.queues * OF_QUEUE + 2 * vm_ethtool_inputs_of(repr);
	return set == ETH_SS_TEST ? VM_SELFTESTS : -EOPNOTSUPP;
}

__printf(2, 3) static void put(u8 **at, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(*at, ETH_GSTRING_LEN, format, list);
	va_end(list);
	*at += ETH_GSTRING_LEN;
}

/* "q1023.yellow.ce_written.packets" has 31 characters, the most that ethtool allows. */
static void vm_ethtool_queue_strings(u8 **at, u32 queue)
{
	u32 c, i;

	for (c = 0; c < VM_COLOURS; c++)
		for (i = 0; i < VM_EVENTS; i++) {
			put(at, "q%u.%s.%s.packets", queue, colours[c], events[i]);
			put(at, "q%u.%s.%s.bytes", queue, colours[c], events[i]);
		}
	for (i = 0; i < ARRAY_SIZE(marks); i++)
		put(at, "q%u.%s", queue, marks[i]);
}

static void vm_ethtool_get_strings(struct net_device *netdev, u32 set, u8 *at)
{
	const struct vm_repr *repr = netdev_priv(netdev);
	u32 i;

	if (set == ETH_SS_TEST) {
		for (i = 0; i < VM_SELFTESTS; i++)
			put(&at, "%s", vm_selftest_name(i));
		return;
	}
	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < repr->lane.has.queues; i++)
		vm_ethtool_queue_strings(&at, i);
	for (i = 0; i < vm_ethtool_inputs_of(repr); i++) {
		put(&at, "input%u.lost.packets", i);
		put(&at, "input%u.lost.bytes", i);
	}
}

static void vm_ethtool_queue_values(u64 *at, const struct vm_statistics *s)
{
	u32 c, i;

	for (c = 0; c < VM_COLOURS; c++)
		for (i = 0; i < VM_EVENTS; i++) {
			*at++ = s->count[c][i].packets;
			*at++ = s->count[c][i].bytes;
		}
	*at++ = s->backlog_bytes;
	*at++ = s->backlog_packets;
	*at++ = s->max_bytes;
	*at++ = s->max_packets;
}

/* Each queue's counters are as of one cycle. ethtool takes no error here: counters that could not
 * be read are 0, and the last refusal gives the reason.
 */
static void vm_ethtool_get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *stats, u64 *at)
{
	struct vm_statistics *statistics = kmalloc(sizeof(*statistics), GFP_KERNEL);
	struct vm_repr *repr = netdev_priv(netdev);
	struct vm_count lost;
	struct vm_why why;
	int error = 0;
	u32 i;

	memset(at, 0, stats->n_stats * sizeof(*at));
	if (!statistics)
		return;
	for (i = 0; i < repr->lane.has.queues && !error; i++, at += OF_QUEUE) {
		error = vm_repr_statistics(repr, i, statistics, &why);
		if (!error)
			vm_ethtool_queue_values(at, statistics);
	}
	for (i = 0; i < vm_ethtool_inputs_of(repr) && !error; i++) {
		error = vm_repr_lost(repr, i, &lost, &why);
		if (error)
			break;
		*at++ = lost.packets;
		*at++ = lost.bytes;
	}
	if (error)
		vm_repr_refuse(repr, &why);
	kfree(statistics);
}

struct dump {
	struct vm_repr *repr;
	u32 *at, *end;
};

static int vm_ethtool_dump_register(void *context, u32 address, u32 unused)
{
	struct dump *dump = context;
	int error;

	if (dump->end - dump->at < 2)
		return VM_OK;
	dump->at[0] = address;
	error = vm_lane_read(&dump->repr->lane, address, &dump->at[1]);
	dump->at += 2;
	return error;
}

/* The lane's own registers, then the shadow record, which holds the queue that was written last.
 * Its addresses come from vm_queue_visit().
 */
static int vm_ethtool_dump_all(struct vm_repr *repr, struct dump *dump)
{
	static const struct vm_queue_image nothing;
	int error = VM_OK;
	u32 i;

	for (i = 0; i < LANE_WORDS && !error; i++)
		error = vm_ethtool_dump_register(dump, 4 * i, 0);
	return error ? error : vm_queue_visit(&nothing, vm_ethtool_dump_register, dump);
}

static int vm_ethtool_count_register(void *context, u32 address, u32 value)
{
	++*(u32 *)context;
	return VM_OK;
}

static int vm_ethtool_get_regs_len(struct net_device *netdev)
{
	static const struct vm_queue_image nothing;
	u32 count = LANE_WORDS;

	vm_queue_visit(&nothing, vm_ethtool_count_register, &count);
	return count * 2 * sizeof(u32);
}

static void vm_ethtool_get_regs(struct net_device *netdev, struct ethtool_regs *regs, void *out)
{
	struct vm_repr *repr = netdev_priv(netdev);
	struct dump dump = { repr, out, out + regs->len };
	struct vm_why why;
	int error;

	memset(out, 0, regs->len);
	regs->version = repr->lane.block.version;
	error = vm_repr_begin(repr, &why);
	if (!error)
		error = vm_repr_end(repr, vm_ethtool_dump_all(repr, &dump), &why);
	if (error)
		vm_repr_refuse(repr, &why);
}

const struct ethtool_ops vm_ethtool_ops = {
	.get_drvinfo = vm_ethtool_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_sset_count = vm_ethtool_get_sset_count,
	.get_strings = vm_ethtool_get_strings,
	.get_ethtool_stats = vm_ethtool_get_ethtool_stats,
	.get_regs_len = vm_ethtool_get_regs_len,
	.get_regs = vm_ethtool_get_regs,
	.self_test = vm_selftest_run,
};
