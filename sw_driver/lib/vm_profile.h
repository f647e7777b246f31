/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Checks a queue's settings and converts them to registers.
 *
 *   settings --vm_queue_check()--> legal, or a fault: field, value, legal range   --vm_queue_convert()--> image --vm_queue_visit()--> registers
 *
 * Both structs, vm_queue and vm_queue_image, are in vm_profile_types.h, which is generated; docs/profile.md lists their fields.
 * Call vm_queue_defaults() first, then set fields.
 */
#ifndef VM_PROFILE_H
#define VM_PROFILE_H

#include "vm_profile_types.h"
#include "vm_units.h"

#define VM_REMARK_KEEP 64 /* as a code point: packets keep theirs */

/* Of the lane, what a queue's words depend on. */
struct vm_port {
	u64 rate;
	u32 burst;  /* bytes */
	u32 queues; /* up to the highest one in use, times the egresses: so many clocks a round of the shaper takes */
};

/* What is wrong with settings, for a sentence "PLACE.FIELD is VALUE; legal is LEGAL"; PLACE may be empty. */
struct vm_refusal {
	const char *place;
	const char *field;
	struct vm_number value;
	const char *legal;
};

void vm_queue_defaults(struct vm_queue *queue);

/* True if all settings are legal and the lane can apply them; else `fault` names the first setting that is not legal. */
bool vm_port_check(const struct vm_port *port, struct vm_refusal *fault);
bool vm_queue_check(const struct vm_queue *queue, const struct vm_port *port, struct vm_refusal *fault);
bool vm_marker_check(const struct vm_marker *marker, struct vm_refusal *fault);

/* Ranges of single fields, generated: false with `fault` filled where one is not legal. A marker's: those that its kind reads. */
bool vm_average_ranges(const struct vm_average *average, const char *place, struct vm_refusal *fault);
bool vm_curve_ranges(const struct vm_curve *curve, const char *place, struct vm_refusal *fault);
bool vm_distance_ranges(const struct vm_distance *distance, const char *place, struct vm_refusal *fault);
bool vm_marker_ranges(const struct vm_marker *marker, const char *place, struct vm_refusal *fault);
bool vm_queue_ranges(const struct vm_queue *queue, const char *place, struct vm_refusal *fault);

/* For the checks: fill `fault` and return false, all but the first only where `value` is not legal: not from `low` to `high`, not
 * from low_num / low_den to high_num / high_den, neither 0 nor a power of two that has a code.
 */
bool vm_check_fail(struct vm_refusal *fault, const char *place, const char *field, struct vm_number value,
		   const char *legal);
bool vm_check_range(struct vm_refusal *fault, const char *place, const char *field, u64 value, u64 low, u64 high,
		    const char *legal);
bool vm_check_number(struct vm_refusal *fault, const char *place, const char *field, struct vm_number value,
		     u64 low_num, u64 low_den, u64 high_num, u64 high_den, const char *legal);
/* A bucket must hold the shortest packet that the marker counts. */
bool vm_check_bucket(struct vm_refusal *fault, const char *place, const char *field, u32 bytes,
		     const struct vm_marker *marker);
bool vm_check_power(struct vm_refusal *fault, const char *place, const char *field, struct vm_number value,
		    const char *legal);
extern const char *const vm_colours[VM_COLOURS];

/* Sets `bytes` bytes to 0; no call of memset. */
void vm_clear(void *out, u32 bytes);

/* A fault as a sentence without its full stop, cut at `size` - 1 characters; returns its length. */
u32 vm_refusal_text(const struct vm_refusal *fault, char *out, u32 size);

/* The image of legal settings; of others, some values. */
void vm_queue_convert(const struct vm_queue *queue, const struct vm_port *port, struct vm_queue_image *image);
void vm_curve_convert(const struct vm_curve *curve, u32 end, struct vm_curve_image *image);
void vm_marker_convert(const struct vm_marker *marker, struct vm_marker_image *image);

/* ExRED's K in the average's unit: the curve's own or the queue's limit; 0 where there is neither. RED's end where it is not 0. */
u32 vm_curve_end(const struct vm_queue *queue, const struct vm_curve *curve);
/* Of REDP, as time at its rate, ns: the thresholds T_L and T_H, and what the bucket holds above T_H. */
void vm_redp_widths(const struct vm_marker *marker, u64 *low, u64 *high, u64 *above);

/* Of a kind of marker, by hw/regs/profile.yaml: rules between its settings; the colours that packets can leave with, bit c for colour c;
 * buckets A and B, rate 0 where it has none; the codes of marker.flags and marker.flow, 0 for an unknown kind.
 */
bool vm_marker_rules(const struct vm_marker *marker, const char *place, struct vm_refusal *fault);
u32 vm_marker_colours(u32 kind);
void vm_marker_buckets(const struct vm_marker *marker, struct vm_bucket bucket[2]);
void vm_marker_codes(u32 kind, u32 *code, u32 *flow);

#endif
