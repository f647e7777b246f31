// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Class table, port, statistics, random sources, single registers, watch and last refusal. */
#include "vm_core.h"
#include "vm_regs.h"

/* A register that holds a random number until the lane is reset. */
#define SEEDED VM_REG_MARK_SEED(3)

static int vm_repr_check_owner(enum vm_owner owner, enum vm_owner by, const char *what, struct vm_why *why)
{
	if (owner == VM_OWNER_NONE || owner == by)
		return 0;
	vm_why_set(why, "the %s was set through %s; it has to be reset there", what,
		   owner == VM_OWNER_TC ? "tc" : "netlink");
	return -EBUSY;
}

static int vm_repr_write_classes(struct vm_repr *repr, const struct vm_class *classes)
{
	int error = VM_OK;
	u32 i;

	for (i = 0; i < VM_DSCPS && !error; i++) {
		if (classes[i].queue == repr->classes[i].queue && classes[i].colour == repr->classes[i].colour)
			continue;
		error = vm_lane_write_class(&repr->lane, i, classes[i].queue, classes[i].colour);
		if (!error)
			repr->classes[i] = classes[i];
	}
	return error;
}

static int vm_repr_check_classes(const struct vm_repr *repr, const struct vm_class *classes, struct vm_why *why)
{
	u32 i;

	for (i = 0; i < VM_DSCPS; i++) {
		if (classes[i].queue >= repr->lane.has.queues) {
			vm_why_set(why, "class %u: queue is %u; legal is 0 to %u", i, classes[i].queue,
				   repr->lane.has.queues - 1);
			return -EINVAL;
		}
		if (classes[i].colour >= VM_COLOURS) {
			vm_why_set(why, "class %u: colour is %u; legal is 0 to 2", i, classes[i].colour);
			return -EINVAL;
		}
	}
	return 0;
}

static int vm_repr_change_classes(struct vm_repr *repr, const struct vm_class *classes, enum vm_owner by,
				  enum vm_owner owner, struct vm_why *why)
{
	struct vm_class *before;
	int error = vm_repr_begin(repr, why);

	if (error)
		return error;
	error = vm_repr_check_owner(repr->classes_owner, by, "class table", why);
	if (error) {
		mutex_unlock(&repr->engine->lock);
		return error;
	}
	before = kmemdup(repr->classes, sizeof(repr->classes), GFP_KERNEL);
	if (!before) {
		mutex_unlock(&repr->engine->lock);
		return -ENOMEM;
	}
	error = vm_repr_write_classes(repr, classes);
	if (!error)
		repr->classes_owner = owner;
	else if (error != VM_ERROR_GONE && vm_repr_write_classes(repr, before))
		repr->stale = true;
	kfree(before);
	return vm_repr_end(repr, error, why);
}

int vm_repr_set_classes(struct vm_repr *repr, const struct vm_class classes[VM_DSCPS], enum vm_owner by,
			struct vm_why *why)
{
	const int error = vm_repr_check_classes(repr, classes, why);

	return error ? error : vm_repr_change_classes(repr, classes, by, by, why);
}

int vm_repr_reset_classes(struct vm_repr *repr, enum vm_owner by, struct vm_why *why)
{
	static const struct vm_class none[VM_DSCPS];

	return vm_repr_change_classes(repr, none, by, VM_OWNER_NONE, why);
}

