/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The driver's core: a card, its lanes, and the one way to change or read a lane.
 *
 *   vm_pci.c  \                       / vm_tc*.c      settings by stock tc
 *              > vm_card.c -> vm_repr.c  vm_netlink.c  settings that tc lacks
 *   vm_aux.c  /  finds lanes          \ vm_ethtool.c, vm_devlink.c, vm_debugfs.c
 *
 * A lane has one egress or several. Each egress is driven through its representor, a netdev that carries no packets of the host: it is
 * what tc, ethtool and devlink name. All egresses of a lane share its engine: registers, buffer, pool and seeds.
 *
 * Locks, outermost first: the devlink instance's lock, RTNL, vm_engine.lock, which guards the lane's registers (selection,
 * shadow record and window are shared) and the software copies of all its egresses. Every function below takes vm_engine.lock itself, but for those
 * that end in _locked. All may sleep; none takes RTNL.
 *
 * Who may change what (vm_owner): each queue, the class table and the port's shaper belong to whoever programs them first, until
 * he gives them back; the other one is refused with a sentence meanwhile. Of a queue that is so only what tc has words for:
 * curves, limits, ECN, kind and unit of the averages, scheduling and shaper (vm_queue_same_for_tc()). All the rest, such as the
 * average's weight, is netlink's in every queue, whoever owns it; tc's changes, and its going, leave that as it is.
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

/* The owner of a queue, the class table or the port's shaper: the interface that programmed it first. */
enum vm_owner {
	VM_OWNER_NONE, /* as the driver left it: vm_queue_defaults() */
	VM_OWNER_TC,
	VM_OWNER_NETLINK,
};

/**
 * struct vm_why - a refusal or a failure as one sentence, without its full stop
 * @text: empty where nothing was refused
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
 * @settings: as they were last committed
 * @owner: the queue's owner
 */
struct vm_queue_slot {
	struct vm_queue settings;
	enum vm_owner owner;
};

struct vm_card;
struct vm_devlink;
struct vm_repr;
struct vm_tc;

/**
 * struct vm_engine - a lane: what all its egresses share
 * @index: of the lane on its card
 * @egresses: how many of @egress there are
 * @egress: their representors
 * @lock: guards all that follows, the lane's registers, and the software copies of its egresses
 * @option: software copy of the TTL option's types, IPv4 and IPv6
 * @pool_bytes: size of the pool of cells; 0: none
 * @seeded: what a register of the random sources holds; another value means that the lane was reset
 * @epoch: how often the lane's counters began anew, by vm_repr_clear_statistics() or a reset
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
 * @index: of the representor on its card
 * @devlink_port: flavour physical, number @index
 * @way: the port and direction of a NIC that the egress serves
 * @way.port: the port; @way.to_host: towards its host, not the wire; @way.known: false on a card without an app block
 * @lane: register access to this egress, and in @lane.has what the build has: queues and victims of this egress, all else of the lane
 * @slots: one for each queue
 * @port: the port's shaper, rate 0 for none, and @port.queues for the shapers' least burst
 * @line_rate: bits per second that the build can send; the idle decay uses it if the port has no shaper
 * @port_owner: the owner of @port
 * @reserve_bytes: bytes of the pool that are always available to this egress; in lanes with several egresses
 * @cap_bytes: the most that it may take of the pool; 0: no cap
 * @classes: software copy of the class table
 * @classes_owner: the owner of @classes
 * @departing: queues whose averages step on departures, too
 * @words: room for a conversion, as it is too large for the stack
 * @stale: a write and the write that should undo it have both failed: the lane may differ from the software copies
 * @tc: the tree of offloaded qdiscs, vm_tc.h
 * @refused: the last refusal or failure; its text is empty where there was none
 * @refused_count: how many there were
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
	struct vm_why refused;
	u32 refused_count;
};

/**
 * struct vm_card - what a front (PCI or auxiliary) has found; devlink_priv() of its devlink instance
 * @dev: the device that the driver is bound to
 * @devlink: the instance; also devlink_to of @dev
 * @front: "pci" or "mqnic", for logs and devlink info
 * @registers: the blocks' address space
 * @bus: the library's access to it; @bus.bytes is its size
 * @app: the app block of the lanes, type 0 if there is none
 * @engines: how many of @engine there are
 * @engine: the lanes, in the order of the card's list of blocks
 * @reprs: how many of @repr there are
 * @repr: the egresses of the first lane, then those of the second, and so on
 * @gone: reads gave all ones: nothing is accessed any more, all carriers are off; never taken back while the driver is bound
 * @resetting: the same for as long as a reset takes; vm_card_restore() ends it
 * @about: what devlink shows beyond the card, vm_devlink.h
 * @watch: checks every two seconds whether the card still answers
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
	bool gone;
	bool resetting;
	struct vm_devlink *about;
	struct delayed_work watch;
	struct dentry *debugfs;
};

/* vm_card.c: called by the fronts. */

