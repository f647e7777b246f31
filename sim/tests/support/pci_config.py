"""The configuration space of the simulated PCI device: its capabilities, and how a driver enables it."""

from vermilion.hardware.vfio_user import CONFIG

MSIX_ENABLE, MSIX_MASK = 0x8000, 0x4000


def number(client, offset, size=4):
    return int.from_bytes(client.read(CONFIG, offset, size), "little")


def capabilities(client):
    """{id: offset} of the list, which must end, lie behind the header, and hold each capability once."""
    found, at = {}, number(client, 0x34, 1)
    while at:
        assert at >= 0x40 and at % 4 == 0 and at not in found.values()
        name, following = client.read(CONFIG, at, 2)
        assert name not in found
        found[name] = at
        at = following
    return found


def enable(client):
    """Bus master, and MSI-X on."""
    client.write(CONFIG, 4, b"\x06\0")
    client.write(CONFIG, capabilities(client)[0x11] + 2, MSIX_ENABLE.to_bytes(2, "little"))
