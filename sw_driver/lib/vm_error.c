// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* What enum vm_error means, in words. */
#include "vm_access.h"

const char *vm_error_text(int error)
{
	static const char *const texts[] = {
		[VM_OK] = "no error",
		[VM_ERROR_GONE] = "the card does not answer: reads give all ones",
		[VM_ERROR_LIST] = "the card's list of register blocks is damaged",
		[VM_ERROR_TYPE] = "this register block is no lane of Vermilion",
		[VM_ERROR_VERSION] = "the card's registers have another major version than this driver knows",
		[VM_ERROR_SHAPE] =
			"the card has more queues, weights, inputs, cells, egresses or rules than the driver knows",
		[VM_ERROR_TIMEOUT] = "the card does not finish what it was told to do",
		[VM_ERROR_QUEUE] = "the card does not have this queue",
		[VM_ERROR_VICTIMS] = "the card cannot drop the nearest packet of this queue",
		[VM_ERROR_POOL] = "the card has neither a pool of cells nor dynamic thresholds",
		[VM_ERROR_READBACK] = "a register does not hold what was written to it",
		[VM_ERROR_MIXED] = "somebody else took a snapshot at the same time",
		[VM_ERROR_MEMORY] = "a memory of the card has failed; it works again after a reset",
		[VM_ERROR_EGRESS] = "the lane does not have this egress",
		[VM_ERROR_FLUSH] = "the card cannot discard queued packets",
		[VM_ERROR_HELD] = "packets are still queued: others go before them, or more come than are discarded",
		[VM_ERROR_FLUSHING] = "another queue of the lane is being flushed",
		[VM_ERROR_CODEL] = "this build cannot mark or drop packets as they leave their queue",
		[VM_ERROR_PIE] = "this build has no PIE",
		[VM_ERROR_DUALPI2] = "this build has no DualPI2",
		[VM_ERROR_FQ] = "this build has no groups of so many queues",
		[VM_ERROR_PAUSE] = "the card cannot pause an egress",
		[VM_ERROR_RULE] = "the card does not have this rule",
	};

	if (error < 0 || error > VM_ERROR_RULE)
		return "unknown error";
	return texts[error];
}
