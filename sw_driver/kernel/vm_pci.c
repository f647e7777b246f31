// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The stand-alone card: a PCI Express function with the registers in BAR 0; docs/device.md. */
#include <linux/interrupt.h>
#include <linux/pci.h>

#include "vm_core.h"

/* Ids for experiments (docs/device.md). As other devices use them, too, the driver also compares
 * the subsystem.
 */
#define VENDOR 0x1af4
#define DEVICE 0x10f5
#define SUBDEVICE 0x564d
#define BAR_REGISTERS 0
#define BAR_BYTES_MAX (1u << 24) /* a lane's address space */

/* A lane raises no interrupts. Those of the card's test register (docs/device.md) appear in
 * /proc/interrupts, which proves that interrupts arrive.
 */
static irqreturn_t vm_pci_interrupt(int irq, void *data)
{
	return IRQ_HANDLED;
}

/* The driver also works on a card without MSI-X. */
static void vm_pci_set_up_interrupt(struct pci_dev *pdev, struct vm_card *card)
{
	if (pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSIX) < 1)
		return;
	if (request_irq(pci_irq_vector(pdev, 0), vm_pci_interrupt, 0, VM_DRIVER, card)) {
		pci_free_irq_vectors(pdev);
		return;
	}
	pci_set_master(pdev); /* an MSI-X interrupt is a write by the card */
}

static void vm_pci_clear_interrupt(struct pci_dev *pdev, struct vm_card *card)
{
	if (!pdev->msix_enabled)
		return;
	pci_clear_master(pdev);
	free_irq(pci_irq_vector(pdev, 0), card);
	pci_free_irq_vectors(pdev);
}

static int vm_pci_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct vm_card *card;
	int error;

	error = pcim_enable_device(pdev);
	if (error)
		return error;
	error = pcim_iomap_regions(pdev, BIT(BAR_REGISTERS), VM_DRIVER);
	if (error)
		return error;
	card = vm_card_alloc(&pdev->dev, "pci", pcim_iomap_table(pdev)[BAR_REGISTERS],
			     min_t(u64, pci_resource_len(pdev, BAR_REGISTERS), BAR_BYTES_MAX));
	if (!card)
		return -ENOMEM;
	pci_set_drvdata(pdev, card);
	vm_pci_set_up_interrupt(pdev, card);
	error = vm_card_register(card);
	if (error) {
		vm_pci_clear_interrupt(pdev, card);
		vm_card_free(card);
	}
	return error;
}

static void vm_pci_remove(struct pci_dev *pdev)
{
	struct vm_card *card = pci_get_drvdata(pdev);

	vm_card_unregister(card);
	vm_pci_clear_interrupt(pdev, card);
	vm_card_free(card);
}

static pci_ers_result_t vm_pci_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	if (state == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	vm_card_gone(pci_get_drvdata(pdev));
	return PCI_ERS_RESULT_DISCONNECT;
}

static void vm_pci_reset_prepare(struct pci_dev *pdev)
{
	vm_card_pause(pci_get_drvdata(pdev));
}

static void vm_pci_reset_done(struct pci_dev *pdev)
{
	vm_card_restore(pci_get_drvdata(pdev));
}

static const struct pci_error_handlers error_handlers = {
	.error_detected = vm_pci_error_detected,
	.reset_prepare = vm_pci_reset_prepare,
	.reset_done = vm_pci_reset_done,
};

static const struct pci_device_id ids[] = { { PCI_DEVICE_SUB(VENDOR, DEVICE, VENDOR, SUBDEVICE) }, {} };
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver vm_pci_driver = {
	.name = VM_DRIVER,
	.id_table = ids,
	.probe = vm_pci_probe,
	.remove = vm_pci_remove,
	.err_handler = &error_handlers,
	.driver.pm = pm_sleep_ptr(&vm_card_power),
};

int vm_pci_init(void)
{
	return pci_register_driver(&vm_pci_driver);
}

void vm_pci_exit(void)
{
	pci_unregister_driver(&vm_pci_driver);
}
