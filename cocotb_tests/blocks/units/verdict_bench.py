"""Bench of VerdictUnit: a verdict a clock, in any order of queues, colours, flags and spacings, against the model's spacing.

The bench keeps each colour's S and R as the model's function gives them back, and says itself in which order the flags are asked and
what touches S and R (docs/architecture.md, "The verdict"; sim/model/decide.h).
"""

from collections import Counter
from itertools import product

import cocotb

from bench.bundle import ports
from blocks.units.stream import any_size, start, through, until_ready
from support import model_bindings as mb

AHEAD = 2  # clocks from address to verdict
QUEUES, COLOURS = 16, 4  # the unit keeps a place for a fourth colour
FLAGS = ("bad", "noBuffer", "policed", "overLimit", "overEnd", "canMark")
SPACINGS = (mb.GEOMETRIC, mb.UNIFORM, mb.WAIT)


class State:
    def __init__(self):
        self.sum, self.r, self.valid = mb.u64(), mb.u32(), mb.u32()

    def early(self, spacing, p, draw):
        return mb.library().vm_spacing_step(
            mb.byref(self.sum), mb.byref(self.r), mb.byref(self.valid), spacing, p, draw
        )

    def restart(self, draw):
        self.sum.value, self.r.value, self.valid.value = 0, draw, 1


class Bench:
    def __init__(self, dut, random):
        self.dut, self.random = dut, random
        self.states, self.seen = {}, Counter()

    def vector(self, queue, colour, flags, spacing, p, valid=True):
        """One slot and its verdict, None where the slot is empty."""
        draw = self.random.choice([0, 2**32 - 1, *(self.random.getrandbits(32) for _ in range(8))])
        inputs = dict(zip(FLAGS, flags, strict=True)) | {"spacing": spacing, "probability": p, "draw": draw}
        verdict = self.verdict(queue, colour, inputs) if valid else None
        self.seen[verdict, spacing] += 1
        return queue, colour, inputs, verdict

    def verdict(self, queue, colour, inputs):
        state = self.states.setdefault((queue, colour), State())
        if inputs["bad"]:
            return mb.BAD
        if inputs["noBuffer"]:
            return mb.NOBUF
        if inputs["policed"]:
            return mb.POLICED
        if inputs["overLimit"]:
            return mb.TAIL
        if inputs["overEnd"]:
            state.restart(inputs["draw"])
            return mb.FORCED
        early = state.early(inputs["spacing"], inputs["probability"], inputs["draw"])
        return (mb.MARK if inputs["canMark"] else mb.EARLY) if early else mb.ENQUEUE

    def probability(self):
        r = self.random
        return r.choice([0, 1, mb.ONE - 1, mb.ONE, any_size(r, 32), r.getrandbits(32), r.getrandbits(29)])

    def drive(self, vectors, k):
        """The address of slot k beside the inputs of the slot that is so far behind."""
        if k < len(vectors):
            queue, colour, *_ = vectors[k]
            ports(self.dut, "verdict", {"queue": queue, "colour": colour})
        behind = k - AHEAD
        slot = vectors[behind] if 0 <= behind < len(vectors) else None
        self.dut.verdict_inputs_valid.value = slot is not None and slot[3] is not None
        if slot:
            self.drive_inputs(slot[2])

    def drive_inputs(self, inputs):
        """Spacing in two bits, and the draw's inverse, as the unit has them."""
        dut, spacing = self.dut, inputs.get("spacing", mb.UNIFORM)
        ports(dut, "verdict_inputs_bits", {name: inputs[name] for name in (*FLAGS, "probability") if name in inputs})
        dut.verdict_inputs_bits_geometric.value = spacing == mb.GEOMETRIC
        dut.verdict_inputs_bits_waits.value = spacing == mb.WAIT
        dut.verdict_inputs_bits_notDraw.value = inputs["draw"] ^ 0xFFFFFFFF

    def look(self, slot):
        queue, colour, inputs, verdict = slot
        got = int(self.dut.verdict_verdict.value)
        assert verdict is None or got == verdict, f"verdict {got}, model {verdict}: queue {queue} {colour} {inputs}"

    async def play(self, vectors):
        await through(self.dut, vectors, AHEAD, self.drive, self.look)


async def ready(dut, number):
    bench = Bench(dut, await start(dut, number))
    await until_ready(dut, dut.verdict_ready, 4 * 2 ** len(dut.verdict_queue))
    return bench


@cocotb.test()
async def flags_are_asked_in_the_documented_order(dut):
    """Every set of flags with every spacing at p = 0, in between and 1, in random order, one queue and colour in every clock."""
    bench = await ready(dut, 20)
    cases = [*product(product((0, 1), repeat=6), SPACINGS, (0, 2**31, mb.ONE))] * 3
    bench.random.shuffle(cases)
    await bench.play([bench.vector(3, 1, *case) for case in cases])
    assert {verdict for verdict, _ in bench.seen} == set(range(8)), "not every verdict was met"


@cocotb.test()
@cocotb.parametrize(spread=[1, 2, 64])
async def spacing_is_the_models_back_to_back_and_spread(dut, spread):
    bench = await ready(dut, 21 + spread)
    r, vectors = bench.random, []
    places = [(q, c) for q in range(QUEUES) for c in range(COLOURS)]
    for run in range(30):
        here = r.sample(places, spread)
        spacing, p, steady = SPACINGS[run % 3], bench.probability(), r.random() < 0.5
        for _ in range(90):
            flags = [r.random() < chance for chance in (0.03, 0.03, 0.03, 0.03, 0.03, 0.3)]
            mode = spacing if steady else r.choice(SPACINGS)
            chosen = p if steady and r.random() < 0.9 else bench.probability()
            vectors.append(bench.vector(*r.choice(here), flags, mode, chosen, valid=r.random() < 0.9))
    await bench.play(vectors)
    dut._log.info(f"(verdict, spacing): {dict(bench.seen)}")
    for spacing in SPACINGS:
        assert all(bench.seen[v, spacing] > 3 for v in range(7)), f"some verdict was hardly met with spacing {spacing}"