/**
 * vm_card_alloc() - a card with its devlink instance, nothing found yet
 * @dev: device that the driver is being bound to
 * @front: "pci" or "mqnic"
 * @registers: the blocks' address space, mapped by the front
 * @bytes: its size
 */
struct vm_card *vm_card_alloc(struct device *dev, const char *front, void __iomem *registers, u32 bytes);
/* Finds the lanes, gives every queue its defaults and registers all interfaces; 0 or an errno, logged with a sentence. */
int vm_card_register(struct vm_card *card);
/* Takes all interfaces away; the lanes go on as they are. Also the counterpart of vm_card_alloc(). */
void vm_card_unregister(struct vm_card *card);
void vm_card_free(struct vm_card *card);
/* The card does not answer: carriers off, and no access any more. From any context. */
void vm_card_gone(struct vm_card *card);
/* A reset of the card begins: after the return the driver accesses no register. */
void vm_card_pause(struct vm_card *card);
/* The reset is over: writes all software copies into the lanes again. */
void vm_card_restore(struct vm_card *card);
/* Both for a card that sleeps, as it may lose everything, too. For devices whose driver data is the card. */
extern const struct dev_pm_ops vm_card_power;

/* vm_repr.c, vm_repr_lane.c, vm_repr_pool.c: one egress of a lane. All give 0 or an errno; where @why is not NULL it then holds a sentence, else an empty one. */

/* Looks at the lane and refuses what this driver does not know; writes nothing. */
int vm_repr_open(struct vm_repr *repr, const struct vm_block *block, struct vm_why *why);
/* Initialises the egress: defaults in every queue, all packets to queue 0, no shaper; with egress 0 random seeds. */
int vm_repr_start(struct vm_repr *repr, struct vm_why *why);
void vm_repr_close(struct vm_repr *repr);
/* The software copies of port and queues into the lane, or all of them, or all and new seeds; vm_engine.lock held. They return an
 * enum vm_error.
 */
int vm_repr_write_queues_locked(struct vm_repr *repr);
int vm_repr_write_settings_locked(struct vm_repr *repr);
int vm_repr_write_all_locked(struct vm_repr *repr);
int vm_repr_write_seed_locked(struct vm_repr *repr, u64 seed);
/* Every two seconds: whether the card is there, and whether somebody has reset the lane; writes a stale lane's settings again. */
int vm_repr_watch(struct vm_repr *repr, bool *reset);

/* The egress that a netdev of this driver represents, or NULL. The caller holds RTNL or a reference. */
struct vm_repr *vm_repr_of(struct net_device *netdev);
/* The same by index, with a reference that vm_repr_put() gives back; the representor cannot go away before. */
struct vm_repr *vm_repr_get(struct net *net, int ifindex);
void vm_repr_put(struct vm_repr *repr);

/* Settings of a queue as they run, and the queue's owner. @owner may be NULL. */
int vm_repr_get_queue(struct vm_repr *repr, u32 queue, struct vm_queue *settings, enum vm_owner *owner,
		      struct vm_why *why);
