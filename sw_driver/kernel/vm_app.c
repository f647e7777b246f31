// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The block in front of the lanes of a Corundum NIC (docs/nic.md): frames of a port go through its lanes while those are up, and past
 * them else. A card of its own has no such block, and its lane has the frames always.
 */
#include <linux/rtnetlink.h>

#include "vm_app_regs.h"
#include "vm_core.h"

#define PORTS_MAX 8
#define APP_BYTES VM_APP_REG_PORT_ROUTE(PORTS_MAX)
#define THROUGH_LANE 1 /* of route.tx and route.rx */

static u32 app_read(const struct vm_card *card, u32 address)
{
	return card->bus.read(card->bus.context, card->app.offset + address);
}

/* Lanes are those of port 0, wire and host, then those of port 1, or without host lanes one a port. */
static u32 lanes_a_port(const struct vm_card *card)
{
	return VM_GET(VM_APP_REG_FEATURES_HOST_LANES, app_read(card, VM_APP_REG_FEATURES)) ? 2 : 1;
}

int vm_app_check(struct vm_card *card)
{
	if (!card->app.type)
		return 0;
	if (card->bus.bytes < APP_BYTES || card->app.offset > card->bus.bytes - APP_BYTES) {
		dev_err(card->dev, "the app block ends outside of the card's registers\n");
		return -ENODEV;
	}
	if (VM_GET(VM_APP_REG_VERSION_MAJOR, card->app.version) != VM_APP_REG_VERSION_MAJOR_RESET) {
		dev_err(card->dev,
			"the registers of the app block have another major version than this driver knows\n");
		return -EOPNOTSUPP;
	}
	if (card->lanes <= PORTS_MAX * lanes_a_port(card))
		return 0;
	dev_err(card->dev, "%u lanes are more than the app block has ports for\n", card->lanes);
	return -EOPNOTSUPP;
}

int vm_app_route(struct vm_repr *repr, bool up)
{
	struct vm_card *card = repr->card;
	u32 port, host, route, address;

	ASSERT_RTNL(); /* two lanes share a register */
	if (card->gone)
		return -ENODEV;
	if (!card->app.type)
		return 0;
	port = repr->index / lanes_a_port(card);
	host = repr->index % lanes_a_port(card);
	address = VM_APP_REG_PORT_ROUTE(port);
	route = app_read(card, address) & ~(host ? VM_APP_REG_PORT_ROUTE_RX_MASK : VM_APP_REG_PORT_ROUTE_TX_MASK);
	if (up && host)
		route |= VM_PUT(VM_APP_REG_PORT_ROUTE_RX, THROUGH_LANE);
	else if (up)
		route |= VM_PUT(VM_APP_REG_PORT_ROUTE_TX, THROUGH_LANE);
	card->bus.write(card->bus.context, card->app.offset + address, route);
	if (app_read(card, address) == route)
		return 0;
	netdev_err(repr->netdev, "the port's route register does not hold what was written\n");
	return -EIO;
}

void vm_app_restore(struct vm_card *card)
{
	u32 i;

	rtnl_lock();
	for (i = 0; i < card->lanes; i++)
		if (netif_running(card->lane[i]->netdev))
			vm_app_route(card->lane[i], true);
	rtnl_unlock();
}
