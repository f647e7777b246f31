// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* DCB (IEEE 802.1Q): which priority a DSCP has, and which band a priority has.
 *
 * The kernel keeps the entries of `dcb app`. Here they become the class table, if tc owns it. RTNL
 * guards them.
 *
 *   dscp-prio     the priority of a DSCP; the highest one, if it has several
 *   default-prio  the priority of frames without IP, and of DSCPs without an entry once any DSCP has one
 *   neither       DSCP / 8; frames without IP have 0
 */
#include <linux/rtnetlink.h>
#include <net/dcbnl.h>

#include "vm_tc.h"

#if IS_ENABLED(CONFIG_DCB)

#define PRIORITIES 8

/* The highest priority of a mask. */
static u32 vm_dcb_highest(u8 mask)
{
	return fls(mask) - 1;
}

void vm_dcb_priorities(const struct vm_repr *repr, u8 priority[VM_DSCPS])
{
	const u8 mask = dcb_ieee_getapp_default_prio_mask(repr->netdev);
	const u32 base = mask ? vm_dcb_highest(mask) : 0;
	struct dcb_ieee_app_dscp_map map;
	bool any = false;
	u32 i;

	dcb_ieee_getapp_dscp_prio_mask_map(repr->netdev, &map);
	for (i = 0; i < ARRAY_SIZE(map.map); i++)
		any |= map.map[i];
	for (i = 0; i < ARRAY_SIZE(map.map); i++) {
		if (map.map[i])
			priority[i] = vm_dcb_highest(map.map[i]);
		else
			priority[i] = any ? base : i >> LOWEST_DSCP_BITS;
	}
	priority[VM_DSCPS - 1] = base;
}

static int vm_dcb_refuse(struct vm_repr *repr, const struct dcb_app *app, const char *what)
{
	struct vm_why why;

	vm_why_set(&why, "dcb app: %s; selector is %u, protocol %u, priority %u", what, app->selector, app->protocol,
		   app->priority);
	vm_repr_refuse(repr, &why);
	return -EOPNOTSUPP;
}

static int vm_dcb_no(struct net_device *netdev, const char *what)
{
	struct vm_why why;

	vm_why_set(&why, "%s", what);
	vm_repr_refuse(netdev_priv(netdev), &why);
	return -EOPNOTSUPP;
}

/* Programs the class table from the kernel's entries, and the filters, whose queues may depend on it. */
static int vm_dcb_program(struct vm_repr *repr)
{
	struct vm_why why;
	const int error = vm_tc_program(repr, 0, 0, &why);

	if (error)
		vm_repr_refuse(repr, &why);
	return error;
}

static int vm_dcb_setapp(struct net_device *netdev, struct dcb_app *app)
{
	struct vm_repr *repr = netdev_priv(netdev);
	int error;

	ASSERT_RTNL();
	if (app->priority >= PRIORITIES)
		return vm_dcb_refuse(repr, app, "legal are priorities 0 to 7");
	if (app->selector == IEEE_8021QAZ_APP_SEL_ETHERTYPE && app->protocol)
		return vm_dcb_refuse(repr, app,
				     "a lane has no priority of an EtherType; legal are dscp-prio and default-prio");
	if (app->selector != IEEE_8021QAZ_APP_SEL_ETHERTYPE && app->selector != IEEE_8021QAZ_APP_SEL_DSCP)
		return vm_dcb_refuse(repr, app, "legal are dscp-prio and default-prio");
	if (app->selector == IEEE_8021QAZ_APP_SEL_DSCP && app->protocol >= VM_DSCPS - 1)
		return vm_dcb_refuse(repr, app, "legal are DSCPs 0 to 63");
	error = dcb_ieee_setapp(netdev, app);
	if (error)
		return error;
	error = vm_dcb_program(repr);
	if (error) {
		dcb_ieee_delapp(netdev, app);
		vm_dcb_program(repr);
	}
	return error;
}