/**
 * vm_repr_set_queue() - replaces all settings of a queue between two packets, or none
 * @repr: the lane
 * @queue: its queue
 * @settings: all of them; start from vm_repr_get_queue()
 * @by: the interface that asks, VM_OWNER_TC or VM_OWNER_NETLINK; he owns the queue from then on, but for netlink where what tc has words for
 *	stays as it was
 * @why: see above
 *
 * Checks (vm_queue_check()), converts, writes and reads back through the library. After an error the queue runs as before and
 * so does the software copy says.
 *
 * Return: -EINVAL illegal settings, -ENOENT no such queue, -EBUSY owned by the other side, -EOPNOTSUPP not in this build,
 * -ENODEV the card is gone, -EIO it does not do as it is told.
 */
int vm_repr_set_queue(struct vm_repr *repr, u32 queue, const struct vm_queue *settings, enum vm_owner by,
		      struct vm_why *why);
/* Gives the queue back: of what tc has words for, the defaults, owned by nobody; by netlink the rest gets its defaults too, in a
 * queue that tc owns the rest alone. By tc -EBUSY where it is netlink's.
 */
int vm_repr_reset_queue(struct vm_repr *repr, u32 queue, enum vm_owner by, struct vm_why *why);
/* What the conversion takes for the port: its shaper, or the line; and queues of all egresses, which one shaper serves in turn. */
struct vm_port vm_repr_port_locked(const struct vm_repr *repr);
/* Whether two settings differ only in what tc cannot set: weight and idle packet of the averages, steps on departures,
 * spacing, size weight, dynamic threshold, marker, remark, distances and victims.
 */
bool vm_queue_same_for_tc(const struct vm_queue *a, const struct vm_queue *b);
/* Copies the settings that tc can set. */
void vm_queue_copy_for_tc(struct vm_queue *to, const struct vm_queue *from);

/* All 65 entries of the class table; entries that do not change are not written. */
int vm_repr_set_classes(struct vm_repr *repr, const struct vm_class classes[VM_DSCPS], enum vm_owner by,
			struct vm_why *why);
/* All packets to queue 0, green; the class table has no owner then. -EBUSY if the other interface owns it. */
int vm_repr_reset_classes(struct vm_repr *repr, enum vm_owner by, struct vm_why *why);

/* The port's shaper; rate 0: none, and then owned by nobody; queues 0: all of the build. Rewrites every queue, as idle decay and
 * least bursts depend on it.
 */
int vm_repr_set_port(struct vm_repr *repr, const struct vm_port *port, enum vm_owner by, struct vm_why *why);

/* A snapshot of the queue, too large for the stack. */
int vm_repr_statistics(struct vm_repr *repr, u32 queue, struct vm_statistics *statistics, struct vm_why *why);
/* Frames that an input lost. */
int vm_repr_lost(struct vm_repr *repr, u32 input, struct vm_count *lost, struct vm_why *why);
int vm_repr_clear_statistics(struct vm_repr *repr, struct vm_why *why);
int vm_repr_seed(struct vm_repr *repr, u64 seed, struct vm_why *why);
int vm_repr_set_option(struct vm_repr *repr, u32 ip4, u32 ip6, struct vm_why *why);
/* What queued packets may take of the buffer, the sizes as struct vm_pool has them. The caller holds RTNL from vm_repr_get_pool() to
 * vm_repr_set_pool(), which takes all or nothing: -EINVAL where a size is less than a cell or more than the buffer, where the reserves of
 * all egresses are more than the pool, or a cap less than its reserve; -EOPNOTSUPP where the build has no pool, or one egress and so no
 * reserves. The check alone writes nothing.
 */
