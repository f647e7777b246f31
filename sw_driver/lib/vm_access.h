/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Access to a card's registers through two callbacks: finds lanes, writes queues, reads counters.
 *
 * Every function returns 0 or one of `vm_error`. The number of polls limits each wait. A host reads
 * all ones from a card that is gone. Then the library reads block_type again. If that is not the
 * lane's either, the function returns VM_ERROR_GONE and its results are invalid.
 *
 * A lane allows one caller at a time: selection, shadow record and window are shared. The library
 * keeps no state except `vm_lane`.
 *
 * A `vm_lane` is one egress of a lane: its queues, from 0, its class table, its port. Switches,
 * option types, size of the pool, routes, seeds, cleared counters and lost frames belong to the
 * whole lane.
 */
#ifndef VM_ACCESS_H
#define VM_ACCESS_H

#include "vm_profile.h"
#include "vm_rule.h"

#define VM_VENDOR 0x564Du
#define VM_BLOCK_LANE 1u
#define VM_POLLS 100000u
#define VM_FLUSH_POLLS 1000u
#define VM_ALL_QUEUES 4294967295u
#define VM_QUEUES_MAX 4096u
#define VM_EGRESSES_MAX 8u
#define VM_INPUTS_MAX 16u     /* size of the register map's array `lost` */
#define VM_RULES_MAX 4096u    /* rule_select has 12 bits */
#define VM_CELLS_MAX 4194303u /* the bytes of 16 lanes, 64 a cell, fit into a u32 */

enum vm_error {
	VM_OK = 0,
	VM_ERROR_GONE,	   /* reads give all ones: no card at the address */
	VM_ERROR_LIST,	   /* the list of blocks does not end, or leaves the address space */
	VM_ERROR_TYPE,	   /* the block is not a lane */
	VM_ERROR_VERSION,  /* the registers have another major version than this library */
	VM_ERROR_SHAPE,	   /* a build that this library cannot program: see vm_shape_check() */
	VM_ERROR_TIMEOUT,  /* still pending after `polls` polls */
	VM_ERROR_QUEUE,	   /* the build does not have this queue */
	VM_ERROR_VICTIMS,  /* the build cannot search this queue for the nearest packet */
	VM_ERROR_POOL,	   /* the build is older than the pool of cells: minor version 3 */
	VM_ERROR_READBACK, /* the register at `vm_lane.at` does not hold what was written */
	VM_ERROR_MIXED,	   /* the window holds another queue: another program took a snapshot */
	VM_ERROR_MEMORY,   /* a word with two wrong bits: the lane stops until a reset */
	VM_ERROR_EGRESS,   /* the build does not have this egress */
	VM_ERROR_FLUSH,	   /* the build is older than the flush: minor version 4 */
	VM_ERROR_HELD,	   /* a flush ended with packets in the queue: see vm_lane_flush() */
	VM_ERROR_FLUSHING, /* another queue of the lane is being flushed */
	VM_ERROR_PAUSE,	   /* the build is older than the pause: minor version 3 */
	VM_ERROR_CODEL,	   /* the build cannot mark or drop packets as they leave: no `codel` */
	VM_ERROR_PIE,	   /* the build has no PIE */
	VM_ERROR_DUALPI2,  /* the build has no DualPI2 */
	VM_ERROR_FQ,	   /* the build has no groups of so many queues */
	VM_ERROR_RULE,	   /* the build does not have this rule, or the queue that the rule names */
};

/* Byte offsets from the start of the blocks' address space; 32-bit accesses. */
struct vm_bus {
	u32 (*read)(void *context, u32 offset);
	void (*write)(void *context, u32 offset, u32 value);
	void (*pause)(void *context); /* between two polls; may be null */
	void *context;
	u32 polls; /* polls before VM_ERROR_TIMEOUT; 0: VM_POLLS */
	u32 bytes; /* size of the address space */
};

struct vm_block {
	u32 offset, type, version;
};

/* `queues` and `victims` are of one egress, all other fields of the lane. */
struct vm_capabilities {
	u32 queues, cells, data_bits, inputs, stages, max_frame_bytes, flows, victims, protect, egresses, codel, pie;
	u32 dualpi2, reports, fq, rules;
};

struct vm_lane {
	const struct vm_bus *bus;
	struct vm_block block;
	struct vm_capabilities has;
	u32 egress;
	u32 first; /* the lane's number of the egress's queue 0 */
	u32 at;	   /* address of the register that VM_ERROR_READBACK means */
};

enum vm_event {
	VM_ARRIVED,
	VM_ENQUEUED,
	VM_EARLY,
	VM_FORCED,
	VM_TAIL_DROPPED,
	VM_NOBUF,
	VM_BAD,
	VM_CE_CHOSEN,
	VM_CE_WRITTEN,
	VM_SENT,
	VM_POLICED,
	VM_EVICTED,
	VM_FLUSHED,
	VM_DEPARTURE_DROPPED, /* by the queue's AQM, as they left their queue */
	VM_DEPARTURE_MARKED,  /* CE, by the queue's AQM or ce_threshold; sent, too */
	VM_EVENTS
};

struct vm_count {
	u64 packets, bytes;
};

/* One queue as of one cycle: docs/registers.md, "window". */
struct vm_statistics {
	struct vm_count count[VM_COLOURS][VM_EVENTS];
	u64 latency[32];
	u32 backlog_bytes, backlog_packets, max_bytes, max_packets;
	u64 average[VM_COLOURS]; /* U27.16 */
	u64 time_ns;
	u64 marked[12]; /* 4 colour before + colour after the marker */
	u64 push_outs, stale;
	u64 lost_distance[64], victim_distance[64];
};

