/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The driver's core: a card, its lanes, and the one way to change or read a lane.
 *
 *   vm_pci.c  \                       / vm_tc*.c      settings by stock tc
 *              > vm_card.c -> vm_repr.c  vm_netlink.c  settings that tc lacks
 *   vm_aux.c  /  finds lanes          \ vm_filter*.c    rules by tc filters
 *                                      \ vm_ethtool.c, vm_devlink.c, vm_debugfs.c
 *
 * A lane has one egress or several. The user configures each egress through its representor, a
 * netdev that tc, ethtool and devlink can name. It carries no packets of the host. All egresses of
 * a lane share its engine: registers, buffer, pool and seeds.
 *
 * Locks, outermost first: the devlink instance's lock, RTNL, vm_engine.lock. vm_engine.lock guards
 * the lane's registers (selection, shadow record and window are shared) and the software copies of
 * all its egresses. The functions of vm_repr*.c on an open egress take it, except those that end in
 * _locked. They may sleep, and do not take RTNL.
 *
 * Ownership (vm_owner): each queue, the class table and the port's shaper has one owner, tc or
 * netlink: the first to program it. The other gets -EBUSY and a sentence until the owner releases
 * it. In a queue this covers the AQM and the settings that tc can express: curves, limits, ECN, kind
 * and unit of the averages, scheduling and shaper (vm_queue_same_for_tc()). All other settings, such
 * as the idle packet, belong to netlink in every queue. They stay when tc changes or releases it. So
 * does the average's weight if netlink has set it; else the averages of tc's queues have vm_tc_weight().
 * A queue whose marker polices for tc filters has a third owner, with all its settings.
 */
#ifndef VM_CORE_H
#define VM_CORE_H

#include <linux/io.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/workqueue.h>
#include <net/devlink.h>

#include "vm_access.h"
#include "vm_compat.h"

#define VM_DRIVER "vermilion"
#define VM_DRIVER_VERSION "0.1.0"
#define VM_LANES_MAX 16
#define VM_REPRS_MAX 16 /* egresses of all lanes together */
#define VM_DSCPS 65	/* entry 64: frames without IP */
#define VM_WHY_CHARS 192

/* The owner of a queue, class table or port's shaper: the interface that programmed it first. */
enum vm_owner {
	VM_OWNER_NONE, /* as the driver left it: vm_queue_defaults() */
	VM_OWNER_TC,
	VM_OWNER_NETLINK,
	VM_OWNER_FILTER, /* of a queue whose marker polices for tc filters */
};

/**
 * struct vm_why - a refusal or a failure as one sentence, without its full stop
 * @text: empty if nothing was refused
 */
struct vm_why {
	char text[VM_WHY_CHARS];
};

/**
 * struct vm_pool - the pool of cells, in bytes
 * @size: the most that queued packets of all egresses may take together; 0: no pool
 * @reserve: always available to this egress
 * @cap: the most that this egress may take; 0: no cap
 */
struct vm_pool {
	u32 size, reserve, cap;
};

/* One line of the class table. */
struct vm_class {
	u16 queue;
	u8 colour;
};

/**
 * struct vm_queue_slot - the software copy of a queue, always equal to what the lane runs
 * @settings: the settings of the last commit
 * @owner: the queue's owner
 * @own_weight: netlink has set the average's weight; else a queue of tc has vm_tc_weight()
 */
struct vm_queue_slot {
	struct vm_queue settings;
	enum vm_owner owner;
	bool own_weight;
};

struct vm_card;
struct vm_devlink;
struct vm_repr;
struct vm_tc;
struct vm_rules;
struct vm_filters;
struct flow_block_offload;

/**
 * struct vm_engine - a lane: what all its egresses share
 * @index: number of the lane on its card
 * @egresses: number of entries in @egress
 * @egress: their representors
 * @lock: guards all that follows, the lane's registers, and the software copies of its egresses
 * @option: software copy of the TTL option's types, IPv4 and IPv6
 * @pool_bytes: size of the pool of cells; 0: none
 * @seeded: value of a register of the random sources; another value means that the lane was reset
 * @epoch: number of times that vm_repr_clear_statistics() or a reset has cleared the counters
 */
struct vm_engine {
	u32 index;
	u32 egresses;
	struct vm_repr *egress[VM_EGRESSES_MAX];

	struct mutex lock;
	u32 option[2];
	u32 pool_bytes;
	u32 seeded;
	u32 epoch;
};

