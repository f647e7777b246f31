// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* devlink parameters of a card.
 *
 * average_packets: n of the weight 1/n of the averages of tc's queues. Linux derives a weight from
 * the burst of red, and does not tell it to drivers. At 1, the default, the average is the queue.
 */
#include <linux/rtnetlink.h>

#include "vm_devlink.h"

#define VM_AVERAGE_PACKETS_MAX 32768 /* the least weight is 2^-15 */

enum { VM_PARAM_AVERAGE_PACKETS = DEVLINK_PARAM_GENERIC_ID_MAX + 1 };

static int vm_param_get(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx)
{
	const struct vm_card *card = devlink_priv(devlink);

	ctx->val.vu32 = card->average_packets;
	return 0;
}

/* Programs the queues of tc again. A lane that does not take them is written again by the watch. */
static VM_DEVLINK_PARAM_SET(vm_param_set)
{
	struct vm_card *card = devlink_priv(devlink);
	u32 i;

	rtnl_lock();
	card->average_packets = ctx->val.vu32;
	for (i = 0; i < card->reprs && !vm_card_is_gone(card) && !vm_card_is_resetting(card); i++)
		vm_tc_restore(card->repr[i]);
	rtnl_unlock();
	return 0;
}

static int vm_param_validate(struct devlink *devlink, u32 id, union devlink_param_value value,
			     struct netlink_ext_ack *extack)
{
	if (value.vu32 >= 1 && value.vu32 <= VM_AVERAGE_PACKETS_MAX)
		return 0;
	NL_SET_ERR_MSG(extack, "average_packets: legal is 1 to 32768");
	return -EINVAL;
}

static const struct devlink_param vm_params[] = {
	DEVLINK_PARAM_DRIVER(VM_PARAM_AVERAGE_PACKETS, "average_packets", DEVLINK_PARAM_TYPE_U32,
			     BIT(DEVLINK_PARAM_CMODE_RUNTIME), vm_param_get, vm_param_set, vm_param_validate),
};

int vm_param_register(struct vm_card *card)
{
	return devlink_params_register(card->devlink, vm_params, ARRAY_SIZE(vm_params));
}

void vm_param_unregister(struct vm_card *card)
{
	devlink_params_unregister(card->devlink, vm_params, ARRAY_SIZE(vm_params));
}
