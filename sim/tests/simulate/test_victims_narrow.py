"""Push-out in lanes of 64 bits, with one and two inputs and with a buffer that runs full: both engines are one."""

import pytest

from support.captures import pcap
from support.nightly import nightly
from support.victim_floods import engines, floods
from support.victim_kinds import RED_FORM, mixed
from support.victims import CONFIG, TAILED, check_tail_drops, traffic
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

FEW = "lab-victims-few-cells"
AT_ONCE = ("--rate", 32_000_000_000)  # two inputs of 64 bits, and more than one can bring
CASES = {
    "mixed": ("nic10g-all", CONFIG % "2Gbit", lambda path: traffic(path, 1, 4000), ("--speed", 1)),
    "mixed-at-wire-rate": ("nic10g-all", CONFIG % "7Gbit", lambda path: traffic(path, 2, 4000), AT_ONCE),
    "short-at-wire-rate": ("nic10g-all", CONFIG % "3Gbit", lambda path: pcap(path, floods(1)), AT_ONCE),
    "short-and-sent": ("nic10g-all", CONFIG % "9500Mbit", lambda path: pcap(path, floods(2)), AT_ONCE),
    "kinds": ("nic10g-all", RED_FORM % "3Gbit", lambda path: mixed(path, 32, 4000), ("--rate", 12_000_000_000)),
    "tail": ("nic10g-all", TAILED % "6Gbit", lambda path: traffic(path, 12, 4000, longest=40), AT_ONCE),
    "few-cells": (FEW, CONFIG % "2Gbit", lambda path: traffic(path, 3, 4000), ("--speed", 1)),
    "few-cells-tail": (
        FEW,
        (TAILED % "1Gbit").replace("20KB", "4KB"),
        lambda path: traffic(path, 4, 4000, longest=300),
        ("--rate", 5_000_000_000),
    ),
}


NIGHTLY = ("few-cells", "few-cells-tail")


@pytest.mark.parametrize("case", [nightly(case) if case in NIGHTLY else case for case in CASES])
def test_both_engines_are_one(tmp_path, case):
    preset, text, made, pace = CASES[case]
    capture = made(tmp_path / "in.pcap")
    stats, rows = engines(build.simulator(preset), tmp_path, text, capture, build.FOR_BENCHES[preset], pace)
    push_outs = [row for row in rows if row["evicted"]]
    victims = [row for row in push_outs if "1" in (row["evicted"], row["victim_marked"])]
    nobuf = sum(colour["nobuf"]["packets"] for queue in stats["queues"] for colour in queue["colours"])
    print({"push_outs": len(push_outs), "victims": len(victims), "nobuf": nobuf})
    assert len(victims) > 50 and all(row["stale"] == "0" for row in victims)
    assert all(int(row["victim_distance"]) <= int(row["distance"]) for row in victims)
    assert nobuf > 0 or preset != FEW
    if "window" in text:
        check_tail_drops(rows)
