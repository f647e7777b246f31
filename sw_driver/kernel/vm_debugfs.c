// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* /sys/kernel/debug/vermilion/DEVICE/laneN/, or laneN.egressE/ in a lane with several egresses:
 *
 *   refused   the number of refusals, and the last one
 *   owners    the owners of port, class table, queues and, if filters use them, rules
 */
#include <linux/debugfs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>

#include "vm_core.h"

static struct dentry *root;

static int vm_debugfs_refused_show(struct seq_file *out, void *unused)
{
	struct vm_why why;
	const u32 count = vm_repr_refused(out->private, &why);

	seq_printf(out, "%u %s\n", count, why.text);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vm_debugfs_refused);

static const char *const owners[] = {
	[VM_OWNER_NONE] = "nobody",
	[VM_OWNER_TC] = "tc",
	[VM_OWNER_NETLINK] = "netlink",
	[VM_OWNER_FILTER] = "filter",
};

/* One line each for the port, the class table, and each queue that has an owner. */
static int vm_debugfs_owners_show(struct seq_file *out, void *unused)
{
	struct vm_repr *repr = out->private;
	u32 queue;

	mutex_lock(&repr->engine->lock);
	seq_printf(out, "port %s\n", owners[repr->port_owner]);
	seq_printf(out, "classes %s\n", owners[repr->classes_owner]);
	for (queue = 0; queue < repr->lane.has.queues; queue++)
		if (repr->slots[queue].owner != VM_OWNER_NONE)
			seq_printf(out, "queue %u %s\n", queue, owners[repr->slots[queue].owner]);
	mutex_unlock(&repr->engine->lock);
	rtnl_lock();
	if (vm_filter_active(repr))
		seq_puts(out, "rules tc\n");
	rtnl_unlock();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vm_debugfs_owners);

void vm_debugfs_init(void)
{
	root = debugfs_create_dir(VM_DRIVER, NULL);
}

void vm_debugfs_exit(void)
{
	debugfs_remove(root);
}

void vm_debugfs_card(struct vm_card *card)
{
	char name[24];
	u32 i;

	card->debugfs = debugfs_create_dir(dev_name(card->dev), root);
	for (i = 0; i < card->reprs; i++) {
		struct vm_repr *repr = card->repr[i];
		struct dentry *folder;

		if (repr->engine->egresses == 1)
			scnprintf(name, sizeof(name), "lane%u", repr->engine->index);
		else
			scnprintf(name, sizeof(name), "lane%u.egress%u", repr->engine->index, repr->lane.egress);
		folder = debugfs_create_dir(name, card->debugfs);
		debugfs_create_file("refused", 0400, folder, repr, &vm_debugfs_refused_fops);
		debugfs_create_file("owners", 0400, folder, repr, &vm_debugfs_owners_fops);
	}
}

void vm_debugfs_card_remove(struct vm_card *card)
{
	debugfs_remove(card->debugfs);
	card->debugfs = NULL;
}
