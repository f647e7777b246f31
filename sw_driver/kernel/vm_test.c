// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Known answers of the conversion: part of `ethtool -t`, with `make KUNIT=1` also a KUnit suite. */
#include <linux/kernel.h>

#include "vm_access.h"
#include "vm_test.h"
#include "vm_test_vectors.h"

struct comparison {
	const u32 *expected;
	u32 count;
};

static int vm_test_compare(void *context, u32 address, u32 value)
{
	struct comparison *comparison = context;

	return comparison->count++ >= VM_TEST_WORDS || *comparison->expected++ != value;
}

/* Compares all words of the image, and their number, with the known answer. */
static bool vm_test_is_right(const struct vm_test_vector *vector, struct vm_queue_image *words)
{
	struct comparison comparison = { vector->words, 0 };
	struct vm_refusal fault;

	if (!vm_queue_check(&vector->settings, &vector->port, &fault))
		return false;
	vm_queue_convert(&vector->settings, &vector->port, words);
	return !vm_queue_visit(words, vm_test_compare, &comparison) && comparison.count == VM_TEST_WORDS;
}

const char *vm_test_conversion(struct vm_queue_image *words)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(vm_test_vectors); i++)
		if (!vm_test_is_right(&vm_test_vectors[i], words))
			return vm_test_vectors[i].name;
	return NULL;
}

#ifdef VM_KUNIT
#include <kunit/test.h>

static void vm_test_queue_words(struct kunit *test)
{
	struct vm_queue_image *words = kunit_kmalloc(test, sizeof(*words), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, words);
	KUNIT_EXPECT_STREQ(test, vm_test_conversion(words) ?: "", "");
}

static void vm_test_refusals(struct kunit *test)
{
	const struct vm_port port = { .rate = 1000000000, .queues = 16 };
	struct vm_queue *queue = kunit_kmalloc(test, sizeof(*queue), GFP_KERNEL);
	struct vm_refusal fault;
	char text[96];

	KUNIT_ASSERT_NOT_NULL(test, queue);
	vm_queue_defaults(queue);
	KUNIT_EXPECT_TRUE(test, vm_queue_check(queue, &port, &fault));
	queue->priority = 8;
	KUNIT_ASSERT_FALSE(test, vm_queue_check(queue, &port, &fault));
	vm_refusal_text(&fault, text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, text, "priority is 8; legal is 0 to 7, higher goes first");
}

static struct kunit_case cases[] = {
	KUNIT_CASE(vm_test_queue_words),
	KUNIT_CASE(vm_test_refusals),
	{},
};

static struct kunit_suite suite = { .name = "vermilion", .test_cases = cases };

kunit_test_suite(suite);
#endif
