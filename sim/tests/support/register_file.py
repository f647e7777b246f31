"""A card for the driver library's tests: blocks of registers in a dictionary, as strict as docs/registers.md is about what may be written where.

Commits and snapshots take a few reads of `status`, at random. It can vanish after any number of accesses, hang, lose a write, or lie about itself.
"""

import ctypes
import random
from functools import cache
from itertools import product

from vermilion.generate import registers
from vermilion.hardware.driver_library import C

ALL_ONES = 0xFFFFFFFF


@cache
def lane_map() -> dict[str, object]:
    _, found = registers.read_source()
    return {".".join(register.path): register for register in found}


def address(path: str, *index: int) -> int:
    register = lane_map()[path]
    return register.address + sum(i * stride for i, (_, _, stride) in zip(index, register.dims, strict=False))


@cache
def by_address() -> dict[int, object]:
    """Every register's address, indices written out."""
    every = {}
    for path, register in lane_map().items():
        for index in product(*(range(count) for _, count, _ in register.dims)):
            every[address(path, *index)] = register
    return every


@cache
def rule_registers() -> frozenset[int]:
    single = {address(name) for name in ("rule_select", "rule_commit", "rule_action", "rule_marker")}
    words = {address(name, i) for name in ("rule_value", "rule_mask") for i in range(11)}
    return frozenset(single | words | {address("port_range", i) for i in range(16)})


