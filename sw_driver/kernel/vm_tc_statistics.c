// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Counters for the kernel. The driver reports what was added since the last request.
 *
 *   the kernel's     the lane's (docs/registers.md, "window")
 *   packets, bytes   sent
 *   backlog, qlen    what is queued
 *   prob_drop        early
 *   forced_drop      forced
 *   prob_mark        ce_chosen
 *   forced_mark      0: the lane has one kind of marks
 *   pdrop            tail + nobuf
 *   drops            prob_drop + forced_drop + pdrop
 *   overlimits       prob_drop + forced_drop + prob_mark
 *
 * No qdisc counts frames that arrive with an error, and packets that are policed, evicted, flushed, or
 * dropped or marked at departure. ethtool -S has them.
 *
 * A qdisc counts the backlog of its queues, and so does each qdisc above it, as in the kernel.
 */
#include <net/red.h>

#include "vm_tc.h"

/* Adds one queue's counters of a colour. */
static void vm_tc_add(struct vm_tc_counts *now, const struct vm_count *count)
{
	now->packets += count[VM_SENT].packets;
	now->bytes += count[VM_SENT].bytes;
	now->prob_drop += count[VM_EARLY].packets;
	now->forced_drop += count[VM_FORCED].packets;
	now->prob_mark += count[VM_CE_CHOSEN].packets;
	now->pdrop += count[VM_TAIL_DROPPED].packets + count[VM_NOBUF].packets;
}

struct reading {
	struct vm_tc_counts now[VM_COLOURS];
	u32 backlog[VM_COLOURS], qlen[VM_COLOURS];
};

/* Backlog of a colour: enqueued less sent and lost, as the lane counts backlog for the whole queue
 * only. A clear leaves packets queued, so afterwards more may have been sent than were enqueued.
 */
static u32 vm_tc_standing(u64 came, u64 sent, u64 lost)
{
	return came > sent + lost ? came - sent - lost : 0;
}

static void vm_tc_add_backlog(struct reading *reading, bool apart, const struct vm_statistics *snapshot)
{
	u32 c;

	if (!apart) {
		reading->backlog[0] += snapshot->backlog_bytes;
		reading->qlen[0] += snapshot->backlog_packets;
		return;
	}
	for (c = 0; c < VM_COLOURS; c++) {
		const struct vm_count *count = snapshot->count[c];

		reading->backlog[c] += vm_tc_standing(count[VM_ENQUEUED].bytes, count[VM_SENT].bytes,
						      count[VM_EVICTED].bytes + count[VM_FLUSHED].bytes +
							      count[VM_DEPARTURE_DROPPED].bytes);
		reading->qlen[c] += vm_tc_standing(count[VM_ENQUEUED].packets, count[VM_SENT].packets,
						   count[VM_EVICTED].packets + count[VM_FLUSHED].packets +
							   count[VM_DEPARTURE_DROPPED].packets);
	}
}

/* All queues of a qdisc. A tbf at the root has those of the prio or ets below it. */
static void vm_tc_queues_of(struct vm_repr *repr, const struct vm_tc_qdisc *qdisc, u32 *first, u32 *count)
{
	const struct vm_tc_qdisc *scheduler = vm_tc_is_port(qdisc) ? vm_tc_scheduler(repr) : NULL;

	*first = scheduler ? scheduler->queue : qdisc->queue;
	*count = scheduler ? scheduler->queues : qdisc->queues;
}

/* Reads all queues of a qdisc: each colour of gred by itself, else the sum of all in [0]. If the
 * lane's counters were cleared, the reported counters start from 0, too. If they were cleared
 * between two queues, all queues are read again.
 */
static int vm_tc_read_counters(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct reading *reading,
			       struct vm_why *why)
{
	struct vm_statistics *snapshot = &repr->tc->snapshot;
	const bool apart = qdisc->kind == VM_TC_GRED;
	u32 first, count, i, c, epoch = 0;
	int error;

	vm_tc_queues_of(repr, qdisc, &first, &count);
again:
	memset(reading, 0, sizeof(*reading));
	for (i = first; i < first + count; i++) {
		error = vm_repr_begin(repr, why);
		if (error)
			return error;
		if (i > first && epoch != repr->engine->epoch) {
			vm_repr_end(repr, VM_OK, why);
			goto again;
		}
		epoch = repr->engine->epoch;
		error = vm_repr_end(repr, vm_lane_statistics(&repr->lane, i, snapshot), why);
		if (error)
			return error;
		for (c = 0; c < VM_COLOURS; c++)
			vm_tc_add(&reading->now[apart ? c : 0], snapshot->count[c]);
		vm_tc_add_backlog(reading, apart, snapshot);
	}
	if (epoch != qdisc->epoch) {
		memset(qdisc->told, 0, sizeof(qdisc->told));
		memset(qdisc->told_more, 0, sizeof(qdisc->told_more));
		qdisc->epoch = epoch;
	}
	return 0;
}

