"""The PCI function of the tools' tests, by its address."""

from vermilionctl import registers

ADDRESS = "0000:03:00.0"
WHERE = f"pci:{ADDRESS}"
STATUS = registers.at("status")
