// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Rules: writes them into the lane and reads their counters. Registers: docs/registers.md, "rule_...".
 *
 * While a lane computes the tables of a commit, some 177 cycles for each rule, it ignores writes to
 * these registers and sets bad_rule.
 */
#include "vm_access.h"
#include "vm_regs.h"

static int settle(struct vm_lane *lane, u32 *status)
{
	if (!lane->has.rules)
		return VM_ERROR_RULE;
	return vm_lane_wait(lane, VM_REG_STATUS_RULES_PENDING_MASK, status);
}

static int select_rule(struct vm_lane *lane, u32 number)
{
	return number < lane->has.rules ? vm_lane_write_sure(lane, VM_REG_RULE_SELECT, number) : VM_ERROR_RULE;
}

int vm_lane_begin_rules(struct vm_lane *lane)
{
	u32 status;
	const int error = settle(lane, &status);

	if (!error)
		vm_lane_write(lane, VM_REG_STATUS, VM_REG_STATUS_BAD_RULE_MASK);
	return error;
}

int vm_lane_write_rule(struct vm_lane *lane, u32 number, const struct vm_rule_image *image)
{
	int error = select_rule(lane, number);
	u32 i;

	if (error)
		return error;
	if (!image)
		return vm_lane_write_sure(lane, VM_REG_RULE_ACTION, 0);
	for (i = 0; i < VM_RULE_WORDS && !error; i++) {
		error = vm_lane_write_sure(lane, VM_REG_RULE_VALUE(i), image->value[i]);
		if (!error)
			error = vm_lane_write_sure(lane, VM_REG_RULE_MASK(i), image->mask[i]);
	}
	if (!error)
		error = vm_lane_write_sure(lane, VM_REG_RULE_MARKER, image->marker);
	return error ? error : vm_lane_write_sure(lane, VM_REG_RULE_ACTION, image->action);
}

int vm_lane_write_port_ranges(struct vm_lane *lane, const struct vm_port_ranges *ranges)
{
	int error = lane->has.rules ? VM_OK : VM_ERROR_RULE;
	u32 i;

	for (i = 0; i < VM_PORT_RANGES_ALL && !error; i++)
		error = vm_lane_write_sure(lane, VM_REG_PORT_RANGE(i),
					   VM_PUT(VM_REG_PORT_RANGE_LOW, ranges->range[i].low) |
						   VM_PUT(VM_REG_PORT_RANGE_HIGH, ranges->range[i].high));
	return error;
}

int vm_lane_commit_rules(struct vm_lane *lane)
{
	u32 status;
	int error;

	if (!lane->has.rules)
		return VM_ERROR_RULE;
	vm_lane_write(lane, VM_REG_RULE_COMMIT, 1);
	error = settle(lane, &status);
	if (error)
		return error;
	return status & VM_REG_STATUS_BAD_RULE_MASK ? VM_ERROR_RULE : VM_OK;
}

int vm_lane_rule_count(struct vm_lane *lane, u32 number, struct vm_count *count)
{
	u32 words[4], i, status;
	int error = settle(lane, &status);

	if (!error)
		error = select_rule(lane, number); /* copies the counters */
	for (i = 0; i < 4 && !error; i++)
		error = vm_lane_read(lane, VM_REG_RULE_COUNTS_PACKETS_LOW + 4 * i, &words[i]);
	if (error)
		return error;
	count->packets = words[0] | (u64)words[1] << 32;
	count->bytes = words[2] | (u64)words[3] << 32;
	return VM_OK;
}