int vm_repr_set_port(struct vm_repr *repr, const struct vm_port *port, enum vm_owner by, struct vm_why *why)
{
	struct vm_port checked = *port;
	struct vm_refusal fault;
	struct vm_port before;
	int error;

	vm_why_set(why, "%s", "");
	if (!checked.queues)
		checked.queues = repr->lane.has.queues;
	before = checked;
	if (!before.rate)
		before.rate = repr->line_rate;
	if (!vm_port_check(&before, &fault)) {
		if (why)
			vm_refusal_text(&fault, why->text, sizeof(why->text));
		return -EINVAL;
	}
	error = vm_repr_begin(repr, why);
	if (error)
		return error;
	error = vm_repr_check_owner(repr->port_owner, by, "port's shaper", why);
	if (error) {
		mutex_unlock(&repr->engine->lock);
		return error;
	}
	before = repr->port;
	repr->port = checked;
	error = vm_repr_write_queues_locked(repr);
	if (!error) {
		repr->port_owner = checked.rate ? by : VM_OWNER_NONE;
	} else {
		repr->port = before;
		if (error != VM_ERROR_GONE && (vm_repr_write_queues_locked(repr) || error == VM_ERROR_TIMEOUT))
			repr->stale = true;
	}
	return vm_repr_end(repr, error, why);
}

int vm_repr_statistics(struct vm_repr *repr, u32 queue, struct vm_statistics *statistics, struct vm_why *why)
{
	const int error = vm_repr_begin(repr, why);

	return error ? error : vm_repr_end(repr, vm_lane_statistics(&repr->lane, queue, statistics), why);
}

int vm_repr_lost(struct vm_repr *repr, u32 input, struct vm_count *lost, struct vm_why *why)
{
	const int error = vm_repr_begin(repr, why);

	return error ? error : vm_repr_end(repr, vm_lane_lost(&repr->lane, input, lost), why);
}

int vm_repr_clear_statistics(struct vm_repr *repr, struct vm_why *why)
{
	int error = vm_repr_begin(repr, why);

	if (error)
		return error;
	error = vm_lane_clear_statistics(&repr->lane);
	if (!error)
		repr->engine->epoch++;
	return vm_repr_end(repr, error, why);
}

int vm_repr_write_seed_locked(struct vm_repr *repr, u64 seed)
{
	const int error = vm_lane_write_seed(&repr->lane, seed);

	return error ? error : vm_lane_read(&repr->lane, SEEDED, &repr->engine->seeded);
}

int vm_repr_seed(struct vm_repr *repr, u64 seed, struct vm_why *why)
{
	const int error = vm_repr_begin(repr, why);

	return error ? error : vm_repr_end(repr, vm_repr_write_seed_locked(repr, seed), why);
}

int vm_repr_set_option(struct vm_repr *repr, u32 ip4, u32 ip6, struct vm_why *why)
{
	int error = vm_repr_begin(repr, why);

	if (error)
		return error;
	error = vm_lane_write_option(&repr->lane, ip4, ip6);
	if (!error) {
		repr->engine->option[0] = ip4;
		repr->engine->option[1] = ip6;
	}
	return vm_repr_end(repr, error, why);
}

int vm_repr_watch(struct vm_repr *repr, bool *reset)
{
	struct vm_why why;
	bool stale = false;
	u32 seeded;
	int error;

	*reset = false;
	error = vm_repr_begin(repr, &why);
	if (error)
		return error;
	error = vm_lane_read(&repr->lane, SEEDED, &seeded);
	if (!error && seeded != repr->engine->seeded) {
		*reset = true;
	} else if (!error && repr->stale) {
		stale = true;
		error = vm_repr_write_settings_locked(repr);
	}
	error = vm_repr_end(repr, error, &why);
	if (stale && !error)
		netdev_warn(repr->netdev, "the lane had not done as it was told; all its settings are written again\n");
	return error;
}

void vm_repr_refuse(struct vm_repr *repr, const struct vm_why *why)
{
	mutex_lock(&repr->engine->lock);
	repr->refused = *why;
	repr->refused_count++;
	mutex_unlock(&repr->engine->lock);
	if (net_ratelimit())
		netdev_warn(repr->netdev, "%s\n", why->text);
}

u32 vm_repr_refused(struct vm_repr *repr, struct vm_why *why)
{
	u32 count;

	mutex_lock(&repr->engine->lock);
	*why = repr->refused;
	count = repr->refused_count;
	mutex_unlock(&repr->engine->lock);
	return count;
}
