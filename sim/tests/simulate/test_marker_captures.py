"""Every kind of marker on real traffic in the whole lane: the replay in the model agrees with the RTL bit for bit, and each kind acts.

A capture's frames are the captured ones but for their DSCP, which says the queue and so the marker: token bucket kinds get packets at random, in
all three colours, back to back at a rate at which tokens run out; flow kinds get whole flows, at the captured times. Then the captures
as they are, one marker for all.
"""

import random
from collections import Counter
from ctypes import byref

import pytest

from support.marker_traffic import COLOURS, lane, real, toml
from support.model_bindings import Headers, OptionTypes, library
from support.runs import REAL

pytestmark = pytest.mark.slow

CAPTURES = [*REAL, "shipped"]
PACE = 20_000_000  # bits/s in the runs of token buckets

# By what each of 14 queues is offered then: 1.4 Mbit/s, of the smallest capture 50 KB in all.
BYTES, PACKETS = (
    {"cir": "150kbit", "cbs": "2KB", "ebs": "6KB"},
    {
        "cir": "150kbit",
        "cbs": "5p",
        "ebs": "15p",
        "packet": "400B",
    },
)
PEAK_BYTES = {"cir": "150kbit", "cbs": "2KB", "pir": "400kbit", "pbs": "3KB"}
PEAK_PACKETS = {"cir": "150kbit", "cbs": "5p", "pir": "400kbit", "pbs": "8p", "packet": "400B"}
LEVELS_BYTES = {"rate": "250kbit", "bucket": "6KB", "low": "2KB", "high": "2KB", "max_promote": 1.0}
LEVELS_PACKETS = {"rate": "250kbit", "bucket": "15p", "low": "5p", "high": "5p", "packet": "400B", "max_promote": 1.0}
DROPPER = {"p_drop": 0.4, "meter": "1ms"}
TOKENS = {
    "leaf": {"kind": "leaf", "rate": "500kbit", "burst": "4KB", "out": "yellow"},
    "leaf packets": {"kind": "leaf", "rate": "500kbit", "burst": "8p", "packet": "400B"},
    "srtcm": {"kind": "srtcm", **BYTES},
    "srtcm packets": {"kind": "srtcm", **PACKETS},
    "srtcm aware": {"kind": "srtcm", **BYTES, "colour_aware": True},
    "srtcm aware packets": {"kind": "srtcm", **PACKETS, "colour_aware": True},
    "trtcm": {"kind": "trtcm", **PEAK_BYTES},
    "trtcm packets": {"kind": "trtcm", **PEAK_PACKETS},
    "trtcm aware": {"kind": "trtcm", **PEAK_BYTES, "colour_aware": True},
    "trtcm aware packets": {"kind": "trtcm", **PEAK_PACKETS, "colour_aware": True},
    "redp": {"kind": "redp", **LEVELS_BYTES},
    "redp packets": {"kind": "redp", **LEVELS_PACKETS},
    "redp dropper": {"kind": "redp", **LEVELS_BYTES, **DROPPER},
    "redp dropper packets": {"kind": "redp", **LEVELS_PACKETS, **DROPPER},
}
FLOWS = {
    "3cpm": {"kind": "3cpm"},
    "3cpm factor": {"kind": "3cpm", "increase": "factor", "alpha": 0.25},
    "3cpm green acks": {"kind": "3cpm", "ack": "green", "a0": 2, "ns": 1, "na": 2},
    "wpm": {"kind": "wpm"},
    "wpm green acks": {"kind": "wpm", "ack": "green"},
    "apm": {"kind": "apm", "a0": 3},
    "apm factor": {"kind": "apm", "increase": "factor", "alpha": 0.875, "a0": 1},
    "nm": {"kind": "nm"},
}
# The colours (came, gave) that each kind can give; no capture misses more than two of them.
ALL = {(i, o) for i in range(3) for o in range(3)}
LEGAL = {"leaf": {(i, o) for i in range(3) for o in (0, 1)}, "leaf packets": {(i, o) for i in range(3) for o in (0, 2)}}
LEGAL |= {name: {(i, o) for i, o in ALL if "aware" not in name or o >= i} for name in TOKENS if "tcm" in name}
LEGAL |= {name: {(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)} for name in TOKENS if "redp" in name}
GIVEN = {"3cpm": {0, 1, 2}, "wpm": {0, 1}, "apm": {1, 2}, "nm": {1}}


