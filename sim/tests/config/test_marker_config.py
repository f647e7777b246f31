"""`[[marker]]` in the configuration file: what is refused, and the register values of what is not."""

import math
import random
from fractions import Fraction

import pytest

from support.marker_lanes import KINDS, QUEUE, Lane, parse
from vermilion.configuration import config
from vermilion.profile import marker_values, quantise
from vermilion.values.fields import UserError

WRONG = {
    "low above high": ("redp", {"low": "50p"}, "low 50p, high 45p, bucket 60p"),
    "high above the bucket": ("redp", {"high": "61p"}, "bucket 60p"),
    "mixed units": ("redp", {"low": "15KB"}, "legal are all in bytes or all in packets"),
    "a rate too low": ("leaf", {"rate": "10kbit"}, "64kbit to 200Gbit"),
    "a rate too high": ("leaf", {"rate": "201Gbit"}, "64kbit to 200Gbit"),
    "a burst of nothing": ("leaf", {"burst": 0}, "has burst 0; legal is 60B to 64MiB, or 1p up"),
    "a burst too deep": ("leaf", {"burst": "65MiB"}, 'burst is "65MiB"; legal are amounts up to 64MiB'),
    "a burst below 0": ("leaf", {"burst": "-1B"}, 'marker of "af1", burst is "-1B"; legal are amounts up to 64MiB'),
    "a burst that no frame fits": ("leaf", {"burst": "59B"}, "has burst 59B, in which no packet fits; legal is 60B"),
    "a burst of no packet": ("leaf", {"burst": "0p"}, "has burst 0; legal is 60B to 64MiB, or 1p up"),
    "a committed burst that no frame fits": ("srtcm", {"cbs": 1}, "has cbs 1B, in which no packet fits; legal is 20B"),
    "an excess burst that no frame fits": ("srtcm", {"ebs": 19}, "has ebs 19B, in which no packet fits; legal is 20B"),
    "a burst that no frame fits, of frames": ("trtcm", {"pbs": 59, "length": "frame"}, "fits; legal is 60B to 64MiB"),
    "no committed burst": ("trtcm", {"cbs": 0}, "has cbs 0, which RFC 2698 needs above 0; legal is 20B to 64MiB"),
    "no peak burst": ("trtcm", {"pbs": 0}, "has pbs 0, which RFC 2698 needs above 0; legal is 20B to 64MiB"),
    "a bucket that no frame fits": ("redp", {"bucket": 9, "low": 0, "high": 9}, "has bucket 9B, in which no packet"),
    "a bucket of packets too deep": (
        "redp",
        {"bucket": "100000p"},
        "has bucket 100000p of 1000 B; legal is up to 67108p, 64MiB",
    ),
    "no burst": ("leaf", {"burst": None}, 'kind "leaf" needs rate, burst'),
    "a field of another kind": ("leaf", {"pir": "1Mbit"}, 'which kind "leaf" does not take'),
    "peak below committed": ("trtcm", {"pir": "500kbit"}, "needs pir from cir up"),
    "both bursts 0": ("srtcm", {"cbs": 0, "ebs": 0}, "has cbs 0 and ebs 0; RFC 2697 needs at least one above 0"),
    "a missing queue": ("leaf", {"queue": "af9"}, 'has no queue; queues are "af1"'),
    "an unknown kind": ("red", {"rate": "1Mbit"}, "legal are leaf, srtcm, trtcm, redp, nm, 3cpm, wpm, apm"),
    "a probability of 2": ("redp", {"p_drop": 2}, "0 to 1"),
    "no chance at all": ("redp", {"max_demote": 0}, "above 0 to 1"),
    "a typo": ("leaf", {"brust": "1KB"}, 'did you mean "burst"'),
    "bare numbers are bytes": (
        "redp",
        {"bucket": 60, "low": 15},
        "bucket 60B, low 15B, high 45p; legal are all in bytes or",
    ),
    "a MAX too small for its register": ("redp", {"max_demote": 1e-300}, "legal is 9.75e-06 to 1"),
    "a chance that rounds to none": ("redp", {"p_drop": 0.000005}, "has p_drop 5e-06, which rounds to 0"),
    "a chance that is no number": ("redp", {"p_drop": float("nan")}, "legal is 0 to 1"),
    "a time without a unit": (
        "redp",
        {"meter": 100},
        'meter is 100; legal are times from 0ns to 3600s, such as "100ms"',
    ),
    "a time too long": ("redp", {"meter": "2h"}, 'meter is "2h"; legal are times from 0ns to 3600s'),
    "packets where bytes are": ("leaf", {"packet": "1000B"}, "packet belongs to buckets in packets"),
    "an alpha between eighths": ("3cpm", {"alpha": 0.3}, "in steps of 0.125"),
    "an alpha that leaves nothing to divide by": ("3cpm", {"alpha": 1, "increase": "factor"}, "alpha up to 0.875"),
    "too many credits": ("wpm", {"ns": 256}, "0 to 255 packets"),
    "credits where none are": ("apm", {"ns": 5}, 'which kind "apm" does not take'),
    "a rate where there is no bucket": ("nm", {"rate": "1Mbit"}, 'which kind "nm" does not take; it takes drop'),
    "a packet where there is no bucket": ("wpm", {"packet": "1KB"}, "it takes ns, na, ack, idle, half_open, drop"),
    "an age beyond the table's": ("3cpm", {"idle": "300s"}, 'idle is "300s"; legal are times from 5ms to 274s'),
    "an age below the table's": ("wpm", {"half_open": "4ms"}, 'half_open is "4ms"; legal are times from 5ms to 274s'),
    "half open for longer than idle": (
        "3cpm",
        {"half_open": "61s"},
        "has half_open 61s above idle 60s; legal is 5ms to 60s",
    ),
    "an average that rounds to none": ("apm", {"a0": 0.001}, "has a0 0.001, which rounds to 0 in 2^-8; legal is 0, or"),
    "a colour that is none": ("leaf", {"drop": ["blue"]}, "green, yellow, red"),
    "a colour twice": ("leaf", {"drop": ["red", "red"]}, "has drop with red 2 times; legal is each colour once"),
    "red behind a yellow leaf": ("leaf", {"out": "yellow", "drop": ["red"]}, "never gives; legal is green, yellow"),
    "yellow behind a red leaf": ("leaf", {"drop": ["yellow"]}, "drop with yellow, which this marker never gives"),
    "green without a committed burst": ("srtcm", {"cbs": 0, "drop": ["green"]}, "never gives; legal is yellow, red"),
    "yellow without an excess burst": ("srtcm", {"ebs": 0, "drop": ["yellow"]}, "never gives; legal is green, red"),
    "red of wpm": (
        "wpm",
        {"drop": ["red"]},
        "has drop with red, which this marker never gives; legal is green, yellow",
    ),
    "green of apm": (
        "apm",
        {"drop": ["green"]},
        "has drop with green, which this marker never gives; legal is yellow, red",
    ),
    "red of nm": ("nm", {"drop": ["red"]}, "has drop with red, which this marker never gives; legal is yellow"),
}


