// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "vm_access.h"
#include "vm_regs.h"

#define ALL_ONES 0xFFFFFFFFu
#define HEADER_BYTES 12u /* type, version, next */
#define POOL_MINOR 3u	 /* the minor version that has the pool's registers */
#define FLUSH_MINOR 4u	 /* and the one that has the flush */
#define LANE_BYTES (VM_REG_WINDOW_VICTIM_DISTANCE_HIGH(63) + 4)

int vm_blocks(const struct vm_bus *bus, u32 offset, struct vm_block *blocks, u32 room, u32 *found)
{
	struct vm_block block;
	u32 next;

	*found = 0;
	for (;;) {
		if (offset % 4 || bus->bytes < HEADER_BYTES || offset > bus->bytes - HEADER_BYTES)
			return VM_ERROR_LIST;
		block.offset = offset;
		block.type = bus->read(bus->context, offset + VM_REG_BLOCK_TYPE);
		block.version = bus->read(bus->context, offset + VM_REG_VERSION);
		next = bus->read(bus->context, offset + VM_REG_NEXT_BLOCK);
		if ((block.type == ALL_ONES || block.version == ALL_ONES || next == ALL_ONES) &&
		    bus->read(bus->context, offset + VM_REG_BLOCK_TYPE) == ALL_ONES)
			return VM_ERROR_GONE;
		if (VM_GET(VM_REG_BLOCK_TYPE_VENDOR, block.type) == VM_VENDOR) {
			if (*found < room)
				blocks[*found] = block;
			++*found;
		}
		if (!next)
			return VM_OK;
		if (next <= offset) /* offsets must rise, so that every list ends */
			return VM_ERROR_LIST;
		offset = next;
	}
}

static u32 bare_read(const struct vm_lane *lane, u32 address)
{
	return lane->bus->read(lane->bus->context, lane->block.offset + address);
}

int vm_lane_read(const struct vm_lane *lane, u32 address, u32 *value)
{
	*value = bare_read(lane, address);
	if (*value == ALL_ONES && bare_read(lane, VM_REG_BLOCK_TYPE) != lane->block.type)
		return VM_ERROR_GONE;
	return VM_OK;
}

void vm_lane_write(const struct vm_lane *lane, u32 address, u32 value)
{
	lane->bus->write(lane->bus->context, lane->block.offset + address, value);
}

/* Lanes before minor version 3 do not have this register, which then reads 0: one egress. */
static u32 egresses_of(const struct vm_capabilities *has)
{
	return has->egresses ? has->egresses : 1;
}

static bool has_several(const struct vm_lane *lane)
{
	return egresses_of(&lane->has) > 1;
}

bool vm_shape_check(const struct vm_capabilities *has, struct vm_refusal *fault)
{
	if (!vm_check_range(fault, "", "queues", has->queues, 1, VM_QUEUES_MAX, "1 to 4096") ||
	    !vm_check_range(fault, "", "inputs", has->inputs, 1, VM_INPUTS_MAX, "1 to 16") ||
	    !vm_check_range(fault, "", "cells", has->cells, 1, VM_CELLS_MAX, "1 to 4194303") ||
	    !vm_check_range(fault, "", "ewma_stages", has->stages, 0, VM_STAGES, "0 to 6") ||
	    !vm_check_range(fault, "", "rules", has->rules, 0, VM_RULES_MAX, "0 to 4096"))
		return false;
	if (!vm_check_range(fault, "", "victims", has->victims, 0, has->queues, "0 to the number of queues") ||
	    !vm_check_range(fault, "", "egresses", has->egresses, 0, VM_EGRESSES_MAX, "1 to 8"))
		return false;
	/* All egresses have the same number of queues, and all queues can be searched or none. */
	if (has->queues % egresses_of(has))
		return vm_check_range(fault, "", "queues", has->queues, 0, 0, "a multiple of egresses");
	return egresses_of(has) == 1 || !has->victims ||
	       vm_check_range(fault, "", "victims", has->victims, has->queues, has->queues,
			      "0 or the number of queues");
}

