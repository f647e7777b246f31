/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The integer types of the driver library, inside and outside the kernel. The library needs nothing
 * else from either: it calls no function of libc or the kernel. It uses no floating point and no
 * division (long division: vm_wide.h).
 */
#ifndef VM_TYPES_H
#define VM_TYPES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
#endif

#define VM_COLOURS 3
#define VM_STAGES 6 /* weights W[1..6] of an average */

/* A number as the user gave it: num / (den 10^tens); den 0 counts as 1. It is exact for every
 * decimal of up to 19 digits (0.002 = 2 / 10^3) and for binary fractions such as tc's Q0.32
 * (den 2^32).
 */
struct vm_number {
	u64 num;
	u64 den;
	u32 tens;
};

/* A factor in the format of the registers: mant 2^-shift. A weight is mant 2^-(8 + shift). */
struct vm_scaled {
	u32 mant;
	u32 shift;
};

#endif
