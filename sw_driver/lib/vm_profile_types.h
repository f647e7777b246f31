/* Generated from hw/regs/profile.yaml by sim/vermilion/generate/profile.py. Do not edit. */
/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* clang-format off */
/* A queue's settings as an operator means them, and their image as the registers hold it. Meaning and legal values: docs/profile.md. */
#ifndef VM_PROFILE_TYPES_H
#define VM_PROFILE_TYPES_H

#include "vm_types.h"

enum vm_curve_kind { VM_CURVE_TAIL, VM_CURVE_RED, VM_CURVE_GENTLE, VM_CURVE_EXRED };
enum vm_average_kind { VM_AVERAGE_RED, VM_AVERAGE_WRED, VM_AVERAGE_RIO_C, VM_AVERAGE_RIO_2, VM_AVERAGE_RIO_DC };
enum vm_unit { VM_UNIT_BYTE, VM_UNIT_PACKET };
enum vm_update { VM_UPDATE_ARRIVAL, VM_UPDATE_BOTH };
enum vm_spacing { VM_SPACING_GEOMETRIC, VM_SPACING_UNIFORM, VM_SPACING_WAIT };
enum vm_ttl_option { VM_TTL_OPTION_KEEP, VM_TTL_OPTION_REMOVE };
enum vm_victim { VM_VICTIM_ARRIVING, VM_VICTIM_NEAREST };
enum vm_overload { VM_OVERLOAD_DROP, VM_OVERLOAD_MARK };
enum vm_mark_at { VM_MARK_AT_ENQUEUE, VM_MARK_AT_DEQUEUE };
enum vm_aqm { VM_AQM_CURVE, VM_AQM_CODEL, VM_AQM_PIE, VM_AQM_DUALPI2 };
enum vm_marker_kind { VM_MARKER_NONE, VM_MARKER_LEAF, VM_MARKER_SRTCM, VM_MARKER_TRTCM, VM_MARKER_REDP, VM_MARKER_NM, VM_MARKER_3CPM, VM_MARKER_WPM, VM_MARKER_APM };
enum vm_length { VM_LENGTH_FRAME, VM_LENGTH_IP };
enum vm_increase { VM_INCREASE_DOUBLE, VM_INCREASE_FACTOR };
enum vm_ack { VM_ACK_YELLOW, VM_ACK_GREEN };
enum vm_curve_of { VM_DROPS, VM_MARKS };
enum vm_flow_kind { VM_FLOW_NONE, VM_FLOW_THREE_COLOUR, VM_FLOW_WEB, VM_FLOW_ADAPTIVE };
enum vm_colour { VM_COLOUR_GREEN, VM_COLOUR_YELLOW, VM_COLOUR_RED };

/* What marks a queue's packets, as the registers have it. */
enum vm_marker_code { VM_MARKS_NONE = 0, VM_MARKS_LEAF = 1, VM_MARKS_SRTCM = 2, VM_MARKS_TRTCM = 3, VM_MARKS_REDP = 4, VM_MARKS_FLOW = 5 };

/* A token bucket: the rate that fills it, bits/s, and the depths that it holds together, bytes. */
struct vm_bucket {
	u64 rate;
	u32 depth[2];
};

#define VM_RATE_MIN 64000u
#define VM_RATE_MAX 200000000000ull
#define VM_RATE_LEGAL "64kbit to 200Gbit"
#define VM_BURST_MIN 0u
#define VM_BURST_MAX 100000000u
#define VM_BURST_LEGAL "0B to 100MB"
#define VM_DEPTH_MAX 67108864u
#define VM_SHORTEST_FRAME 60u
#define VM_SHORTEST_IP 20u

/* The queue's averages. */
struct vm_average {
	struct vm_number weight; /* Weight of the averages, w of avg + w (q - avg) */
	u32 kind; /* Which colours each colour's average counts; red, wred, rio-c, rio-2, rio-dc */
	u32 unit; /* Unit of the averages and of all thresholds of the queue; byte, packet */
	u32 update; /* both: the averages step on departures, too; arrival, both */
	u32 idle_packet; /* Typical packet of idle times; bytes */
};

/* A drop or mark curve. */
struct vm_curve {
	u32 curve; /* Form of the curve. tail: no early drops; as a curve of marks: marks follow the drops; tail, red, gentle, exred */
	u32 min; /* Average below which the probability is 0. All curves but tail need it */
	u32 max; /* Average at which the probability is p. All curves but tail need it */
	struct vm_number p; /* Probability at max. All curves but tail need it */
	u32 end; /* exred: K; without it, the queue's limit. red: p is 1 from max up to here, and drops are early, not forced; without it, max */
};

/* What a packet's distance is taken from. */
struct vm_distance {
	u32 option; /* The initial TTL of the TTL option, where the packet has it */
	u32 infer; /* Otherwise the least of 32, 64, 128 and 255 not below the TTL */
	u32 share; /* The share of the path, in 64ths, in place of hops */
};

