"""vermilionctl and queues that mark or drop packets at departure: what a build without `codel` refuses, and what `show` says."""

import pytest

from support.tool_cards import Bench
from vermilion.toolchain import build

CONFIG = build.ROOT / "sim/configs/default.toml"


@pytest.fixture
def codel(tmp_path):
    path = tmp_path / "codel.toml"
    path.write_text('port.rate = "1Gbit"\n[[queue]]\nname = "a"\ndefault = true\naqm = "codel"\n')
    return path


def test_a_build_without_codel_refuses_it_and_is_not_written_to(monkeypatch, codel):
    other = Bench(monkeypatch, codel=0)
    status, said = other.ctl("apply", codel)
    assert status == 2 and 'queue "a" has aqm = "codel"; this build marks and drops packets only as they arrive' in said
    assert other.ctl("apply", CONFIG)[0] == 0
    status, said = other.ctl("set", "ef", "ce_threshold=1ms")
    assert (
        status == 2
        and "aqm, ce_threshold or mark_at is to mark or drop packets as they leave; this build cannot" in said
    )
    status, said = other.ctl("set", "ef", "ecn=1", "mark_at=dequeue")
    assert status == 2 and "as they leave; this build cannot" in said
    late = codel.with_name("late.toml")
    late.write_text(codel.read_text().replace('aqm = "codel"', 'ecn = true\nmark_at = "dequeue"'))
    status, said = other.ctl("apply", late)
    assert status == 2 and 'queue "a" has mark_at = "dequeue"; this build marks and drops packets only' in said
    assert other.bus.writes == []


def test_the_overview_tells_codel_from_tail_drop(bench, codel):
    assert bench.ctl("apply", codel)[0] == 0
    assert "at departure" in bench.ctl("show")[1] and "codel, 5ms, 100ms" in bench.ctl("show")[1]
    assert bench.ctl("set", "a", "aqm=curve", "ce_threshold=1ms") == (0, "")
    said = bench.ctl("show")[1]
    assert "CE above 1ms" in said and "codel" not in said.split("at departure")[1]
    assert bench.ctl("set", "a", "ce_threshold=0s") == (0, "")
    assert "at departure" not in bench.ctl("show")[1]


def test_the_overview_tells_marks_at_departure(bench, codel):
    assert bench.ctl("apply", codel)[0] == 0
    assert bench.ctl("set", "a", "aqm=curve", "ecn=1", "mark_at=dequeue") == (0, "")
    assert "marks at departure" in bench.ctl("show")[1]
    status, said = bench.ctl("set", "a", "spacing=uniform")
    assert status == 2 and "spacing is 1; legal is geometric (0) where mark_at is dequeue" in said
    assert bench.ctl("set", "a", "mark_at=enqueue", "spacing=uniform") == (0, "")
    assert "at departure" not in bench.ctl("show")[1]