int vm_lane_open(struct vm_lane *lane, const struct vm_bus *bus, const struct vm_block *block, u32 egress)
{
	struct vm_capabilities *has = &lane->has;
	const struct {
		u32 address;
		u32 *value;
	} reads[] = {
		{ VM_REG_QUEUES, &has->queues },
		{ VM_REG_CELLS, &has->cells },
		{ VM_REG_DATA_BITS, &has->data_bits },
		{ VM_REG_INPUTS, &has->inputs },
		{ VM_REG_EWMA_STAGES, &has->stages },
		{ VM_REG_MAX_FRAME_BYTES, &has->max_frame_bytes },
		{ VM_REG_FLOWS, &has->flows },
		{ VM_REG_VICTIMS, &has->victims },
		{ VM_REG_PROTECT, &has->protect },
		{ VM_REG_EGRESSES, &has->egresses },
		{ VM_REG_CODEL, &has->codel },
		{ VM_REG_PIE, &has->pie },
		{ VM_REG_DUALPI2, &has->dualpi2 },
		{ VM_REG_REPORTS, &has->reports },
		{ VM_REG_FQ, &has->fq },
		{ VM_REG_RULES, &has->rules },
	};
	struct vm_refusal fault;
	u32 i, type;
	int error;

	lane->bus = bus;
	lane->block = *block;
	lane->at = 0;
	lane->egress = egress;
	lane->first = 0;
	if (block->type != (VM_VENDOR << 16 | VM_BLOCK_LANE) || bus->bytes < LANE_BYTES ||
	    block->offset > bus->bytes - LANE_BYTES)
		return VM_ERROR_TYPE;
	type = bare_read(lane, VM_REG_BLOCK_TYPE);
	if (type != block->type)
		return type == ALL_ONES ? VM_ERROR_GONE : VM_ERROR_TYPE;
	error = vm_lane_read(lane, VM_REG_VERSION, &lane->block.version);
	if (error)
		return error;
	if (VM_GET(VM_REG_VERSION_MAJOR, lane->block.version) != VM_REG_VERSION_MAJOR_RESET)
		return VM_ERROR_VERSION;
	for (i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		error = vm_lane_read(lane, reads[i].address, reads[i].value);
		if (error)
			return error;
	}
	if (!vm_shape_check(has, &fault))
		return VM_ERROR_SHAPE;
	if (egress >= egresses_of(has))
		return VM_ERROR_EGRESS;
	if (has_several(lane)) {
		has->queues /= has->egresses;
		has->victims /= has->egresses;
		lane->first = egress * has->queues;
	}
	return VM_OK;
}

int vm_lane_wait(const struct vm_lane *lane, u32 pending, u32 *status)
{
	u32 polls = lane->bus->polls ? lane->bus->polls : VM_POLLS;
	int error;

	while (polls--) {
		error = vm_lane_read(lane, VM_REG_STATUS, status);
		if (error)
			return error;
		if (*status & VM_REG_STATUS_MEMORY_FAILED_MASK)
			return VM_ERROR_MEMORY;
		if (!(*status & pending))
			return VM_OK;
		if (lane->bus->pause)
			lane->bus->pause(lane->bus->context);
	}
	return VM_ERROR_TIMEOUT;
}

static int write_visit(void *context, u32 address, u32 value)
{
	vm_lane_write(context, address, value);
	return VM_OK;
}

static int read_visit(void *context, u32 address, u32 value)
{
	struct vm_lane *lane = context;
	u32 held;
	int error = vm_lane_read(lane, address, &held);

	if (error || held == value)
		return error;
	lane->at = address;
	return VM_ERROR_READBACK;
}

int vm_lane_write_sure(struct vm_lane *lane, u32 address, u32 value)
{
	vm_lane_write(lane, address, value);
	return read_visit(lane, address, value);
}

