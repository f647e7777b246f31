// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "vm_units.h"
#include "vm_ratio.h"

#define BYTE_NS 8000000000ull /* nanoseconds of a byte at one bit per second */

struct vm_scaled vm_weight(struct vm_number w, unsigned int n)
{
	const struct vm_scaled one = { 256, 0 };
	struct vm_wide whole, rest;
	struct vm_scaled out;
	struct vm_ratio x;
	unsigned int i;

	vm_ratio_of(&x, w);
	if (!vm_wide_less(&x.num, &x.den))
		return one;
	whole = x.den;
	rest = x.den;
	vm_wide_sub(&rest, &x.num);
	x.num = rest; /* num / den is (1-w)^n after the loop */
	for (i = 1; i < n; i++) {
		vm_wide_mul(&x.num, &x.num, &rest);
		vm_wide_mul(&x.den, &x.den, &whole);
	}
	rest = x.num;
	x.num = x.den;
	vm_wide_sub(&x.num, &rest);
	vm_wide_shl(&x.num, 8);
	out = vm_ratio_scaled(&x, VM_WEIGHT_MANT_BITS, VM_WEIGHT_SHIFT_MAX, VM_NEAREST);
	return out.mant && !out.shift ? one : out;
}

/* -log2(1-w) 2^(VM_LOG2_FRAC + VM_IDLE_FRAC); false at w = 1, where it has no value. */
static bool decay_of_packet(struct vm_wide *out, struct vm_number w)
{
	struct vm_wide rest;
	struct vm_ratio x;

	vm_ratio_of(&x, w);
	if (!vm_wide_less(&x.num, &x.den))
		return false;
	rest = x.den;
	vm_wide_sub(&rest, &x.num);
	x.num = x.den; /* 1 / (1-w) */
	x.den = rest;
	vm_ratio_log2(out, &x);
	vm_wide_shl(out, VM_IDLE_FRAC);
	return true;
}

struct vm_scaled vm_idle_decay(struct vm_number w, u32 packet_bytes, u64 rate)
{
	const struct vm_scaled greatest = { (1u << VM_LAMBDA_MANT_BITS) - 1, 0 };
	struct vm_ratio x;

	if (!decay_of_packet(&x.num, w))
		return greatest;
	vm_wide_mul_u64(&x.num, rate);
	vm_wide_set(&x.den, BYTE_NS);
	vm_wide_mul_u64(&x.den, packet_bytes);
	vm_wide_shl(&x.den, VM_LOG2_FRAC);
	return vm_ratio_scaled(&x, VM_LAMBDA_MANT_BITS, VM_LAMBDA_SHIFT_MAX, VM_NEAREST);
}

u64 vm_idle_step(struct vm_number w, struct vm_scaled lambda)
{
	struct vm_ratio x;

	if (!decay_of_packet(&x.num, w))
		return ((u64)1 << VM_IDLE_STEP_BITS) - 1;
	vm_wide_set(&x.den, 1);
	vm_wide_shl(&x.den, VM_LOG2_FRAC);
	return vm_ratio_fixed(&x, lambda.shift, VM_IDLE_STEP_BITS);
}

struct vm_scaled vm_inverse(u32 width)
{
	const struct vm_scaled none = { 0, 0 };
	struct vm_ratio x;

	vm_ratio_set(&x, 1u << (VM_POS_FRAC - VM_AVG_FRAC), width);
	return width ? vm_ratio_scaled(&x, VM_INV_MANT_BITS, VM_SHIFT_MAX, VM_DOWN) : none;
}

u64 vm_probability(struct vm_number p, unsigned int frac)
{
	const u64 one = (u64)1 << frac;
	struct vm_ratio x;
	u64 out;

	vm_ratio_of(&x, p);
	out = vm_ratio_fixed(&x, frac, frac + 1);
	return out < one ? out : one;
}

struct vm_scaled vm_cost(u64 rate)
{
	const struct vm_scaled none = { 0, 0 };
	struct vm_ratio x;

	vm_ratio_set(&x, BYTE_NS, rate);
	return rate ? vm_ratio_scaled(&x, VM_COST_MANT_BITS, VM_SHIFT_MAX, VM_NEAREST) : none;
}

struct vm_scaled vm_size_weight(u32 mean_bytes)
{
	struct vm_ratio x;

	vm_ratio_set(&x, 1u << VM_RATIO_FRAC, mean_bytes);
	return vm_ratio_scaled(&x, VM_SIZE_MANT_BITS, VM_SHIFT_MAX, VM_NEAREST);
}

