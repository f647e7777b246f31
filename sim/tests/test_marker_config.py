"""`[[marker]]` in the configuration file: what is refused, and the register values of what is not."""

from fractions import Fraction

import pytest
from vermilion import config, quantise
from vermilion.fields import UserError

QUEUE = {"name": "af1", "dscp": ["AF11", "AF12", "AF13"]}
KINDS = {
    "leaf": {"rate": "1Mbit", "burst": "10KB"},
    "srtcm": {"cir": "1Mbit", "cbs": "10KB", "ebs": "5KB"},
    "trtcm": {"cir": "1Mbit", "cbs": "10KB", "pir": "2Mbit", "pbs": "20KB"},
    "redp": {"rate": "700kbit", "bucket": "60p", "low": "15p", "high": "45p"},
}


def parse(kind, **fields):
    marker = {"queue": "af1", "kind": kind} | KINDS.get(kind, {}) | fields
    raw = {"port": {"rate": "10Mbit"}, "queue": [QUEUE], "marker": [{k: v for k, v in marker.items() if v is not None}]}
    return config.parse(raw)


WRONG = {
    "low above high": ("redp", {"low": "50p"}, "low 50p, high 45p, bucket 60p"),
    "high above the bucket": ("redp", {"high": "61p"}, "bucket 60p"),
    "mixed units": ("redp", {"low": "15KB"}, "all are bytes or all are packets"),
    "a rate too low": ("leaf", {"rate": "10kbit"}, "64kbit to 200Gbit"),
    "a rate too high": ("leaf", {"rate": "201Gbit"}, "64kbit to 200Gbit"),
    "a burst of nothing": ("leaf", {"burst": 0}, "legal is 1 to"),
    "a burst too deep": ("leaf", {"burst": "65MiB"}, "legal is 1 to"),
    "a bucket of packets too deep": ("redp", {"bucket": "100000p"}, "legal is up to 67108864 B"),
    "no burst": ("leaf", {"burst": None}, 'kind "leaf" needs rate, burst'),
    "a field of another kind": ("leaf", {"pir": "1Mbit"}, 'which kind "leaf" does not take'),
    "peak below committed": ("trtcm", {"pir": "500kbit"}, "needs pir from cir up"),
    "both bursts 0": ("srtcm", {"cbs": 0, "ebs": 0}, "needs one of them above 0"),
    "a missing queue": ("leaf", {"queue": "af9"}, 'has no queue; queues are "af1"'),
    "an unknown kind": ("red", {"rate": "1Mbit"}, "legal are leaf, srtcm, trtcm, redp, 3cpm, wpm, apm, nm"),
    "a probability of 2": ("redp", {"p_drop": 2}, "0 to 1"),
    "no chance at all": ("redp", {"max_demote": 0}, "above 0 to 1"),
    "a typo": ("leaf", {"brust": "1KB"}, 'did you mean "burst"'),
    "a time without a unit": ("redp", {"meter": 100}, 'such as "100ms"'),
    "packets where bytes are": ("leaf", {"packet": "1000B"}, "packet belongs to buckets in packets"),
    "an alpha between eighths": ("3cpm", {"alpha": 0.3}, "in steps of 0.125"),
    "an alpha that leaves nothing to divide by": ("3cpm", {"alpha": 1, "increase": "factor"}, "alpha up to 0.875"),
    "too many credits": ("wpm", {"ns": 256}, "0 to 255 packets"),
    "credits where none are": ("apm", {"ns": 5}, 'which kind "apm" does not take'),
    "a rate where there is no bucket": ("nm", {"rate": "1Mbit"}, "nothing but packet and drop"),
    "an age beyond the table's": ("3cpm", {"idle": "300s"}, "5ms to 274s"),
    "a colour that is none": ("leaf", {"drop": ["blue"]}, "green, yellow, red"),
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
        "kind": 1, "alpha_eighths": 4, "initial_average": 7 * 256, "start_credits": 5, "recovery_credits": 5,
        "increase_by_factor": 0, "ack_green": 0, "idle_age": 14305, "half_open_age": 715,
    }  # fmt: skip
    assert [record(kind)["flow"]["kind"] for kind in ("nm", "wpm", "apm")] == [0, 2, 3]
    assert record("apm", alpha=0.25, a0=2.5, increase="factor")["flow"]["initial_average"] == 640


def test_two_markers_of_one_queue_are_refused():
    marker = {"queue": "af1", "kind": "leaf"} | KINDS["leaf"]
    with pytest.raises(UserError, match="has two markers"):
        config.parse({"port": {"rate": "10Mbit"}, "queue": [QUEUE], "marker": [marker, marker]})


def record(kind, **fields):
    return quantise.hardware(parse(kind, **fields))["queues"][0]["marker"]


def test_buckets_are_times_of_their_rates():
    one = record("trtcm")
    assert one["burst_ns"] == [80_000_000, 80_000_000]  # 20 KB at 2 Mbit/s, 10 KB at 1 Mbit/s
    assert [quantise.value(tuple(c)) for c in one["cost"]] == [4000, 8000]
    assert record("srtcm")["burst_ns"] == [80_000_000, 120_000_000]


def test_packets_count_as_their_stated_length():
    one = record("redp", packet="500B", p_drop=0.02, meter="5ms")
    packet = Fraction(8 * 10**9 * 500, 700_000)
    assert one["packet_bytes"] == 500 and one["yellow_ns"] == 5_000_000 and one["drop"] == 1310
    assert abs(one["burst_ns"][0] - 60 * packet) < 1 and abs(one["low_ns"] - 15 * packet) < 1
    m, s = one["demote"]
    assert abs(Fraction(m * 2**42, 2**s) / 2**16 / (30 * packet) - 1) < Fraction(1, 2**16)


@pytest.mark.parametrize("rate", [64_000, 700_000, 10**9, 10**11, 2 * 10**11])
def test_rates_are_within_a_thousandth(rate):
    real = Fraction(8 * 10**9) / quantise.value(tuple(record("leaf", rate=rate)["cost"][0]))
    assert abs(real / rate - 1) < Fraction(1, 1000)
