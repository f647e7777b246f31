"""The two engines of the experiments, sim/experiments/engine/engine.h: the Verilated lane says what the model says, packet by packet, through the
interface that a network simulator has, whatever comes and whenever."""

import ctypes
import json
import random
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p

import pytest

from vermilion.experiments import network, poisson, rtl, runs, settings
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

SEED = 20260801
ONLY_IN_USE = (5, 6, 7)  # verdicts nobuf, bad and policed compare no average


class Fate(Structure):
    _fields_ = [("id", c_uint64), ("verdict", c_uint32), ("queue", c_uint32), ("colour", c_uint32), ("avg", c_uint64)]


class Gone(Structure):
    _fields_ = [("id", c_uint64), ("time", c_uint64), ("queue", c_uint32), ("colour", c_uint32), ("traffic", c_uint32)]


class Calls(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("create", CFUNCTYPE(c_void_p, c_char_p, c_char_p, c_size_t)),
        ("destroy", CFUNCTYPE(None, c_void_p)),
        ("arrive", CFUNCTYPE(None, c_void_p, c_uint64, c_char_p, c_uint32, c_uint32, POINTER(Fate))),
        ("advance", CFUNCTYPE(None, c_void_p, c_uint64)),
        ("next", CFUNCTYPE(c_int, c_void_p, POINTER(c_uint64))),
        ("left", CFUNCTYPE(c_int, c_void_p, POINTER(Gone))),
        ("evicted", CFUNCTYPE(c_int, c_void_p, POINTER(c_uint64))),
        ("dropped", CFUNCTYPE(c_int, c_void_p, POINTER(c_uint64))),
    ]


class Engine:
    """One lane of one engine."""

    def __init__(self, name, record):
        aqm = any(queue[name]["on"] for queue in record["queues"] for name in ("codel", "pie", "dualpi2"))
        flows = any(queue["fq"] for queue in record["queues"]) and len(record["queues"]) > 16
        preset = rtl.FLOWS if flows else rtl.AQM if aqm else rtl.PRESET
        library = ctypes.CDLL(str(network.engine(name, build.quiet, preset=preset)[0]))
        library.vm_engine.restype = POINTER(Calls)
        self.calls = library.vm_engine().contents
        assert self.calls.name == name.encode()
        error = ctypes.create_string_buffer(400)
        self.lane = self.calls.create(json.dumps(record).encode(), error, 400)
        self.error = error.value.decode()

    def arrive(self, time, head, length):
        fate = Fate()
        self.calls.arrive(self.lane, time, head, len(head), length, byref(fate))
        said = [fate.id, fate.verdict, fate.queue, fate.colour]
        return said if fate.verdict in ONLY_IN_USE else [*said, fate.avg]

    def advance(self, time):
        self.calls.advance(self.lane, time)

    def next(self):
        time = c_uint64()
        return time.value if self.calls.next(self.lane, byref(time)) else None

    def left(self):
        out, gone = [], Gone()
        while self.calls.left(self.lane, byref(gone)):
            out.append((gone.id, gone.time, gone.queue, gone.colour, gone.traffic))
        return out

    def dropped(self):
        out, frame = [], c_uint64()
        while self.calls.dropped(self.lane, byref(frame)):
            out.append(frame.value)
        return out

    def close(self):
        self.calls.destroy(self.lane)


def af(**more):
    return {
        "name": "af",
        "dscp": {"green": ["AF11"], "yellow": ["AF12"], "red": ["AF13"]},
        "average": {"kind": "rio-c", "weight": 0.02, "idle_packet": "300B"},
        "green": {"curve": "red", "min": "10KB", "max": "30KB", "p": 0.1},
        "yellow": {"curve": "gentle", "min": "6KB", "max": "20KB", "p": 0.2},
        "red": {"curve": "exred", "min": "2KB", "max": "10KB", "p": 0.1, "end": "40KB"},
    } | more


