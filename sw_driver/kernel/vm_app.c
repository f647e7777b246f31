// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The app block of a Corundum NIC (docs/nic.md). Frames of a port pass through its lanes while
 * their netdevs are up, and bypass them otherwise. A stand-alone card has no such block; there all
 * frames pass through the lane.
 */
#include <linux/rtnetlink.h>

#include "vm_app_regs.h"
#include "vm_core.h"

#define PORTS_MAX 8
#define APP_BYTES VM_APP_REG_PORT_ROUTE(PORTS_MAX)
#define ALL_ONES 0xFFFFFFFFu
#define WAYS_MINOR 1u  /* the minor version that has the register `ways` */
#define NOWHERE 0xFFu  /* in it: no lane */
#define THROUGH_LANE 1 /* of route.tx and route.rx */

/* 0, or -ENODEV if the card is gone. */
static int vm_app_read(struct vm_card *card, u32 address, u32 *value)
{
	*value = card->bus.read(card->bus.context, card->app.offset + address);
	if (*value != ALL_ONES ||
	    card->bus.read(card->bus.context, card->app.offset + VM_APP_REG_BLOCK_TYPE) == card->app.type)
		return 0;
	vm_card_gone(card);
	return -ENODEV;
}

static int vm_app_set_way(struct vm_card *card, u32 port, bool to_host, u32 lane, u32 egress)
{
	struct vm_repr *repr;

	if (lane == NOWHERE)
		return 0;
	repr = lane < card->engines && egress < card->engine[lane].egresses ? card->engine[lane].egress[egress] : NULL;
	if (!repr || repr->way.known) {
		dev_err(card->dev, "port %u: egress %u of lane %u %s\n", port, egress, lane,
			repr ? "serves another way" : "is not there");
		return -EOPNOTSUPP;
	}
	repr->way.port = port;
	repr->way.to_host = to_host;
	repr->way.known = true;
	return 0;
}

/* Finds the lanes and egresses of a port. Blocks before version 1.1 have no register `ways`. Their
 * lanes are in the order port 0 wire, port 0 host, port 1 wire and so on; without host lanes there
 * is one per port.
 */
static int vm_app_find_ways(struct vm_card *card, u32 port, bool host_lanes)
{
	u32 ways, a_port = host_lanes ? 2 : 1;
	int error = vm_app_read(card, VM_APP_REG_PORT_WAYS(port), &ways);

	if (error)
		return error;
	if (VM_GET(VM_APP_REG_VERSION_MINOR, card->app.version) < WAYS_MINOR)
		ways = VM_PUT(VM_APP_REG_PORT_WAYS_WIRE_LANE, a_port * port) |
		       VM_PUT(VM_APP_REG_PORT_WAYS_HOST_LANE, host_lanes ? a_port * port + 1 : NOWHERE);
	error = vm_app_set_way(card, port, false, VM_GET(VM_APP_REG_PORT_WAYS_WIRE_LANE, ways),
			       VM_GET(VM_APP_REG_PORT_WAYS_WIRE_EGRESS, ways));
	return error ? error
		     : vm_app_set_way(card, port, true, VM_GET(VM_APP_REG_PORT_WAYS_HOST_LANE, ways),
				      VM_GET(VM_APP_REG_PORT_WAYS_HOST_EGRESS, ways));
}

int vm_app_check(struct vm_card *card)
{
	u32 features, ports, i;
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
	error = vm_app_read(card, VM_APP_REG_FEATURES, &features);
	if (error)
		return error;
	error = vm_app_read(card, VM_APP_REG_PORTS, &ports);
	if (error)
		return error;
	if (!ports || ports > PORTS_MAX) {
		dev_err(card->dev, "ports of the app block is %u; legal is 1 to %u\n", ports, PORTS_MAX);
		return -EOPNOTSUPP;
	}
	for (i = 0; i < ports && !error; i++)
		error = vm_app_find_ways(card, i, features & VM_APP_REG_FEATURES_HOST_LANES_MASK);
	for (i = 0; i < card->reprs && !error; i++) {
		if (card->repr[i]->way.known)
			continue;
		dev_err(card->dev, "egress %u of lane %u serves no way of the app block's %u ports\n",
			card->repr[i]->lane.egress, card->repr[i]->engine->index, ports);
		return -EOPNOTSUPP;
	}
	return error;
}

int vm_app_route(struct vm_repr *repr, bool up)
{
	struct vm_card *card = repr->card;
	const bool host = repr->way.to_host;
	u32 route, held, address;
	int error;

	ASSERT_RTNL(); /* both ways of a port share a register */
	if (vm_card_is_gone(card))
		return -ENODEV;
	if (!card->app.type)
		return 0;
	if (vm_card_is_resetting(card)) /* vm_app_restore() follows */
		return -EBUSY;
	address = VM_APP_REG_PORT_ROUTE(repr->way.port);
	error = vm_app_read(card, address, &held);
	if (error)
		return error;
	route = held & ~(host ? VM_APP_REG_PORT_ROUTE_RX_MASK : VM_APP_REG_PORT_ROUTE_TX_MASK);
	if (up && host)
		route |= VM_PUT(VM_APP_REG_PORT_ROUTE_RX, THROUGH_LANE);
	else if (up)
		route |= VM_PUT(VM_APP_REG_PORT_ROUTE_TX, THROUGH_LANE);
	card->bus.write(card->bus.context, card->app.offset + address, route);
	error = vm_app_read(card, address, &held);
	if (error || held == route)
		return error;
	netdev_err(repr->netdev, "the port's route register does not hold what was written\n");
	return -EIO;
}

void vm_app_restore(struct vm_card *card)
{
	u32 i;

	for (i = 0; i < card->reprs; i++)
		vm_app_route(card->repr[i], netif_running(card->repr[i]->netdev));
}
