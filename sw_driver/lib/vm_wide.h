/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Exact unsigned integers of 640 bits, for quotients that must be rounded exactly. For example,
 * (1-w)^6 of a weight with 23 decimals has a denominator of 458 bits. Division shifts and
 * subtracts, as 32-bit kernels link no helper for a division of u64.
 *
 * Legal settings cause no overflow. Other settings lose the highest bits and have no other effect.
 */
#ifndef VM_WIDE_H
#define VM_WIDE_H

#include "vm_types.h"

#define VM_WIDE_LIMBS 20

struct vm_wide {
	u32 limb[VM_WIDE_LIMBS]; /* lowest first */
};

void vm_wide_set(struct vm_wide *out, u64 value);
/* value 10^tens */
void vm_wide_decimal(struct vm_wide *out, u64 value, u32 tens);
/* out += 1 where `bit` is 0, 2 where it is 1 and so on. */
void vm_wide_add_bit(struct vm_wide *out, unsigned int bit);
void vm_wide_add(struct vm_wide *out, const struct vm_wide *b);
void vm_wide_sub(struct vm_wide *out, const struct vm_wide *b);
/* out may be a or b. */
void vm_wide_mul(struct vm_wide *out, const struct vm_wide *a, const struct vm_wide *b);
void vm_wide_mul_u64(struct vm_wide *out, u64 b);
void vm_wide_shl(struct vm_wide *out, unsigned int bits);
void vm_wide_shr(struct vm_wide *out, unsigned int bits);
bool vm_wide_is_zero(const struct vm_wide *a);
bool vm_wide_less(const struct vm_wide *a, const struct vm_wide *b);
/* floor(num / den), at most 2^bits - 1, also where den is 0. */
void vm_wide_divide(struct vm_wide *out, const struct vm_wide *num, const struct vm_wide *den, unsigned int bits);
/* The lowest 64 bits. */
u64 vm_wide_low(const struct vm_wide *a);

#endif
