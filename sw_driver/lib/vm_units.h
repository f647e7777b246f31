/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Converts single values from units of the user to register values. Units are bytes, bits per
 * second, nanoseconds and exact fractions.
 *
 * Each function rounds once, from the exact value. Formats: docs/architecture.md, "Number formats".
 * The checks in vm_profile.h define the legal values. Others give an unspecified value of the
 * format.
 */
#ifndef VM_UNITS_H
#define VM_UNITS_H

#include "vm_types.h"

#define VM_WEIGHT_MANT_BITS 9
#define VM_WEIGHT_SHIFT_MAX 31
#define VM_LAMBDA_MANT_BITS 16
#define VM_INV_MANT_BITS 18
#define VM_SIZE_MANT_BITS 16
#define VM_COST_MANT_BITS 18
#define VM_SHIFT_MAX 63
#define VM_LAMBDA_SHIFT_MAX 48 /* at most 48, so that an ageing's remainder fits into U48 */
#define VM_IDLE_STEP_BITS 48
#define VM_AVG_FRAC 16
#define VM_IDLE_FRAC 10
#define VM_POS_FRAC 24
#define VM_PROB_FRAC 32
#define VM_RATIO_FRAC 12
#define VM_MARK_DRAW_BITS 16
#define VM_SPAN_SHIFT 26
#define VM_FLOW_AVERAGE_FRAC 8
#define VM_FLOW_ALPHA_FRAC 3 /* alpha of the flow markers is in eighths */
#define VM_FLOW_TICK_BITS 22 /* ages of flows are in ticks of 2^22 ns */
#define VM_LEN_MAX 0x7FFFFFFu
#define VM_CODEL_SHIFT 10	 /* times of CoDel are in units of 1,024 ns, as in Linux */
#define VM_CODEL_TARGET 5000000u /* ns, where the settings have none */
#define VM_CODEL_INTERVAL 100000000u
#define VM_CODEL_NEVER 2147483647u /* a sojourn time that no packet has */
#define VM_PIE_SHIFT 6		   /* times of PIE are in units of 64 ns */
#define VM_PIE_TICK_SHIFT 16	   /* T_update is in ticks of 65,536 ns */
#define VM_PIE_TICKS_MAX 16383u
#define VM_PIE_TARGET 15000000u /* ns, where the settings have none */
#define VM_PIE_TUPDATE 15000000u
#define VM_PIE_TARGET_MAX 4000000000u /* ns */
#define VM_PIE_GAIN_BITS 34
#define VM_DUALPI2_TARGET 15000000u /* ns, where the settings have none */
#define VM_DUALPI2_TUPDATE 16000000u
#define VM_DUALPI2_GAIN_BITS 32
#define VM_BURST_BITS 40
#define VM_ALPHA_FRAC 8	 /* the code of alpha: 2^(code - 8) */
#define VM_ALPHA_MOST 11 /* the greatest code */
#define VM_CELL_BYTES 64u
#define VM_CLOCK_NS 4u	       /* ns per cycle of the lane */
#define VM_LATENESS_CLOCKS 64u /* cycles; plus one per queue: vm_least_burst_ns() */

/* W[n] = 1 - (1-w)^n, n from 1: the step of an average over n decisions at once. The format is
 * mant 2^-(8 + shift) with a mantissa of 9 bits; 1.0 is (256, 0). The relative error is within 2^-9
 * for w from 2^-15 to 1.
 */
struct vm_scaled vm_weight(struct vm_number w, unsigned int n);

/* Idle decay -log2(1-w) / s per nanosecond with 10 fraction bits. s is the time of one packet of
 * `packet_bytes` at `rate` bits per second. For w = 1 it is the greatest value of the format.
 */
struct vm_scaled vm_idle_decay(struct vm_number w, u32 packet_bytes, u64 rate);

/* The decay of the average by one packet that finds its queue empty: -log2(1-w) in units of
 * 2^-(10 + lambda.shift), the unit of time times `lambda`'s mantissa. Rounded to nearest, at most
 * 2^48 - 1, which is also the value for w = 1.
 */
u64 vm_idle_step(struct vm_number w, struct vm_scaled lambda);

/* 2^8 / width, rounded down so that a position on a segment stays below 1; (0, 0) for width 0. */
struct vm_scaled vm_inverse(u32 width);

/* U1.frac, at most 1.0, which is 2^frac. */
u64 vm_probability(struct vm_number p, unsigned int frac);

/* Nanoseconds per byte at `rate` bits per second; (0, 0) for rate 0, which means not shaped. */
struct vm_scaled vm_cost(u64 rate);

/* 2^12 / mean packet length. */
struct vm_scaled vm_size_weight(u32 mean_bytes);

/* The longest time from the due time of a packet until the scheduler serves it, if a round of the
 * shaper takes `queues` cycles. With a shorter burst the queue would not reach its rate.
 */
u32 vm_least_burst_ns(u32 queues);
/* The time in which `rate` sends this many bytes, to nearest; at least vm_least_burst_ns() and at
 * most 40 bits; 0 for rate 0.
 */
u64 vm_burst_ns(u64 bytes, u64 rate, u32 queues);

/* The time in which `rate`, as rounded by vm_cost(), fills this many bytes (below 2^46). Rounded up
 * to a nanosecond.
 */
u64 vm_depth_ns(u64 bytes, u64 rate);

/* REDP's span width / max_p as mant 2^-shift in units of 2^26 ns. From the 16-bit draw r the
 * hardware computes ((r mant) 2^26) >> shift in units of 2^-16 ns.
 */
struct vm_scaled vm_span(u64 width_ns, struct vm_number max_p);

/* U16.8 packets, to nearest. */
u32 vm_flow_average(struct vm_number packets);
/* Ticks of 2^22 ns, to nearest. */
u32 vm_flow_age(u64 ns);

/* Code of a dynamic threshold's alpha: c for 2^(c - 8), 1 to 11. Every other number gives 0, which
 * means no threshold.
 */
u32 vm_alpha(struct vm_number alpha);
/* CoDel's time: units of 1,024 ns, rounded down. At most 2^32 - 1. */
u32 vm_codel_time(u64 ns);
/* T_update in ticks of 65,536 ns, rounded to nearest: 1 to 16,383. */
u32 vm_pie_ticks(u64 ns);
/* PIE's alpha or beta, a probability per second of delay, as the probability for 64 ns in units of
 * 2^-56, rounded to nearest; at most 2^34 - 1.
 */
u64 vm_pie_gain(struct vm_number per_second);
/* DualPI2's alpha or beta, in the same way in units of 2^-40; at most 2^32 - 1. */
u32 vm_dualpi2_gain(struct vm_number per_second);
/* Whole cells in this many bytes. */
u32 vm_pool_cells(u32 bytes);

/* 128 bits of state for one of a lane's random sources from a 64-bit seed (splitmix64; Steele, Lea,
 * Flood, OOPSLA 2014). `which` is 0 for the verdicts, 1 for the markers, 2 for the key of the flow
 * table. The state is never all zeros.
 */
void vm_seed_words(u64 seed, unsigned int which, u32 words[4]);

#endif
