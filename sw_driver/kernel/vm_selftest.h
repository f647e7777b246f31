/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* `ethtool -t`: what a lane should be and hold, looked at without changing what it does. */
#ifndef VM_SELFTEST_H
#define VM_SELFTEST_H

#include <linux/ethtool.h>

enum vm_selftest {
	VM_TEST_IDENTITY,   /* block type, version and capabilities read as at probe */
	VM_TEST_CONVERSION, /* known answers of the conversion come out in this kernel */
	VM_TEST_SHADOW, /* each queue's settings, converted anew, are held by the shadow record; nothing is committed */
	VM_TEST_CLASSES,      /* the class table's port holds what is written; the entry stays what it was */
	VM_TEST_POOL,	      /* pool_size holds the size that was set */
	VM_TEST_CONSERVATION, /* in each queue enqueued = sent + flushed + evicted + backlog, as of one clock */
	VM_TEST_MEMORY,	      /* no word with two wrong bits has been used */
	VM_SELFTESTS
};

const char *vm_selftest_name(enum vm_selftest test);

/* 0 or 1, failed, for each test; a failure is told as the lane's last refusal too. */
void vm_selftest_run(struct net_device *netdev, struct ethtool_test *test, u64 *results);

#endif
