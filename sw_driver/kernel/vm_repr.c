// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* A lane's queues: reads, replaces and resets their settings, and reports errors. */
#include <linux/random.h>
#include <linux/slab.h>

#include "vm_core.h"

void vm_why_set(struct vm_why *why, const char *format, ...)
{
	va_list list;

	if (!why)
		return;
	va_start(list, format);
	vscnprintf(why->text, sizeof(why->text), format, list);
	va_end(list);
}

static int vm_repr_errno_of(int error)
{
	switch (error) {
	case VM_OK:
		return 0;
	case VM_ERROR_GONE:
		return -ENODEV;
	case VM_ERROR_TIMEOUT:
		return -ETIMEDOUT;
	case VM_ERROR_QUEUE:
		return -ENOENT;
	case VM_ERROR_TYPE:
	case VM_ERROR_VERSION:
	case VM_ERROR_SHAPE:
	case VM_ERROR_VICTIMS:
	case VM_ERROR_CODEL:
	case VM_ERROR_PIE:
	case VM_ERROR_DUALPI2:
	case VM_ERROR_FQ:
	case VM_ERROR_POOL:
	case VM_ERROR_FLUSH:
	case VM_ERROR_PAUSE:
	case VM_ERROR_RULE:
		return -EOPNOTSUPP;
	case VM_ERROR_HELD:
	case VM_ERROR_FLUSHING:
		return -EBUSY;
	default:
		return -EIO;
	}
}

int vm_repr_begin(struct vm_repr *repr, struct vm_why *why)
{
	vm_why_set(why, "%s", "");
	mutex_lock(&repr->engine->lock);
	if (!vm_card_is_gone(repr->card) && !vm_card_is_resetting(repr->card))
		return 0;
	mutex_unlock(&repr->engine->lock);
	if (vm_card_is_gone(repr->card)) {
		vm_why_set(why, "%s", vm_error_text(VM_ERROR_GONE));
		return -ENODEV;
	}
	vm_why_set(why, "the card is being reset");
	return -EBUSY;
}

/* Writes the sentence of an error and returns its errno. Marks a card as gone if it is. */
static int vm_repr_explain(struct vm_repr *repr, int error, struct vm_why *why)
{
	if (error == VM_ERROR_GONE)
		vm_card_gone(repr->card);
	if (error == VM_ERROR_READBACK)
		vm_why_set(why, "%s (lane %u, 0x%04x)", vm_error_text(error), repr->engine->index, repr->lane.at);
	else if (error)
		vm_why_set(why, "%s", vm_error_text(error));
	return vm_repr_errno_of(error);
}

int vm_repr_end(struct vm_repr *repr, int vm_error, struct vm_why *why)
{
	const int error = vm_repr_explain(repr, vm_error, why);

	mutex_unlock(&repr->engine->lock);
	return error;
}

struct vm_port vm_repr_port_locked(const struct vm_repr *repr)
{
	struct vm_port port = repr->port;

	port.queues *= repr->engine->egresses;
	if (!port.rate)
		port.rate = repr->line_rate;
	return port;
}

/* Writes the shaper itself: its rate stays 0 if there is none. */
static int vm_repr_write_port(struct vm_repr *repr)
{
	struct vm_port port = vm_repr_port_locked(repr);

	port.rate = repr->port.rate;
	return vm_lane_write_port(&repr->lane, &port);
}

static int vm_repr_write_queue(struct vm_repr *repr, u32 queue, const struct vm_queue *settings)
{
	const struct vm_port port = vm_repr_port_locked(repr);

	vm_queue_convert(settings, &port, &repr->words);
	return vm_lane_write_queue(&repr->lane, queue, &repr->words);
}

/* Writes the old settings again. A commit that timed out may still happen; the write waits for it.
 * After a timeout, or if the write fails, the watch writes all settings again.
 */
static void vm_repr_roll_back(struct vm_repr *repr, u32 queue, int error)
{
	if (error == VM_ERROR_GONE || error == VM_ERROR_VICTIMS || error == VM_ERROR_POOL || error == VM_ERROR_CODEL ||
	    error == VM_ERROR_PIE || error == VM_ERROR_DUALPI2 || error == VM_ERROR_FQ)
		return;
	if (vm_repr_write_queue(repr, queue, &repr->slots[queue].settings) || error == VM_ERROR_TIMEOUT)
		repr->stale = true;
}

/* Averages step on departures if some queue asks for it. The switch goes on before the first such
 * queue is written, and off after the last one.
 */
static int vm_repr_replace_queue(struct vm_repr *repr, u32 queue, const struct vm_queue *settings, enum vm_owner owner)
{
	struct vm_queue_slot *slot = &repr->slots[queue];
	const u32 departing = repr->departing - slot->settings.average.update + settings->average.update;
	int error = VM_OK;

	if (departing && !repr->departing)
		error = vm_lane_write_switches(&repr->lane, true);
	if (!error)
		error = vm_repr_write_queue(repr, queue, settings);
	if (error) {
		vm_repr_roll_back(repr, queue, error);
		if (departing && !repr->departing && vm_lane_write_switches(&repr->lane, false))
			repr->stale = true;
		return error;
	}
	slot->settings = *settings;
	slot->owner = owner;
	if (!departing && repr->departing && vm_lane_write_switches(&repr->lane, false))
		repr->stale = true; /* no error: the queue runs as requested, no queue steps */
	repr->departing = departing;
	vm_netlink_changed(repr, queue);
	return VM_OK;
}

