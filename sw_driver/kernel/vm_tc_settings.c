// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Computes the settings of queues, class table and port from the tree of qdiscs. It always reads
 * the whole tree, so a change of one qdisc keeps the settings of the others.
 *
 * Flags of a red or a DP, what Linux does above its max, and the curves that the lane gets:
 *   none
 *	Linux: drops all packets (forced)
 *	lane: red as the drop curve, with its end at max
 *   ecn
 *	Linux: marks ECN-capable packets above max, too, and drops the others
 *	lane: red as the drop curve, with its end at the top: p is 1 from max on, nothing is forced
 *   ecn harddrop
 *	Linux: drops all packets
 *	lane: red as the drop curve, with its end at max: it marks only below its end
 *   ecn nodrop
 *	Linux: marks ECN-capable packets, drops no packet early, at any average
 *	lane: red as the mark curve, no drop curve
 *   ecn nodrop harddrop
 *	Linux: the same below max, drops all packets above it
 *	lane: red as the mark curve; red with p = 0 as the drop curve
 */
#include "vm_filter.h"
#include "vm_units.h"

#define STRICT_LEVELS 8

/* The curves of a red or a DP. tc's probability is a fraction of 2^32. */
static void vm_tc_set_curves(struct vm_curve curve[2], u32 min, u32 max, u32 probability, bool ecn, bool harddrop,
			     bool nodrop)
{
	struct vm_curve red = { .curve = VM_CURVE_RED, .min = min, .max = max };

	red.p.num = probability;
	red.p.den = (u64)1 << 32;
	if (ecn && nodrop)
		curve[VM_MARKS] = red;
	if (ecn && nodrop && !harddrop)
		return;
	if (ecn && nodrop)
		red.p.num = 0;
	if (ecn && !harddrop)
		red.end = VM_LEN_MAX;
	curve[VM_DROPS] = red;
}

static void vm_tc_apply_red(struct vm_queue *settings, const struct tc_red_qopt_offload_params *red)
{
	u32 c;

	settings->ecn = red->is_ecn;
	settings->limit = red->limit;
	for (c = 0; c < VM_COLOURS; c++)
		vm_tc_set_curves(settings->curve[c], red->min, red->max, red->probability, red->is_ecn,
				 red->is_harddrop, red->is_nodrop);
}

/* A DP is a colour. With grio the averages are RIO-C's: a DP also counts the DPs of lower number.
 * If all DPs have the same prio, they are WRED's: one average of all. Else each DP counts itself.
 * The lane has a limit for a queue, not for a colour: the sum of the DPs' limits, or for WRED their
 * common limit.
 */
static void vm_tc_apply_gred(struct vm_queue *settings, const struct tc_gred_qopt_offload_params *gred)
{
	u64 limit = 0;
	u32 c;

	settings->average.kind = gred->wred_on ? VM_AVERAGE_WRED : gred->grio_on ? VM_AVERAGE_RIO_C : VM_AVERAGE_RIO_DC;
	for (c = 0; c < VM_COLOURS; c++) {
		const struct tc_gred_vq_qopt_offload_params *dp = &gred->tab[c];

		if (!dp->present)
			continue;
		settings->ecn = dp->is_ecn;
		limit = gred->wred_on ? dp->limit : limit + dp->limit;
		vm_tc_set_curves(settings->curve[c], dp->min, dp->max, dp->probability, dp->is_ecn, dp->is_harddrop,
				 false);
	}
	settings->limit = min_t(u64, limit, VM_LEN_MAX);
}

static void vm_tc_apply_band(struct vm_queue *settings, const struct vm_tc_qdisc *scheduler, u32 band)
{
	const u32 quantum = scheduler->bands.quanta[band];

	settings->strict = !quantum;
	if (quantum)
		settings->quantum = quantum;
	else
		settings->priority = STRICT_LEVELS - 1 - band;
}

