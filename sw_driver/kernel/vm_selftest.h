/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* `ethtool -t`: compares a lane's registers with the expected values. It does not change what the
 * lane does.
 */
#ifndef VM_SELFTEST_H
#define VM_SELFTEST_H

#include <linux/ethtool.h>

enum vm_selftest {
	VM_TEST_IDENTITY,     /* block type, version and capabilities read as at probe */
	VM_TEST_CONVERSION,   /* the conversion gives the known answers in this kernel */
	VM_TEST_SHADOW,	      /* the shadow record holds each queue's settings; no commit */
	VM_TEST_CLASSES,      /* the class table holds what is written, the present entries */
	VM_TEST_POOL,	      /* pool_size holds the size that was set */
	VM_TEST_CONSERVATION, /* per queue: enqueued <= sent + flushed + evicted + departure_dropped + backlog */
	VM_TEST_MEMORY,	      /* no word with two wrong bits has been used */
	VM_SELFTESTS
};

const char *vm_selftest_name(enum vm_selftest test);

/* Each result is 0, or 1 if the test has failed. A failure is also the lane's last refusal. */
void vm_selftest_run(struct net_device *netdev, struct ethtool_test *test, u64 *results);

#endif
