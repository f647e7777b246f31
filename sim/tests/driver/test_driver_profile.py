"""Whole queues through the driver library: the record is the exact one, what it refuses is what the configuration file's reader refuses."""

import ctypes
import random

import pytest

from support import exact_words
from support.random_settings import random_file
from vermilion.configuration import config, config_file
from vermilion.configuration.markers import Marker
from vermilion.hardware.driver_library import C, fault_of, library, plain
from vermilion.profile import quantise, settings
from vermilion.toolchain.build import ROOT
from vermilion.values.fields import UserError
from vermilion.values.units import Amount, duration

SEED = 21
PORT = C.Port(10**10, 0, 16)


def amount(rng, most, unit="B"):
    return f"{min(most, int(10 ** rng.uniform(0, 8.12)))}{unit}"


@pytest.mark.parametrize("path", sorted((ROOT / "sim/configs").glob("*.toml")), ids=lambda p: p.name)
def test_shipped_configurations_give_the_exact_record(path):
    asked = config_file.load(path)
    assert quantise.hardware(asked) == exact_words.hardware(asked)


def test_random_configurations_give_the_exact_record():
    rng = random.Random(SEED)
    kinds = set()
    for _ in range(250):
        asked = config.parse(random_file(rng))
        kinds |= {m.kind for m in asked.marker} | {q.green.curve for q in asked.queue}
        assert quantise.hardware(asked) == exact_words.hardware(asked)
    assert len(kinds) == 12  # eight kinds of markers, four of curves


def test_defaults_are_those_of_the_configuration_file():
    queue = config.parse({"port": {"rate": "1Gbit"}, "queue": [{"name": "a", "default": True}]}).queue[0]
    asked, held = settings.queue_settings(queue, None), C.Queue()
    library().vm_queue_defaults(ctypes.byref(held))
    assert bytes(asked) == bytes(held)
    flow = config.parse(
        {"port": {"rate": "1Gbit"}, "queue": [{"name": "a"}], "marker": [{"queue": "a", "kind": "3cpm"}]}
    )
    asked = settings.marker_settings(flow.marker[0])
    for name in ("alpha", "a0", "ns", "na", "increase", "ack", "idle", "half_open"):
        mine, theirs = getattr(asked, name), getattr(held.marker, name)
        assert plain(mine) == plain(theirs), name


def legal():
    queue = C.Queue()
    library().vm_queue_defaults(ctypes.byref(queue))
    return queue