static int vm_tc_check_bands(const struct vm_repr *repr, const struct vm_tc_qdisc *qdisc, struct vm_why *why)
{
	u32 strict = 0, band;

	if (qdisc->queues > repr->lane.has.queues || qdisc->queues > TCQ_ETS_MAX_BANDS) {
		vm_why_set(why, "bands is %u; legal is 1 to %u", qdisc->queues,
			   min_t(u32, repr->lane.has.queues, TCQ_ETS_MAX_BANDS));
		return -EINVAL;
	}
	for (band = 0; band < qdisc->queues; band++)
		strict += !qdisc->bands.quanta[band];
	if (strict <= STRICT_LEVELS)
		return 0;
	vm_why_set(why, "strict bands are %u; legal is 0 to %u", strict, STRICT_LEVELS);
	return -EINVAL;
}

static int vm_tc_check_gred(const struct tc_gred_qopt_offload_params *gred, struct vm_why *why)
{
	const struct tc_gred_vq_qopt_offload_params *last = NULL;
	u32 c;

	if (gred->dp_cnt > VM_COLOURS) {
		vm_why_set(why, "DPs is %u; legal is 1 to %u, the colours of a queue", gred->dp_cnt, VM_COLOURS);
		return -EINVAL;
	}
	for (c = 0; c < VM_COLOURS; c++) {
		const struct tc_gred_vq_qopt_offload_params *dp = &gred->tab[c];

		if (!dp->present)
			continue;
		if (last && last->is_ecn != dp->is_ecn) {
			vm_why_set(why, "ECN is on for some DPs only; a queue has it or not");
			return -EINVAL;
		}
		if (last && gred->wred_on && (last->prio != dp->prio || last->limit != dp->limit)) {
			vm_why_set(why, "DP %u shares its prio with some DPs only, or has another limit than they", c);
			return -EINVAL;
		}
		if (last && gred->grio_on && !gred->wred_on && last->prio > dp->prio) {
			vm_why_set(why, "DP %u has prio %u; legal is more than the DP before it", c, dp->prio);
			return -EINVAL;
		}
		last = dp;
	}
	return 0;
}

int vm_tc_check(const struct vm_repr *repr, const struct vm_tc_qdisc *qdisc, struct vm_why *why)
{
	switch (qdisc->kind) {
	case VM_TC_PRIO:
	case VM_TC_ETS:
		return vm_tc_check_bands(repr, qdisc, why);
	case VM_TC_GRED:
		if (!vm_filter_polices(repr))
			return vm_tc_check_gred(&qdisc->gred, why);
		vm_why_set(why, "a filter has a police, which makes packets green; legal without police");
		return -EINVAL;
	case VM_TC_RED:
		if (qdisc->red.limit)
			return 0;
		vm_why_set(why, "limit is 0; legal is 1 to %u", VM_LEN_MAX);
		return -EINVAL;
	case VM_TC_FIFO:
		return 0;
	case VM_TC_TBF:
		if (qdisc->tbf.frames)
			return 0;
		vm_why_set(why, "overhead, mpu or linklayer atm is given; a lane counts the bytes of frames");
		return -EINVAL;
	default:
		return -EOPNOTSUPP;
	}
}

/* Applies the tree to a queue's settings; false: the tree has no qdisc for this queue. */
static bool vm_tc_apply(struct vm_repr *repr, u32 queue, struct vm_queue *settings)
{
	const struct vm_tc_qdisc *scheduler = vm_tc_scheduler(repr), *leaf = vm_tc_leaf(repr, queue);
	const struct vm_tc_qdisc *shaper = vm_tc_shaper(repr, queue);
	const bool band = scheduler && queue < scheduler->queues;

	if (band)
		vm_tc_apply_band(settings, scheduler, queue);
	if (shaper) {
		settings->rate = shaper->tbf.rate;
		settings->burst = shaper->tbf.burst;
	}
	if (leaf && leaf->kind == VM_TC_RED)
		vm_tc_apply_red(settings, &leaf->red);
	else if (leaf)
		vm_tc_apply_gred(settings, &leaf->gred);
	return band || shaper || leaf || vm_tc_fifo(repr, queue);
}

static int vm_tc_program_queue(struct vm_repr *repr, u32 queue, struct vm_why *why)
{
	struct vm_queue *settings = &repr->tc->settings, *wanted = &repr->tc->wanted;
	enum vm_owner owner;
	int error;

	error = vm_repr_get_queue(repr, queue, settings, &owner, why);
	if (error)
		return error;
	vm_queue_defaults(wanted);
	if (!vm_tc_apply(repr, queue, wanted))
		return owner == VM_OWNER_TC ? vm_repr_reset_queue(repr, queue, VM_OWNER_TC, why) : 0;
	vm_queue_copy_for_tc(settings, wanted);
	if (!repr->slots[queue].own_weight) /* netlink changes it under RTNL, too */
		settings->average.weight = vm_tc_weight(repr);
	return vm_repr_set_queue(repr, queue, settings, VM_OWNER_TC, why);
}

