"""vermilionctl on a lane with several egresses: each is set by itself, and what is of the whole lane comes with the first."""

import json
import re

import pytest

from support.register_file import address, by_address
from support.tool_cards import DEVICE, Bench
from vermilion.commands.card_commands import register_lines
from vermilion.configuration import egresses
from vermilion.toolchain import build
from vermilionctl import counters, export, registers, session

SHARE, EGRESSES = 16, 4
FILE = '{top}[port]\nrate = "{rate}Mbit"\n{more}[[queue]]\nname = "a"\ndscp = ["AF11"]\nlimit = "{limit}KB"\n[[queue]]\nname = "b"\ndefault = true\n'


@pytest.fixture
def bench(monkeypatch, state):
    return Bench(monkeypatch, queues=SHARE * EGRESSES, victims=SHARE * EGRESSES, egresses=EGRESSES)


@pytest.fixture
def file(tmp_path):
    def write(rate=100, limit=50, more="", top=""):
        made = tmp_path / f"{rate}-{limit}.toml"
        made.write_text(FILE.format(rate=rate, limit=limit, more=more, top=top))
        return made

    return write


def on(bench, egress, *words):
    return bench.ctl("--egress", str(egress), *words)


def limits(bench) -> dict:
    at = registers.at("shadow_limit")
    return {queue: words[at] for queue, words in bench.lane.committed.items()}


def test_each_egress_has_its_own_queues_classes_port_and_record(bench, file):
    for egress in range(EGRESSES):
        assert on(bench, egress, "apply", file(100 + egress, 50 + egress))[0] == 0
    firsts = {SHARE * e: 1000 * (50 + e) for e in range(EGRESSES)}
    assert {queue: limit for queue, limit in limits(bench).items() if queue % SHARE == 0} == firsts
    assert {bench.lane.classes[e, 10] for e in range(EGRESSES)} == set(firsts)  # AF11
    assert {bench.lane.classes[e, 0] for e in range(EGRESSES)} == {queue + 1 for queue in firsts}
    assert len({tuple(port) for port in bench.lane.ports.values()}) == len(bench.lane.ports) == EGRESSES
    for egress in range(EGRESSES):  # whoever was set last, each is believed
        shown = json.loads(on(bench, egress, "show", "--json")[1])
        assert shown["port"]["rate"] == (100 + egress) * 10**6
        assert shown["capabilities"]["egress"] == egress and shown["capabilities"]["queues"] == SHARE
    dumps = [on(bench, egress, "dump")[1] for egress in range(EGRESSES)]
    costs = [re.search(r"port_cost +(\w+)", dump)[1] for dump in dumps]
    assert [int(cost, 16) for cost in costs] == [bench.lane.ports[egress][0] for egress in range(EGRESSES)]
    assert on(bench, 2, "set", "a", "limit=9KB") == (0, "")
    assert limits(bench)[2 * SHARE] == 9000 and limits(bench)[0] == 50_000
    assert not bench.lane.faults


def test_the_least_burst_covers_a_round_of_the_queues_of_all_egresses(bench, file):
    """4 ns for each of 64 clocks, and for each of two queues in use in each egress; RTL: DueTime.latenessCycles."""
    for egress in range(2):
        assert on(bench, egress, "apply", file(rate=100_000))[0] == 0
        assert list(bench.lane.ports[egress])[1:] == [4 * (64 + 2 * EGRESSES), 0]


def test_counters_are_of_the_egresss_queues(bench, file):
    for egress in (0, 3):
        on(bench, egress, "apply", file())
    bench.lane.statistics[3 * SHARE] = {address("window.backlog_bytes"): 4321}
    found = json.loads(on(bench, 3, "stats", "a", "--json")[1])
    assert found["queues"][0]["name"] == "a" and "4321" in json.dumps(found)


