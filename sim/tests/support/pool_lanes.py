"""A lane with several egresses that share a pool of cells: frames for its inputs, and records for the pool."""

import struct
import tomllib

from vermilion.configuration import config
from vermilion.profile import quantise
from vermilion.toolchain import build

PRESET = "lab-egresses"
SHAPE = build.shape(PRESET)
SHARE = SHAPE.queues // SHAPE.egresses


def macs_of(input_number: int) -> bytes:
    """Addresses whose frames come in at this input (sim/harness/pace.h)."""
    for last in range(256):
        total = 0
        for byte in bytes(11) + bytes([last]):
            total = (total * 31 + byte) & 0xFFFFFFFF
        if (total >> 3) % SHAPE.inputs == input_number:
            return bytes(11) + bytes([last])
    raise AssertionError("no such addresses")


MACS = [macs_of(i) for i in range(SHAPE.inputs)]


def frame(input_number: int, queue: int, size: int, ttl: int = 64) -> bytes:
    head = struct.pack(">BBHIBBH8s", 0x45, queue << 2, size - 14, 0, ttl, 253, 0, bytes(8))
    return (MACS[input_number] + b"\x08\x00" + head).ljust(size, b"\0")


def egress(rate: str) -> config.Config:
    """All queues of an egress, by DSCP, drop at their tail alone and take turns."""
    text = f'[port]\nrate = "{rate}"\n'
    for queue in range(SHARE):
        default = "default = true" if queue == 0 else f"dscp = [{queue}]"
        text += f'[[queue]]\nname = "q{queue}"\n{default}\nlimit = "1MB"\nquantum = "1600B"\n'
    return config.parse(tomllib.loads(text), SHARE)


def record(pool: dict, alphas: dict, rates: list[str], routes: list[int]) -> dict:
    """`alphas`: codes by queue, of all egresses."""
    words = quantise.card([egress(rate) for rate in rates], routes, SHARE) | {"pool": pool}
    for queue in words["queues"]:
        queue["alpha"] = alphas.get(queue["index"], 0)
    return words
