"""vermilionctl pause and resume: one egress's bit of the register, and no other's."""

import json

import pytest

from support.register_file import Lane, address
from support.tool_cards import Bench, ctl

PAUSE = address("pause")
SHAPE = {"queues": 64, "victims": 64, "egresses": 4}


@pytest.fixture
def bench(monkeypatch, state):
    made = Bench(monkeypatch, **SHAPE)
    made.lane = Lane(**SHAPE, version=0x10003)
    made.fresh()
    return made


def on(bench, egress, *words):
    return bench.ctl("--egress", str(egress), *words)


def test_a_pause_is_of_one_egress(bench):
    bench.lane.words[PAUSE] = 0b0001
    assert on(bench, 2, "pause") == (0, "") and bench.lane.words[PAUSE] == 0b0101
    assert on(bench, 2, "pause") == (0, "") and bench.lane.words[PAUSE] == 0b0101
    assert on(bench, 0, "resume") == (0, "") and bench.lane.words[PAUSE] == 0b0100
    assert [json.loads(on(bench, egress, "show", "--build", "--json")[1])["paused"] for egress in range(4)] == [
        egress == 2 for egress in range(4)
    ]
    assert "The egress is paused" in on(bench, 2, "show", "--build")[1]
    assert "paused" not in on(bench, 1, "show", "--build")[1]
    assert on(bench, 2, "resume") == (0, "") and bench.lane.words[PAUSE] == 0


def test_a_build_without_the_register_is_refused_and_nothing_written(bench):
    bench.lane = Lane(queues=16, version=0x10002)
    bench.fresh()
    for word in ("pause", "resume"):
        status, said = bench.ctl(word)
        assert status == 2 and said.endswith("pause needs registers 1.3 or newer; this build's are older")
    assert not bench.lane.words.get(PAUSE)
    assert "paused" not in json.loads(bench.ctl("show", "--build", "--json")[1])


def test_a_netdev_has_no_pause(kernel):
    """The kernel's family has no command for it, and does not tell whether an egress is paused."""
    for word in ("pause", "resume"):
        status, said = ctl("netlink:vm0", word)
        assert status == 2 and said.endswith("has no command to pause an egress; legal are pci: and unix:")
    assert "paused" not in json.loads(ctl("netlink:vm0", "show", "--build", "--json")[1])


def test_a_register_that_does_not_keep_the_bit_is_told(bench):
    write = bench.lane.write
    bench.lane.write = lambda at, value: write(at, 0 if at == PAUSE else value)
    status, said = on(bench, 1, "pause")
    assert status == 1 and "a register does not hold what was written to it, at 0x0078" in said