def test_the_first_comes_first(bench, file):
    status, said = on(bench, 1, "apply", file())
    assert status == 2 and "the seeds of lane 0 are 0; they come with egress 0" in said and not bench.lane.committed
    assert said.endswith("begin with: vermilionctl --lane 0 --egress 0 apply FILE")
    assert on(bench, 0, "apply", file())[0] == 0 and on(bench, 1, "apply", file(200))[0] == 0
    seeds = [bench.lane.words[address("seed", i)] for i in range(4)]
    assert on(bench, 1, "apply", file(300, top="seed = 9\n"))[0] == 0
    assert [bench.lane.words[address("seed", i)] for i in range(4)] == seeds
    # Given anew without a reset, the others stay.
    assert on(bench, 0, "apply", file(400))[0] == 0 and on(bench, 1, "show")[0] == 0
    status, said = on(bench, 2, "show")
    assert status == 2 and "nothing whole was written to egress 2 of lane 0" in said
    assert said.endswith("vermilionctl --lane 0 --egress 2 apply FILE")
    # A card that was reset: nothing of any egress counts, also when the first was given anew, with the same seed.
    for at in bench.lane.words:
        if all(field.access != "ro" for field in by_address()[at].fields):
            bench.lane.words[at] = 0
    assert on(bench, 1, "show")[0] == on(bench, 0, "show")[0] == 1
    assert on(bench, 0, "apply", file(400))[0] == 0 and on(bench, 0, "show")[0] == 0
    status, said = on(bench, 1, "show")
    assert status == 1 and "register pool_cap[1] does not hold what was written from here" in said


def test_who_was_set_last_and_whose_counters_were_read_change_nothing(bench, file):
    for egress in (0, 1, 3):
        assert on(bench, egress, "apply", file(100, 50 + egress))[0] == 0
    for looked in (0, 1, 3):
        assert on(bench, looked, "stats")[0] == 0
        for egress in (0, 1, 3):
            assert on(bench, egress, "show", "a")[0] == 0 and '"a"' in on(bench, egress, "stats", "a", "--json")[1]
            assert on(bench, egress, "set", "b", "limit=7KB") == (0, "")


def test_alpha_of_any_egress(bench, file):
    queue = '[[queue]]\nname = "c"\ndscp = ["EF"]\nalpha = 2\n'
    assert on(bench, 0, "apply", file())[0] == 0
    note = "alpha of queue c is not in force without a pool; give it a size: with --egress 0: set pool size=200KB\n"
    assert f"vermilionctl: note: {note}" in on(bench, 1, "apply", file(more=queue))[1]
    assert on(bench, 1, "set", "c", "alpha=4") == (0, f"vermilionctl: note: {note}")
    assert on(bench, 0, "set", "pool", "size=64KB") == (0, "")
    assert on(bench, 1, "set", "c", "alpha=8") == (0, "") and on(bench, 1, "show", "c")[0] == 0


def test_shares_of_the_pool(bench, file):
    assert on(bench, 0, "apply", file(more='[pool]\nsize = "64KB"\n'))[0] == 0
    assert on(bench, 2, "apply", file())[0] == on(bench, 3, "apply", file())[0] == 0
    assert on(bench, 2, "set", "pool", "reserve=6400", "cap=12800") == (0, "")
    assert on(bench, 0, "set", "pool", "reserve=32000") == (0, "")
    held = lambda name: [bench.lane.words[address(name, e)] for e in range(EGRESSES)]
    shares = [500, 0, 100, 0], [4096, 0, 200, 4096]  # as many cells as there are: no cap
    assert (held("pool_reserve"), held("pool_cap")) == shares
    assert json.loads(on(bench, 2, "show", "--json")[1])["pool"] == {"reserve": 6400, "cap": 12800}
    assert "Of the pool this egress finds 6400 B always and takes 12800 B at most." in on(bench, 2, "show")[1]
    before = dict(bench.lane.words)
    for egress, words, sentence in (
        (
            2,
            ("reserve=32064", "cap=0"),
            "pool.reserve is 32064; legal is 0 to 32000, what the pool of 64000 B has beside the",
        ),
        (2, ("cap=6336",), "pool.cap is 6336; legal is 0 for none, or 6400, the reserve, and more"),
        (2, ("size=64KB",), "size is no field of the pool; legal is reserve and cap, and size with --egress 0"),
        (0, ("size=32KB",), "pool.size is 32000; legal is 0 for none, or 38400 and more, the reserves of all egresses"),
        (3, ("cap=300KB",), "pool.cap is 300000; legal is 0 for none, or 64B to 262144B, the 4096 cells of this build"),
        (0, ("cells=4",), "cells is no field of the pool; legal is size, reserve and cap"),
        (0, ("cap=63",), "pool.cap is 63; legal is 0 for none, or 64B to 67108864B"),
    ):
        status, said = on(bench, egress, "set", "pool", *words)
        assert status == 2 and said.startswith(sentence), said
    assert bench.lane.words == before
    # A queue is set without a look at the others' reserves. An egress whose file is applied anew has no share any more.
    bench.lane.words[address("pool_reserve", 0)] = 4000
    assert on(bench, 2, "set", "a", "limit=8KB") == (0, "")
    assert on(bench, 2, "apply", file())[0] == 0 and held("pool_reserve")[2] == 0  # 4,000 cells in a pool of 1,000
    assert on(bench, 2, "set", "pool", "reserve=64")[0] == 2
    bench.lane.words[address("pool_cap", 2)] = 7
    status, said = on(bench, 2, "show")
    assert status == 1 and "register pool_cap[2] does not hold what was written from here" in said


