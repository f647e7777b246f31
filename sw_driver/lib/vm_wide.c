// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "vm_wide.h"

void vm_wide_set(struct vm_wide *out, u64 value)
{
	unsigned int i;

	out->limb[0] = (u32)value;
	out->limb[1] = (u32)(value >> 32);
	for (i = 2; i < VM_WIDE_LIMBS; i++)
		out->limb[i] = 0;
}

void vm_wide_decimal(struct vm_wide *out, u64 value, u32 tens)
{
	u32 i;

	vm_wide_set(out, value);
	for (i = 0; i < tens; i++)
		vm_wide_mul_u64(out, 10);
}

void vm_wide_add_bit(struct vm_wide *out, unsigned int bit)
{
	u32 carry = (u32)1 << (bit & 31);
	unsigned int i;

	for (i = bit >> 5; i < VM_WIDE_LIMBS && carry; i++) {
		out->limb[i] += carry;
		carry = out->limb[i] < carry;
	}
}

void vm_wide_add(struct vm_wide *out, const struct vm_wide *b)
{
	u64 carry = 0;
	unsigned int i;

	for (i = 0; i < VM_WIDE_LIMBS; i++) {
		carry += (u64)out->limb[i] + b->limb[i];
		out->limb[i] = (u32)carry;
		carry >>= 32;
	}
}

void vm_wide_sub(struct vm_wide *out, const struct vm_wide *b)
{
	u64 borrow = 0;
	unsigned int i;

	for (i = 0; i < VM_WIDE_LIMBS; i++) {
		const u64 difference = (u64)out->limb[i] - b->limb[i] - borrow;

		out->limb[i] = (u32)difference;
		borrow = difference >> 63;
	}
}

void vm_wide_mul(struct vm_wide *out, const struct vm_wide *a, const struct vm_wide *b)
{
	struct vm_wide product;
	unsigned int i, j;

	vm_wide_set(&product, 0);
	for (i = 0; i < VM_WIDE_LIMBS; i++) {
		u64 carry = 0;

		if (!a->limb[i])
			continue;
		for (j = 0; i + j < VM_WIDE_LIMBS; j++) {
			carry += (u64)a->limb[i] * b->limb[j] + product.limb[i + j];
			product.limb[i + j] = (u32)carry;
			carry >>= 32;
		}
	}
	*out = product;
}

void vm_wide_mul_u64(struct vm_wide *out, u64 b)
{
	struct vm_wide factor;

	vm_wide_set(&factor, b);
	vm_wide_mul(out, &factor, out);
}

void vm_wide_shl(struct vm_wide *out, unsigned int bits)
{
	const unsigned int limbs = bits >> 5, rest = bits & 31;
	unsigned int i;

	for (i = VM_WIDE_LIMBS; i-- > 0;) {
		u64 pair = 0;

		if (i >= limbs)
			pair = (u64)out->limb[i - limbs] << 32;
		if (i > limbs)
			pair |= out->limb[i - limbs - 1];
		out->limb[i] = (u32)(pair >> (32 - rest));
	}
}

void vm_wide_shr(struct vm_wide *out, unsigned int bits)
{
	const unsigned int limbs = bits >> 5, rest = bits & 31;
	unsigned int i;

	for (i = 0; i < VM_WIDE_LIMBS; i++) {
		u64 pair = 0;

		if (i + limbs < VM_WIDE_LIMBS)
			pair = out->limb[i + limbs];
		if (i + limbs + 1 < VM_WIDE_LIMBS)
			pair |= (u64)out->limb[i + limbs + 1] << 32;
		out->limb[i] = (u32)(pair >> rest);
	}
}

bool vm_wide_is_zero(const struct vm_wide *a)
{
	u32 any = 0;
	unsigned int i;

	for (i = 0; i < VM_WIDE_LIMBS; i++)
		any |= a->limb[i];
	return !any;
}

bool vm_wide_less(const struct vm_wide *a, const struct vm_wide *b)
{
	unsigned int i;

	for (i = VM_WIDE_LIMBS; i-- > 0;)
		if (a->limb[i] != b->limb[i])
			return a->limb[i] < b->limb[i];
	return false;
}

void vm_wide_divide(struct vm_wide *out, const struct vm_wide *num, const struct vm_wide *den, unsigned int bits)
{
	struct vm_wide left = *num, quotient, multiple;

	vm_wide_set(&quotient, 0);
	while (bits-- > 0) {
		multiple = *den;
		vm_wide_shl(&multiple, bits);
		if (vm_wide_less(&left, &multiple))
			continue;
		vm_wide_sub(&left, &multiple);
		vm_wide_add_bit(&quotient, bits);
	}
	*out = quotient;
}

u64 vm_wide_low(const struct vm_wide *a)
{
	return a->limb[0] | (u64)a->limb[1] << 32;
}