@pytest.mark.parametrize("case", WRONG)
def test_is_refused_in_one_sentence(case):
    kind, fields, words = WRONG[case]
    with pytest.raises(UserError) as error:
        parse(kind, **fields)
    text = str(error.value)
    assert words in text and "\n" not in text and "af" in text


def test_flow_markers_have_the_papers_defaults():
    one = record("3cpm")
    assert one["kind"] == 5
    assert one["flow"] == {
        "kind": 1, "alpha": 4, "a0": 7 * 256, "ns": 5, "na": 5,
        "increase": 0, "ack": 0, "idle": 14305, "half_open": 715,
    }  # fmt: skip
    assert [record(kind)["flow"]["kind"] for kind in ("nm", "wpm", "apm")] == [0, 2, 3]
    assert record("apm", alpha=0.25, a0=2.5, increase="factor")["flow"]["a0"] == 640


@pytest.mark.parametrize(
    "marker, words",
    [
        ({"queue": "af1", "kind": "nm"}, "marker is a table; legal is a list of tables, each headed [[marker]]"),
        ([{"kind": "nm"}], "marker number 1, queue is missing"),
        ([{"queue": 1, "kind": "nm"}], "marker number 1, queue is 1; legal is text in quotes"),
        ([{"queue": "af1"}], 'marker of "af1", kind is missing'),
        ([7], "marker number 1 is 7; legal is a table"),
    ],
)
def test_what_is_no_list_of_tables_is_told_where(marker, words):
    with pytest.raises(UserError) as error:
        config.parse({"port": {"rate": "10Mbit"}, "queue": [QUEUE], "marker": marker})
    assert words in str(error.value)


def test_two_markers_of_one_queue_are_refused():
    marker = {"queue": "af1", "kind": "leaf"} | KINDS["leaf"]
    with pytest.raises(UserError, match="has two markers"):
        config.parse({"port": {"rate": "10Mbit"}, "queue": [QUEUE], "marker": [marker, marker]})


