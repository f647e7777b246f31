/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Known answers of the conversion, looked at in the kernel that runs it. */
#ifndef VM_TEST_H
#define VM_TEST_H

#include "vm_profile.h"

/* The first queue of vm_test_vectors.h whose words come out otherwise, or NULL. `words` is room to work in. */
const char *vm_test_conversion(struct vm_queue_image *words);

#endif