REST = {"name": "rest", "default": True, "dscp": ["default"], "limit": "20KB"}
COLOURS = {"green": "AF11", "yellow": "AF12", "red": "AF13"}
LANES = {
    "bytes": {"port": {"rate": "10Mbit"}, "queue": [af(spacing="uniform", limit="60KB"), REST]},
    "ecn, both": {
        "port": {"rate": "20Mbit", "burst": "8KB"},
        "queue": [
            af(ecn=True, spacing="geometric", average={"kind": "wred", "weight": 0.05, "update": "both"}),
            REST | {"rate": "2Mbit"},
        ],
    },
    "marked": {
        "port": {"rate": "10Mbit"},
        "queue": [af(remark=COLOURS, spacing="wait", limit_packets="70p"), REST],
        "marker": [
            {"queue": "af", "kind": "redp", "rate": "4Mbit", "bucket": "20p", "low": "5p", "high": "15p",
             "packet": "800B", "max_demote": 0.5, "max_promote": 0.5, "p_drop": 0.3, "meter": "1ms"}
        ],
    },
}  # fmt: skip


def traffic(rng, count):
    """Frames at paces from back to back to seconds apart, of all lengths, classes and ECN bits; (time, head, length)."""
    time, out = 0, []
    while len(out) < count:
        pace = rng.choice((0, 40, 3_000, 200_000, 900_000))
        for _ in range(rng.randrange(1, 120)):
            length, dscp = rng.choice((60, 300, 942, 1514, rng.randrange(60, 1515))), rng.choice((10, 12, 14, 0))
            ip = bytes([0x45, dscp << 2 | rng.randrange(4)]) + (length - 14).to_bytes(2) + bytes(4) + bytes([64, 17])
            out.append((time, rng.randbytes(12) + b"\x08\x00" + ip + bytes(10) + rng.randbytes(24), length))
            time += rng.randrange(2 * pace + 1)
        time += rng.choice((0, 1_000, 10**7, 3 * 10**9))
    return out[:count]


def compared(name, tables) -> dict:
    """Random traffic through both engines, which must say the same; how many packets met what."""
    rng = random.Random(f"{SEED} {name}")
    print("seed", SEED)
    record = network.lane("x", "x", tables, rng.randrange(1, 2**32))["lane"]
    model, rtl = Engine("model", record), Engine("rtl", record)
    seen = dict.fromkeys(("left", "CE", "dropped"), 0)

    def gone(where):
        assert rtl.left() == (gone := model.left()) and rtl.dropped() == (dropped := model.dropped()), where
        seen["left"] += len(gone)
        seen["CE"] += sum(each[4] & 3 == 3 for each in gone)
        seen["dropped"] += len(dropped)

    for number, (time, head, length) in enumerate(traffic(rng, 10_000)):
        if rng.randrange(4) == 0 and (wake := model.next()) is not None and wake < time:
            model.advance(wake), rtl.advance(wake)
        wanted = model.arrive(time, head, length)
        assert rtl.arrive(time, head, length) == wanted, f"frame {number} at {time} ns"
        assert rtl.next() == model.next(), f"behind frame {number}"
        gone(f"behind frame {number}")
        seen[wanted[1]] = seen.get(wanted[1], 0) + 1
    while (wake := model.next()) is not None:
        assert rtl.next() == wake
        model.advance(wake), rtl.advance(wake)
        gone("at the end")
    assert rtl.next() is None and seen["left"] + seen["dropped"] == seen[0] + seen.get(1, 0)
    model.close(), rtl.close()
    return seen


@pytest.mark.parametrize("name", LANES)
def test_both_engines_decide_alike_whatever_comes(name):
    seen = compared(name, LANES[name])
    assert min(seen[2], seen[3], seen[4]) > 20 and seen[0] > 1000 and seen["dropped"] == 0, seen  # early, forced, tail
    assert (seen.get(1, 0) > 100) == ("ecn" in name) and (seen.get(7, 0) > 20) == (name == "marked"), seen


