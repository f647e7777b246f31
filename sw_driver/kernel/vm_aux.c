// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The lanes in a Corundum NIC (docs/nic.md): an auxiliary device of Corundum's driver. Its name is
 * mqnic.app_ and APP_ID in hexadecimal digits.
 *
 * That driver's structs, which hold the mapped BAR, differ between its versions. So this driver
 * uses only the PCI function, which is the parent of the auxiliary device. The app block's
 * registers are in BAR 2 of the function.
 */
#include <linux/auxiliary_bus.h>
#include <linux/pci.h>

#include "vm_core.h"

#define BAR_APP 2
#define BAR_BYTES_MAX (1u << 24)

static int vm_aux_probe(struct auxiliary_device *adev, const struct auxiliary_device_id *id)
{
	struct device *parent = adev->dev.parent;
	void __iomem *registers;
	struct vm_card *card;
	resource_size_t bytes;
	int error;

	if (!parent || !dev_is_pci(parent)) {
		dev_err(&adev->dev, "the NIC is no PCI function; only those are driven\n");
		return -EOPNOTSUPP;
	}
	bytes = min_t(resource_size_t, pci_resource_len(to_pci_dev(parent), BAR_APP), BAR_BYTES_MAX);
	if (!bytes || !(pci_resource_flags(to_pci_dev(parent), BAR_APP) & IORESOURCE_MEM)) {
		dev_err(&adev->dev, "the NIC has no BAR %d; it was built without APP_CTRL_ENABLE\n", BAR_APP);
		return -ENODEV;
	}
	/* The region is mqnic's; this is a second mapping of it. */
	registers = devm_ioremap(&adev->dev, pci_resource_start(to_pci_dev(parent), BAR_APP), bytes);
	if (!registers)
		return -ENOMEM;
	card = vm_card_alloc(&adev->dev, "mqnic", registers, bytes);
	if (!card)
		return -ENOMEM;
	auxiliary_set_drvdata(adev, card);
	error = vm_card_register(card);
	if (error)
		vm_card_free(card);
	return error;
}

static void vm_aux_remove(struct auxiliary_device *adev)
{
	struct vm_card *card = auxiliary_get_drvdata(adev);

	vm_card_unregister(card);
	vm_card_free(card);
}

static const struct auxiliary_device_id ids[] = { { .name = "mqnic.app_564d0001" }, {} };
MODULE_DEVICE_TABLE(auxiliary, ids);

static struct auxiliary_driver vm_aux_driver = {
	.name = VM_DRIVER,
	.probe = vm_aux_probe,
	.remove = vm_aux_remove,
	.id_table = ids,
	.driver.pm = pm_sleep_ptr(&vm_card_power), /* the NIC suspends later, resumes earlier */
};

int vm_aux_init(void)
{
	return auxiliary_driver_register(&vm_aux_driver);
}

void vm_aux_exit(void)
{
	auxiliary_driver_unregister(&vm_aux_driver);
}
