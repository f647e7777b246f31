"""The pool of cells and dynamic thresholds in vermilionctl: what is written, shown, noted and refused."""

import json

import pytest

from support.tool_cards import DEVICE, Bench, ctl
from vermilion.configuration import config_file
from vermilionctl import programming, record, registers

POOL = '[port]\nrate = "1Gbit"\n[pool]\nsize = "200KB"\n'
QUEUES = '[[queue]]\nname = "a"\ndscp = ["AF11"]\nalpha = 0.5\n[[queue]]\nname = "b"\ndefault = true\n'


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "pool.toml"
    made.write_text(POOL + QUEUES)
    return made


def flags(lane, queue):
    return lane.committed[queue][registers.at("shadow_flags")] >> 12 & 15


def test_apply_and_set(bench, file):
    assert bench.ctl("apply", file)[0] == 0
    size = registers.at("pool_size")
    assert bench.lane.words[size] == 3125 and [flags(bench.lane, q) for q in (0, 1)] == [7, 0]
    assert bench.ctl("set", "pool", "size=100001") == (0, "")
    assert bench.lane.words[size] == 1562
    assert not [at for at, _ in bench.bus.writes if at == registers.at("commit")]
    assert bench.ctl("set", "b", "alpha=8") == (0, "") and flags(bench.lane, 1) == 11
    assert bench.ctl("set", "b", "alpha=1/128") == (0, "") and flags(bench.lane, 1) == 1
    assert bench.ctl("set", "b", "alpha=0") == (0, "") and flags(bench.lane, 1) == 0
    assert not bench.lane.faults


def test_dump_is_what_check_prints(bench, file):
    bench.ctl("apply", file)
    wanted = registers.lines(registers.table(programming.of_config(config_file.load(file), None)))
    assert bench.ctl("dump") == (0, "\n".join(wanted) + "\n")
    assert "lane      pool_size                          0x00000c35" in wanted


def test_shown(bench, file):
    bench.ctl("apply", file)
    status, said = bench.ctl("show")
    assert status == 0 and "Pool: 200000 B, 3,125 cells." in said and "alpha 0.5" in said
    whole = json.loads(bench.ctl("show", "--json")[1])
    assert whole["pool"] == {"size": 200_000}
    assert [whole["queues"][q]["settings"]["alpha"] for q in "01"] == ["0.5", "0"]
    assert bench.ctl("set", "pool", "size=0")[0] == 0
    assert "Pool" not in bench.ctl("show")[1]


def test_alpha_without_a_pool_is_noted(bench, file):
    bench.ctl("apply", file)
    note = "vermilionctl: note: alpha of {} is not in force without a pool; give it a size: set pool size=200KB\n"
    assert bench.ctl("set", "pool", "size=0") == (0, note.format("queue a"))
    assert bench.ctl("set", "b", "alpha=2") == (0, note.format("queues a, b"))
    assert bench.ctl("set", "b", "limit=9KB") == (0, "")
    assert bench.ctl("set", "pool", "size=1KB") == (0, "")


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("a", "alpha=0.3"), "queue a: alpha is 0.3; legal is a power of two from 2^-7 (0.0078125) to 8"),
        (("a", "alpha=16"), "queue a: alpha is 16; legal is a power of two from 2^-7 (0.0078125) to 8"),
        (("a", "alpha=half"), "alpha is half; legal are numbers such as 0.002 and 1/512"),
        (("pool", "size=63"), "pool.size is 63; legal is 0 for none, or 64B to 67108864B"),
        (("pool", "size=65MiB"), "pool.size is 65MiB; legal is 0 for none, or 64B to 67108864B"),
        (("pool", "size=60p"), "pool.size is 60p; legal are bytes here"),
        (("pool", "size=much"), 'pool.size is "much"; legal are amounts such as "200KB", "64KiB", "1500B" or "60p"'),
        (
            ("pool", "size=300KB"),
            "pool.size is 300000; legal is 0 for none, or 64B to 262144B, the 4096 cells of this build",
        ),
        (("pool", "cells=3"), "cells is no field of the pool; legal is size"),
    ],
)
def test_refused(bench, file, words, sentence):
    bench.ctl("apply", file)
    before = bench.ctl("dump")[1]
    assert bench.ctl("set", *words) == (2, sentence)
    assert bench.bus.writes == [] and bench.ctl("dump")[1] == before


def test_a_pool_larger_than_the_buffer(bench, kernel, file):
    file.write_text(POOL.replace("200KB", "300KB"))
    sentence = f"{file}: pool.size is 300KB; legal is 64B to 262144B, the 4096 cells of this build"
    assert bench.ctl("apply", file) == (2, sentence) and bench.bus.writes == []
    kernel.told.clear()
    assert ctl("netlink:lane0", "apply", file) == (2, sentence)
    assert not [name for name, _ in kernel.told if name.endswith("-set")]


def test_a_build_without_a_pool(monkeypatch, file):
    """Registers of minor version 2: a pool is refused before anything is written; what needs none is written."""
    old = Bench(monkeypatch, version=0x10002)
    status, said = old.ctl("apply", file)
    assert status and "pool.size and alpha need registers 1.3 or newer" in said
    assert not old.lane.committed and not old.lane.classes and not old.lane.faults
    file.write_text(POOL[: POOL.index("[pool]")] + QUEUES.replace("alpha = 0.5\n", ""))
    assert old.ctl("apply", file)[0] == 0 and not old.lane.faults


def test_a_record_of_before_has_no_pool(bench, file, state):
    """A file of an older vermilionctl is read; `set pool` completes it."""
    file.write_text(POOL[: POOL.index("[pool]")] + QUEUES.replace("alpha = 0.5\n", ""))
    bench.ctl("apply", file)
    (path,) = state.glob("*.json")
    held = json.loads(path.read_text())
    del held["pool"]
    path.write_text(json.dumps(held))
    assert record.load(DEVICE, 0).pool is None
    assert bench.ctl("set", "pool", "size=640") == (0, "")
    assert bench.lane.words[registers.at("pool_size")] == 10 and json.loads(path.read_text())["pool"] == 640


def test_a_pool_that_somebody_else_changed(bench, file):
    bench.ctl("apply", file)
    bench.lane.words[registers.at("pool_size")] = 7
    status, said = bench.ctl("show")
    assert status == 1 and "register pool_size does not hold what was written from here" in said


def test_through_the_kernel(kernel, file):
    assert ctl("netlink:lane0", "apply", file)[0] == 0
    assert kernel.lane["pool-bytes"] == 200_000
    assert kernel.queues[0]["alpha"] == {"num": 5, "den": 1, "tens": 1}
    dumped = json.loads(ctl("netlink:lane0", "dump", "--json")[1])
    assert dumped["lane"]["pool_size"] == 3125 and dumped["queue 0"]["shadow_flags"] >> 12 & 15 == 7
    kernel.told.clear()
    assert ctl("netlink:lane0", "set", "pool", "size=64KB") == (0, "")
    assert ctl("netlink:lane0", "set", "1", "alpha=4") == (0, "")
    told = [(name, fields) for name, fields in kernel.told if name.endswith("-set")]
    alpha = {"num": 4, "den": 1, "tens": 0}
    assert told == [
        ("lane-set", {"ifindex": 3, "pool-bytes": 64_000}),
        ("queue-set", {"ifindex": 3, "queue": 1, "alpha": alpha}),
    ]