def codes(names):
    """Queues whose DSCPs are three in a row, by colour; and the queue of everything that carries no DSCP."""
    table = lambda i: "{ " + ", ".join(f"{c} = [{3 * i + k}]" for k, c in enumerate(COLOURS)) + " }"
    return [(name, table(i)) for i, name in enumerate(names)] + [("rest", None)]


def with_dscp(frame, h, dscp):
    """The frame with another DSCP, where it has one; checksums do not matter here."""
    data, at = bytearray(frame), h.l3_offset
    if h.is_ip4:
        data[at + 1] = dscp << 2 | data[at + 1] & 3
    elif h.is_ip6:
        data[at] = 0x60 | dscp >> 2
        data[at + 1] = (dscp & 3) << 6 | data[at + 1] & 0x3F
    return bytes(data)


def parsed(frames):
    for ns, frame in frames:
        h = Headers()
        library().vm_parse(frame, len(frame), OptionTypes(), byref(h))
        yield ns, frame, h


def moved(figures, name):
    """Colours (came, gave) and packets of a queue."""
    rows = next(q["colours_in_out"] for q in figures["queues"] if q["name"] == name)
    return Counter({(i, o): n for i, row in enumerate(rows) for o, n in enumerate(row) if n})


@pytest.mark.parametrize("name", CAPTURES)
def test_token_buckets_on_real_traffic_are_the_models_and_run_out(program, tmp_path, name):
    rng, frames, kinds = random.Random(name), real(name), list(TOKENS)
    print(f"seed {name}")
    frames = [(ns, with_dscp(f, h, rng.randrange(3 * len(kinds)))) for ns, f, h in parsed(frames)]
    figures = lane(program, tmp_path, frames, toml(codes(kinds), TOKENS), "--rate", PACE)
    for kind in kinds:
        seen = moved(figures, kind)
        assert seen.total() > 50 and set(seen) <= LEGAL[kind], (kind, seen)
        assert len(seen) >= len(LEGAL[kind]) - 2 and {o for _, o in seen} == {o for _, o in LEGAL[kind]}, (kind, seen)
        policed = sum(c["policed"]["packets"] for q in figures["queues"] if q["name"] == kind for c in q["colours"])
        assert (policed > 0) == ("dropper" in kind), (kind, policed)


@pytest.mark.parametrize("turn", range(2))
@pytest.mark.parametrize("name", CAPTURES)
def test_flow_markers_on_real_traffic_are_the_models_and_probe(program, tmp_path, name, turn):
    kinds, frames, sizes = list(FLOWS), [], Counter()
    of = lambda h: (tuple(h.src_addr), tuple(h.dst_addr), h.src_port, h.dst_port)
    every = list(parsed(real(name)))
    for _, _, h in every:
        sizes[of(h)] += bool(h.tcp_payload)
    # The largest flow to the first kind, the next to the second, and so on; in the other turn four kinds further.
    queue = {flow: (rank + 4 * turn) % len(kinds) for rank, (flow, _) in enumerate(sizes.most_common())}
    frames = [(ns, with_dscp(f, h, 3 * queue[of(h)])) for ns, f, h in every]
    figures = lane(program, tmp_path, frames, toml(codes(kinds), FLOWS))
    gave = {kind: {o for _, o in moved(figures, kind)} for kind in kinds}
    for kind in kinds:
        assert gave[kind] and gave[kind] <= GIVEN[kind.split()[0]], (kind, gave)
    probes = sum(n for kind in kinds for (_, o), n in moved(figures, kind).items() if o == 2)
    assert figures["flow_events"]["probe"] == probes > 0
    assert all(gave[kind] == GIVEN[kind.split()[0]] for kind in kinds if kind != "wpm green acks"), gave


WHOLE = {name: TOKENS[name] for name in ("srtcm", "trtcm packets", "leaf", "redp dropper")}
WHOLE |= {name: FLOWS[name] for name in ("3cpm", "wpm", "apm factor")}


@pytest.mark.parametrize("turn, kind", list(enumerate(WHOLE)))
def test_captures_as_they_are_with_one_marker_for_all(program, tmp_path, turn, kind):
    for name in (CAPTURES[turn % 6], "shipped") if kind != "3cpm" else CAPTURES:
        figures = lane(program, tmp_path, real(name), toml([("all", None)], {"all": WHOLE[kind]}))
        gave = {o for _, o in moved(figures, "all")}
        assert len(gave) >= 2, (name, kind, gave)
        print(f"{name}, {kind}: {moved(figures, 'all')}, {figures['flow_events']}")