/**
 * struct vm_repr - an egress of a lane and its representor; netdev_priv() of the netdev
 * @netdev: the representor
 * @card: the lane's card
 * @engine: the lane
 * @index: number of the representor on its card
 * @devlink_port: flavour physical, number @index
 * @way: the port and direction of a NIC that the egress serves
 * @way.port: the port; @way.to_host: towards its host, not the wire; @way.known: false on a card
 *	without an app block
 * @lane: register access to this egress. @lane.has describes the build: queues and victims of this
 *	egress, all else of the lane
 * @slots: one for each queue
 * @port: the port's shaper, rate 0 for none; @port.queues gives the shapers' least burst
 * @line_rate: bits per second that the build can send; the idle decay uses it without a shaper
 * @port_owner: the owner of @port
 * @reserve_bytes: bytes of the pool that are always available to this egress (several egresses)
 * @cap_bytes: the most that this egress may take of the pool; 0: no cap
 * @classes: software copy of the class table
 * @classes_owner: the owner of @classes
 * @departing: number of queues with averages that step on departures, too
 * @words: buffer for a conversion, as it is too large for the stack
 * @stale: a write and the write that should undo it have both failed: the lane may differ from the
 *	software copies
 * @tc: the tree of offloaded qdiscs, vm_tc.h
 * @rules: software copy of the lane's rules, vm_repr_rule.c; NULL: egress 0 has it, or no rules
 * @filters: the offloaded filters, vm_filter.h; NULL: this egress cannot have any
 * @refused: the last refusal or failure; its text is empty if there was none
 * @refused_count: number of refusals
 */
struct vm_repr {
	struct net_device *netdev;
	struct vm_card *card;
	struct vm_engine *engine;
	u32 index;
	struct devlink_port devlink_port;
	struct {
		u32 port;
		bool to_host, known;
	} way;

	struct vm_lane lane;
	struct vm_queue_slot *slots;
	struct vm_port port;
	u64 line_rate;
	enum vm_owner port_owner;
	u32 reserve_bytes, cap_bytes;
	struct vm_class classes[VM_DSCPS];
	enum vm_owner classes_owner;
	u32 departing;
	struct vm_queue_image words;
	bool stale;
	struct vm_tc *tc;
	struct vm_rules *rules;
	struct vm_filters *filters;
	struct vm_why refused;
	u32 refused_count;
};

/**
 * enum vm_card_flag - the state of a card
 * @VM_CARD_GONE: reads gave all ones: the driver accesses no register, all carriers are off. Stays
 *	set until the driver is unbound
 * @VM_CARD_RESETTING: requests get -EBUSY and access no register; vm_card_restore() ends it
 */
enum vm_card_flag { VM_CARD_GONE, VM_CARD_RESETTING };

/**
 * struct vm_card - a card that a front (PCI or auxiliary) has found; devlink_priv() of its instance
 * @dev: the device that the driver is bound to
 * @devlink: the instance; also devlink_to of @dev
 * @front: "pci" or "mqnic", for logs and devlink info
 * @registers: the blocks' address space
 * @bus: the library's access to it; @bus.bytes is its size
 * @app: the app block of the lanes, type 0 if there is none
 * @engines: number of entries in @engine
 * @engine: the lanes, in the order of the card's list of blocks
 * @reprs: number of entries in @repr
 * @repr: the egresses of the first lane, then those of the second, and so on
 * @flags: bits of enum vm_card_flag, set and read without a lock
 * @average_packets: n of the weight 1/n that the averages of tc's queues have
 * @about: what devlink shows beyond the card, vm_devlink.h
 * @watch: checks every two seconds whether the card answers and whether a lane was reset
 */
struct vm_card {
	struct device *dev;
	struct devlink *devlink;
	const char *front;
	void __iomem *registers;
	struct vm_bus bus;
	struct vm_block app;
	u32 engines;
	struct vm_engine engine[VM_LANES_MAX];
	u32 reprs;
	struct vm_repr *repr[VM_REPRS_MAX];
	unsigned long flags;
	u32 average_packets;
	struct vm_devlink *about;
	struct delayed_work watch;
	struct dentry *debugfs;
};

static inline bool vm_card_is_gone(const struct vm_card *card)
{
	return test_bit(VM_CARD_GONE, &card->flags);
}

static inline bool vm_card_is_resetting(const struct vm_card *card)
{
	return test_bit(VM_CARD_RESETTING, &card->flags);
}

/* vm_card.c: called by the fronts. */

