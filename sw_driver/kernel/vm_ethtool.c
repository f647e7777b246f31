// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include <linux/ethtool.h>

#include "vm_core.h"

const struct ethtool_ops vm_ethtool_ops = {
	.get_link = ethtool_op_get_link,
};
