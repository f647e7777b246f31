/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* A queue's settings as an operator means them, and the same as the registers hold them.
 *
 *   settings --vm_queue_check()--> legal, or a fault: field, value, legal range   --vm_queue_convert()--> words --vm_access.h--> registers
 *
 * Lengths are bytes (or packets where said), rates bits a second, times nanoseconds, probabilities and weights exact fractions.
 * What a field means: docs/configuration.md; the words: docs/hardware-configuration.md. vm_queue_defaults() first, then the fields.
 */
#ifndef VM_PROFILE_H
#define VM_PROFILE_H

#include "vm_units.h"

enum vm_curve_kind { VM_TAIL, VM_RED, VM_GENTLE, VM_EXRED };
enum vm_average_kind { VM_AVERAGE_RED, VM_AVERAGE_WRED, VM_AVERAGE_RIO_C, VM_AVERAGE_RIO_2, VM_AVERAGE_RIO_DC };
enum vm_spacing { VM_GEOMETRIC, VM_UNIFORM, VM_WAIT };
enum vm_marker_kind { VM_NO_MARKER, VM_LEAF, VM_SRTCM, VM_TRTCM, VM_REDP, VM_FLOW };
enum vm_flow_kind { VM_FLOW_NONE, VM_FLOW_THREE_COLOUR, VM_FLOW_WEB, VM_FLOW_ADAPTIVE };
enum { VM_DROPS, VM_MARKS }; /* a colour's two curves */

/* Thresholds in the average's unit. VM_TAIL: no early drops; as a curve of marks: none of its own, marks follow the drops.
 * `end`: ExRED's K, where 0 is the queue's limit; RED: up to here p is 1 from max on, but drops are not forced; 0 is max.
 */
struct vm_curve {
	u32 kind;
	u32 min, max;
	u32 end;	    /* see above */
	struct vm_number p; /* at max */
};

/* Depths and thresholds in bytes; those given in packets are so many times `packet_bytes`. Fields that a kind does not read
 * are ignored. Flow markers ask for nothing in front of `drop_colours` but `kind`.
 */
struct vm_marker {
	u32 kind;
	u32 colour_aware;				  /* srTCM, trTCM */
	u32 ip_length;					  /* lengths are those of IP packets, not of frames */
	u32 packet_bytes;				  /* what every packet counts as; 0: its own length */
	u64 rate;					  /* leaf, REDP */
	u64 cir, pir;					  /* srTCM, trTCM */
	u32 burst;					  /* leaf */
	u32 cbs, ebs, pbs;				  /* srTCM: cbs, ebs; trTCM: cbs, pbs */
	u32 bucket, low, high;				  /* REDP */
	u32 out_colour;					  /* leaf: 1 yellow, 2 red */
	struct vm_number max_demote, max_promote, p_drop; /* REDP */
	u64 meter_ns;					  /* REDP: how long a yellow packet keeps the dropper off */
	u32 drop_colours;				  /* bit c: packets that get colour c are dropped */
	u32 flow_kind;
	u32 alpha_eighths;
	struct vm_number initial_average; /* A_0, packets */
	u32 start_credits, recovery_credits;
	u32 by_factor, ack_green;
	u64 idle_ns, half_open_ns;
};

struct vm_queue {
	struct vm_number weight;
	u32 average_kind, unit_packets, update_depart;
	u32 idle_packet_bytes;
	u32 spacing;
	u32 size_weight_bytes; /* mean length; 0: p does not depend on the size */
	u32 ecn;
	u32 limit_bytes, limit_packets; /* 0: none */
	struct vm_number alpha;		/* dynamic threshold in the lane's pool: a power of two, 2^-7 to 2^3; 0: none */
	u32 strict, priority;
	u32 quantum_bytes;
	u64 rate; /* 0: not shaped */
	u32 burst_bytes;
	struct vm_curve curve[VM_COLOURS][2];
	u32 remark; /* bit c: packets of colour c leave with remark_dscp[c] */
	u32 remark_dscp[VM_COLOURS];
	u32 distance_option, distance_infer, distance_share;
	u32 remove_ttl_option;
	u32 nearest, by_colour;
	u32 window; /* 0: RED form of the victim search; else its tail-drop form, among so many packets */
	struct vm_marker marker;
};