static int vm_repr_end_refused(struct vm_repr *repr, int error)
{
	mutex_unlock(&repr->engine->lock);
	return error;
}

static int vm_repr_no_queue(struct vm_repr *repr, u32 queue, struct vm_why *why)
{
	vm_why_set(why, "queue is %u; legal is 0 to %u", queue, repr->lane.has.queues - 1);
	return -ENOENT;
}

int vm_repr_get_queue(struct vm_repr *repr, u32 queue, struct vm_queue *settings, enum vm_owner *owner,
		      struct vm_why *why)
{
	vm_why_set(why, "%s", "");
	if (queue >= repr->lane.has.queues)
		return vm_repr_no_queue(repr, queue, why);
	mutex_lock(&repr->engine->lock); /* the software copy exists even if the card is gone */
	*settings = repr->slots[queue].settings;
	if (owner)
		*owner = repr->slots[queue].owner;
	mutex_unlock(&repr->engine->lock);
	return 0;
}

/* A queue whose marker polices for filters is theirs alone, with all settings. */
static bool vm_repr_is_police(const struct vm_queue_slot *slot, u32 queue, enum vm_owner by, struct vm_why *why)
{
	if (slot->owner != VM_OWNER_FILTER || by == VM_OWNER_FILTER)
		return false;
	vm_why_set(why, "queue %u has the marker of a police; it is free when the tc filter is gone", queue);
	return true;
}

/* Determines the queue's owner after the change; -EBUSY if the other owner forbids the change. */
static int vm_repr_new_owner(const struct vm_queue_slot *slot, u32 queue, const struct vm_queue *settings,
			     enum vm_owner by, enum vm_owner *owner, struct vm_why *why)
{
	*owner = by;
	if (vm_repr_is_police(slot, queue, by, why))
		return -EBUSY;
	if (by == VM_OWNER_TC && slot->owner == VM_OWNER_NETLINK) {
		vm_why_set(why, "queue %u was set through netlink; it has to be reset there before tc may have it",
			   queue);
		return -EBUSY;
	}
	if (by != VM_OWNER_NETLINK || slot->owner == VM_OWNER_NETLINK)
		return 0;
	if (vm_queue_same_for_tc(settings, &slot->settings)) {
		*owner = slot->owner;
		return 0;
	}
	if (slot->owner == VM_OWNER_TC) {
		vm_why_set(why, "queue %u is offloaded by tc; curves, limits, ECN, scheduling and rate are set there",
			   queue);
		return -EBUSY;
	}
	return 0;
}

int vm_repr_set_queue(struct vm_repr *repr, u32 queue, const struct vm_queue *settings, enum vm_owner by,
		      struct vm_why *why)
{
	struct vm_queue_slot *slot;
	struct vm_refusal fault;
	enum vm_owner owner;
	struct vm_port port;
	bool own_weight;
	int error;

	vm_why_set(why, "%s", "");
	if (queue >= repr->lane.has.queues)
		return vm_repr_no_queue(repr, queue, why);
	error = vm_repr_begin(repr, why);
	if (error)
		return error;
	slot = &repr->slots[queue];
	error = vm_repr_new_owner(slot, queue, settings, by, &owner,
				  why); /* first: tc's tree may not fit into netlink's queue */
	if (error)
		return vm_repr_end_refused(repr, error);
	port = vm_repr_port_locked(repr);
	if (!vm_queue_check(settings, &port, &fault)) {
		if (why)
			vm_refusal_text(&fault, why->text, sizeof(why->text));
		return vm_repr_end_refused(repr, -EINVAL);
	}
	own_weight = slot->own_weight || (by == VM_OWNER_NETLINK && !vm_queue_same_weight(settings, &slot->settings));
	error = vm_repr_replace_queue(repr, queue, settings, owner);
	if (!error)
		slot->own_weight = own_weight;
	return vm_repr_end(repr, error, why);
}

/* After a reset by one interface, settings that stay may need others that are gone: for example, a
 * window of victims needs a limit. Then the window is removed. If the rest is still not legal, all
 * settings get their defaults.
 */
static void vm_repr_make_legal(struct vm_repr *repr, u32 queue, struct vm_queue *settings)
{
	const struct vm_port port = vm_repr_port_locked(repr);
	struct vm_refusal fault;
	char text[96];

	if (vm_queue_check(settings, &port, &fault))
		return;
	vm_refusal_text(&fault, text, sizeof(text));
	settings->victim_window = 0;
	if (!vm_queue_check(settings, &port, &fault))
		vm_queue_defaults(settings);
	if (net_ratelimit())
		netdev_notice(repr->netdev, "queue %u: %s; it is given up with the rest\n", queue, text);
}