def test_a_record_with_another_share_is_damaged(bench, file, state):
    on(bench, 0, "apply", file())
    (path,) = state.glob("*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"share": [0, 0]}))
    status, said = on(bench, 0, "show")
    assert status == 2 and "is damaged (share is [0, 0]); remove it, and apply" in said


def test_collisions_of_flows_are_of_the_whole_lane(bench):
    """64 bits, the low word first; builds without `fq` have no count."""
    bench.lane.words[address("flow_collisions_low")] = 7
    bench.lane.words[address("flow_collisions_high")] = 3
    with session.opened(DEVICE, 0, 0) as found:
        read = counters.read(found)
        made = {each.name: each for each in export.families(read, found.has(), 0)}
        assert read["flow_collisions"] == 3 << 32 | 7
        assert [sample.value for sample in made["vermilion_flow_collisions"].samples] == [3 << 32 | 7]
        none = {each.name: each for each in export.families(read | {"flow_collisions": None}, found.has(), 0)}
        assert not none["vermilion_flow_collisions"].samples


def test_metrics_tell_egresses_apart(bench, file):
    for egress in (0, 2):
        on(bench, egress, "apply", file())
        with session.opened(DEVICE, 0, egress) as found:
            made = {each.name: each for each in export.families(counters.read(found), found.has(), 0)}
        assert {sample.labels["egress"] for sample in made["vermilion_queue_packets"].samples} == {str(egress)}
        assert ("vermilion_input_lost_packets" in made) == (egress == 0)


@pytest.mark.parametrize(
    "more, sentence",
    [
        ('[pool]\nsize = "64KB"\n', "pool is given for egress 1; legal for egress 0: the pool is of the whole lane"),
        ("[ttl_option]\nip4 = 222\n", "ttl_option is given for egress 1; legal for egress 0"),
    ],
)
def test_what_is_of_the_whole_lane_is_refused_elsewhere(bench, file, more, sentence):
    on(bench, 0, "apply", file())
    before = dict(bench.lane.words)
    status, said = on(bench, 1, "apply", file(more=more, rate=7))
    assert status == 2 and sentence in said and bench.lane.words == before


def test_an_egress_that_is_not_there(bench, monkeypatch, file):
    status, said = on(bench, 4, "show", "--build")
    assert status == 2 and said.startswith("--egress is 4; lane 0 of ") and said.endswith(" has egresses 0 to 3")
    status, said = on(Bench(monkeypatch), 1, "show", "--build")
    assert status == 2 and said.endswith(" has one egress, 0")


WHOLE = """routes = ["d", 0]
seed = 3
[port]
rate = "1Gbit"
[pool]
size = "64KB"
[[queue]]
name = "a"
default = true
limit = "50KB"
[[egress]]
index = 3
name = "d"
pool = { reserve = "6400B", cap = "12800B" }
[[egress.queue]]
name = "own"
default = true
limit = "9KB"
"""


@pytest.fixture
def whole(tmp_path):
    made = tmp_path / "whole.toml"
    made.write_text(WHOLE)
    return made


def test_a_file_of_all_egresses_is_loaded_in_one_go(bench, whole):
    status, said = bench.ctl("apply", whole)
    assert status == 0 and [line.split(" of ")[0] for line in said.splitlines()] == [
        f"applied egress {egress}" for egress in range(EGRESSES)
    ]
    assert limits(bench) == {0: 50_000, SHARE: 50_000, 2 * SHARE: 50_000, 3 * SHARE: 9000}
    words = bench.lane.words
    assert words[address("routes", 0)] == 0x03 and words[address("pool_size")] == 1000
    assert [words[address("pool_reserve", e)] for e in range(EGRESSES)] == [0, 0, 0, 100]
    assert [words[address("pool_cap", e)] for e in range(EGRESSES)] == [4096, 4096, 4096, 200]
    assert all(on(bench, egress, "show")[0] == 0 for egress in range(EGRESSES)) and not bench.lane.faults
    asked = egresses.load(whole, egresses.Build(egresses=EGRESSES))
    dump = on(bench, 3, "dump")[1].splitlines()
    wanted = [line for line in register_lines(asked, 3) if not line.startswith("class")]
    assert [line for line in dump if not line.startswith("class")] == wanted
    words[address("routes", 0)] = 0
    status, said = on(bench, 0, "show")
    assert status == 1 and "register routes[0] does not hold what was written from here" in said


def test_every_file_of_several_egresses_applied_and_dumped_is_what_check_prints(monkeypatch, state):
    files = sorted((build.ROOT / "sim/configs/egresses").glob("*.toml"))
    for path in files:
        shape = build.shape(path.stem)
        count, share = shape.egresses, shape.queues // shape.egresses
        sizes = {"queues": shape.queues, "victims": shape.victims, "cells": shape.cells}
        bench = Bench(monkeypatch, egresses=count, **sizes)
        status, said = bench.ctl("apply", path)
        assert status == 0, said
        asked = egresses.load(path, egresses.of_shape(shape))
        for egress in range(count):
            shown = [line.split() for line in on(bench, egress, "dump")[1].splitlines()]
            wanted = [line.split() for line in register_lines(asked, egress)]
            of_build = [["lane", f"pool_cap[{egress}]", f"0x{shape.cells:08x}"]] * (not asked.shares[egress].cap.value)
            for line in wanted:  # without a build the first queue of an egress is 0
                if line[0] == "class":
                    line[-1] = f"0x{int(line[-1], 16) + share * egress:08x}"
            assert sorted(shown) == sorted(wanted + of_build)
    assert files


def test_one_egress_of_such_a_file(bench, whole):
    assert on(bench, 0, "apply", whole)[0] == 0 and set(limits(bench)) == {0}
    assert on(bench, 3, "apply", whole)[0] == 0 and limits(bench)[3 * SHARE] == 9000


def test_reserves_of_before_do_not_hinder_a_file_of_all(bench, whole):
    assert bench.ctl("apply", whole)[0] == 0
    assert on(bench, 1, "set", "pool", "reserve=57600") == (0, "")
    whole.write_text(WHOLE.replace('"64KB"', '"7KB"'))
    assert bench.ctl("apply", whole)[0] == 0
    assert [bench.lane.words[address("pool_reserve", e)] for e in range(EGRESSES)] == [0, 0, 0, 100]


@pytest.mark.parametrize(
    "old, new, sentence",
    [
        ("index = 3", "index = 4", 'egress "d" has index 4; this build has egresses 0 to 3'),
        ("6400B", "65KB", "pool.cap is 12800B; legal is 0 for none, or 65KB, the reserve, and more"),
        ('["d", 0]', "[0]", "routes has 1 entry; legal is 2, the inputs of this build"),
        ('"9KB"', '"9KB"\nvictim = "nearest"\nvictim_window = 17', "victim_window is 17; legal is 1 to 16"),
        ('limit = "9KB"\n', 'limit = "9KB"\n[[rule]]\ndscp = 1\n', "which `vermilion run` alone writes"),
    ],
)
def test_a_fault_in_one_egress_writes_none(bench, whole, old, new, sentence):
    before = dict(bench.lane.words)
    whole.write_text(WHOLE.replace(old, new))
    status, said = bench.ctl("apply", whole)
    assert status == 2 and sentence in said and bench.lane.words == before


def test_a_lane_with_one_egress_refuses_the_file(monkeypatch, whole):
    status, said = Bench(monkeypatch).ctl("apply", whole)
    assert status == 2 and 'egress "d" has index 3; this build has one egress, 0' in said