int vm_tc_begin_statistics(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct vm_why *why)
{
	struct reading reading;
	const int error = vm_tc_read_counters(repr, qdisc, &reading, why);

	if (error)
		return error;
	memcpy(qdisc->told, reading.now, sizeof(qdisc->told));
	memcpy(qdisc->told_more, reading.now, sizeof(qdisc->told_more));
	return 0;
}

static int vm_tc_failed(struct vm_repr *repr, const struct vm_why *why)
{
	if (!vm_card_is_gone(repr->card))
		vm_repr_refuse(repr, why);
	return -EOPNOTSUPP;
}

/* Reports what colour @c has counted since the last report. */
static void vm_tc_tell(struct vm_tc_qdisc *qdisc, const struct reading *reading, u32 c,
		       struct gnet_stats_basic_sync *bstats, struct gnet_stats_queue *qstats)
{
	const struct vm_tc_counts *now = &reading->now[c];
	struct vm_tc_counts *told = &qdisc->told[c];
	const u64 early = now->prob_drop - told->prob_drop + now->forced_drop - told->forced_drop;

	_bstats_update(bstats, now->bytes - told->bytes, now->packets - told->packets);
	qstats->drops += early + now->pdrop - told->pdrop;
	qstats->overlimits += early + now->prob_mark - told->prob_mark;
	qstats->backlog += reading->backlog[c] - qdisc->backlog[c];
	qstats->qlen += reading->qlen[c] - qdisc->qlen[c];
	*told = *now;
	qdisc->backlog[c] = reading->backlog[c];
	qdisc->qlen[c] = reading->qlen[c];
}

static void vm_tc_tell_more(struct vm_tc_qdisc *qdisc, const struct reading *reading, u32 c, struct red_stats *out)
{
	const struct vm_tc_counts *now = &reading->now[c];
	struct vm_tc_counts *told = &qdisc->told_more[c];

	out->prob_drop += now->prob_drop - told->prob_drop;
	out->forced_drop += now->forced_drop - told->forced_drop;
	out->prob_mark += now->prob_mark - told->prob_mark;
	out->pdrop += now->pdrop - told->pdrop;
	*told = *now;
}

int vm_tc_statistics(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct tc_qopt_offload_stats *out)
{
	struct reading reading;
	struct vm_why why;

	if (vm_tc_read_counters(repr, qdisc, &reading, &why))
		return vm_tc_failed(repr, &why);
	vm_tc_tell(qdisc, &reading, 0, out->bstats, out->qstats);
	return 0;
}

int vm_tc_red_statistics(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct red_stats *out)
{
	struct reading reading;
	struct vm_why why;

	if (vm_tc_read_counters(repr, qdisc, &reading, &why))
		return vm_tc_failed(repr, &why);
	vm_tc_tell_more(qdisc, &reading, 0, out);
	return 0;
}

int vm_tc_gred_statistics(struct vm_repr *repr, struct vm_tc_qdisc *qdisc, struct tc_gred_qopt_offload_stats *out)
{
	struct reading reading;
	struct vm_why why;
	u32 c;

	if (vm_tc_read_counters(repr, qdisc, &reading, &why))
		return vm_tc_failed(repr, &why);
	for (c = 0; c < VM_COLOURS; c++) {
		vm_tc_tell(qdisc, &reading, c, &out->bstats[c], &out->qstats[c]);
		if (out->xstats[c])
			vm_tc_tell_more(qdisc, &reading, c, out->xstats[c]);
	}
	return 0;
}

void vm_tc_purged(struct vm_repr *repr, const struct vm_tc_qdisc *qdisc)
{
	u32 backlog = 0, qlen = 0, c;
	struct vm_tc_qdisc *above;

	for (c = 0; c < VM_COLOURS; c++) {
		backlog += qdisc->backlog[c];
		qlen += qdisc->qlen[c];
	}
	above = qdisc->parent == TC_H_ROOT ? NULL : vm_tc_find(repr, TC_H_MAJ(qdisc->parent));
	while (above) {
		above->backlog[0] -= backlog; /* gred has no classes, so [0] holds all */
		above->qlen[0] -= qlen;
		above = above->parent == TC_H_ROOT ? NULL : vm_tc_find(repr, TC_H_MAJ(above->parent));
	}
}

void vm_tc_unreport(struct vm_tc_qdisc *qdisc)
{
	u32 c;

	if (!qdisc->qstats)
		return;
	for (c = 0; c < VM_COLOURS; c++) {
		qdisc->qstats->backlog -= qdisc->backlog[c];
		qdisc->qstats->qlen -= qdisc->qlen[c];
		if (qdisc->kind == VM_TC_GRED && qdisc->gred.tab[c].present)
			*qdisc->gred.tab[c].backlog -= qdisc->backlog[c];
	}
}
