/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Checks a queue's settings and converts them to registers.
 *
 *   vm_queue_check()     settings, struct vm_queue -> legal, or a fault: field, value, legal range
 *   vm_queue_convert()   legal settings -> image, struct vm_queue_image
 *   vm_queue_visit()     image -> addresses and values of registers
 *
 * Both structs are in vm_profile_types.h, which is generated; docs/profile.md lists their fields.
 * Call vm_queue_defaults() first, then set fields.
 */
#ifndef VM_PROFILE_H
#define VM_PROFILE_H

#include "vm_profile_types.h"
#include "vm_units.h"

#define VM_REMARK_KEEP 64 /* as a code point: packets keep their code point */

/* The values of the port on which a queue's image depends. */
struct vm_port {
	u64 rate;   /* bits per second */
	u32 burst;  /* bytes */
	u32 queues; /* highest queue in use + 1, times the egresses: cycles of a shaper's round */
};

/* A fault in settings, as "PLACE.FIELD is VALUE; legal is LEGAL". PLACE may be empty. */
struct vm_refusal {
	const char *place;
	const char *field;
	struct vm_number value;
	const char *legal;
};

void vm_queue_defaults(struct vm_queue *queue);

/* True if all settings are legal and the lane can apply them. Else `fault` names the first setting
 * that is not legal.
 */
bool vm_port_check(const struct vm_port *port, struct vm_refusal *fault);
bool vm_queue_check(const struct vm_queue *queue, const struct vm_port *port, struct vm_refusal *fault);
bool vm_marker_check(const struct vm_marker *marker, struct vm_refusal *fault);

/* Check the ranges of single fields; generated. If one is not legal, they fill `fault` and return
 * false. vm_marker_ranges() checks only the fields that the marker's kind reads.
 */
bool vm_average_ranges(const struct vm_average *average, const char *place, struct vm_refusal *fault);
bool vm_curve_ranges(const struct vm_curve *curve, const char *place, struct vm_refusal *fault);
bool vm_distance_ranges(const struct vm_distance *distance, const char *place, struct vm_refusal *fault);
bool vm_marker_ranges(const struct vm_marker *marker, const char *place, struct vm_refusal *fault);
bool vm_queue_ranges(const struct vm_queue *queue, const char *place, struct vm_refusal *fault);

/* For the checks: fill `fault` and return false. vm_check_fail() does so always, the others only if
 * the value is not legal. Legal is:
 *
 *   range    `low` to `high`
 *   number   low_num / low_den to high_num / high_den
 *   bucket   at least the shortest packet that the marker counts
 *   power    0, or a power of two that has a code
 */
bool vm_check_fail(struct vm_refusal *fault, const char *place, const char *field, struct vm_number value,
		   const char *legal);
bool vm_check_range(struct vm_refusal *fault, const char *place, const char *field, u64 value, u64 low, u64 high,
		    const char *legal);
bool vm_check_number(struct vm_refusal *fault, const char *place, const char *field, struct vm_number value,
		     u64 low_num, u64 low_den, u64 high_num, u64 high_den, const char *legal);
bool vm_check_bucket(struct vm_refusal *fault, const char *place, const char *field, u32 bytes,
		     const struct vm_marker *marker);
bool vm_check_power(struct vm_refusal *fault, const char *place, const char *field, struct vm_number value,
		    const char *legal);
extern const char *const vm_colours[VM_COLOURS];

/* Sets `bytes` bytes to 0 without a call of memset. */
void vm_clear(void *out, u32 bytes);

/* Writes a fault as a sentence without its full stop, cut at `size` - 1 characters, and a final 0.
 * Returns the length.
 */
u32 vm_refusal_text(const struct vm_refusal *fault, char *out, u32 size);

/* Convert legal settings to the image. Other settings give unspecified values. */
void vm_queue_convert(const struct vm_queue *queue, const struct vm_port *port, struct vm_queue_image *image);
void vm_curve_convert(const struct vm_curve *curve, u32 end, struct vm_curve_image *image);
void vm_marker_convert(const struct vm_marker *marker, struct vm_marker_image *image);

/* ExRED's K in the average's unit: the curve's end, or the queue's limit if the end is 0; 0 if both
 * are. For RED use it only if the curve's end is not 0.
 */
u32 vm_curve_end(const struct vm_queue *queue, const struct vm_curve *curve);
/* REDP's thresholds T_L and T_H, and the bucket's depth above T_H, as time at its rate, ns. */
void vm_redp_widths(const struct vm_marker *marker, u64 *low, u64 *high, u64 *above);

/* A kind of marker, generated from hw/regs/profile.yaml:
 *
 *   vm_marker_rules()     rules between its settings
 *   vm_marker_colours()   the colours that packets can leave with, bit c for colour c
 *   vm_marker_buckets()   buckets A and B, rate 0 for a bucket that it does not have
 *   vm_marker_codes()     the codes of marker.flags and marker.flow, 0 for an unknown kind
 */
bool vm_marker_rules(const struct vm_marker *marker, const char *place, struct vm_refusal *fault);
u32 vm_marker_colours(u32 kind);
void vm_marker_buckets(const struct vm_marker *marker, struct vm_bucket bucket[2]);
void vm_marker_codes(u32 kind, u32 *code, u32 *flow);

#endif
