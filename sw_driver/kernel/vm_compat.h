/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Differences between the kernels that this driver supports, 6.1 to 6.12. No other file tests the
 * version.
 */
#ifndef VM_COMPAT_H
#define VM_COMPAT_H

#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/version.h>
#include <net/devlink.h>
#include <net/genetlink.h>

/* From 6.2 on the core takes a netdev's devlink port from a pointer, not from ndo_get_devlink_port,
 * and sets the port's type itself.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define VM_HAS_NDO_GET_DEVLINK_PORT 0
static inline void vm_set_devlink_port(struct net_device *netdev, struct devlink_port *port)
{
	SET_NETDEV_DEVLINK_PORT(netdev, port);
}

static inline void vm_devlink_port_is_up(struct devlink_port *port, struct net_device *netdev)
{
}

static inline void vm_devlink_port_is_down(struct devlink_port *port)
{
}
#else
#define VM_HAS_NDO_GET_DEVLINK_PORT 1
static inline void vm_set_devlink_port(struct net_device *netdev, struct devlink_port *port)
{
}

static inline void vm_devlink_port_is_up(struct devlink_port *port, struct net_device *netdev)
{
	devlink_port_type_eth_set(port, netdev);
}

static inline void vm_devlink_port_is_down(struct devlink_port *port)
{
	devlink_port_type_clear(port);
}
#endif

/* From 6.2 on the core reports the driver's name itself. */
static inline int vm_devlink_put_driver(struct devlink_info_req *request)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	return 0;
#else
	return devlink_info_driver_name_put(request, "vermilion");
#endif
}

/* Copies a sentence into the buffer that extack has from 6.2 on; false: it does not fit. */
static inline bool vm_extack_holds(struct netlink_ext_ack *extack, const char *text)
{
#ifdef NETLINK_MAX_FMTMSG_LEN
	if (strlen(text) < NETLINK_MAX_FMTMSG_LEN) {
		NL_SET_ERR_MSG_FMT(extack, "%s", text);
		return true;
	}
#endif
	return false;
}

/* From 6.11 on a parameter's set() has an extack. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define VM_DEVLINK_PARAM_SET(name)                                                                                     \
	int name(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx, struct netlink_ext_ack *extack)
#else
#define VM_DEVLINK_PARAM_SET(name) int name(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx)
#endif

/* Attributes of a generic netlink dump. */
static inline struct nlattr *const *vm_dump_attributes(struct netlink_callback *cb)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#endif
