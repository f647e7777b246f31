// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* A stand-in for Corundum's driver in a guest. mqnic.ko binds to the NIC's PCI function and creates
 * the auxiliary device of its application, mqnic.app_564d0001. The first part of the name is the
 * name of the module.
 *
 * Like Corundum's driver, it holds the function's regions and maps BAR 2 for itself. The parent of
 * the auxiliary device is the function. It drives no NIC: it has no ports, queues and netdevs.
 */
#include <linux/auxiliary_bus.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#define VENDOR 0x1234
#define DEVICE 0x1001
#define BAR_APP 2
#define APP "app_564d0001"
#define BLOCK_TYPE_LANE 0x564d0001

struct nic {
	struct auxiliary_device app;
	void __iomem *registers;
};

static void release(struct device *dev)
{
	kfree(container_of(to_auxiliary_dev(dev), struct nic, app));
}

static int stand_in_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct nic *nic;
	int error;

	error = pcim_enable_device(pdev);
	if (error)
		return error;
	error = pcim_iomap_regions(pdev, BIT(BAR_APP), KBUILD_MODNAME);
	if (error)
		return error;
	nic = kzalloc(sizeof(*nic), GFP_KERNEL);
	if (!nic)
		return -ENOMEM;
	nic->registers = pcim_iomap_table(pdev)[BAR_APP];
	nic->app.name = APP;
	nic->app.dev.parent = &pdev->dev;
	nic->app.dev.release = release;
	error = auxiliary_device_init(&nic->app);
	if (error) {
		kfree(nic);
		return error;
	}
	error = auxiliary_device_add(&nic->app);
	if (error) {
		auxiliary_device_uninit(&nic->app);
		return error;
	}
	pci_set_drvdata(pdev, nic);
	return 0;
}

/* Checks that the NIC can still read its registers after the application's driver is unbound. */
static void stand_in_remove(struct pci_dev *pdev)
{
	struct nic *nic = pci_get_drvdata(pdev);
	void __iomem *registers = nic->registers;

	auxiliary_device_delete(&nic->app);
	WARN_ON(ioread32(registers) != BLOCK_TYPE_LANE);
	auxiliary_device_uninit(&nic->app);
}

static const struct pci_device_id ids[] = { { PCI_DEVICE(VENDOR, DEVICE) }, {} };
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver stand_in_driver = {
	.name = KBUILD_MODNAME,
	.id_table = ids,
	.probe = stand_in_probe,
	.remove = stand_in_remove,
};
module_pci_driver(stand_in_driver);

MODULE_DESCRIPTION("Stands in for Corundum's driver in tests of Vermilion's");
MODULE_LICENSE("Dual BSD/GPL");