bool vm_lane_has_pool(const struct vm_lane *lane)
{
	return VM_GET(VM_REG_VERSION_MINOR, lane->block.version) >= POOL_MINOR;
}

bool vm_lane_has_flush(const struct vm_lane *lane)
{
	return VM_GET(VM_REG_VERSION_MINOR, lane->block.version) >= FLUSH_MINOR;
}

int vm_lane_write_queue(struct vm_lane *lane, u32 queue, const struct vm_queue_image *image)
{
	u32 status;
	int error;

	if (queue >= lane->has.queues)
		return VM_ERROR_QUEUE;
	if (image->victim && queue >= lane->has.victims)
		return VM_ERROR_VICTIMS;
	if ((image->codel.on || image->mark_late) && !lane->has.codel)
		return VM_ERROR_CODEL;
	if (image->pie.on && !lane->has.pie)
		return VM_ERROR_PIE;
	if (image->dualpi2.on && !lane->has.dualpi2)
		return VM_ERROR_DUALPI2;
	if (image->fq && (!lane->has.fq || 1u << image->fq > lane->has.queues))
		return VM_ERROR_FQ;
	if (image->alpha && !vm_lane_has_pool(lane))
		return VM_ERROR_POOL;
	error = vm_lane_wait(lane, VM_REG_STATUS_COMMIT_PENDING_MASK, &status);
	if (!error)
		error = vm_queue_visit(image, write_visit, lane);
	if (!error)
		error = vm_queue_visit(image, read_visit, lane);
	if (!error)
		error = vm_lane_write_sure(lane, VM_REG_QUEUE_SELECT, lane->first + queue);
	if (error)
		return error;
	vm_lane_write(lane, VM_REG_STATUS, VM_REG_STATUS_BAD_QUEUE_MASK);
	vm_lane_write(lane, VM_REG_COMMIT, 1);
	error = vm_lane_wait(lane, VM_REG_STATUS_COMMIT_PENDING_MASK, &status);
	if (error)
		return error;
	return status & VM_REG_STATUS_BAD_QUEUE_MASK ? VM_ERROR_QUEUE : VM_OK;
}

int vm_lane_write_switches(struct vm_lane *lane, bool departures)
{
	if (!departures && has_several(lane)) /* another egress may need it; it does no harm */
		return VM_OK;
	return vm_lane_write_sure(lane, VM_REG_CONTROL, VM_PUT(VM_REG_CONTROL_DEPARTURE_UPDATES, departures));
}

int vm_lane_write_class(struct vm_lane *lane, u32 dscp, u32 queue, u32 colour)
{
	int error;

	if (dscp > 64 || queue >= lane->has.queues || colour >= VM_COLOURS)
		return VM_ERROR_QUEUE;
	error = vm_lane_write_sure(lane, VM_REG_CLASS_ADDRESS, dscp);
	if (error)
		return error;
	return vm_lane_write_sure(lane, VM_REG_CLASS_ENTRY,
				  VM_PUT(VM_REG_CLASS_ENTRY_QUEUE, lane->first + queue) |
					  VM_PUT(VM_REG_CLASS_ENTRY_COLOUR, colour));
}

int vm_lane_write_port(struct vm_lane *lane, const struct vm_port *port)
{
	const struct vm_scaled cost = vm_cost(port->rate);
	const u64 burst_ns = vm_burst_ns(port->burst, port->rate, port->queues);
	int error = has_several(lane) ? vm_lane_write_sure(lane, VM_REG_PORT_EGRESS, lane->egress) : VM_OK;

	if (!error)
		error = vm_lane_write_sure(lane, VM_REG_PORT_COST,
					   VM_PUT(VM_REG_PORT_COST_MANT, cost.mant) |
						   VM_PUT(VM_REG_PORT_COST_SHIFT, cost.shift));
	if (!error)
		error = vm_lane_write_sure(lane, VM_REG_PORT_BURST_LOW, (u32)burst_ns);
	if (!error)
		/* this write applies all three registers */
		error = vm_lane_write_sure(lane, VM_REG_PORT_BURST_HIGH, (u32)(burst_ns >> 32));
	return error;
}

