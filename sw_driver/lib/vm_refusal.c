// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Writes a fault as a sentence. Decimal digits are computed by subtraction, as 32-bit kernels link
 * no helper for a division of u64.
 */
#include "vm_profile.h"

#define DIGITS 20     /* of a u64 */
#define TENS_SHOWN 24 /* more decimals are written as an exponent */

struct text {
	char *out;
	u32 size, length;
};

static void put(struct text *t, char c)
{
	if (t->length + 1 < t->size)
		t->out[t->length++] = c;
}

static void put_words(struct text *t, const char *words)
{
	while (*words)
		put(t, *words++);
}

/* Writes `value` with the decimal point `tens` places from the right. */
static void put_decimal(struct text *t, u64 value, u32 tens)
{
	static const u64 powers[DIGITS] = {
		10000000000000000000ull,
		1000000000000000000ull,
		100000000000000000ull,
		10000000000000000ull,
		1000000000000000ull,
		100000000000000ull,
		10000000000000ull,
		1000000000000ull,
		100000000000ull,
		10000000000ull,
		1000000000ull,
		100000000ull,
		10000000ull,
		1000000ull,
		100000ull,
		10000ull,
		1000ull,
		100ull,
		10ull,
		1ull,
	};
	bool begun = false;
	u32 place, i;

	for (place = TENS_SHOWN + 1; place-- > DIGITS;) /* zeros before the digits of a u64 */
		if (tens >= place) {
			put_words(t, begun ? "0" : "0.");
			begun = true;
		}
	for (i = 0; i < DIGITS; i++) {
		char digit = '0';

		while (value >= powers[i]) {
			value -= powers[i];
			digit++;
		}
		place = DIGITS - 1 - i; /* the place of this digit, from the right */
		begun = begun || digit != '0' || place <= tens;
		if (begun)
			put(t, digit);
		if (tens && place == tens)
			put(t, '.');
	}
}

static void put_number(struct text *t, struct vm_number x)
{
	put_decimal(t, x.num, x.tens <= TENS_SHOWN ? x.tens : 0);
	if (x.tens > TENS_SHOWN) {
		put_words(t, "e-");
		put_decimal(t, x.tens, 0);
	}
	if (x.den > 1) {
		put(t, '/');
		put_decimal(t, x.den, 0);
	}
}

u32 vm_refusal_text(const struct vm_refusal *fault, char *out, u32 size)
{
	struct text t = { out, size, 0 };

	if (!size)
		return 0;
	put_words(&t, fault->place);
	if (*fault->place)
		put(&t, '.');
	put_words(&t, fault->field);
	put_words(&t, " is ");
	put_number(&t, fault->value);
	put_words(&t, "; legal is ");
	put_words(&t, fault->legal);
	out[t.length] = 0;
	return t.length;
}