int vm_repr_reset_queue(struct vm_repr *repr, u32 queue, enum vm_owner by, struct vm_why *why)
{
	struct vm_queue settings, defaults;
	struct vm_queue_slot *slot;
	enum vm_owner owner;
	bool own_weight;
	int error;

	vm_why_set(why, "%s", "");
	if (queue >= repr->lane.has.queues)
		return vm_repr_no_queue(repr, queue, why);
	error = vm_repr_begin(repr, why);
	if (error)
		return error;
	slot = &repr->slots[queue];
	vm_queue_defaults(&defaults);
	settings = by == VM_OWNER_TC ? slot->settings : defaults;
	if (vm_repr_is_police(slot, queue, by, why))
		return vm_repr_end_refused(repr, -EBUSY);
	if (by == VM_OWNER_TC && slot->owner == VM_OWNER_NETLINK) {
		vm_why_set(why, "queue %u was set through netlink; it has to be reset there", queue);
		return vm_repr_end_refused(repr, -EBUSY);
	}
	own_weight = by == VM_OWNER_TC && slot->own_weight;
	if (by == VM_OWNER_NETLINK && slot->owner == VM_OWNER_TC) {
		vm_queue_copy_for_tc(&settings, &slot->settings);
		settings.average.weight = vm_tc_weight(repr);
	} else {
		vm_queue_copy_for_tc(&settings, &defaults);
		if (!own_weight)
			settings.average.weight = defaults.average.weight;
	}
	vm_repr_make_legal(repr, queue, &settings);
	owner = slot->owner == by ? VM_OWNER_NONE : slot->owner;
	error = vm_repr_replace_queue(repr, queue, &settings, owner);
	if (!error)
		slot->own_weight = own_weight;
	return vm_repr_end(repr, error, why);
}

/* The Ethernet rate next below what a build with this data width moves at 250 MHz. */
static u64 vm_repr_line_rate_of(u32 data_bits)
{
	if (data_bits < 128)
		return 10000000000ull;
	if (data_bits < 256)
		return 25000000000ull;
	return data_bits < 512 ? 50000000000ull : 100000000000ull;
}

int vm_repr_write_queues_locked(struct vm_repr *repr)
{
	int error = vm_repr_write_port(repr);
	u32 i;

	for (i = 0; i < repr->lane.has.queues && !error; i++)
		error = vm_repr_write_queue(repr, i, &repr->slots[i].settings);
	return error;
}

int vm_repr_write_settings_locked(struct vm_repr *repr)
{
	const struct vm_pool pool = { repr->engine->pool_bytes, repr->reserve_bytes, repr->cap_bytes };
	int error = vm_lane_write_switches(&repr->lane, repr->departing);
	u32 i;

	if (!error)
		error = vm_lane_write_option(&repr->lane, repr->engine->option[0], repr->engine->option[1]);
	if (!error)
		error = vm_repr_write_pool_locked(repr, &pool);
	if (!error)
		error = vm_repr_write_queues_locked(repr);
	for (i = 0; i < VM_DSCPS && !error; i++)
		error = vm_lane_write_class(&repr->lane, i, repr->classes[i].queue, repr->classes[i].colour);
	if (!error)
		error = vm_repr_write_rules_locked(repr);
	repr->stale = error != VM_OK;
	return error;
}

/* Seeds belong to the lane, and seeding empties its flow table. So only egress 0 seeds. */
int vm_repr_write_all_locked(struct vm_repr *repr)
{
	const int error = vm_repr_write_settings_locked(repr);

	return error || repr->lane.egress ? error : vm_repr_write_seed_locked(repr, get_random_u64());
}

int vm_repr_open(struct vm_repr *repr, const struct vm_block *block, struct vm_why *why)
{
	int error = vm_lane_open(&repr->lane, &repr->card->bus, block, repr->engine->egresses);
	struct vm_refusal fault;
	u32 i;

	if (error == VM_ERROR_SHAPE && !vm_shape_check(&repr->lane.has, &fault)) {
		vm_refusal_text(&fault, why->text, sizeof(why->text));
		return -EOPNOTSUPP;
	}
	if (error)
		return vm_repr_explain(repr, error, why);
	repr->slots = kvcalloc(repr->lane.has.queues, sizeof(*repr->slots), GFP_KERNEL);
	if (!repr->slots)
		return -ENOMEM;
	for (i = 0; i < repr->lane.has.queues; i++)
		vm_queue_defaults(&repr->slots[i].settings);
	repr->line_rate = vm_repr_line_rate_of(repr->lane.has.data_bits);
	repr->port.queues = repr->lane.has.queues;
	return vm_repr_open_rules(repr);
}

int vm_repr_start(struct vm_repr *repr, struct vm_why *why)
{
	const int error = vm_repr_begin(repr, why);

	return error ? error : vm_repr_end(repr, vm_repr_write_all_locked(repr), why);
}

void vm_repr_close(struct vm_repr *repr)
{
	kvfree(repr->slots);
	vm_repr_close_rules(repr);
}