u32 vm_least_burst_ns(u32 queues)
{
	return VM_CLOCK_NS * (queues + VM_LATENESS_CLOCKS);
}

u64 vm_burst_ns(u64 bytes, u64 rate, u32 queues)
{
	const u32 least = vm_least_burst_ns(queues);
	struct vm_ratio x;
	u64 out;

	if (!rate)
		return 0;
	vm_ratio_set(&x, BYTE_NS, rate);
	vm_wide_mul_u64(&x.num, bytes);
	out = vm_ratio_fixed(&x, 0, VM_BURST_BITS);
	return out > least ? out : least;
}

u64 vm_depth_ns(u64 bytes, u64 rate)
{
	const struct vm_scaled cost = vm_cost(rate);
	const u64 whole = bytes * cost.mant;

	return (whole + (((u64)1 << cost.shift) - 1)) >> cost.shift;
}

struct vm_scaled vm_span(u64 width_ns, struct vm_number max_p)
{
	struct vm_wide max_num;
	struct vm_ratio x;

	vm_ratio_of(&x, max_p);
	max_num = x.num;
	x.num = x.den;
	vm_wide_mul_u64(&x.num, width_ns);
	x.den = max_num;
	vm_wide_shl(&x.den, VM_SPAN_SHIFT);
	return vm_ratio_scaled(&x, VM_COST_MANT_BITS, VM_SHIFT_MAX, VM_NEAREST);
}

u32 vm_flow_average(struct vm_number packets)
{
	struct vm_ratio x;

	vm_ratio_of(&x, packets);
	return (u32)vm_ratio_fixed(&x, VM_FLOW_AVERAGE_FRAC, 24);
}

u32 vm_flow_age(u64 ns)
{
	return (u32)((ns + ((u64)1 << (VM_FLOW_TICK_BITS - 1))) >> VM_FLOW_TICK_BITS);
}

u32 vm_alpha(struct vm_number alpha)
{
	struct vm_ratio x;
	u32 code;

	vm_ratio_of(&x, alpha);
	if (vm_wide_is_zero(&x.num))
		return 0;
	vm_wide_shl(&x.num, VM_ALPHA_FRAC);
	for (code = 1; code <= VM_ALPHA_MOST; code++) {
		vm_wide_shl(&x.den, 1); /* if both are equal now, alpha 2^8 = 2^code */
		if (!vm_wide_less(&x.num, &x.den) && !vm_wide_less(&x.den, &x.num))
			return code;
	}
	return 0;
}

u32 vm_codel_time(u64 ns)
{
	const u64 time = ns >> VM_CODEL_SHIFT;

	return time < 0xFFFFFFFFu ? (u32)time : 0xFFFFFFFFu;
}

u32 vm_pie_ticks(u64 ns)
{
	const u64 ticks = (ns + (1u << (VM_PIE_TICK_SHIFT - 1))) >> VM_PIE_TICK_SHIFT;

	if (!ticks)
		return 1;
	return ticks < VM_PIE_TICKS_MAX ? (u32)ticks : VM_PIE_TICKS_MAX;
}

/* 2^56 64 / 10^9 is 2^53 / 1,953,125. */
u64 vm_pie_gain(struct vm_number per_second)
{
	struct vm_ratio x;

	vm_ratio_of(&x, per_second);
	vm_wide_mul_u64(&x.den, 1953125);
	return vm_ratio_fixed(&x, 53, VM_PIE_GAIN_BITS);
}

/* 2^40 64 / 10^9 is 2^37 / 1,953,125. */
u32 vm_dualpi2_gain(struct vm_number per_second)
{
	struct vm_ratio x;

	vm_ratio_of(&x, per_second);
	vm_wide_mul_u64(&x.den, 1953125);
	return (u32)vm_ratio_fixed(&x, 37, VM_DUALPI2_GAIN_BITS);
}

u32 vm_pool_cells(u32 bytes)
{
	return bytes / VM_CELL_BYTES;
}

static u64 splitmix64(u64 *x)
{
	u64 z = *x += 0x9E3779B97F4A7C15ull;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
	return z ^ (z >> 31);
}

void vm_seed_words(u64 seed, unsigned int which, u32 words[4])
{
	unsigned int i;
	u64 half;

	for (i = 0; i < 2 * which; i++)
		splitmix64(&seed);
	for (i = 0; i < 4; i += 2) {
		half = splitmix64(&seed);
		words[i] = (u32)half;
		words[i + 1] = (u32)(half >> 32);
	}
}
