"""Push-outs under each other: a frame in every clock, so that up to six are under way at once, the victims of one being sought while others leave."""

import pytest

from support.captures import pcap
from support.victim_floods import NAME, SHAPE, engines, floods
from support.victims import CONFIG, TAILED, check_tail_drops
from vermilion.toolchain import build

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def program():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(build.PRESETS, NAME, SHAPE)
        return build.simulator(NAME)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("port", ["3Gbit", "40Gbit", "95Gbit"])
def test_both_engines_are_one_at_a_frame_a_clock(program, tmp_path, port, seed):
    print("seed", seed)
    stats, rows = engines(program, tmp_path, CONFIG % port, pcap(tmp_path / "in.pcap", floods(seed)))
    push_outs = [row for row in rows if row["evicted"]]
    counts = {name: sum(row[name] == "1" for row in push_outs) for name in ("evicted", "victim_marked", "stale")}
    print(port, {"push_outs": len(push_outs)} | counts)
    assert len(push_outs) > 400 and counts["evicted"] > 50 and (counts["stale"] > 0 or port == "3Gbit")
    for row in push_outs:
        if row["victim_distance"]:
            assert int(row["victim_distance"]) <= int(row["distance"]) and row["stale"] == "0"
    limits = {0: (60_000, 10**9), 1: (10**9, 200), 2: (60_000, 10**9), 3: (60_000, 10**9)}
    for row in rows:
        if row["refresh"] == "0" and int(row["queue"]) in limits and row["verdict"] in "01":
            held, packets = limits[int(row["queue"])]
            assert int(row["queued_bytes"]) + 60 <= held and int(row["queued_packets"]) + 1 <= packets
    assert stats["queues"][3].get("push_outs") is None


@pytest.mark.parametrize("port", ["3Gbit", "40Gbit", "95Gbit"])
def test_tail_drops_at_a_frame_a_clock(program, tmp_path, port):
    capture = pcap(tmp_path / "in.pcap", floods(21))
    stats, rows = engines(program, tmp_path, (TAILED % port).replace("20KB", "6KB"), capture)
    check_tail_drops(rows)
    assert sum(per["evicted"]["packets"] for queue in stats["queues"] for per in queue["colours"]) > 100