/* What gives the queue's packets their colour. */
struct vm_marker {
	u32 kind; /* Kind of the marker; none, leaf, srtcm, trtcm, redp, nm, 3cpm, wpm, apm */
	u32 drop; /* Packets that the marker gives these colours are dropped */
	u32 packet; /* What every packet counts as where depths are packets; in the file 1000B if left out. In C and netlink depths are bytes, and 0 stands for the packet's own length; bytes; 0: not set */
	u64 rate; /* Rate that fills the bucket; bits/s */
	u32 burst; /* Depth of the bucket; bytes */
	u64 cir; /* Committed information rate (RFC 2697 and 2698); bits/s */
	u32 cbs; /* Committed burst size; bytes */
	u32 ebs; /* Excess burst size (RFC 2697); bytes */
	u64 pir; /* Peak information rate (RFC 2698); bits/s */
	u32 pbs; /* Peak burst size (RFC 2698); bytes */
	u32 bucket; /* Depth of the bucket, b; bytes */
	u32 low; /* Threshold T_L; bytes */
	u32 high; /* Threshold T_H; bytes */
	u32 out; /* Colour of packets out of profile; yellow, red */
	u32 colour_aware; /* The colour that a packet comes with is the best it can get */
	struct vm_number max_demote; /* Greatest probability of a demotion */
	struct vm_number max_promote; /* Greatest probability of a promotion */
	struct vm_number p_drop; /* Probability of the combined dropper */
	u64 meter; /* How long a yellow packet keeps the dropper off; ns */
	u32 length; /* Whose length counts. In the file srtcm and trtcm have ip where it is left out; frame, ip */
	struct vm_number alpha; /* Share of the expected burst, in eighths */
	struct vm_number a0; /* Initial average burst A_0, packets */
	u32 ns; /* Credits at the start, N_s, packets */
	u32 na; /* Credits after a loss, N_a, packets */
	u32 increase; /* How the average grows: doubled, or by the factor 1 / (1 - alpha); double, factor */
	u32 ack; /* Colour of TCP segments without payload and of SYNs; yellow, green */
	u64 idle; /* When a flow's state is given up; ns */
	u64 half_open; /* The same for flows with fewer than four data packets; ns */
};

/* A queue. What concerns several queues is not here. */
struct vm_queue {
	struct vm_average average;
	u32 spacing; /* How early drops are spread; geometric, uniform, wait */
	u32 size_weight; /* Mean length, for probabilities by size; without it, size does not count; bytes; 0: not set */
	u32 ecn; /* Early verdicts mark ECN-capable packets instead of dropping them */
	u32 limit; /* Tail drop from here on; without it, no limit; bytes; 0: not set */
	u32 limit_packets; /* Tail drop from here on; without it, no limit; packets; 0: not set */
	struct vm_number alpha; /* Dynamic threshold in the pool, a power of two; without it, none. It needs a pool; 0: not set */
	u32 strict; /* Strict priority; otherwise deficit round robin. In the file, priority makes a queue strict */
	u32 priority; /* Of strict queues: higher goes first */
	u32 quantum; /* Deficit round robin: what the queue may send in a turn; bytes */
	u64 rate; /* Shaper of the queue; without it, the queue is not shaped; bits/s; 0: not set */
	u32 burst; /* What the shaper lets out at once; bytes */
	struct vm_curve curve[VM_COLOURS][2];
	u32 remark[VM_COLOURS]; /* DSCP that packets of the colour leave with */
	struct vm_distance distance;
	u32 ttl_option; /* remove: the TTL option becomes padding as packets leave; keep, remove */
	u32 victim; /* nearest: the queued packet with the smallest distance is dropped or marked, not the arriving one. Packets of the queue's head never are; arriving, nearest */
	u32 victim_by_colour; /* With nearest, only packets of the arriving one's colour or a worse one may be lost */
	u32 victim_window; /* With nearest, the tail-drop form among so many of the last packets; without it, the form by the curve; 0: not set */
	struct vm_marker marker;
	u32 aqm; /* The queue's AQM. curve: on arrival, by the curves of the colours. codel: at departure, by sojourn time (RFC 8289). pie: on arrival, by a probability that a controller sets from the sojourn time (RFC 8033). dualpi2: at departure, in a pair of queues of which the one with the even number, C, has the settings and the next, L, has low delay (RFC 9332). The curves of all but curve are tail; curve, codel, pie, dualpi2 */
	u64 target; /* Sojourn time that the queue may always have; without it, 5 ms for codel and 15 ms for pie and dualpi2. Legal for these two are up to 4s; ns; 0: not set */
	u64 interval; /* codel: time for which the sojourn time must be at the target before a packet is dropped or marked; without it, 100 ms; ns; 0: not set */
	u32 mtu; /* codel: nothing is dropped or marked while no more bytes are queued behind the packet. pie and dualpi2: nothing is dropped or marked by chance while fewer than two of it are queued; bytes */
	u64 ce_threshold; /* ECN-capable packets with a longer sojourn time leave with CE, whatever the AQM; without it, none; ns; 0: not set */
	u32 ce_mask; /* ce_threshold applies to packets with DS field & ce_mask = ce_selector. 0: to all */
	u32 ce_selector; /* See ce_mask. 1 with mask 3: ECT(1) */
	u64 tupdate; /* pie and dualpi2: time between two updates of the probability; without it, 15 ms for pie and 16 ms for dualpi2; ns; 0: not set */
	struct vm_number pie_alpha; /* pie: what the probability gains in an update, for each second by which the sojourn time is above the target */
	struct vm_number pie_beta; /* pie: what the probability gains in an update, for each second by which the sojourn time has grown since the one before */
	u64 burst_allowance; /* pie: how long a queue that was idle may send without drops and marks; ns */
	u32 bytemode; /* pie: the probability is for packets of mtu bytes, and less for shorter ones */
	u32 coupling; /* dualpi2: the probability of a mark in L is so many times the base probability, whose square is that of C */
	u64 step_threshold; /* dualpi2: packets of L with a longer sojourn time leave with CE; ns */
	struct vm_number dualpi2_alpha; /* dualpi2: what the base probability gains in an update, for each second by which the sojourn time is above the target */
	struct vm_number dualpi2_beta; /* dualpi2: what the base probability gains in an update, for each second by which the sojourn time has grown since the one before */
	u32 overload; /* dualpi2: what L does while its probability would be above 1. drop: the classic drop before a mark. mark: marks alone, and the base probability stays below 1 / coupling; drop, mark */
	u32 l4s_mask; /* dualpi2: packets of C's classes whose ECN field & l4s_mask is not 0 go to L. 1: ECT(1) and CE */
	u32 mark_at; /* curve: when ECN-capable packets are marked. enqueue: as they arrive. dequeue: as they leave, by what is queued behind them, or by the average; enqueue, dequeue */
	u32 fq; /* Number of queues in the group of the queue. The packets of their classes go to the queue that the hash of their flow selects, and new flows are served before old ones (RFC 8290). With aqm = codel it is FQ-CoDel. Without it, no group; 0: not set */
};

