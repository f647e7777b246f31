// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Snapshots: one queue's counters as of one cycle. Registers: docs/registers.md, "window". */
#include "vm_access.h"
#include "vm_regs.h"

/* Where a colour's counters begin, four words each: packets low, high, bytes low, high. */
static const u32 counters[VM_EVENTS] = {
	[VM_ARRIVED] = VM_REG_WINDOW_COLOUR_ARRIVED_PACKETS_LOW(0),
	[VM_ENQUEUED] = VM_REG_WINDOW_COLOUR_ENQUEUED_PACKETS_LOW(0),
	[VM_EARLY] = VM_REG_WINDOW_COLOUR_EARLY_PACKETS_LOW(0),
	[VM_FORCED] = VM_REG_WINDOW_COLOUR_FORCED_PACKETS_LOW(0),
	[VM_TAIL_DROPPED] = VM_REG_WINDOW_COLOUR_TAIL_PACKETS_LOW(0),
	[VM_NOBUF] = VM_REG_WINDOW_COLOUR_NOBUF_PACKETS_LOW(0),
	[VM_BAD] = VM_REG_WINDOW_COLOUR_BAD_PACKETS_LOW(0),
	[VM_CE_CHOSEN] = VM_REG_WINDOW_COLOUR_CE_CHOSEN_PACKETS_LOW(0),
	[VM_CE_WRITTEN] = VM_REG_WINDOW_COLOUR_CE_WRITTEN_PACKETS_LOW(0),
	[VM_SENT] = VM_REG_WINDOW_COLOUR_SENT_PACKETS_LOW(0),
	[VM_POLICED] = VM_REG_WINDOW_COLOUR_POLICED_PACKETS_LOW(0),
	[VM_EVICTED] = VM_REG_WINDOW_COLOUR_EVICTED_PACKETS_LOW(0),
	[VM_FLUSHED] = VM_REG_WINDOW_COLOUR_FLUSHED_PACKETS_LOW(0),
	[VM_DEPARTURE_DROPPED] = VM_REG_WINDOW_COLOUR_DEPARTURE_DROPPED_PACKETS_LOW(0),
	[VM_DEPARTURE_MARKED] = VM_REG_WINDOW_COLOUR_DEPARTURE_MARKED_PACKETS_LOW(0),
};

#define COLOUR_STRIDE (VM_REG_WINDOW_COLOUR_ARRIVED_PACKETS_LOW(1) - VM_REG_WINDOW_COLOUR_ARRIVED_PACKETS_LOW(0))

/* A sequence of reads that stops at the first error. */
struct reader {
	const struct vm_lane *lane;
	int error;
};

static u32 word(struct reader *reader, u32 address)
{
	u32 value = 0;

	if (!reader->error)
		reader->error = vm_lane_read(reader->lane, address, &value);
	return value;
}

/* The high half is at the address after the low half. */
static u64 wide(struct reader *reader, u32 low_address)
{
	const u64 low = word(reader, low_address);

	return low | (u64)word(reader, low_address + 4) << 32;
}

static void window(struct reader *reader, struct vm_statistics *out)
{
	u32 c, i;

	for (c = 0; c < VM_COLOURS; c++) {
		for (i = 0; i < VM_EVENTS; i++) {
			out->count[c][i].packets = wide(reader, counters[i] + COLOUR_STRIDE * c);
			out->count[c][i].bytes = wide(reader, counters[i] + COLOUR_STRIDE * c + 8);
		}
		out->average[c] = wide(reader, VM_REG_WINDOW_AVERAGE_LOW(c));
	}
	for (i = 0; i < 32; i++)
		out->latency[i] = wide(reader, VM_REG_WINDOW_LATENCY_LOW(i));
	out->backlog_bytes = word(reader, VM_REG_WINDOW_BACKLOG_BYTES);
	out->backlog_packets = word(reader, VM_REG_WINDOW_BACKLOG_PACKETS);
	out->max_bytes = word(reader, VM_REG_WINDOW_MAX_BYTES);
	out->max_packets = word(reader, VM_REG_WINDOW_MAX_PACKETS);
	out->time_ns = wide(reader, VM_REG_WINDOW_TIME_LOW);
	for (i = 0; i < 12; i++)
		out->marked[i] = wide(reader, VM_REG_WINDOW_MARKED_LOW(i));
	out->push_outs = wide(reader, VM_REG_WINDOW_PUSH_OUTS_LOW);
	out->stale = wide(reader, VM_REG_WINDOW_STALE_LOW);
	for (i = 0; i < 64; i++) {
		out->lost_distance[i] = wide(reader, VM_REG_WINDOW_LOST_DISTANCE_LOW(i));
		out->victim_distance[i] = wide(reader, VM_REG_WINDOW_VICTIM_DISTANCE_LOW(i));
	}
}