static int vm_dcb_delapp(struct net_device *netdev, struct dcb_app *app)
{
	const int error = dcb_ieee_delapp(netdev, app);

	return error ? error : vm_dcb_program(netdev_priv(netdev));
}

/* What the scheduler does with each priority. Only tc sets it. */
static int vm_dcb_getets(struct net_device *netdev, struct ieee_ets *ets)
{
	struct vm_repr *repr = netdev_priv(netdev);
	const struct vm_tc_qdisc *scheduler = vm_tc_scheduler(repr);
	u32 i, bands = scheduler ? scheduler->queues : 1, rest = 100;
	u64 sum = 0;

	if (bands > IEEE_8021QAZ_MAX_TCS)
		return -EOPNOTSUPP;
	ets->willing = 0;
	ets->ets_cap = bands % IEEE_8021QAZ_MAX_TCS; /* 0: 8 */
	for (i = 0; scheduler && i < bands; i++)
		sum += scheduler->bands.quanta[i];
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		const u32 quantum = scheduler && i < bands ? scheduler->bands.quanta[i] : 0;

		/* Traffic class 7 is served first in DCB, and band 0 in tc: the numbers are those of tc. */
		ets->prio_tc[i] = scheduler ? scheduler->bands.priomap[i] : 0;
		ets->tc_tsa[i] = quantum ? IEEE_8021QAZ_TSA_ETS : IEEE_8021QAZ_TSA_STRICT;
		ets->tc_tx_bw[i] = sum ? div64_u64(100ULL * quantum, sum) : 0;
		rest -= ets->tc_tx_bw[i];
	}
	for (i = 0; sum && i < bands; i++) { /* the percentages add up to 100 */
		if (scheduler->bands.quanta[i]) {
			ets->tc_tx_bw[i] += rest;
			break;
		}
	}
	return 0;
}

static u8 vm_dcb_getdcbx(struct net_device *netdev)
{
	return DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
}

static u8 vm_dcb_setdcbx(struct net_device *netdev, u8 mode)
{
	return mode != (DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE);
}

/* Without these functions the kernel would ignore what it is asked for. */
static int vm_dcb_setets(struct net_device *netdev, struct ieee_ets *ets)
{
	return vm_dcb_no(netdev, "dcb ets: tc sets the scheduler, by prio or ets");
}

static int vm_dcb_setmaxrate(struct net_device *netdev, struct ieee_maxrate *maxrate)
{
	return vm_dcb_no(netdev, "dcb maxrate: tc sets rates, by tbf");
}

static int vm_dcb_setpfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	return vm_dcb_no(netdev, "dcb pfc: a lane has no priority flow control");
}

static int vm_dcb_setbuffer(struct net_device *netdev, struct dcbnl_buffer *buffer)
{
	return vm_dcb_no(netdev, "dcb buffer: devlink sb sets the buffer");
}

static const struct dcbnl_rtnl_ops vm_dcb_ops = {
	.ieee_getets = vm_dcb_getets,
	.ieee_setapp = vm_dcb_setapp,
	.ieee_delapp = vm_dcb_delapp,
	.getdcbx = vm_dcb_getdcbx,
	.setdcbx = vm_dcb_setdcbx,
	.ieee_setets = vm_dcb_setets,
	.ieee_setmaxrate = vm_dcb_setmaxrate,
	.ieee_setpfc = vm_dcb_setpfc,
	.dcbnl_setbuffer = vm_dcb_setbuffer,
};

void vm_dcb_init(struct net_device *netdev)
{
	netdev->dcbnl_ops = &vm_dcb_ops;
}

#else /* no CONFIG_DCB */

void vm_dcb_priorities(const struct vm_repr *repr, u8 priority[VM_DSCPS])
{
	u32 i;

	for (i = 0; i < VM_DSCPS; i++)
		priority[i] = i < VM_DSCPS - 1 ? i >> LOWEST_DSCP_BITS : 0;
}

void vm_dcb_init(struct net_device *netdev)
{
}

#endif