/**
 * vm_card_alloc() - allocates a card and its devlink instance; finds no lanes yet
 * @dev: device that the driver is being bound to
 * @front: "pci" or "mqnic"
 * @registers: the blocks' address space, mapped by the front
 * @bytes: its size
 */
struct vm_card *vm_card_alloc(struct device *dev, const char *front, void __iomem *registers, u32 bytes);
/* Finds the lanes, sets defaults and registers all interfaces. Returns 0 or a logged errno. */
int vm_card_register(struct vm_card *card);
/* Removes all interfaces; the lanes keep their settings and continue to run. */
void vm_card_unregister(struct vm_card *card);
/* The counterpart of vm_card_alloc(). */
void vm_card_free(struct vm_card *card);
/* The card does not answer: sets carriers off and stops all accesses. From any context. */
void vm_card_gone(struct vm_card *card);
/* A reset of the card begins: after the return the driver accesses no register. */
void vm_card_pause(struct vm_card *card);
/* The reset is over: writes all software copies into the lanes again. */
void vm_card_restore(struct vm_card *card);
/* Calls both around a suspend, as the card may lose its state. Needs the card as driver data. */
extern const struct dev_pm_ops vm_card_power;

__printf(2, 3) void vm_why_set(struct vm_why *why, const char *format, ...);

/* vm_netdev.c */
extern const struct net_device_ops vm_netdev_ops;
struct vm_repr *vm_netdev_alloc(struct vm_card *card, struct vm_engine *engine);
int vm_netdev_register(struct vm_repr *repr);
void vm_netdev_unregister(struct vm_repr *repr);
void vm_netdev_free(struct vm_repr *repr);

/* vm_app.c: a NIC's app block. vm_app_check() finds each egress's way. The others need RTNL. */
int vm_app_check(struct vm_card *card);
int vm_app_route(struct vm_repr *repr, bool up);
void vm_app_restore(struct vm_card *card);

/* vm_tc.c */
int vm_tc_init(struct vm_repr *repr);
void vm_tc_exit(struct vm_repr *repr);
int vm_tc_setup(struct net_device *netdev, enum tc_setup_type type, void *type_data);
/* Programs the lane from the tree after a reset: qdiscs may have changed meanwhile. Needs RTNL. */
void vm_tc_restore(struct vm_repr *repr);
/* Linux tells drivers no weight, so all averages of tc's queues have this one. */
struct vm_number vm_tc_weight(const struct vm_repr *repr);
/* Whether any qdisc or filter is offloaded. */
bool vm_tc_active(struct vm_repr *repr);

/* vm_filter.c: tc filters. All need RTNL. */
int vm_filter_init(struct vm_repr *repr);
void vm_filter_exit(struct vm_repr *repr);
int vm_filter_setup_block(struct vm_repr *repr, struct flow_block_offload *block);
bool vm_filter_active(const struct vm_repr *repr);
/* Reads all counters after a reset, so that they are known to begin at 0. */
void vm_filter_restore(struct vm_repr *repr);

/* vm_debugfs.c */
void vm_debugfs_init(void);
void vm_debugfs_exit(void);
void vm_debugfs_card(struct vm_card *card);
void vm_debugfs_card_remove(struct vm_card *card);

/* vm_pci.c, vm_aux.c */
int vm_pci_init(void);
void vm_pci_exit(void);
int vm_aux_init(void);
void vm_aux_exit(void);

/* vm_netlink.c: generic netlink. vm_netlink_changed() reports a change; vm_engine.lock is held. */
int vm_netlink_init(void);
void vm_netlink_exit(void);
void vm_netlink_changed(struct vm_repr *repr, u32 queue);

/* vm_ethtool.c */
extern const struct ethtool_ops vm_ethtool_ops;
/* vm_dcb.c: what `dcb` asks a netdev for. */
void vm_dcb_init(struct net_device *netdev);

/* vm_devlink.c: call vm_devlink_register() after all lanes have started and before the netdevs are
 * registered. The health reporter reports from vm_devlink_start(), after devlink_register(), to
 * vm_devlink_stop(), before devlink_unregister(). vm_devlink_changed(), from any context: the card
 * is gone.
 */
extern const struct devlink_ops vm_devlink_ops;
int vm_devlink_register(struct vm_card *card);
void vm_devlink_unregister(struct vm_card *card);
void vm_devlink_start(struct vm_card *card);
void vm_devlink_stop(struct vm_card *card);
void vm_devlink_changed(struct vm_card *card);

#include "vm_repr.h"

#endif
