// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "vm_core.h"

int vm_netlink_init(void)
{
	return 0;
}

void vm_netlink_exit(void)
{
}

void vm_netlink_changed(struct vm_repr *repr, u32 queue)
{
}