void vm_repr_get_pool(struct vm_repr *repr, struct vm_pool *pool);
int vm_repr_check_pool(struct vm_repr *repr, const struct vm_pool *pool, struct vm_why *why);
int vm_repr_set_pool(struct vm_repr *repr, const struct vm_pool *pool, struct vm_why *why);
/* Writes without a check; returns an enum vm_error. */
int vm_repr_write_pool_locked(struct vm_repr *repr, const struct vm_pool *pool);
/* Cells that the reserves of a lane's egresses take, but for one; NULL: of all. */
u32 vm_engine_reserves_locked(const struct vm_engine *engine, const struct vm_repr *but);
/* Discards the packets of a queue, or with NULL of all queues of the egress, whoever owns them; -EBUSY where more come than are
 * discarded, or others go first, -EOPNOTSUPP where the build has no flush.
 */
int vm_repr_flush(struct vm_repr *repr, const u32 *queue, struct vm_why *why);
/* The largest pool: bytes of the buffer's cells. */
static inline u32 vm_repr_pool_most(const struct vm_repr *repr)
{
	return repr->lane.has.cells * VM_CELL_BYTES;
}

/* For work on @repr->lane with the library that nothing may come between: locks the lane where its card is there, else -ENODEV or
 * -EBUSY; vm_repr_end() unlocks and makes an errno and a sentence of an enum vm_error.
 */
int vm_repr_begin(struct vm_repr *repr, struct vm_why *why);
int vm_repr_end(struct vm_repr *repr, int vm_error, struct vm_why *why);

/* Records a refusal as the last one of the egress and logs it. vm_engine.lock not held. */
void vm_repr_refuse(struct vm_repr *repr, const struct vm_why *why);
/* The last refusal, and how many there were. */
u32 vm_repr_refused(struct vm_repr *repr, struct vm_why *why);

__printf(2, 3) void vm_why_set(struct vm_why *why, const char *format, ...);

/* vm_netdev.c */
extern const struct net_device_ops vm_netdev_ops;
struct vm_repr *vm_netdev_alloc(struct vm_card *card, struct vm_engine *engine);
int vm_netdev_register(struct vm_repr *repr);
void vm_netdev_unregister(struct vm_repr *repr);
void vm_netdev_free(struct vm_repr *repr);

/* vm_app.c: the block in front of a NIC's lanes, where there is one. vm_app_check() finds each egress's way. vm_app_route() and vm_app_restore() under RTNL. */
int vm_app_check(struct vm_card *card);
int vm_app_route(struct vm_repr *repr, bool up);
void vm_app_restore(struct vm_card *card);

/* vm_tc.c */
int vm_tc_init(struct vm_repr *repr);
void vm_tc_exit(struct vm_repr *repr);
int vm_tc_setup(struct net_device *netdev, enum tc_setup_type type, void *type_data);
/* After a reset, in which the driver missed changes of the kernel's qdiscs: all of the lane as the tree has it. Under RTNL. */
void vm_tc_restore(struct vm_repr *repr);
/* Whether any qdisc is offloaded. */
bool vm_tc_active(struct vm_repr *repr);

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

/* vm_netlink.c: the generic netlink family. vm_netlink_changed(): somebody has changed the queue; under vm_engine.lock. */
int vm_netlink_init(void);
void vm_netlink_exit(void);
void vm_netlink_changed(struct vm_repr *repr, u32 queue);

/* vm_ethtool.c */
extern const struct ethtool_ops vm_ethtool_ops;

/* vm_devlink.c: vm_devlink_register() is called when all lanes stand and before netdevs do. vm_devlink_start() behind
 * devlink_register() and vm_devlink_stop() in front of devlink_unregister() say when the health reporters have somebody to tell;
 * vm_devlink_changed(), from anywhere: the card is gone, or something was refused.
 */
extern const struct devlink_ops vm_devlink_ops;
int vm_devlink_register(struct vm_card *card);
void vm_devlink_unregister(struct vm_card *card);
void vm_devlink_start(struct vm_card *card);
void vm_devlink_stop(struct vm_card *card);
void vm_devlink_changed(struct vm_card *card);

#endif