struct vm_curve_image {
	u32 on;
	u32 min;
	u32 max;
	u32 end;
	struct vm_scaled inv1;
	u64 slope1;
	struct vm_scaled inv2;
	u64 base2;
	u64 slope2;
	struct vm_scaled square2;
};

struct vm_colour_image {
	struct vm_curve_image curve[2];
	u32 ecn_own;
};

struct vm_remark_image {
	u32 dscp;
	u32 on;
};

struct vm_flow_image {
	u32 kind;
	u32 increase;
	u32 ack;
	u32 alpha;
	u32 ns;
	u32 na;
	u32 a0;
	u32 idle;
	u32 half_open;
};

struct vm_marker_image {
	u32 kind;
	u32 colour_aware;
	u32 length;
	u32 out;
	u32 drop;
	u32 packet;
	struct vm_scaled cost[2];
	u64 burst[2];
	u64 low_threshold;
	u64 high_threshold;
	struct vm_scaled demote;
	struct vm_scaled promote;
	u32 p_drop;
	u64 meter;
	struct vm_remark_image remark[3];
	struct vm_flow_image flow;
};

struct vm_distance_image {
	u32 option;
	u32 infer;
	u32 share;
};

struct vm_codel_image {
	u32 on;
	u32 ce_mask;
	u32 ce_selector;
	u32 target;
	u32 interval;
	u32 ce_threshold;
	u32 mtu;
};

struct vm_pie_image {
	u32 on;
	u32 byte_mode;
	u32 interval;
	u32 target;
	u32 burst;
	u64 alpha;
	u64 beta;
	u32 mtu;
};

struct vm_dualpi2_image {
	u32 on;
	u32 drop_overload;
	u32 l4s_mask;
	u32 coupling;
	u32 interval;
	u32 target;
	u32 step;
	u32 alpha;
	u32 beta;
	u32 most;
	u32 mtu;
};

struct vm_queue_image {
	u32 unit;
	u32 update;
	u32 ecn;
	u32 size_weight;
	u32 spacing;
	u32 strict;
	u32 mark_late;
	u32 priority;
	u32 alpha;
	u32 masks[3];
	u32 limit;
	u32 limit_packets;
	struct vm_scaled lambda;
	struct vm_scaled inv_mean_len;
	struct vm_scaled weight[6];
	u32 quantum;
	struct vm_scaled cost;
	u64 burst;
	u32 ttl_option;
	u32 victim;
	u32 victim_by_colour;
	u32 victim_window;
	struct vm_marker_image marker;
	u64 idle_step;
	u32 fq;
	struct vm_colour_image colour[3];
	struct vm_distance_image distance;
	struct vm_codel_image codel;
	struct vm_pie_image pie;
	struct vm_dualpi2_image dualpi2;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `visit` with each register of the shadow record and its value, until it returns other than 0, and returns that. */
typedef int vm_visit(void *context, u32 address, u32 value);
int vm_queue_visit(const struct vm_queue_image *image, vm_visit *visit, void *context);

/* The word of a kind of marker, by the codes of marker.flags and marker.flow. */
const char *vm_marker_word(u32 code, u32 flow);

#ifdef __cplusplus
}
#endif

#endif