def test_both_engines_drop_and_mark_alike_as_packets_leave():
    codel = {"aqm": "codel", "target": "500us", "interval": "5ms", "average": {"kind": "red"}}
    codel |= dict.fromkeys(COLOURS, {"curve": "tail"})
    queues = [af(**codel, rate="4Mbit"), REST | {"aqm": "codel", "ecn": True, "ce_threshold": "3ms"}]
    seen = compared("codel", {"port": {"rate": "20Mbit", "burst": "8KB"}, "queue": queues})
    assert seen["dropped"] > 100 and seen["CE"] > 100, seen


def test_both_engines_decide_alike_by_pie():
    """And both are quiescent without frames, although updates go on."""
    pie = {"aqm": "pie", "target": "500us", "tupdate": "5ms", "pie_alpha": 3, "pie_beta": 3, "burst_allowance": "0ns"}
    pie |= {"average": {"kind": "red"}} | dict.fromkeys(COLOURS, {"curve": "tail"})
    queues = [af(**pie, rate="4Mbit", limit="200KB"), REST | {"aqm": "pie", "ecn": True, "limit": "100KB"}]
    seen = compared("pie", {"port": {"rate": "20Mbit", "burst": "8KB"}, "queue": queues})
    assert seen[2] > 20 and seen["dropped"] == 0, seen


def test_both_engines_decide_alike_by_dualpi2():
    """A pair whose L also has classes of its own: packets that are not ECN-capable are dropped there."""
    pair = {"aqm": "dualpi2", "limit": "200KB", "average": {"kind": "red"}}
    pair |= dict.fromkeys(COLOURS, {"curve": "tail"})
    c = {"target": "500us", "tupdate": "1ms", "dualpi2_alpha": 50, "dualpi2_beta": 200, "step_threshold": "300us"}
    seen = compared("dualpi2", {"port": {"rate": "20Mbit", "burst": "8KB"}, "queue": [af(**pair, **c), REST | pair]})
    assert seen["dropped"] > 100 and seen["CE"] > 100, seen


def test_engines_with_other_draws_differ():
    records = [network.lane("x", "x", LANES["bytes"], seed)["lane"] for seed in (1, 2)]
    model, rtl = Engine("model", records[0]), Engine("rtl", records[1])
    frames = traffic(random.Random(SEED), 1500)
    assert [model.arrive(*each) for each in frames] != [rtl.arrive(*each) for each in frames]
    model.close(), rtl.close()


@pytest.mark.parametrize("load", [0.7, 1.2, 2.0])
def test_the_poisson_queue_is_decided_alike(tmp_path, load):
    of = settings.load(settings.FOLDER / "p4.toml")
    traffic = {"loads": [load], "arrivals": 10_000, "long_loads": [], "warm_up": 1000}
    of = of.model_copy(update={"traffic": of.traffic.model_copy(update=traffic)})
    plan = poisson.planned(of, [7], 1)
    got = {
        engine: runs.Runner(poisson.program(engine, build.quiet), tmp_path / engine, 1).all(plan)
        for engine in ("model", "rtl")
    }
    for scheme in of.scheme:
        (model,), (rtl,) = (got[engine][f"{scheme}.{load}"].values() for engine in ("model", "rtl"))
        assert rtl == model and model["fates"]["lanes"] == [{"decided": 11_000}]
        assert (model["early"] > 0) == (scheme != "tail") or load < 1
    hashes = {got["rtl"][f"{scheme}.{load}"][7]["fates"]["hash"] for scheme in of.scheme}
    assert len(hashes) == (3 if load > 1 else 2)  # below max RED and ExRED are one


def test_a_lane_that_the_rtl_was_not_built_for_is_refused_with_a_sentence():
    tables = {"port": {"rate": "10Mbit"}, "queue": [af(victim="nearest"), REST]}
    refused = Engine("rtl", network.lane("x", "x", tables, 1)["lane"])
    assert not refused.lane and "has no victim search; use the engine model" in refused.error
    record = network.lane("x", "x", LANES["bytes"], 1)["lane"]
    refused = Engine("rtl", record | {"queues": [record["queues"][0] | {"index": i} for i in range(18)]})
    assert not refused.lane and "queue_count is 18; the RTL of the experiments has 16" in refused.error
