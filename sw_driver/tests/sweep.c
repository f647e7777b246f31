// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Runs the whole library on random settings, legal and not, and on a card that answers at random.
 * Prints one checksum of all results.
 *
 *   sweep ROUNDS
 *
 * sim/tests/driver/test_driver_build.py runs it with and without the compiler's sanitizers, and for
 * 32 and 64 bits where the host can. All runs must print the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include "vm_access.h"

static u64 state = 1, sum = 1469598103934665603ull;

static u64 draw(void)
{
	u64 z = state += 0x9E3779B97F4A7C15ull;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
	return z ^ (z >> 31);
}

/* A value of random magnitude, and often one at the limit of a format.
 *
 * Draws whose order matters are in separate statements, as C does not define the order in which the
 * parts of an expression are evaluated.
 */
static u64 any(void)
{
	static const u64 edges[] = { 0, 1, 2, 255, 65535, 134217727, 134217728, 0xFFFFFFFFull, 0x100000000ull, ~0ull };
	const u64 bits = draw();

	return draw() % 4 ? bits >> (draw() % 64) : edges[bits % 10];
}

static struct vm_number any_number(void)
{
	struct vm_number out;

	out.num = any();
	out.den = draw() % 2 ? 1 : any();
	out.tens = (u32)(draw() % 2 ? draw() % 25 : any());
	return out;
}

static void note(u64 value)
{
	sum = (sum ^ value) * 1099511628211ull;
}

static int note_register(void *context, u32 address, u32 value)
{
	(void)context;
	note((u64)address << 32 | value);
	return 0;
}

static struct vm_curve any_curve(void)
{
	struct vm_curve out;

	out.curve = (u32)(draw() % 5);
	out.min = (u32)any();
	out.max = (u32)any();
	out.end = (u32)any();
	out.p = any_number();
	return out;
}

static void any_marker(struct vm_marker *m)
{
	u32 *const words[] = { &m->colour_aware, &m->length, &m->packet, &m->burst,    &m->cbs,
			       &m->ebs,		 &m->pbs,    &m->bucket, &m->low,      &m->high,
			       &m->drop,	 &m->ns,     &m->na,	 &m->increase, &m->ack };
	u64 *const longs[] = { &m->rate, &m->cir, &m->pir, &m->meter, &m->idle, &m->half_open };
	u32 i;

	m->kind = (u32)(draw() % 10);
	m->out = (u32)(draw() % 4);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		*words[i] = (u32)any();
	for (i = 0; i < sizeof(longs) / sizeof(longs[0]); i++)
		*longs[i] = any();
	m->max_demote = any_number();
	m->max_promote = any_number();
	m->p_drop = any_number();
	m->a0 = any_number();
	m->alpha = any_number();
}

/* Defaults with some or most fields replaced. */
static void any_queue(struct vm_queue *q)
{
	u32 *const words[] = {
		&q->average.kind, &q->average.unit,	&q->average.update, &q->average.idle_packet, &q->spacing,
		&q->ecn,	  &q->size_weight,	&q->limit,	    &q->limit_packets,	     &q->strict,
		&q->priority,	  &q->quantum,		&q->burst,	    &q->remark[0],	     &q->remark[1],
		&q->victim,	  &q->victim_by_colour, &q->victim_window,  &q->ttl_option,	     &q->distance.share
	};
	const u32 changes = (u32)(draw() % 4);
	u32 i, at;

	vm_queue_defaults(q);
	for (i = 0; i < changes; i++) {
		at = (u32)(draw() % (sizeof(words) / sizeof(words[0])));
		*words[at] = (u32)any();
	}
	if (draw() % 2)
		q->average.weight = any_number();
	if (draw() % 2)
		q->rate = any();
	for (i = 0; i < VM_COLOURS; i++)
		if (draw() % 2)
			q->curve[i][i % 2] = any_curve();
	if (draw() % 2)
		any_marker(&q->marker);
}

static void convert(void)
{
	struct vm_port port;
	struct vm_queue_image image;
	struct vm_queue queue;
	struct vm_refusal fault;
	char text[100];
	u32 i;

	port.rate = draw() % 4 ? 1 + draw() % 200000000000ull : any();
	port.burst = (u32)any();
	port.queues = (u32)any();
	any_queue(&queue);
	note(vm_queue_check(&queue, &port, &fault));
	if (!vm_queue_check(&queue, &port, &fault)) {
		const u32 length = vm_refusal_text(&fault, text, (u32)(draw() % (sizeof(text) + 1)));

		for (i = 0; i < length; i++)
			note((u64)text[i]);
	}
	vm_queue_convert(&queue, &port, &image);
	vm_queue_visit(&image, note_register, NULL);
}

