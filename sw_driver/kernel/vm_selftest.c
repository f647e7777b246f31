// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The self-test. Each test holds the lane's lock and computes the expected values again. */
#include <linux/slab.h>

#include "vm_core.h"
#include "vm_regs.h"
#include "vm_selftest.h"
#include "vm_test.h"

#define UPSETS_UNCORRECTABLE 2

static int vm_selftest_identity(struct vm_repr *repr, void *unused)
{
	const struct vm_capabilities *has = &repr->lane.has;
	const u32 egresses = repr->engine->egresses; /* the register counts queues of all */
	const struct {
		u32 address, value;
	} all[] = {
		{ VM_REG_BLOCK_TYPE, repr->lane.block.type },
		{ VM_REG_VERSION, repr->lane.block.version },
		{ VM_REG_QUEUES, has->queues * egresses },
		{ VM_REG_CELLS, has->cells },
		{ VM_REG_DATA_BITS, has->data_bits },
		{ VM_REG_INPUTS, has->inputs },
		{ VM_REG_EWMA_STAGES, has->stages },
		{ VM_REG_MAX_FRAME_BYTES, has->max_frame_bytes },
		{ VM_REG_FLOWS, has->flows },
		{ VM_REG_VICTIMS, has->victims * egresses },
		{ VM_REG_PROTECT, has->protect },
		{ VM_REG_EGRESSES, has->egresses },
		{ VM_REG_CODEL, has->codel },
		{ VM_REG_PIE, has->pie },
		{ VM_REG_DUALPI2, has->dualpi2 },
		{ VM_REG_REPORTS, has->reports },
		{ VM_REG_FQ, has->fq },
	};
	u32 i, value;
	int error;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		error = vm_lane_read(&repr->lane, all[i].address, &value);
		if (error)
			return error;
		if (value != all[i].value) {
			repr->lane.at = all[i].address;
			return VM_ERROR_READBACK;
		}
	}
	return VM_OK;
}

static int vm_selftest_conversion(struct vm_repr *repr, void *context)
{
	return vm_test_conversion(context) ? VM_ERROR_READBACK : VM_OK;
}

static int vm_selftest_write_word(void *context, u32 address, u32 value)
{
	vm_lane_write(&((struct vm_repr *)context)->lane, address, value);
	return VM_OK;
}

static int vm_selftest_read_word(void *context, u32 address, u32 value)
{
	struct vm_lane *lane = &((struct vm_repr *)context)->lane;
	u32 held;
	int error = vm_lane_read(lane, address, &held);

	if (error || held == value)
		return error;
	lane->at = address;
	return VM_ERROR_READBACK;
}

/* The test may write the shadow record: no queue uses it before a commit, and every write of a
 * queue writes all of it first.
 */
static int vm_selftest_shadow(struct vm_repr *repr, void *context)
{
	const struct vm_port port = vm_repr_port_locked(repr);
	struct vm_queue_image *words = context;
	int error = VM_OK;
	u32 i;

	for (i = 0; i < repr->lane.has.queues && !error; i++) {
		vm_queue_convert(&repr->slots[i].settings, &port, words);
		error = vm_queue_visit(words, vm_selftest_write_word, repr);
		if (!error)
			error = vm_queue_visit(words, vm_selftest_read_word, repr);
	}
	return error;
}

static int vm_selftest_classes(struct vm_repr *repr, void *unused)
{
	int error = VM_OK;
	u32 i;

	for (i = 0; i < VM_DSCPS && !error; i++)
		error = vm_lane_write_class(&repr->lane, i, repr->classes[i].queue, repr->classes[i].colour);
	return error;
}

static int vm_selftest_pool_registers(struct vm_repr *repr, void *unused)
{
	const struct vm_pool pool = { repr->engine->pool_bytes, repr->reserve_bytes, repr->cap_bytes };

	return vm_repr_write_pool_locked(repr, &pool);
}

static int vm_selftest_conservation(struct vm_repr *repr, void *context)
{
	struct vm_statistics *s = context;
	int error;
	u32 i, c;

	for (i = 0; i < repr->lane.has.queues; i++) {
		u64 in = 0, out = 0;

		error = vm_lane_statistics(&repr->lane, i, s);
		if (error)
			return error;
		for (c = 0; c < VM_COLOURS; c++) {
			in += s->count[c][VM_ENQUEUED].packets;
			out += s->count[c][VM_SENT].packets + s->count[c][VM_EVICTED].packets +
			       s->count[c][VM_FLUSHED].packets + s->count[c][VM_DEPARTURE_DROPPED].packets;
		}
		/* A clear removes queued packets from `in`, so it may be less than `out`. */
		if (in > out + s->backlog_packets) {
			repr->lane.at = VM_REG_WINDOW_BACKLOG_PACKETS;
			return VM_ERROR_READBACK;
		}
	}
	return VM_OK;
}

static int vm_selftest_memory(struct vm_repr *repr, void *unused)
{
	u32 status, upsets;
	int error = vm_lane_read(&repr->lane, VM_REG_STATUS, &status);

	if (!error)
		error = vm_lane_read(&repr->lane, VM_REG_UPSETS(UPSETS_UNCORRECTABLE), &upsets);
	if (error)
		return error;
	return VM_GET(VM_REG_STATUS_MEMORY_FAILED, status) || upsets ? VM_ERROR_MEMORY : VM_OK;
}

static const struct {
	const char *name;
	int (*run)(struct vm_repr *repr, void *context);
} tests[VM_SELFTESTS] = {
	[VM_TEST_IDENTITY] = { "identity", vm_selftest_identity },
	[VM_TEST_CONVERSION] = { "conversion", vm_selftest_conversion },
	[VM_TEST_SHADOW] = { "queue words", vm_selftest_shadow },
	[VM_TEST_CLASSES] = { "class table", vm_selftest_classes },
	[VM_TEST_POOL] = { "pool", vm_selftest_pool_registers },
	[VM_TEST_CONSERVATION] = { "conservation", vm_selftest_conservation },
	[VM_TEST_MEMORY] = { "memory", vm_selftest_memory },
};

const char *vm_selftest_name(enum vm_selftest test)
{
	return tests[test].name;
}

void vm_selftest_run(struct net_device *netdev, struct ethtool_test *test, u64 *results)
{
	struct vm_repr *repr = netdev_priv(netdev);
	struct vm_why why, sentence;
	void *room;
	int error;
	u32 i;

	room = kmalloc(max(sizeof(struct vm_statistics), sizeof(struct vm_queue_image)), GFP_KERNEL);
	for (i = 0; i < VM_SELFTESTS; i++) {
		vm_why_set(&why, "no memory");
		error = room ? vm_repr_begin(repr, &why) : -ENOMEM;
		if (!error)
			error = vm_repr_end(repr, tests[i].run(repr, room), &why);
		results[i] = error != 0;
		if (!results[i])
			continue;
		test->flags |= ETH_TEST_FL_FAILED;
		vm_why_set(&sentence, "self-test %s: %s", tests[i].name, why.text);
		vm_repr_refuse(repr, &sentence);
	}
	kfree(room);
}
