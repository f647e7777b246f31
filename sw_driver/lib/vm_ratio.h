/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Exact fractions, and how they are rounded to register values. For the library's own files. */
#ifndef VM_RATIO_H
#define VM_RATIO_H

#include "vm_wide.h"

enum vm_rounding { VM_NEAREST, VM_DOWN }; /* to nearest, halves up; to minus infinity */

struct vm_ratio {
	struct vm_wide num, den;
};

/* The exact value of a number. A number with more than 60 tens is below 10^-40 and becomes 10^-40.
 * Every rounding here gives the same result for both (not 0, and too small to show). So the size is
 * bounded for any number of decimals.
 */
void vm_ratio_of(struct vm_ratio *out, struct vm_number x);
void vm_ratio_set(struct vm_ratio *out, u64 num, u64 den);

/* Rounds x to mant 2^-shift with a mantissa of `bits` bits. It is normalised: the shift is the
 * greatest one, up to `shift_max`, with which x fits. Saturates at the greatest mantissa with
 * shift 0; 0 is (0, 0).
 */
struct vm_scaled vm_ratio_scaled(const struct vm_ratio *x, unsigned int bits, u32 shift_max, enum vm_rounding rounding);
/* x 2^frac to nearest, at most 2^bits - 1; `bits` up to 64. */
u64 vm_ratio_fixed(const struct vm_ratio *x, unsigned int frac, unsigned int bits);

/* log2(x) 2^96 for x >= 1. The result is too small by less than 2. */
#define VM_LOG2_FRAC 96
void vm_ratio_log2(struct vm_wide *out, const struct vm_ratio *x);

#endif
