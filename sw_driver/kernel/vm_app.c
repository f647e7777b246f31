// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The block in front of the lanes of a Corundum NIC (docs/nic.md): frames of a port go through its lanes while those are up, and past
 * them else. A card of its own has no such block, and its lane has the frames always.
 */
#include <linux/rtnetlink.h>

#include "vm_app_regs.h"
#include "vm_core.h"

#define PORTS_MAX 8
#define APP_BYTES VM_APP_REG_PORT_ROUTE(PORTS_MAX)
#define ALL_ONES 0xFFFFFFFFu
#define THROUGH_LANE 1 /* of route.tx and route.rx */

/* 0, or -ENODEV where the card is gone. */
static int app_read(struct vm_card *card, u32 address, u32 *value)
{
	*value = card->bus.read(card->bus.context, card->app.offset + address);
	if (*value != ALL_ONES ||
	    card->bus.read(card->bus.context, card->app.offset + VM_APP_REG_BLOCK_TYPE) == card->app.type)
		return 0;
	vm_card_gone(card);
	return -ENODEV;
}

int vm_app_check(struct vm_card *card)
{
	u32 features;
	int error;

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
	error = app_read(card, VM_APP_REG_FEATURES, &features);
	if (error)
		return error;
	/* Lanes are those of port 0, wire and host, then those of port 1, or without host lanes one a port. */
	card->lanes_a_port = VM_GET(VM_APP_REG_FEATURES_HOST_LANES, features) ? 2 : 1;
	if (card->lanes <= PORTS_MAX * card->lanes_a_port)
		return 0;
	dev_err(card->dev, "%u lanes are more than the app block has ports for\n", card->lanes);
	return -EOPNOTSUPP;
}

int vm_app_route(struct vm_repr *repr, bool up)
{
	struct vm_card *card = repr->card;
	u32 host, route, held, address;
	int error;

	ASSERT_RTNL(); /* two lanes share a register */
	if (card->gone)
		return -ENODEV;
	if (!card->app.type)
		return 0;
	if (card->resetting) /* vm_app_restore() comes */
		return -EBUSY;
	host = repr->index % card->lanes_a_port;
	address = VM_APP_REG_PORT_ROUTE(repr->index / card->lanes_a_port);
	error = app_read(card, address, &held);
	if (error)
		return error;
	route = held & ~(host ? VM_APP_REG_PORT_ROUTE_RX_MASK : VM_APP_REG_PORT_ROUTE_TX_MASK);
	if (up && host)
		route |= VM_PUT(VM_APP_REG_PORT_ROUTE_RX, THROUGH_LANE);
	else if (up)
		route |= VM_PUT(VM_APP_REG_PORT_ROUTE_TX, THROUGH_LANE);
	card->bus.write(card->bus.context, card->app.offset + address, route);
	error = app_read(card, address, &held);
	if (error || held == route)
		return error;
	netdev_err(repr->netdev, "the port's route register does not hold what was written\n");
	return -EIO;
}

void vm_app_restore(struct vm_card *card)
{
	u32 i;

	for (i = 0; i < card->lanes; i++)
		vm_app_route(card->lane[i], netif_running(card->lane[i]->netdev));
}
