"""Bench of the policy pipeline: packets close behind an idle spell, and a commit of another decay between them, replayed in the model.

A packet behind an ageing that is under way ages its own base, by a spell that holds the other's, with the decay of its own configuration: the
new one where the commit passed between the two.
"""

import os
from itertools import product

import cocotb

from bench import queues
from bench.bundle import ports
from blocks.policy.policy_bench import Bench
from support import model_bindings as mb


class Decaying(Bench):
    def recommit(self, chance: float):
        """Gives queue 0 another lambda and nothing else."""
        if self.commit is None and self.random.random() < chance:
            record = mb.Queue.from_buffer_copy(self.configs[0])
            setattr(record, "lambda", mb.Scaled(self.random.randrange(1 << 16), self.random.randrange(20, 25)))
            self.commit = (0, record)
            ports(self.dut, "io_commit_bits", {"queue": 0, "config": queues.bundle(record)})
        self.dut.io_commit_valid.value = self.commit is not None


async def spells(dut, number: int, commit: float):
    """A packet into an empty queue; about when it is admitted, after 0.1 ms, one that ages, a commit perhaps, and one behind."""
    bench = Decaying(dut, 100 * int(os.environ.get("VERMILION_SEED", "1")) + number, True, False)
    record = mb.queue(masks=(7, 7, 7), weight=0.5, **{"lambda": mb.Scaled(40000, 22)})
    bench.configs[0] = record
    mb.library().vm_configure(bench.model, 0, mb.byref(record))
    await bench.start()
    for wait, gap in product(range(22, 32), range(2, 6)):
        await bench.play(70, 0.6, 0.0, spread=1)
        await bench.play(40, 0.0, 1.0)
        while any(bench.fifo):
            await bench.play(10, 0.0, 1.0)
        await bench.play(1, 1.0, 0.0, spread=1)
        await bench.play(wait - 1, 0.0, 0.0)
        bench.now += 100000
        await bench.play(1, 1.0, 0.0, spread=1)
        await bench.play(1, 0.0, 0.0, commit=commit)
        await bench.play(gap - 2, 0.0, 0.0)
        await bench.play(1, 1.0, 0.0, spread=1)
        await bench.play(40, 0.0, 0.0)
    await bench.finish()
    assert all(bench.ahead[n] for n in range(1, 6))
    assert bench.recommits == (40 if commit else 0)


@cocotb.test()
async def a_packet_behind_an_ageing_ages_as_in_the_model(dut):
    await spells(dut, 50, 0.0)


@cocotb.test()
async def a_packet_behind_an_ageing_ages_as_in_the_model_across_a_commit_of_the_decay(dut):
    await spells(dut, 51, 1.0)
