"""The proofs of single blocks, docs/proofs/blocks.md: what each is called, how far it goes, and the faults that it must find.

The Scala side has the same names: hw/test/src/vermilion/formal/EmitBlockProofs.scala.
"""

from dataclasses import dataclass, field

from .fault import Fault


@dataclass(frozen=True)
class Proof:
    """`start`: clocks before anything may come (reset and sweeps); `depth`: clocks from then on; `unbounded`: it closes for every clock."""

    what: str
    sources: str  # folder of the properties below hw/test/src/vermilion
    start: int
    depth: int
    unbounded: bool
    faults: dict = field(default_factory=dict)


PROOFS = {
    "queues": Proof(
        "queue manager: no packet lost or doubled, order of every queue, awake exactly when it holds one",
        "queue",
        3,
        9,
        False,
    ),
    "free-list": Proof("free list: no cell handed out twice, none lost, count right", "queue", 1, 12, False),
    "reader": Proof("packet reader: cells in the order of the chain, which comes back once", "queue", 1, 10, True),
    "rewrite": Proof("header rewrite: cells once and in order, no byte touched that is not edited", "rewrite", 1, 8, True),
    "gather-64": Proof("beats to cells, 64 bits: bytes once and in order, length, flags", "stream", 1, 10, True),
    "gather-512": Proof("beats to cells, 512 bits", "stream", 1, 10, True),
    "serializer-64": Proof("the way out, 64 bits: AXI-Stream, bytes once and in order", "stream", 1, 10, True),
    "serializer-512": Proof("the way out, 512 bits", "stream", 1, 10, True),
    "axi-lite": Proof("AXI4-Lite: one answer a request, in order, no write lost, reset", "control", 1, 10, True),
    "scheduler": Proof(
        "queues, lists, choice: every packet once, in order, strict priority, deficits, nothing rests", "schedule", 6, 9, False
    ),
    "counters": Proof("record RAMs: each event counts once, snapshots of one clock", "stats", 5, 12, True),
}