const char *vm_error_text(int error);

/* Reads the list of blocks from `offset` on, and writes the vendor's blocks to `blocks`, at most
 * `room`. `found` counts all of them.
 */
int vm_blocks(const struct vm_bus *bus, u32 offset, struct vm_block *blocks, u32 room, u32 *found);

/* True if this library can program a build with these capabilities, of all egresses together. Else
 * `fault` names the first one that it cannot.
 */
bool vm_shape_check(const struct vm_capabilities *has, struct vm_refusal *fault);

/* Opens an egress of a lane from the list of blocks. Reads the capabilities of the build and writes
 * nothing. Refuses other blocks, other major versions and builds that it cannot program. After
 * VM_ERROR_SHAPE and VM_ERROR_EGRESS `has` is as read: of all egresses together.
 */
int vm_lane_open(struct vm_lane *lane, const struct vm_bus *bus, const struct vm_block *block, u32 egress);

/* Read and write a register of the lane. */
int vm_lane_read(const struct vm_lane *lane, u32 address, u32 *value);
void vm_lane_write(const struct vm_lane *lane, u32 address, u32 value);
/* Writes a register that keeps its value, and reads it back. */
int vm_lane_write_sure(struct vm_lane *lane, u32 address, u32 value);
/* Polls until none of these bits of `status` is set, and returns the register's last value. */
int vm_lane_wait(const struct vm_lane *lane, u32 pending, u32 *status);

/* Writes the shadow record, reads it back, then commits. The queue takes all settings between two
 * packets, or none. After VM_ERROR_TIMEOUT the commit may still follow.
 */
int vm_lane_write_queue(struct vm_lane *lane, u32 queue, const struct vm_queue_image *image);

/* `departures`: some queue has update_depart. A lane with several egresses keeps the switch on from
 * then on.
 */
int vm_lane_write_switches(struct vm_lane *lane, bool departures);
/* `dscp` 64: frames without IP. */
int vm_lane_write_class(struct vm_lane *lane, u32 dscp, u32 queue, u32 colour);
int vm_lane_write_port(struct vm_lane *lane, const struct vm_port *port);
int vm_lane_write_option(struct vm_lane *lane, u32 ip4, u32 ip6);
/* Whether the build has the registers of the pool and of dynamic thresholds. */
bool vm_lane_has_pool(const struct vm_lane *lane);
/* Cells that queued packets may take together; 0: no pool, which every build accepts. */
int vm_lane_write_pool(struct vm_lane *lane, u32 cells);
/* Cells of the pool that are always available to this egress, and the most that it may take; cap 0:
 * no cap.
 */
int vm_lane_write_share(struct vm_lane *lane, u32 reserve, u32 cap);
/* The egress of each input of the lane: four bits per input, eight inputs per word. */
int vm_lane_write_routes(struct vm_lane *lane, u32 first, u32 second);
/* Seeds all random sources and empties the flow table. Call it before there is traffic. */
int vm_lane_write_seed(struct vm_lane *lane, u64 seed);
/* Clears all counters of all queues of the lane. */
int vm_lane_clear_statistics(struct vm_lane *lane);

/* Stops the egress between two frames, or lets it send again, by its bit of register `pause`. */
int vm_lane_pause(struct vm_lane *lane, bool stop);
/* Whether the register stops the egress. Both return VM_ERROR_PAUSE if the build has no pause. */
int vm_lane_paused(const struct vm_lane *lane, bool *stopped);

/* Whether the build has the register of the flush. */
bool vm_lane_has_flush(const struct vm_lane *lane);
/* Discards the packets of a queue, or with VM_ALL_QUEUES of all queues of the egress, until the
 * backlog reads 0. Packets that arrive meanwhile are discarded, too. VM_FLUSHED counts them.
 *
 * VM_ERROR_HELD: the backlog did not shrink in VM_FLUSH_POLLS reads in a row, as other queues are
 * served first, or more packets arrive than are discarded.
 *
 * In both cases the flush ends, also one that was started before. Flushes of other callers
 * continue. If the card does not answer or the caller is killed, the flush stays on until the next
 * one ends it. The flush of a queue uses the window.
 */
int vm_lane_flush(struct vm_lane *lane, u32 queue);

/* vm_access_rule.c: rules by any header fields (docs/rules.md). They are of the whole lane, but a
 * rule's queue and marker are within the packet's egress. VM_ERROR_RULE: the build does not have this
 * rule.
 *
 * The order of calls is vm_lane_begin_rules(), which waits for a commit in progress, any number of
 * writes, vm_lane_commit_rules().
 */
int vm_lane_begin_rules(struct vm_lane *lane);
/* A null pointer: the rule is off. */
int vm_lane_write_rule(struct vm_lane *lane, u32 number, const struct vm_rule_image *image);
int vm_lane_write_port_ranges(struct vm_lane *lane, const struct vm_port_ranges *ranges);
/* All rules and ranges change between the heads of two frames. After VM_ERROR_TIMEOUT they may still
 * change. VM_ERROR_RULE: the lane has ignored a write, as it names a queue that the build lacks.
 */
int vm_lane_commit_rules(struct vm_lane *lane);
/* Packets and bytes that matched the rule first, as of one cycle, since the lane's reset. */
int vm_lane_rule_count(struct vm_lane *lane, u32 number, struct vm_count *count);

/* Takes a snapshot of the queue and reads the whole window. */
int vm_lane_statistics(struct vm_lane *lane, u32 queue, struct vm_statistics *statistics);
/* Frames that an input lost, as of one cycle. */
int vm_lane_lost(const struct vm_lane *lane, u32 input, struct vm_count *lost);

#endif