# A change to a legal queue, what the sentence says, and the same in a file (None: no file can say it), which must be refused as well.
N = C.Number
CURVE = {"curve": "red", "min": 10, "max": 20, "p": 0.5}
NONE = N(0, 1, 0)
SET_CURVE = lambda q, kind, low=0, high=0, end=0, p=NONE: q.curve[1].__setitem__(0, C.Curve(kind, low, high, p, end))
WRONG = {
    "weight too small": (lambda q: setattr(q.average, "weight", N(3, 1, 5)), "average.weight is 0.00003; legal is 2^-15", {"average": {"weight": 0.00003}}),
    "weight above 1": (lambda q: setattr(q.average, "weight", N(11, 1, 1)), "average.weight is 1.1; legal is", {"average": {"weight": 1.1}}),
    "weight of many digits": (lambda q: setattr(q.average, "weight", N(10**19 + 1, 1, 19)), "average.weight is 1.0000000000000000001;", None),
    "weight as a fraction": (lambda q: setattr(q.average, "weight", N(4, 3, 0)), "average.weight is 4/3;", None),
    "weight 0": (lambda q: setattr(q.average, "weight", N(0, 0, 0)), "average.weight is 0;", {"average": {"weight": 0}}),
    "average kind": (lambda q: setattr(q.average, "kind", 5), "average.kind is 5", {"average": {"kind": "rio"}}),
    "idle packet": (lambda q: setattr(q.average, "idle_packet", 63), "average.idle_packet is 63; legal is 64B to 9600B", {"average": {"idle_packet": 63}}),
    "spacing": (lambda q: setattr(q, "spacing", 3), "spacing is 3", {"spacing": "far"}),
    "limit": (lambda q: setattr(q, "limit", 2**27), "limit is 134217728; legal is 1B to 134217727B", {"limit": 2**27}),
    "alpha no power of two": (lambda q: setattr(q, "alpha", N(3, 1, 1)), "alpha is 0.3; legal is a power of two from 2^-7 (0.0078125) to 8", {"alpha": 0.3}),
    "alpha too small": (lambda q: setattr(q, "alpha", N(1, 256, 0)), "alpha is 1/256; legal is a power of two", {"alpha": 2**-8}),
    "alpha too large": (lambda q: setattr(q, "alpha", N(16, 1, 0)), "alpha is 16; legal is a power of two", {"alpha": 16}),
    "quantum": (lambda q: setattr(q, "quantum", 63), "quantum is 63; legal is 64B to 65535B", {"quantum": 63}),
    "priority": (lambda q: setattr(q, "priority", 8), "priority is 8; legal is 0 to 7, higher goes first", {"priority": 8}),
    "rate": (lambda q: setattr(q, "rate", 63999), "rate is 63999; legal is 64kbit to 200Gbit", {"rate": 63999}),
    "burst": (lambda q: setattr(q, "burst", 10**8 + 1), "burst is 100000001; legal is 0B to 100MB", {"rate": 10**6, "burst": 10**8 + 1}),
    "size weight": (lambda q: setattr(q, "size_weight", 9601), "size_weight is 9601", {"size_weight": 9601}),
    "curve": (lambda q: SET_CURVE(q, 4), "yellow.curve is 4", {"yellow": {"curve": "reed"}}),
    "p": (lambda q: SET_CURVE(q, C.VM_CURVE_RED, 10, 20, 0, N(15, 1, 1)), "yellow.p is 1.5; legal is 0 to 1", {"yellow": CURVE | {"p": 1.5}}),
    "min": (lambda q: SET_CURVE(q, C.VM_CURVE_RED, 21, 20), "yellow.min is 21; legal is 0 up to max", {"yellow": CURVE | {"min": 21}}),
    "max": (lambda q: SET_CURVE(q, C.VM_CURVE_RED, 21, 2**27), "yellow.max is 134217728; legal is 0 to 134217727", {"yellow": CURVE | {"max": 2**27}}),
    "gentle": (lambda q: SET_CURVE(q, C.VM_CURVE_GENTLE, 0, 2**26), "yellow.max is 67108864; legal is 1 to 67108863", {"yellow": CURVE | {"curve": "gentle", "max": 2**26}}),
    "gentle 0": (lambda q: SET_CURVE(q, C.VM_CURVE_GENTLE, 0, 0), "yellow.max is 0", {"yellow": CURVE | {"curve": "gentle", "min": 0, "max": 0}}),
    "end of red": (lambda q: SET_CURVE(q, C.VM_CURVE_RED, 10, 20, 20), "yellow.end is 20; legal is 0, or above max", {"yellow": CURVE | {"end": 20}}),
    "no end": (lambda q: SET_CURVE(q, C.VM_CURVE_EXRED, 10, 20), "yellow.end is 0", {"yellow": CURVE | {"curve": "exred"}}),
    "end": (lambda q: SET_CURVE(q, C.VM_CURVE_EXRED, 10, 20, 20), "yellow.max is 20; legal is more than min and less than end", {"yellow": CURVE | {"curve": "exred", "end": 20}}),
    "p of exred": (lambda q: SET_CURVE(q, C.VM_CURVE_EXRED, 10, 30, 100, N(3, 1, 1)), "yellow.p is 0.3; legal is 0 to (max - min) / (end - min)", {"yellow": {"curve": "exred", "min": 10, "max": 30, "end": 100, "p": 0.3}}),
    "marks without ecn": (lambda q: q.curve[1].__setitem__(1, C.Curve(C.VM_CURVE_RED, 1, 2)), "yellow.ecn.curve is 1; legal is tail (0) where ecn is 0", {"yellow": CURVE | {"ecn": {"min": 1, "max": 1, "p": 1}}}),
    "code point": (lambda q: q.remark.__setitem__(1, 65), "remark.yellow is 65; legal is 0 to 63", {"remark": {"yellow": 64}}),
    "by colour": (lambda q: setattr(q, "victim_by_colour", 1), "victim_by_colour is 1", {"victim_by_colour": True}),
    "window": (lambda q: setattr(q, "victim_window", 3), "victim_window is 3", {"victim_window": 3}),
    "window of 17": (lambda q: setattr(q, "victim_window", 17), "victim_window is 17; legal is 1 to 16 packets", {"victim": "nearest", "limit": 9, "victim_window": 17}),
    "window without a limit": (lambda q: (setattr(q, "victim", 1), setattr(q, "victim_window", 3)), "victim_window is 3; legal is 0 where the queue has no limit", {"victim": "nearest", "victim_window": 3}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_illegal_is_refused_with_field_value_and_range_here_and_in_a_file(name):
    change, sentence, in_file = WRONG[name]
    queue = legal()
    assert fault_of(queue, PORT) is None
    change(queue)
    assert fault_of(queue, PORT).startswith(sentence)
    if in_file is not None:
        path = sentence.partition(" ")[0].split(".")
        fields = "|".join(path[len(path) > 1 :])  # without the table
        with pytest.raises(UserError, match=rf"\b({fields})\b"):
            config.parse({"port": {"rate": "10Gbit"}, "pool": {"size": 6400}, "queue": [{"name": "a"} | in_file]})


REDP = {"kind": "redp", "rate": 700_000, "bucket": 60_000, "low": 15_000, "high": 45_000}
LEAF = {"kind": "leaf", "rate": 10**6, "burst": 10_000}
SRTCM = {"kind": "srtcm", "cir": 10**6, "cbs": 10_000, "ebs": 5000}
WRONG_MARKERS = {
    "rate": (LEAF | {"rate": 10}, "marker.rate is 10; legal is 64kbit to 200Gbit"),
    "burst": (LEAF | {"burst": 59}, "marker.burst is 59; legal is 60B to 64MiB, or 1p up"),
    "IP burst": (LEAF | {"burst": 19, "length": "ip"}, "marker.burst is 19; legal is 20B"),
    "deep": (LEAF | {"burst": 2**26 + 1}, "marker.burst is 67108865"),
    "drop": (LEAF | {"drop": ["yellow"]}, "marker.drop is 2; legal is a mask of colours that this marker gives"),
    "both 0": (SRTCM | {"cbs": 0, "ebs": 0}, "marker.cbs is 0; legal is up to 64MiB, and more than 0"),
    "dropped never": (SRTCM | {"ebs": 0, "drop": ["yellow"]}, "marker.drop is 2"),
    "pir": ({"kind": "trtcm", "cir": 10**6, "pir": 999_999, "cbs": 99, "pbs": 99}, "marker.pir is 999999; legal is from cir"),
    "high": (REDP | {"high": 60_001}, "marker.high is 60001; legal is low up to bucket"),
    "low": (REDP | {"low": 45_001}, "marker.low is 45001; legal is 0 up to high"),
    "MAX 0": (REDP | {"max_demote": 0}, "marker.max_demote is 0; legal is above 0 to 1"),
    "MAX small": (REDP | {"max_demote": 1e-300}, "marker.max_demote is 1e-300; legal is what its register holds"),
    "MAX next to small": (REDP | {"max_demote": 9.7e-6}, "marker.max_demote is 0.0000097; legal is what"),
    "p_drop": (REDP | {"p_drop": 5e-6}, "marker.p_drop is 0.000005; legal is 0, or 7.7e-06 to 1"),
    "alpha": ({"kind": "3cpm", "alpha": 1, "increase": "factor"}, "marker.alpha is 1; legal is up to 0.875"),
    "a0": ({"kind": "apm", "a0": 65536}, "marker.a0 is 65536; legal is 0 to 65535 packets"),
    "a0 small": ({"kind": "apm", "a0": 0.0019}, "marker.a0 is 0.0019"),
    "half open": ({"kind": "wpm", "idle": "1s", "half_open": "2s"}, "marker.half_open is 2000000000; legal is 5ms to idle"),
    "idle": ({"kind": "wpm", "idle": "1ms", "half_open": "1ms"}, "marker.idle is 1000000; legal is 5ms to 274s"),
    "red of wpm": ({"kind": "wpm", "drop": ["red"]}, "marker.drop is 4"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_MARKERS)
def test_illegal_markers_are_refused_here_and_in_a_file(name):
    fields, sentence = WRONG_MARKERS[name]
    queue = legal()
    unchecked = Marker.model_construct(queue="a", **plain_amounts(fields))
    queue.marker = settings.marker_settings(unchecked)
    assert fault_of(queue, PORT).startswith(sentence)
    raw = {"port": {"rate": "10Gbit"}, "queue": [{"name": "a"}], "marker": [{"queue": "a"} | fields]}
    field = sentence.partition(" ")[0].removeprefix("marker.")
    with pytest.raises(UserError, match=rf"\b{field}\b"):
        config.parse(raw)


def plain_amounts(fields):
    """What the reader would make of the fields before it checks them."""
    times = {"idle", "half_open", "meter"}
    depths = {"burst", "cbs", "ebs", "pbs", "bucket", "low", "high"}
    out = {name: duration(value) if name in times else value for name, value in fields.items()}
    return {name: Amount(value, "byte") if name in depths else value for name, value in out.items()}


def test_what_a_sentence_has_no_room_for_is_cut_off():
    fault, queue = C.Refusal(), legal()
    queue.average.weight = C.Number(2**64 - 1, 1, 24)
    library().vm_queue_check(ctypes.byref(queue), ctypes.byref(PORT), ctypes.byref(fault))
    whole = ctypes.create_string_buffer(200)
    length = library().vm_refusal_text(ctypes.byref(fault), whole, 200)
    assert whole.value.startswith(b"average.weight is 0.000018446744073709551615; legal") and length == len(whole.value)
    for size in range(length + 1):
        cut = ctypes.create_string_buffer(b"\xff" * 200)
        held = library().vm_refusal_text(ctypes.byref(fault), cut, size)
        assert held == max(0, size - 1) and cut.raw[:held] == whole.raw[:held]
        assert cut.raw[size:200] == b"\xff" * (200 - size) and (size == 0 or cut.raw[held] == 0)
