"""Faults in captures, for `vermilion inject`: a frame's header or stamp is changed, and the reader must warn of that and of nothing else.

The capture without a fault gives no warning. Names of warnings: `sim/harness/capture_reader.h`.
"""

import json
import random
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vermilion.configuration import config_file
from vermilion.profile import quantise
from vermilion.toolchain import build

from .injection_traffic import ethernet, ip4, write

FRAMES = 9
DAY_NS = 24 * 3600 * 10**9
TYPE_AT, IHL_AT, TOTAL_AT = 12, 14, 16
TAG = b"\x81\x00\x00\x01"

Frames = list[tuple[int, bytes]]


@dataclass(frozen=True)
class CaptureFault:
    """`change` gives the changed frame, `stamp` its changed time."""

    name: str
    what: str
    warning: str
    change: Callable[[bytes], bytes] = lambda frame: frame
    stamp: Callable[[int], int] = lambda ns: ns


def with_total(add: int) -> Callable[[bytes], bytes]:
    def change(frame: bytes) -> bytes:
        total = max(0, int.from_bytes(frame[TOTAL_AT : TOTAL_AT + 2], "big") + add)
        return frame[:TOTAL_AT] + total.to_bytes(2, "big") + frame[TOTAL_AT + 2 :]

    return change


def with_ihl(words: int) -> Callable[[bytes], bytes]:
    return lambda frame: frame[:IHL_AT] + bytes([0x40 | words]) + frame[IHL_AT + 1 :]


def as_ip6(payload_more: int) -> Callable[[bytes], bytes]:
    """An IPv6 packet without a next header, whose payload length is so many bytes more than it has."""
    head = lambda size: b"\x60\0\0\0" + (size + payload_more).to_bytes(2, "big") + bytes([59, 64]) + bytes(32)
    return lambda frame: frame[:TYPE_AT] + b"\x86\xdd" + head(len(frame)) + bytes(len(frame))


FAULTS = (
    CaptureFault("ip4-too-long", "an IPv4 total length reaches beyond the frame", "ip_length", with_total(1)),
    CaptureFault("ip4-too-short", "an IPv4 total length ends 5 bytes before the frame", "ip_length", with_total(-5)),
    CaptureFault("ip4-below-header", "an IPv4 total length is below the header's", "ip_length", with_total(-10_000)),
    CaptureFault("ihl-small", "an IPv4 header length of 4 words", "ip_length", with_ihl(4)),
    CaptureFault("ip6-too-long", "an IPv6 payload length reaches beyond the frame", "ip_length", as_ip6(1)),
    CaptureFault("ip6-too-short", "an IPv6 payload length ends 5 bytes before the frame", "ip_length", as_ip6(-5)),
    CaptureFault("header-cut", "a frame ends within its IPv4 header", "cut_header", lambda frame: frame[:30]),
    CaptureFault(
        "tag-cut", "a frame ends within a VLAN tag", "cut_header", lambda frame: frame[:TYPE_AT] + TAG[:2] + b"\0\1"
    ),
    CaptureFault("runt", "a frame is shorter than an Ethernet header", "runt", lambda frame: frame[:9]),
    CaptureFault("oversize", "a frame is longer than the lane stores", "oversize", lambda frame: long_frame()),
    CaptureFault("clock-back", "a frame's stamp lies before the last one's", "time_back", stamp=lambda ns: ns - 2500),
    CaptureFault("clock-jump", "a silence of more than a day", "time_jump", stamp=lambda ns: ns + 2 * DAY_NS),
)


def long_frame() -> bytes:
    return ethernet(ip4(random.Random(8), 10, 3, 9800))


def listed() -> list[dict]:
    return [{"name": f.name, "what": f.what, "check": "capture", "says": [f.warning]} for f in FAULTS]


def frames() -> Frames:
    """Frames into each of which every fault can be injected."""
    rng = random.Random(6)
    return [
        (i * 1000, ethernet(ip4(rng, rng.choice((10, 12, 46)), 3, 100 + rng.randrange(900)))) for i in range(FRAMES)
    ]


def doctored(fault: CaptureFault, at: int) -> Frames:
    """The frames with the fault at number `at`. If its stamp is later, so are the stamps of all frames after it."""
    out = [(ns, fault.change(data) if i == at else data) for i, (ns, data) in enumerate(frames())]
    moved = fault.stamp(out[at][0]) - out[at][0]
    return [(ns + moved if i == at or (i > at and moved > 0) else ns, data) for i, (ns, data) in enumerate(out)]


def warnings(program: Path, words: Path, capture: Path) -> dict:
    """The simulator's warnings, with the model alone."""
    stats = capture.with_suffix(".json")
    command = [program, "--in", capture, "--config-words", words, "--engine", "model", "--stats-json", stats]
    subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL, check=True)
    return json.loads(stats.read_text())["warnings"]


def play(program: Path, names: set[str]) -> list[dict]:
    """A row for each fault of these names, as sim/inject gives them."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        words, capture = Path(folder) / "words.json", Path(folder) / "in.pcap"
        words.write_text(json.dumps(quantise.hardware(config_file.load(build.ROOT / "sim/configs/default.toml", 16))))
        if names and (clean := warnings(program, words, write(capture, frames()))):
            raise build.BuildError(f"the capture reader warns without any fault: {clean}")
        for fault in (f for f in FAULTS if f.name in names):
            tries = []
            for at in (3, 5, 8):  # a stamp can go back only after others
                seen = warnings(program, words, write(capture, doctored(fault, at)))
                checks = {"capture": ", ".join(f"{name}: {count}" for name, count in seen.items())} if seen else {}
                tries.append({"at": at + 1, "named": seen == {fault.warning: 1}, "checks": checks})
            rows.append({"name": fault.name, "chances": FRAMES, "tries": tries})
    return rows
