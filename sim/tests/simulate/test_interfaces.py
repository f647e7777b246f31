"""Captures with several interfaces: read where libpcap can, refused in a sentence where it cannot; damage alone is a warning."""

import struct

import pytest

from support.microsecond_captures import FRAME
from support.pcapng_blocks import block, section
from support.runs import check, run, vermilion

pytestmark = pytest.mark.slow


def interface(link=1, snapshot=262144):
    return block(1, struct.pack("<HHI", link, 0, snapshot))


def packets(count, number=0):
    """Enhanced packet blocks of an interface."""
    head = struct.pack("<IIIII", number, 0, 1000, len(FRAME), len(FRAME))
    return block(6, head + FRAME) * count


GOOD = section() + interface() + packets(100)
REFUSED = {
    "link-type-at-once": (section() + interface() + interface(link=113) + packets(100), "type 113", 0),
    "link-type-later": (GOOD + interface(link=101) + packets(50, 1), "type 101", 100),
    "snapshot-at-once": (section() + interface() + interface(snapshot=96) + packets(100), "snapshot length 96", 0),
    "snapshot-later": (GOOD + interface(snapshot=96) + packets(50), "snapshot length 96", 100),
    "next-section": (GOOD + section() + interface(link=113) + packets(50), "type 113", 100),
}
CARRIED = {
    "same-interfaces": (section() + interface() * 3 + packets(20) + packets(30, 2), 50, {}),
    "same-sections": (GOOD + GOOD, 200, {}),
    "cut-in-a-record": (GOOD[:-30], 99, {"cut_off": 1}),
    "unknown-interface": (GOOD + packets(50, 7), 100, {"cut_off": 1}),
    "block-length": (GOOD + struct.pack("<II", 6, 3) + packets(50), 100, {"cut_off": 1}),
}


@pytest.mark.parametrize("engine", ["rtl", "model"])
@pytest.mark.parametrize("name", REFUSED)
def test_a_whole_file_that_libpcap_cannot_read_is_refused_with_what_where_and_what_instead(tmp_path, name, engine):
    data, what, frames = REFUSED[name]
    capture, out = tmp_path / "in.pcapng", tmp_path / "out.pcapng"
    capture.write_bytes(data)
    status, stdout, err = vermilion("run", capture, "--engine", engine, "--out", out)
    lines = [text for text in err.splitlines() if text.startswith("vermilion:")]
    assert status == 2 and len(lines) == 1 and "Traceback" not in err, stdout + err
    assert all(words in lines[0] for words in (str(capture), what, f"behind frame {frames},", "byte", "split")), lines[
        0
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["in.pcapng"]


@pytest.mark.parametrize("name", CARRIED)
def test_interfaces_alike_are_read_to_the_end_and_damage_is_a_warning(tmp_path, name):
    data, frames, warnings = CARRIED[name]
    capture = tmp_path / "in.pcapng"
    capture.write_bytes(data)
    stats = run(tmp_path, capture)
    check(stats)
    assert (stats["packets"], stats["warnings"]) == (frames, warnings)
