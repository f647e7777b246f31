// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The lane's table of rules: its software copy, changes, counters. docs/rules.md says what rules do.
 *
 * All egresses of a lane share the table, so egress 0 keeps the copy. Only tc filters write rules.
 */
#include <linux/slab.h>

#include "vm_core.h"

/**
 * struct vm_rules - the software copy of the table
 * @ranges: the ranges of ports that the rules use
 * @image: one for each rule; a rule that is off has an action of 0
 */
struct vm_rules {
	struct vm_port_ranges ranges;
	struct vm_rule_image image[];
};

int vm_repr_open_rules(struct vm_repr *repr)
{
	if (!repr->lane.has.rules || repr->lane.egress)
		return 0;
	repr->rules = kvzalloc(struct_size(repr->rules, image, repr->lane.has.rules), GFP_KERNEL);
	if (!repr->rules)
		return -ENOMEM;
	vm_port_ranges_clear(&repr->rules->ranges);
	return 0;
}

static int vm_repr_write_rule(struct vm_repr *repr, u32 number, const struct vm_rule_image *image)
{
	return vm_lane_write_rule(&repr->lane, number, image->action ? image : NULL);
}

int vm_repr_write_rules_locked(struct vm_repr *repr)
{
	int error;
	u32 i;

	if (!repr->rules)
		return VM_OK;
	error = vm_lane_begin_rules(&repr->lane);
	for (i = 0; i < repr->lane.has.rules && !error; i++)
		error = vm_repr_write_rule(repr, i, &repr->rules->image[i]);
	if (!error)
		error = vm_lane_write_port_ranges(&repr->lane, &repr->rules->ranges);
	return error ? error : vm_lane_commit_rules(&repr->lane);
}

/* Writes what differs from the software copy. */
static int vm_repr_change_rules(struct vm_repr *repr, const struct vm_rule_image *image,
				const struct vm_port_ranges *ranges)
{
	int error = vm_lane_begin_rules(&repr->lane);
	u32 i;

	for (i = 0; i < repr->lane.has.rules && !error; i++)
		if (memcmp(&image[i], &repr->rules->image[i], sizeof(*image)))
			error = vm_repr_write_rule(repr, i, &image[i]);
	if (!error && memcmp(ranges, &repr->rules->ranges, sizeof(*ranges)))
		error = vm_lane_write_port_ranges(&repr->lane, ranges);
	return error ? error : vm_lane_commit_rules(&repr->lane);
}

int vm_repr_set_rules(struct vm_repr *repr, const struct vm_rule_image *image, const struct vm_port_ranges *ranges,
		      struct vm_why *why)
{
	const size_t bytes = repr->lane.has.rules * sizeof(*image);
	int error;

	vm_why_set(why, "%s", "");
	if (!memcmp(image, repr->rules->image, bytes) && !memcmp(ranges, &repr->rules->ranges, sizeof(*ranges)))
		return 0;
	error = vm_repr_begin(repr, why);
	if (error)
		return error;
	error = vm_repr_change_rules(repr, image, ranges);
	if (!error) {
		memcpy(repr->rules->image, image, bytes);
		repr->rules->ranges = *ranges;
	} else if (error != VM_ERROR_GONE && (vm_repr_write_rules_locked(repr) || error == VM_ERROR_TIMEOUT)) {
		repr->stale = true;
	}
	return vm_repr_end(repr, error, why);
}

int vm_repr_rule_count(struct vm_repr *repr, u32 number, struct vm_count *count, struct vm_why *why)
{
	const int error = vm_repr_begin(repr, why);

	return error ? error : vm_repr_end(repr, vm_lane_rule_count(&repr->lane, number, count), why);
}

void vm_repr_close_rules(struct vm_repr *repr)
{
	kvfree(repr->rules);
}
