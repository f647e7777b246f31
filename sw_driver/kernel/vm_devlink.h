/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* devlink: vm_devlink.c has info and resources, vm_devlink_sb.c the shared buffer, vm_devlink_param.c
 * the parameters, vm_health.c the health reporters.
 */
#ifndef VM_DEVLINK_H
#define VM_DEVLINK_H

#include "vm_core.h"

#define VM_RESOURCES 3 /* of a lane: queues, cells, flows */

/* Bytes in a queue as of the last snapshot, and the most since the last clear. */
struct vm_occupancy {
	u32 now, most;
};

/**
 * struct vm_devlink - data of a card that only devlink needs
 * @card: the card
 * @names: names of the resources; devlink keeps pointers to them
 * @occupancy: occupancy of each egress's queues, as of the last snapshot
 * @cells: cells of the pool that each egress holds, as of the last snapshot
 * @work: reports to the reporter, whose lock must not be taken where a card is found gone
 * @lock: guards @running
 * @running: devlink is registered and can take reports
 * @of_card: reporter `card`: whether the card answers
 * @told_gone: `card` has reported that the card is gone
 */
struct vm_devlink {
	struct vm_card *card;
	char names[VM_LANES_MAX][VM_RESOURCES][20];
	struct vm_occupancy *occupancy[VM_REPRS_MAX];
	struct vm_occupancy cells[VM_REPRS_MAX];
	struct work_struct work;
	spinlock_t lock;
	bool running;
	struct devlink_health_reporter *of_card;
	bool told_gone;
};

/* A card has one shared buffer; pools: vm_devlink_sb.c. A port is an egress of a lane, a traffic
 * class is a queue of the egress.
 */
int vm_sb_register(struct vm_card *card);
void vm_sb_unregister(struct vm_card *card);
int vm_sb_pool_get(struct devlink *devlink, unsigned int sb, u16 pool, struct devlink_sb_pool_info *info);
int vm_sb_pool_set(struct devlink *devlink, unsigned int sb, u16 pool, u32 size, enum devlink_sb_threshold_type type,
		   struct netlink_ext_ack *extack);
int vm_sb_port_pool_get(struct devlink_port *port, unsigned int sb, u16 pool, u32 *threshold);
int vm_sb_port_pool_set(struct devlink_port *port, unsigned int sb, u16 pool, u32 threshold,
			struct netlink_ext_ack *extack);
int vm_sb_tc_pool_bind_get(struct devlink_port *port, unsigned int sb, u16 tc, enum devlink_sb_pool_type type,
			   u16 *pool, u32 *threshold);
int vm_sb_tc_pool_bind_set(struct devlink_port *port, unsigned int sb, u16 tc, enum devlink_sb_pool_type type, u16 pool,
			   u32 threshold, struct netlink_ext_ack *extack);
int vm_sb_occ_snapshot(struct devlink *devlink, unsigned int sb);
int vm_sb_occ_port_pool_get(struct devlink_port *port, unsigned int sb, u16 pool, u32 *now, u32 *most);
int vm_sb_occ_tc_port_bind_get(struct devlink_port *port, unsigned int sb, u16 tc, enum devlink_sb_pool_type type,
			       u32 *now, u32 *most);

/* vm_devlink_param.c: the card's parameters. */
int vm_param_register(struct vm_card *card);
void vm_param_unregister(struct vm_card *card);

int vm_health_register(struct vm_card *card);
void vm_health_unregister(struct vm_card *card);

#endif
