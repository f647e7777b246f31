/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Known answers of the conversion, checked in the running kernel. */
#ifndef VM_TEST_H
#define VM_TEST_H

#include "vm_profile.h"

/* The name of the first queue of vm_test_vectors.h with a different result, or NULL. `words` is a
 * work buffer.
 */
const char *vm_test_conversion(struct vm_queue_image *words);

#endif
