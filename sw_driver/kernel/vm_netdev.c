// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The representor: the netdev by which tc, ethtool and devlink name an egress of a lane.
 *
 * It carries no packets and therefore is dormant; the lane's packets use its own streams. Packets
 * that the host sends to the netdev are dropped and counted. If the card is gone, the carrier is
 * off.
 */
#include <linux/etherdevice.h>

#include "vm_core.h"

static netdev_tx_t vm_netdev_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	dev_core_stats_tx_dropped_inc(netdev);
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

/* Keeps offload on while qdiscs or filters are offloaded: else the kernel does not report their removal. */
static int vm_netdev_set_features(struct net_device *netdev, netdev_features_t features)
{
	struct vm_repr *repr = netdev_priv(netdev);

	if (netdev->features & ~features & NETIF_F_HW_TC && vm_tc_active(repr)) {
		netdev_err(netdev, "hw-tc-offload stays on while qdiscs or filters are offloaded\n");
		return -EBUSY;
	}
	return 0;
}

#if VM_HAS_NDO_GET_DEVLINK_PORT
static struct devlink_port *vm_netdev_devlink_port(struct net_device *netdev)
{
	struct vm_repr *repr = netdev_priv(netdev);

	return &repr->devlink_port;
}
#endif

static int vm_netdev_open(struct net_device *netdev)
{
	return vm_app_route(netdev_priv(netdev), true);
}

static int vm_netdev_stop(struct net_device *netdev)
{
	vm_app_route(netdev_priv(netdev), false);
	return 0;
}

const struct net_device_ops vm_netdev_ops = {
	.ndo_open = vm_netdev_open,
	.ndo_stop = vm_netdev_stop,
	.ndo_start_xmit = vm_netdev_xmit,
	.ndo_set_features = vm_netdev_set_features,
	.ndo_setup_tc = vm_tc_setup,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_set_mac_address = eth_mac_addr,
#if VM_HAS_NDO_GET_DEVLINK_PORT
	.ndo_get_devlink_port = vm_netdev_devlink_port,
#endif
};

struct vm_repr *vm_repr_of(struct net_device *netdev)
{
	return netdev->netdev_ops == &vm_netdev_ops ? netdev_priv(netdev) : NULL;
}

struct vm_repr *vm_repr_get(struct net *net, int ifindex)
{
	struct net_device *netdev = dev_get_by_index(net, ifindex);
	struct vm_repr *repr = netdev ? vm_repr_of(netdev) : NULL;

	if (netdev && !repr)
		dev_put(netdev);
	return repr;
}

void vm_repr_put(struct vm_repr *repr)
{
	dev_put(repr->netdev);
}

struct vm_repr *vm_netdev_alloc(struct vm_card *card, struct vm_engine *engine)
{
	struct net_device *netdev = alloc_etherdev(sizeof(struct vm_repr));
	struct vm_repr *repr;

	if (!netdev)
		return NULL;
	repr = netdev_priv(netdev);
	repr->netdev = netdev;
	repr->card = card;
	repr->engine = engine;
	repr->index = card->reprs;
	SET_NETDEV_DEV(netdev, card->dev);
	netdev->netdev_ops = &vm_netdev_ops;
	netdev->ethtool_ops = &vm_ethtool_ops;
	vm_dcb_init(netdev);
	netdev->hw_features = NETIF_F_HW_TC;
	netdev->features = NETIF_F_HW_TC;
	eth_hw_addr_random(netdev);
	netif_carrier_off(netdev);
	netif_dormant_on(netdev); /* else IPv6 sends, and qdiscs count what no lane has seen */
	return repr;
}

void vm_netdev_free(struct vm_repr *repr)
{
	free_netdev(repr->netdev);
}

int vm_netdev_register(struct vm_repr *repr)
{
	struct devlink_port_attrs attrs = {
		.flavour = DEVLINK_PORT_FLAVOUR_PHYSICAL,
		.phys.port_number = repr->index,
	};
	int error;

	devlink_port_attrs_set(&repr->devlink_port, &attrs);
	error = devlink_port_register(repr->card->devlink, &repr->devlink_port, repr->index);
	if (error)
		return error;
	vm_set_devlink_port(repr->netdev, &repr->devlink_port);
	error = register_netdev(repr->netdev);
	if (error) {
		devlink_port_unregister(&repr->devlink_port);
		return error;
	}
	vm_devlink_port_is_up(&repr->devlink_port, repr->netdev);
	netif_carrier_on(repr->netdev);
	return 0;
}

void vm_netdev_unregister(struct vm_repr *repr)
{
	vm_devlink_port_is_down(&repr->devlink_port);
	unregister_netdev(repr->netdev);
	devlink_port_unregister(&repr->devlink_port);
}
