// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The module: registers its interfaces in order, and removes them in reverse order. */
#include <linux/module.h>

#include "vm_core.h"

static int __init vm_init(void)
{
	int error;

	vm_debugfs_init();
	error = vm_netlink_init();
	if (error)
		goto no_netlink;
	error = vm_pci_init();
	if (error)
		goto no_pci;
	error = vm_aux_init();
	if (error)
		goto no_aux;
	return 0;

no_aux:
	vm_pci_exit();
no_pci:
	vm_netlink_exit();
no_netlink:
	vm_debugfs_exit();
	return error;
}

static void __exit vm_exit(void)
{
	vm_aux_exit();
	vm_pci_exit();
	vm_netlink_exit();
	vm_debugfs_exit();
}

module_init(vm_init);
module_exit(vm_exit);

MODULE_DESCRIPTION("Vermilion: marking and active queue management in an FPGA NIC");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(VM_DRIVER_VERSION);