def record(kind, **fields):
    return quantise.hardware(parse(kind, **fields))["queues"][0]["marker"]


def test_buckets_are_times_of_their_rates():
    one = record("trtcm")
    assert one["burst"] == [80_000_000, 80_000_000]  # 20 KB at 2 Mbit/s, 10 KB at 1 Mbit/s
    assert [quantise.value(tuple(c)) for c in one["cost"]] == [4000, 8000]
    assert record("srtcm")["burst"] == [80_000_000, 120_000_000]


def test_packets_count_as_their_stated_length():
    one = record("redp", packet="500B", p_drop=0.02, meter="5ms")
    packet = 500 * quantise.value(tuple(one["cost"][0]))
    assert [one["burst"][0], one["low_threshold"], one["high_threshold"]] == [
        math.ceil(n * packet) for n in (60, 15, 45)
    ]
    m, s = one["demote"]
    assert abs(Fraction(m * 2**42, 2**s) / 2**16 / (30 * packet) - 1) < Fraction(1, 2**16)


@pytest.mark.parametrize("rate", [64_000, 700_000, 10**9, 10**11, 2 * 10**11])
def test_rates_are_within_a_thousandth(rate):
    real = Fraction(8 * 10**9) / quantise.value(tuple(record("leaf", rate=rate)["cost"][0]))
    assert abs(real / rate - 1) < Fraction(1, 1000)


PACKETS = (1, 2, 5, 20)
FULL = {  # fields for a depth of n packets; colours of 2 n + 1 packets that come at once to full buckets
    "leaf": (lambda d, n, rate: {"rate": rate, "burst": d(n)}, lambda n: [0] * n + [2] * (n + 1)),
    "srtcm": (lambda d, n, rate: {"cir": rate, "cbs": d(n), "ebs": d(n)}, lambda n: [0] * n + [1] * n + [2]),
    "trtcm": (
        lambda d, n, rate: {"cir": rate, "cbs": d(n), "pir": min(3 * rate, 2 * 10**11), "pbs": d(2 * n)},
        lambda n: [0] * n + [1] * n + [2],
    ),
    "redp": (
        lambda d, n, rate: {"rate": rate, "bucket": d(n), "low": 0, "high": d(n)},
        lambda n: [0] * n + [1] * (n + 1),
    ),
}


@pytest.mark.parametrize("in_packets", [False, True], ids=["bytes", "packets"])
@pytest.mark.parametrize("kind", FULL)
def test_a_full_bucket_of_n_packets_passes_n_packets_at_once_and_no_more(kind, in_packets):
    rng = random.Random(1)
    print("seed 1")
    fields, want = FULL[kind]
    for _ in range(300):
        rate = int(64_000 * (2e11 / 64_000) ** rng.random())
        length = rng.choice([64, 594, 1000, 1500, 9000])
        depth = (lambda n: f"{n}p") if in_packets else (lambda n: n * length)
        extra = {"kind": kind} | ({"packet": f"{length}B"} if in_packets else {})
        lane = Lane(
            config.parse(
                {
                    "port": {"rate": "10Mbit"},
                    "queue": [{"name": f"{n}", "default": n == 1} for n in PACKETS],
                    "marker": [{"queue": f"{n}"} | extra | fields(depth, n, rate) for n in PACKETS],
                }
            )
        )
        for queue, n in enumerate(PACKETS):
            got = lane.colours(queue, 2 * n + 1, 700 if in_packets else length)
            assert got == want(n), (rate, length, n)


def test_what_is_asked_for_is_never_held_as_nothing_nor_past_the_register():
    fastest = record("redp", rate="200Gbit", bucket="60B", low=1, high=2)
    assert fastest["burst"][0] == 3 and fastest["low_threshold"] == fastest["high_threshold"] == 1
    assert min(fastest["demote"][0], fastest["promote"][0]) > 0
    slowest = record("srtcm", cir="64kbit", cbs="64MiB", ebs="64MiB")
    assert slowest["burst"] == [2**26 * 125_000, 2**27 * 125_000] and slowest["burst"][1] < 2**44
    assert record("redp", p_drop=0.00001)["p_drop"] == 1 and record("apm", a0=0.002)["flow"]["a0"] == 1