int vm_lane_write_option(struct vm_lane *lane, u32 ip4, u32 ip6)
{
	return vm_lane_write_sure(lane, VM_REG_TTL_OPTION,
				  VM_PUT(VM_REG_TTL_OPTION_IP4, ip4) | VM_PUT(VM_REG_TTL_OPTION_IP6, ip6));
}

int vm_lane_write_pool(struct vm_lane *lane, u32 cells)
{
	if (!vm_lane_has_pool(lane))
		return cells ? VM_ERROR_POOL : VM_OK;
	return vm_lane_write_sure(lane, VM_REG_POOL_SIZE, cells);
}

int vm_lane_write_share(struct vm_lane *lane, u32 reserve, u32 cap)
{
	int error;

	if (!vm_lane_has_pool(lane))
		return reserve || cap ? VM_ERROR_POOL : VM_OK;
	error = vm_lane_write_sure(lane, VM_REG_POOL_RESERVE(lane->egress), reserve);
	if (error)
		return error;
	return vm_lane_write_sure(lane, VM_REG_POOL_CAP(lane->egress), cap);
}

int vm_lane_write_routes(struct vm_lane *lane, u32 first, u32 second)
{
	int error;

	if (lane->has.egresses < 2)
		return first || second ? VM_ERROR_EGRESS : VM_OK;
	error = vm_lane_write_sure(lane, VM_REG_ROUTES(0), first);
	if (error)
		return error;
	return vm_lane_write_sure(lane, VM_REG_ROUTES(1), second);
}

static int read_pauses(const struct vm_lane *lane, u32 *pauses)
{
	if (!vm_lane_has_pool(lane)) /* the same minor version brought both */
		return VM_ERROR_PAUSE;
	return vm_lane_read(lane, VM_REG_PAUSE, pauses);
}

int vm_lane_pause(struct vm_lane *lane, bool stop)
{
	const u32 own = 1u << lane->egress;
	u32 pauses;
	int error = read_pauses(lane, &pauses);

	if (error)
		return error;
	return vm_lane_write_sure(lane, VM_REG_PAUSE, stop ? pauses | own : pauses & ~own);
}

int vm_lane_paused(const struct vm_lane *lane, bool *stopped)
{
	u32 pauses;
	int error = read_pauses(lane, &pauses);

	if (!error)
		*stopped = pauses >> lane->egress & 1;
	return error;
}

int vm_lane_write_seed(struct vm_lane *lane, u64 seed)
{
	u32 verdicts[4], markers[4], flows[4], i;
	int error = VM_OK;

	vm_seed_words(seed, 0, verdicts);
	vm_seed_words(seed, 1, markers);
	vm_seed_words(seed, 2, flows);
	for (i = 0; i < 4 && !error; i++)
		error = vm_lane_write_sure(lane, VM_REG_SEED(i), verdicts[i]);
	for (i = 0; i < 4 && !error; i++)
		error = vm_lane_write_sure(lane, VM_REG_FLOW_SEED(i), flows[i]);
	for (i = 0; i < 4 && !error; i++)
		error = vm_lane_write_sure(lane, VM_REG_MARK_SEED(i), markers[i]); /* the last applies */
	return error;
}

int vm_lane_clear_statistics(struct vm_lane *lane)
{
	u32 control, status;
	int error = vm_lane_read(lane, VM_REG_CONTROL, &control);

	if (error)
		return error;
	vm_lane_write(lane, VM_REG_CONTROL, control | VM_REG_CONTROL_CLEAR_STATISTICS_MASK);
	return vm_lane_wait(lane, VM_REG_STATUS_CLEAR_PENDING_MASK, &status);
}
