"""Registers by name, and every register value that a configuration leads to: what `dump` and `./vermilion check --registers` print.

Names are those of `vm_regs.h` in small letters, with indices: `shadow_colour_curve_min_th[2][0]`. A line is

    lane     port_cost                        0x0403d090
    queue 3  shadow_limit                     0x00030d40
    class    AF11                             0x00000001

where a class stands for the write of `class_address` and `class_entry`; `frames without IP` is address 64.
"""

import ctypes
import re
from functools import cache

from vermilion.hardware.driver_library import SOURCES, library
from vermilion.values import units

VISIT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
NO_IP = 64


@cache
def definitions() -> dict[str, tuple[int, tuple[int, ...]]]:
    """Address and strides of each register."""
    text = (SOURCES / "vm_regs.h").read_text()
    found: dict[str, tuple[int, tuple[int, ...]]] = {}
    for name, address in re.findall(r"^#define VM_REG_(\w+) 0x(\w{4})u$", text, re.M):
        found[name.lower()] = (int(address, 16), ())
    for name, address, rest in re.findall(
        r"^#define VM_REG_(\w+)\([ij, ]+\) \(0x(\w+)u((?: \+ 0x\w+u \* \(u32\)\(\w\))+)\)", text, re.M
    ):
        found[name.lower()] = (int(address, 16), tuple(int(n, 16) for n in re.findall(r"0x(\w+)u", rest)))
    return found


@cache
def name_at(address: int) -> str:
    """The register of the highest base that leads to the address."""
    for name, (base, strides) in sorted(definitions().items(), key=lambda item: -item[1][0]):
        rest, indices = address - base, ""
        for stride in strides:
            index, rest = divmod(rest, stride)
            indices += f"[{index}]"
        if rest == 0 and address >= base:
            return name + indices
    return f"0x{address:04x}"


def at(name: str, *indices: int) -> int:
    base, strides = definitions()[name]
    return base + sum(index * stride for index, stride in zip(indices, strides, strict=False))


def queue(image) -> list[tuple[str, int, int]]:
    """(name, address, value) of the shadow record, in the order of addresses."""
    found = []

    def collect(_context, address: int, value: int) -> int:
        found.append((address, value))
        return 0

    library().vm_queue_visit(ctypes.byref(image), VISIT(collect), None)
    return [(name_at(address), address, value) for address, value in sorted(found)]


def seed_words(seed: int, which: int) -> list[int]:
    out = (ctypes.c_uint32 * 4)()
    library().vm_seed_words(seed, which, out)
    return list(out)


def share_cells(share) -> tuple[int, int]:
    """The words of reserve and cap; no cap is as many cells as there are."""
    reserve, cap, most = share
    return library().vm_pool_cells(reserve), library().vm_pool_cells(cap) or most


def route_words(routes: list[int]) -> list[int]:
    """The egress of each input, eight inputs a word."""
    words = [0, 0]
    for number, egress in enumerate(routes):
        words[number // 8] |= egress << 4 * (number % 8)
    return words


def lane_wide(record) -> list[tuple[str, int, int]]:
    """Registers of the lane as a record of what was written to an egress has them; what it lacks is left out."""
    found = []
    if record.departures is not None:
        found.append(("control", at("control"), int(record.departures)))
    if record.ttl_option is not None:
        ip4, ip6 = record.ttl_option
        found.append(("ttl_option", at("ttl_option"), ip4 | ip6 << 8))
    if record.pool is not None:
        found.append(("pool_size", at("pool_size"), library().vm_pool_cells(record.pool)))
    if record.share is not None:
        for name, cells in zip(("pool_reserve", "pool_cap"), share_cells(record.share), strict=True):
            found.append((f"{name}[{record.egress}]", at(name, record.egress), cells))
    if record.routes is not None:
        found += [(f"routes[{i}]", at("routes", i), word) for i, word in enumerate(route_words(record.routes))]
    if record.seed is not None:
        for which, name in enumerate(("seed", "mark_seed", "flow_seed")):
            for i, word in enumerate(seed_words(record.seed, which)):
                found.append((f"{name}[{i}]", at(name, i), word))
    if record.port is not None:
        cost = library().vm_cost(record.port.rate)
        burst = library().vm_burst_ns(record.port.burst, record.port.rate, record.port.queues)
        found.append(("port_cost", at("port_cost"), cost.mant | cost.shift << 24))
        found.append(("port_burst_low", at("port_burst_low"), burst & 0xFFFFFFFF))
        found.append(("port_burst_high", at("port_burst_high"), burst >> 32))
    return sorted(found, key=lambda item: item[1])


def class_name(address: int) -> str:
    return "frames without IP" if address == NO_IP else units.dscp_name(address)


def table(record, lane=None) -> dict:
    """All of it, by part: {"lane": {name: value}, "class": {...}, "queue N": {...}}; lane-wide ones read from `lane` where it is given."""
    parts = {
        "lane": {
            name: lane.read(address) if lane and lane.shows(name) else value
            for name, address, value in lane_wide(record)
        }
    }
    first = lane.lane.first if lane else 0
    parts["class"] = {
        class_name(a): first + queue | colour << 16 for a, (queue, colour) in enumerate(record.classes or [])
    }
    for number in sorted(record.queues):
        last = lane is not None and number == record.last and not lane.several
        parts[f"queue {number}"] = {
            name: lane.read(address) if last else value for name, address, value in queue(record.image(number))
        }
    return parts


def lines(parts: dict) -> list[str]:
    return [f"{part:<9} {name:<34} 0x{value:08x}" for part, held in parts.items() for name, value in held.items()]