/* AFxy is DSCP 8 x + 2 y, x 1 to 4; y, 1 to 3, is the drop precedence. */
static u32 vm_tc_dp_of(const struct tc_gred_qopt_offload_params *gred, u32 dscp)
{
	const u32 class = dscp >> LOWEST_DSCP_BITS, low = dscp & (BIT(LOWEST_DSCP_BITS) - 1);
	const u32 dp = low / 2 - 1;

	if (class >= 1 && class <= 4 && low && !(low % 2) && gred->tab[dp].present)
		return dp;
	return gred->dp_def < VM_COLOURS ? gred->dp_def : 0;
}

static void vm_tc_class_of(struct vm_repr *repr, const struct vm_tc_qdisc *scheduler, u32 dscp, u32 priority,
			   struct vm_class *entry)
{
	const struct vm_tc_qdisc *leaf;

	entry->queue = scheduler ? scheduler->bands.priomap[priority] : 0;
	leaf = vm_tc_leaf(repr, entry->queue);
	entry->colour = leaf && leaf->kind == VM_TC_GRED ? vm_tc_dp_of(&leaf->gred, dscp) : 0;
}

/* If no qdisc assigns packets to queues, as with a tbf alone, tc does not own the class table. */
static int vm_tc_program_classes(struct vm_repr *repr, struct vm_why *why)
{
	const struct vm_tc_qdisc *scheduler = vm_tc_scheduler(repr);
	struct vm_class classes[VM_DSCPS];
	u8 priority[VM_DSCPS];
	u32 i;

	if (!scheduler && !vm_tc_leaf(repr, 0) && !vm_tc_shaper(repr, 0) && !vm_tc_fifo(repr, 0))
		return repr->classes_owner == VM_OWNER_TC ? vm_repr_reset_classes(repr, VM_OWNER_TC, why) : 0;
	vm_dcb_priorities(repr, priority);
	for (i = 0; i < VM_DSCPS; i++)
		vm_tc_class_of(repr, scheduler, i, priority[i], &classes[i]);
	return vm_repr_set_classes(repr, classes, VM_OWNER_TC, why);
}

static int vm_tc_program_port(struct vm_repr *repr, struct vm_why *why)
{
	const struct vm_tc_qdisc *root = vm_tc_child(repr, TC_H_ROOT);
	struct vm_port port = {};

	if (root && root->kind == VM_TC_TBF) {
		port.rate = root->tbf.rate;
		port.burst = root->tbf.burst;
	} else if (repr->port_owner != VM_OWNER_TC) {
		return 0;
	}
	if (port.rate == repr->port.rate && port.burst == repr->port.burst &&
	    repr->port_owner == (port.rate ? VM_OWNER_TC : VM_OWNER_NONE))
		return 0;
	return vm_repr_set_port(repr, &port, VM_OWNER_TC, why);
}

/* Stop at a failing card: further accesses are useless, and each may take until its timeout. */
static bool vm_tc_may_go_on(int error)
{
	return error != -ENODEV && error != -ETIMEDOUT && error != -EIO;
}

int vm_tc_program(struct vm_repr *repr, u32 first, u32 count, struct vm_why *why)
{
	int error = vm_tc_program_port(repr, why);
	struct vm_why other;
	u32 i;

	for (i = first; i < first + count && vm_tc_may_go_on(error); i++) {
		const int now = vm_tc_program_queue(repr, i, error ? &other : why);

		error = error ? error : now;
	}
	if (vm_tc_may_go_on(error)) {
		const int now = vm_tc_program_classes(repr, error ? &other : why);

		error = error ? error : now;
	}
	if (vm_tc_may_go_on(error)) { /* a filter's queue depends on the bands */
		const int now = vm_filter_program(repr, error ? &other : why);

		error = error ? error : now;
	}
	return error;
}