@pytest.mark.parametrize(
    "kind, fields, colours",
    [
        ("leaf", {}, "green red"),
        ("leaf", {"out": "yellow"}, "green yellow"),
        ("srtcm", {}, "green yellow red"),
        ("srtcm", {"cbs": 0}, "yellow red"),
        ("srtcm", {"ebs": 0}, "green red"),
        ("trtcm", {}, "green yellow red"),
        ("redp", {}, "green yellow red"),
        ("3cpm", {}, "green yellow red"),
        ("wpm", {}, "green yellow"),
        ("apm", {}, "yellow red"),
        ("nm", {}, "yellow"),
    ],
)
def test_the_colours_that_a_marker_gives_may_be_dropped(kind, fields, colours):
    one = record(kind, drop=colours.split(), **fields)
    assert one["drop"] == sum(1 << ("green", "yellow", "red").index(c) for c in colours.split())


def test_half_open_is_never_longer_than_idle_by_default():
    assert record("wpm", idle="1s")["flow"]["half_open"] == record("wpm", idle="1s")["flow"]["idle"] == 238


def lines(kind, **fields):
    return {
        each.field.removeprefix("marker."): each for each in marker_values.marker_lines(parse(kind, **fields).marker[0])
    }


def test_check_shows_every_value_of_a_marker_as_asked_and_as_held():
    seen = {
        "leaf": lines("leaf", rate="13Gbit", burst=1000),
        "srtcm": lines("srtcm", cir="3Mbit", cbs=1500, ebs=64),
        "trtcm": lines("trtcm"),
        "redp": lines(
            "redp", rate="200Gbit", bucket="3p", low="1p", high="2p", packet="64B", p_drop=0.00001, meter="5us"
        ),
        "3cpm": lines("3cpm", a0=0.003, idle="5ms"),
        "wpm": lines("wpm"),
        "apm": lines("apm", alpha=0.25),
        "nm": lines("nm"),
    }
    flow = ["alpha", "a0", "ns", "na", "idle", "half_open"]
    assert {kind: list(each) for kind, each in seen.items()} == {
        "leaf": ["rate", "burst"],
        "srtcm": ["cir", "cbs", "ebs"],
        "trtcm": ["cir", "pir", "cbs", "pbs"],
        "redp": ["rate", "bucket", "low", "high", "max_demote", "max_promote", "p_drop", "meter"],
        "3cpm": flow, "wpm": flow[2:], "apm": flow[:2] + flow[4:], "nm": [],
    }  # fmt: skip
    shown = lambda kind, field: (seen[kind][field].asked, seen[kind][field].real)
    assert shown("leaf", "rate")[0] == "13Gbit" and 0 < abs(seen["leaf"]["rate"].error) < 1e-5
    assert shown("leaf", "burst") == ("1000B", "1001B")
    assert shown("redp", "low") == ("1p", "1.17188p") and abs(seen["redp"]["low"].error - 0.171875) < 1e-5
    assert shown("redp", "p_drop") == ("1e-05", "1.52588e-05") and shown("redp", "meter") == ("5us", "5us")
    assert shown("redp", "max_demote")[0] == "0.5" and abs(seen["redp"]["max_demote"].error) < 1e-5
    assert shown("3cpm", "a0") == ("0.003", "0.00390625") and abs(seen["3cpm"]["a0"].error - 0.302083) < 1e-5
    assert shown("3cpm", "idle") == ("5ms", "4.1943ms") and shown("wpm", "half_open") == ("3s", "2.99893s")
    assert shown("apm", "alpha") == ("0.25", "0.25") and shown("wpm", "ns") == ("5", "5")
    listed = [each.field for each in quantise.report(parse("3cpm"))]
    assert listed[-6:] == [f"marker.{name}" for name in flow]


def test_the_tables_of_check_tell_a_markers_switches_and_shallow_buckets():
    import io

    from rich.console import Console

    from vermilion.simulation import show

    def printed(kind, **fields):
        screen = Console(width=200, file=io.StringIO())
        show.configuration(screen, parse(kind, **fields))
        return screen.file.getvalue()

    text = printed("3cpm", increase="factor", ack="green", idle="9s", ns=3)
    for words in (
        "alpha 0.5, a0 7, ns 3, na 5, increase factor",
        "packets of no payload green",
        "idle 9s, half open 3s",
    ):
        assert words in text, words
    assert "increase" not in printed("wpm") and "no payload" not in printed("apm")
    assert "is less than" not in printed("leaf") and "is less than" not in printed("leaf", burst="1p")
    for length, longest in (("ip", "IP packet, 1500 B"), ("frame", "frame, 1522 B")):
        note = printed("trtcm", pbs="1499B", length=length)
        assert (
            f'marker of "af1": pbs 1499B is less than the longest {longest}' in note and note.count("is less than") == 1
        )
    assert "is less than" not in printed("trtcm", pbs="1500B")
