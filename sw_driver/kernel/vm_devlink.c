// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "vm_core.h"

const struct devlink_ops vm_devlink_ops = {};

int vm_devlink_register(struct vm_card *card)
{
	return 0;
}

void vm_devlink_unregister(struct vm_card *card)
{
}

void vm_devlink_refused(struct vm_repr *repr, const struct vm_why *why)
{
}