/* Polls until no snapshot is pending. */
static void settle(struct reader *reader)
{
	const struct vm_bus *bus = reader->lane->bus;
	u32 polls = bus->polls ? bus->polls : VM_POLLS;

	while (polls--) {
		if (!VM_GET(VM_REG_STATUS_SNAPSHOT_PENDING, word(reader, VM_REG_STATUS)) || reader->error)
			return;
		if (bus->pause)
			bus->pause(bus->context);
	}
	reader->error = VM_ERROR_TIMEOUT;
}

/* Takes a snapshot of a queue into the window. */
static void snapshot(struct reader *reader, u32 queue)
{
	settle(reader); /* the lane ignores ours while one of an earlier driver is pending */
	if (reader->error)
		return;
	vm_lane_write(reader->lane, VM_REG_QUEUE_SELECT, reader->lane->first + queue);
	vm_lane_write(reader->lane, VM_REG_SNAPSHOT, 1);
	settle(reader);
}

/* Checks that the window held this queue's snapshot during all reads. */
static int whole(struct reader *reader, u32 queue)
{
	if (!reader->error && (word(reader, VM_REG_WINDOW_QUEUE) != reader->lane->first + queue ||
			       VM_GET(VM_REG_STATUS_SNAPSHOT_PENDING, word(reader, VM_REG_STATUS))))
		reader->error = reader->error ? reader->error : VM_ERROR_MIXED;
	return reader->error;
}

int vm_lane_statistics(struct vm_lane *lane, u32 queue, struct vm_statistics *statistics)
{
	struct reader reader = { lane, VM_OK };

	if (queue >= lane->has.queues)
		return VM_ERROR_QUEUE;
	snapshot(&reader, queue);
	window(&reader, statistics);
	return whole(&reader, queue);
}

/* The backlog that a flush discards: cells of the egress, or packets of the queue. */
static u32 held(struct reader *reader, u32 queue)
{
	u32 packets;

	if (queue == VM_ALL_QUEUES)
		return word(reader, VM_REG_POOL_USED(reader->lane->egress));
	snapshot(reader, queue);
	packets = word(reader, VM_REG_WINDOW_BACKLOG_PACKETS);
	if (whole(reader, queue) != VM_ERROR_MIXED)
		return packets;
	reader->error = VM_OK; /* another snapshot came between: read again later */
	return 1;
}

/* Polls until the backlog is 0, or has not become smaller in VM_FLUSH_POLLS polls. */
static int drain(struct reader *reader, u32 queue)
{
	const struct vm_bus *bus = reader->lane->bus;
	u32 least = ~0u, now, polls;

	for (polls = VM_FLUSH_POLLS; polls; polls--) {
		now = held(reader, queue);
		if (reader->error || !now)
			return reader->error;
		if (now < least) {
			least = now;
			polls = VM_FLUSH_POLLS;
		}
		if (bus->pause)
			bus->pause(bus->context);
	}
	now = word(reader, VM_REG_STATUS);
	if (reader->error)
		return reader->error;
	return now & VM_REG_STATUS_MEMORY_FAILED_MASK ? VM_ERROR_MEMORY : VM_ERROR_HELD;
}

int vm_lane_flush(struct vm_lane *lane, u32 queue)
{
	struct reader reader = { lane, VM_OK };
	u32 others, own;
	bool ended;
	int error;

	if (!vm_lane_has_flush(lane))
		return VM_ERROR_FLUSH;
	if (queue != VM_ALL_QUEUES && queue >= lane->has.queues)
		return VM_ERROR_QUEUE;
	others = word(&reader, VM_REG_FLUSH);
	if (reader.error)
		return reader.error;
	if (queue == VM_ALL_QUEUES) {
		own = VM_PUT(VM_REG_FLUSH_EGRESSES, 1u << lane->egress);
	} else {
		own = VM_REG_FLUSH_QUEUE_ON_MASK | VM_PUT(VM_REG_FLUSH_QUEUE, lane->first + queue);
		if (VM_GET(VM_REG_FLUSH_QUEUE_ON, others) && VM_GET(VM_REG_FLUSH_QUEUE, others) != lane->first + queue)
			return VM_ERROR_FLUSHING;
		others &= ~VM_REG_FLUSH_QUEUE_MASK;
	}
	vm_lane_write(lane, VM_REG_FLUSH, others | own);
	error = drain(&reader, queue);

	reader.error = VM_OK;
	others = word(&reader, VM_REG_FLUSH) & ~own; /* flushes of others, as of now */
	if (!reader.error)
		vm_lane_write(lane, VM_REG_FLUSH, others);
	ended = !(word(&reader, VM_REG_FLUSH) & own);
	if (error || reader.error)
		return error ? error : reader.error;
	if (ended)
		return VM_OK;
	lane->at = VM_REG_FLUSH;
	return VM_ERROR_READBACK;
}

int vm_lane_lost(const struct vm_lane *lane, u32 input, struct vm_count *lost)
{
	struct reader reader = { lane, VM_OK };

	if (input >= lane->has.inputs)
		return VM_ERROR_QUEUE;
	lost->packets = wide(&reader, VM_REG_LOST_FRAMES_LOW(input)); /* latches the other words */
	lost->bytes = wide(&reader, VM_REG_LOST_BYTES_LOW(input));
	return reader.error;
}