class Lane:
    """One lane's registers from `base` on."""

    def __init__(
        self,
        base=0,
        next_block=0,
        seed=1,
        queues=16,
        victims=16,
        version=None,
        egresses=0,
        cells=4096,
        codel=1,
        pie=1,
        dualpi2=1,
        reports=1,
        fq=1,
        rules=0,
    ):
        self.base, self.rng = base, random.Random(seed)
        self.words = {at: 0 for at in by_address()}
        for at, register in by_address().items():
            self.words[at] = sum((f.reset or 0) << f.low for f in register.fields)
        has = {"queues": queues, "cells": cells, "data_bits": 64, "inputs": 2, "ewma_stages": 6}
        has |= {"max_frame_bytes": 9728, "flows": 4096, "victims": min(victims, queues), "next_block": next_block}
        has |= {"egresses": egresses, "codel": codel, "pie": pie, "dualpi2": dualpi2, "reports": reports, "fq": fq}
        has |= {"rules": rules}
        for name, value in has.items():
            self.words[address(name)] = value
        if version is not None:
            self.words[address("version")] = version
        self.committed, self.classes, self.statistics, self.ports, self.reported = {}, {}, {}, {}, {}
        self.seeds = None  # those that have taken effect
        self.pending = {"commit": 0, "snapshot": 0, "rules": 0}
        self.rules, self.ruled, self.rule_counts = {}, {}, {}  # as written, as committed; what each has counted
        self.hangs, self.faults, self.stuck, self.latched = False, [], None, (0, {})

    def read(self, at):
        if at not in by_address():
            self.faults.append(f"read of 0x{at:x}")
            return 0
        if at == address("status"):
            for name, left in self.pending.items():
                self.pending[name] = left if self.hangs else max(0, left - 1)
            waiting = [(1, "commit"), (2, "snapshot"), (4, "rules")]
            return self.words[at] | sum((self.pending[name] > 0) << bit for bit, name in waiting)
        return self.words[at]

    def write(self, at, value):
        register = by_address().get(at)
        if register is None or all(f.access == "ro" for f in register.fields):
            self.faults.append(f"write of 0x{at:x}")
            return
        if value & ~register.mask:
            self.faults.append(f"0x{value:x} in 0x{at:x}, which holds 0x{register.mask:x}")
        if self.pending["commit"]:
            self.faults.append(f"write of 0x{at:x} while a commit is pending")
        if at in rule_registers() and self.rule_register(at, value):
            return
        if at == address("status"):
            self.words[at] &= ~value
        elif at == address("commit"):
            self.commit()
        elif at == address("snapshot"):
            self.snapshot()
        elif at == address("control"):
            self.words[at] = value & 1
        elif at != self.stuck:
            self.words[at] = value & register.mask
            if at == address("class_entry"):
                share = self.words[address("queues")] // max(self.words[address("egresses")], 1)
                self.classes[(value & 0xFFFF) // share, self.words[address("class_address")]] = value
            if at == address("mark_seed", 3):
                names = ("seed", "mark_seed", "flow_seed")
                self.seeds = {name: [self.words[address(name, i)] for i in range(4)] for name in names}
            if at == address("report_select"):
                self.reported[value >> 16] = value & 0xFFFF
            if at == address("port_burst_high"):
                names = ("port_cost", "port_burst_low", "port_burst_high")
                self.ports[self.words[address("port_egress")]] = [self.words[address(name)] for name in names]

    def rule_register(self, at, value):
        """Keeps the words of each rule apart. True: the write is ignored."""
        number = value if at == address("rule_select") else self.words[address("rule_select")]
        if self.pending["rules"] or number >= self.words[address("rules")]:
            self.words[address("status")] |= 1 << 10
            return True
        if at == address("rule_commit"):
            self.pending["rules"] = self.rng.randint(1, 5)
            self.ruled = {number: dict(words) for number, words in self.rules.items()}
        elif at == address("rule_select"):
            counts = self.rule_counts.get(number, (0, 0))
            for i, part in enumerate(part >> 32 * half & ALL_ONES for part in counts for half in (0, 1)):
                self.words[address("rule_counts.packets_low") + 4 * i] = part
        elif at in range(address("port_range"), address("port_range", 16)):
            self.rules.setdefault("ranges", {})[at] = value
        else:
            self.rules.setdefault(number, {})[at] = value
        return False

    def selected(self):
        queue = self.words[address("queue_select")]
        if queue >= self.words[address("queues")]:
            self.words[address("status")] |= 1 << 8
            return None
        return queue

    def commit(self):
        queue, first, behind = self.selected(), address("shadow.flags"), address("pool_size")
        self.pending["commit"] = self.rng.randint(1, 5)
        if queue is not None:
            self.committed[queue] = {at: word for at, word in self.words.items() if first <= at < behind}

    def snapshot(self):
        queue = self.selected()
        if queue is None or self.pending["snapshot"]:
            return
        self.pending["snapshot"] = self.rng.randint(1, 5)
        self.words |= self.statistics.get(queue, {})
        self.words[address("window.queue")] = queue


class Card:
    """Blocks behind one bus. `gone_after`: so many accesses are answered, all later reads give all ones."""

    def __init__(self, *blocks, size=1 << 20, gone_after=None, others=None, polls=50):
        self.blocks, self.others, self.accesses, self.pauses = blocks, others or {}, 0, 0
        self.gone_after = gone_after
        kinds = dict(C.Bus._fields_)
        calls = [kinds["read"](self.read), kinds["write"](self.write), kinds["pause"](self.pause)]
        self.bus = C.Bus(*calls, None, polls, size)

    def lane_at(self, offset):
        return next((lane for lane in reversed(self.blocks) if lane.base <= offset < lane.base + 0x10000), None)

    def answers(self):
        self.accesses += 1
        return self.gone_after is None or self.accesses <= self.gone_after

    def read(self, _context, offset):
        lane = self.lane_at(offset)
        if not self.answers():
            return ALL_ONES
        if offset in self.others or lane is None:
            return self.others.get(offset, 0)
        return lane.read(offset - lane.base)

    def write(self, _context, offset, value):
        lane = self.lane_at(offset)
        if self.answers() and lane is not None:
            lane.write(offset - lane.base, value)

    def pause(self, _context):
        self.pauses += 1

    @property
    def faults(self):
        return [fault for lane in self.blocks for fault in lane.faults]

    def open(self, library, block=0, egress=0):
        """(error, lane) of vm_lane_open() on an egress of the n-th of the vendor's blocks."""
        found, blocks, lane = ctypes.c_uint32(), (C.Block * 8)(), C.Lane()
        error = library.vm_blocks(ctypes.byref(self.bus), 0, blocks, 8, ctypes.byref(found))
        if not error:
            where = ctypes.byref(lane), ctypes.byref(self.bus), ctypes.byref(blocks[block])
            error = library.vm_lane_open(*where, egress)
        return error, lane
