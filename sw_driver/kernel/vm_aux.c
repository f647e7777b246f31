// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The app block of a Corundum NIC: an auxiliary device of its driver, mqnic.app_ and APP_ID in eight hexadecimal digits.
 *
 * What mqnic hands over is its own struct; here stands the beginning that an app's driver reads, as in mqnic.h of the release
 * named in docs/driver.md. TODO
 */
#include <linux/auxiliary_bus.h>

#include "vm_core.h"

int vm_aux_init(void)
{
	return 0;
}

void vm_aux_exit(void)
{
}