/* Of the lane, what a queue's words depend on. */
struct vm_port {
	u64 rate;
	u32 burst_bytes;
	u32 queues; /* up to the highest one in use, times the egresses: so many clocks a round of the shaper takes */
};

struct vm_curve_words {
	u32 on;
	u32 min, max, end;
	struct vm_scaled inv1;
	u64 slope1; /* U1.32, as base2 and slope2 */
	struct vm_scaled inv2;
	u64 base2, slope2;
	struct vm_scaled square2;
};

struct vm_marker_words {
	u32 kind, colour_aware, ip_length, packet_bytes;
	struct vm_scaled cost[2];
	u64 burst_ns[2];
	u32 out_colour;
	u64 low_ns, high_ns;
	struct vm_scaled demote, promote;
	u32 drop;
	u64 yellow_ns;
	u32 drop_colours;
	u32 flow_kind, alpha_eighths, initial_average, start_credits, recovery_credits, by_factor, ack_green;
	u32 idle_age, half_open_age;
};

struct vm_queue_words {
	struct vm_scaled weight[VM_STAGES];
	struct vm_scaled lambda;
	u64 idle_step; /* U48, see vm_idle_step() */
	u32 masks[VM_COLOURS];
	u32 unit_packets, update_depart, spacing;
	u32 size_on;
	struct vm_scaled size;
	u32 ecn;
	u32 limit_bytes, limit_packets;
	u32 alpha; /* see vm_alpha() */
	u32 strict, priority, quantum;
	struct vm_scaled cost;
	u64 burst_ns;
	struct vm_curve_words curve[VM_COLOURS][2];
	u32 ecn_own[VM_COLOURS];
	struct vm_marker_words marker;
	u32 remark, remark_dscp[VM_COLOURS];
	u32 distance_option, distance_infer, distance_share, remove_ttl_option;
	u32 nearest, by_colour, window;
};

/* What is wrong with settings, for a sentence "PLACE.FIELD is VALUE; legal is LEGAL"; PLACE may be empty. */
struct vm_refusal {
	const char *place;
	const char *field;
	struct vm_number value;
	const char *legal;
};

void vm_queue_defaults(struct vm_queue *queue);

/* True where everything is legal, and the lane will do as asked; else `fault` tells the first thing that is not. */
bool vm_port_check(const struct vm_port *port, struct vm_refusal *fault);
bool vm_queue_check(const struct vm_queue *queue, const struct vm_port *port, struct vm_refusal *fault);
bool vm_marker_check(const struct vm_marker *marker, struct vm_refusal *fault);

/* For the checks: fill `fault` and return false, the first only where `value` is not from `low` to `high`. */
bool vm_check_range(struct vm_refusal *fault, const char *place, const char *field, u64 value, u64 low, u64 high,
		    const char *legal);
bool vm_check_fail(struct vm_refusal *fault, const char *place, const char *field, struct vm_number value,
		   const char *legal);
/* x <= num / den */
bool vm_number_at_most(struct vm_number x, u64 num, u64 den);

/* A fault as a sentence without its full stop, cut at `size` - 1 characters; returns its length. */
u32 vm_refusal_text(const struct vm_refusal *fault, char *out, u32 size);

/* The register values of legal settings; of others, some values. */
void vm_queue_convert(const struct vm_queue *queue, const struct vm_port *port, struct vm_queue_words *words);
void vm_curve_convert(const struct vm_curve *curve, u32 end, struct vm_curve_words *words);
void vm_marker_convert(const struct vm_marker *marker, struct vm_marker_words *words);

/* ExRED's K in the average's unit: the curve's own or the queue's limit; 0 where there is neither. RED's end where it is not 0. */
u32 vm_curve_end(const struct vm_queue *queue, const struct vm_curve *curve);
/* Depths of buckets A and B in ns, and REDP's thresholds T_L, T_H. */
void vm_marker_times(const struct vm_marker *marker, u64 burst_ns[2], u64 *low_ns, u64 *high_ns);

#endif
