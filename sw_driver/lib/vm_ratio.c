// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "vm_ratio.h"

#define TENS_MAX 60
#define TENS_TINY 40
#define LOG2_WIDTH 127 /* fraction bits of the mantissa that is squared */

void vm_ratio_of(struct vm_ratio *out, struct vm_number x)
{
	if (x.tens > TENS_MAX) {
		vm_wide_set(&out->num, x.num != 0);
		vm_wide_decimal(&out->den, 1, TENS_TINY);
		return;
	}
	vm_wide_set(&out->num, x.num);
	vm_wide_decimal(&out->den, x.den ? x.den : 1, x.tens);
}

void vm_ratio_set(struct vm_ratio *out, u64 num, u64 den)
{
	vm_wide_set(&out->num, num);
	vm_wide_set(&out->den, den);
}

/*
 * With top = 2^bits, x 2^s rounds to less than top
 *   to nearest: if x 2^s + 1/2 < top, that is 2 num 2^s < (2 top - 1) den
 *   down:       if       x 2^s < top, that is 2 num 2^s < 2 top den
 */
struct vm_scaled vm_ratio_scaled(const struct vm_ratio *x, unsigned int bits, u32 shift_max, enum vm_rounding rounding)
{
	struct vm_wide twice = x->num, limit = x->den, other;
	struct vm_scaled out = { 0, 0 };

	if (vm_wide_is_zero(&twice))
		return out;
	vm_wide_shl(&twice, 1);
	vm_wide_shl(&limit, bits + 1);
	if (rounding == VM_NEAREST)
		vm_wide_sub(&limit, &x->den);
	for (; out.shift < shift_max; out.shift++) {
		other = twice;
		vm_wide_shl(&other, 1);
		if (!vm_wide_less(&other, &limit))
			break;
		twice = other;
	}
	if (rounding == VM_NEAREST)
		vm_wide_add(&twice, &x->den);
	other = x->den;
	vm_wide_shl(&other, 1);
	vm_wide_divide(&twice, &twice, &other, bits);
	out.mant = (u32)vm_wide_low(&twice);
	return out;
}

u64 vm_ratio_fixed(const struct vm_ratio *x, unsigned int frac, unsigned int bits)
{
	struct vm_wide twice = x->num, den = x->den;

	vm_wide_shl(&twice, frac + 1);
	vm_wide_add(&twice, &den);
	vm_wide_shl(&den, 1);
	vm_wide_divide(&twice, &twice, &den, bits);
	return vm_wide_low(&twice);
}

/*
 * x = y 2^k with y in [1, 2). Squaring y doubles its logarithm. The next bit of log2 y is 1 if the
 * square is 2 or more. The next y is the square, halved if that bit is 1.
 *
 * Error: each y is truncated at 2^-127. The next squaring doubles this error, but the bits from
 * there on count half. So each of the 96 steps lowers the logarithm by at most 1.5 2^-127.
 * Truncation after the last bit lowers it by at most 2^-96. The logarithms of weights from 2^-15 on
 * are above 2^-15.
 */
void vm_ratio_log2(struct vm_wide *out, const struct vm_ratio *x)
{
	struct vm_wide base = x->den, y;
	unsigned int whole = 0, bit;

	for (;;) {
		y = base;
		vm_wide_shl(&y, 1);
		if (vm_wide_less(&x->num, &y) || whole == 255)
			break;
		base = y;
		whole++;
	}
	y = x->num;
	vm_wide_shl(&y, LOG2_WIDTH);
	vm_wide_divide(&y, &y, &base, LOG2_WIDTH + 1);
	vm_wide_set(out, whole);
	vm_wide_shl(out, VM_LOG2_FRAC);
	for (bit = VM_LOG2_FRAC; bit-- > 0;) {
		vm_wide_mul(&y, &y, &y);
		vm_wide_shr(&y, LOG2_WIDTH);
		if (y.limb[4]) { /* bit 128 is set: y is 2 or more */
			vm_wide_shr(&y, 1);
			vm_wide_add_bit(out, bit);
		}
	}
}