/* A card of one block. It stores writes, and sometimes answers a read with another value. */
static u32 registers[0x1A00 / 4];
static u32 madness;

static u32 card_read(void *context, u32 offset)
{
	(void)context;
	if (madness && draw() % madness == 0)
		return draw() % 2 ? 0xFFFFFFFFu : (u32)any();
	return registers[offset % sizeof(registers) / 4];
}

static void card_write(void *context, u32 offset, u32 value)
{
	(void)context;
	registers[offset % sizeof(registers) / 4] = value;
}

/* Rules with any fields, all of which are of type u32. */
static void rules(struct vm_lane *lane)
{
	struct vm_port_ranges ranges;
	struct vm_rule_image image;
	struct vm_rule rule;
	struct vm_count count = { 0 };
	u32 i, *fields = (u32 *)&rule;

	lane->has.rules = 64;
	vm_port_ranges_clear(&ranges);
	note((u64)vm_lane_begin_rules(lane));
	while (draw() % 8) {
		for (i = 0; i < sizeof(rule) / sizeof(*fields); i++)
			fields[i] = (u32)any();
		note(vm_rule_convert(&rule, &ranges, &image));
		for (i = 0; i < VM_RULE_WORDS; i++)
			note((u64)image.value[i] << 32 | image.mask[i]);
		note((u64)image.action << 32 | image.marker);
		i = (u32)(draw() % 70);
		note((u64)vm_lane_write_rule(lane, i, draw() % 4 ? &image : NULL));
	}
	note((u64)vm_lane_write_port_ranges(lane, &ranges));
	note((u64)vm_lane_commit_rules(lane));
	note((u64)vm_lane_rule_count(lane, (u32)(draw() % 70), &count));
	note(count.packets + count.bytes);
}

static void card(void)
{
	const struct vm_bus bus = { card_read, card_write, NULL, NULL, 8, 0x1A00 };
	static struct vm_statistics statistics;
	const u32 header[] = { 0x564D0001, 0x00010004, 0, 0, 16, 4096, 64, 2, 6, 9728, 4096, 16 };
	struct vm_block blocks[2];
	struct vm_count lost;
	struct vm_queue_image image;
	struct vm_queue queue;
	const struct vm_port port = { 1000000000, 0, 16 };
	struct vm_lane lane = { 0 };
	u32 found, i, code, cells;

	for (i = 0; i < sizeof(registers) / 4; i++)
		registers[i] = i < 12 ? header[i] : 0;
	madness = (u32)(draw() % 3 ? draw() % 2000 : 0);
	note((u64)vm_blocks(&bus, 0, blocks, 2, &found));
	blocks[0].offset = 0;
	blocks[0].type = header[0];
	blocks[0].version = header[1];
	note((u64)vm_lane_open(&lane, &bus, &blocks[0], (u32)(draw() % 9)));
	lane.egress = (u32)(draw() % VM_EGRESSES_MAX);
	lane.has.queues = 16;
	lane.has.inputs = 2;
	lane.has.victims = 16;
	lane.has.egresses = 1u << draw() % 4;
	lane.first = 16 * lane.egress;
	any_queue(&queue);
	vm_queue_convert(&queue, &port, &image);
	note((u64)vm_lane_write_queue(&lane, (u32)(draw() % 20), &image));
	code = (u32)(draw() % 70);
	note((u64)vm_lane_write_class(&lane, code, (u32)(draw() % 20), code % 4));
	note((u64)vm_lane_write_seed(&lane, draw()));
	note((u64)vm_lane_write_port(&lane, &port));
	note((u64)vm_lane_write_option(&lane, 158, 30));
	note((u64)vm_lane_write_switches(&lane, draw() % 2));
	note((u64)vm_lane_write_pool(&lane, (u32)draw()));
	cells = (u32)draw();
	note((u64)vm_lane_write_share(&lane, cells, (u32)draw()));
	note((u64)vm_lane_write_routes(&lane, 0x76543210u, 0));
	note((u64)vm_lane_clear_statistics(&lane));
	note((u64)vm_lane_flush(&lane, draw() % 2 ? VM_ALL_QUEUES : (u32)(draw() % 20)));
	note((u64)vm_lane_statistics(&lane, (u32)(draw() % 20), &statistics));
	note((u64)vm_lane_lost(&lane, (u32)(draw() % 3), &lost));
	for (i = 0; i < 64; i++)
		note(statistics.lost_distance[i]);
	rules(&lane);
}

int main(int count, char **words)
{
	const long rounds = count > 1 ? strtol(words[1], NULL, 10) : 1;
	long i;

	for (i = 0; i < rounds; i++) {
		convert();
		card();
	}
	printf("%016llx\n", (unsigned long long)sum);
	return 0;
}
