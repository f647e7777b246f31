// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "vm_core.h"

int vm_tc_init(struct vm_repr *repr)
{
	return 0;
}

void vm_tc_exit(struct vm_repr *repr)
{
}

int vm_tc_setup(struct net_device *netdev, enum tc_setup_type type, void *type_data)
{
	return -EOPNOTSUPP;
}

bool vm_tc_active(struct vm_repr *repr)
{
	return false;
}
