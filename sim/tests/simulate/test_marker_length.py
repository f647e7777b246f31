"""What a packet takes from a bucket: bytes of its IP packet (RFC 2697 and RFC 2698, section 2) or of its frame, through model and lane."""

import struct
from ctypes import byref

import pytest

from support.headers import CTAG, IP4, IP6, MACS, STAG, ip4, ip6
from support.marker_lanes import parse
from support.marker_traffic import lane
from support.model_bindings import Headers, Marker, OptionTypes, library
from vermilion.configuration.config import UserError
from vermilion.profile import quantise

NONE, ONE, TWO = b"", CTAG + b"\0\5", STAG + b"\0\6" + CTAG + b"\0\7"


def counted(frame, size=None, **fields):
    h = Headers()
    library().vm_parse(frame, len(frame), OptionTypes(), byref(h))
    return library().vm_marker_bytes(byref(Marker(**fields)), byref(h), size or len(frame))


def said(packet, length, six=False):
    """The IP packet with another length in its header."""
    at = 4 if six else 2
    return packet[:at] + struct.pack(">H", length) + packet[at + 2 :]


@pytest.mark.parametrize("tags", [NONE, ONE, TWO])
def test_an_ip_packet_counts_without_link_headers_and_padding(tags):
    for pad in (0, 6, 60):
        assert counted(MACS + tags + IP4 + ip4() + bytes(pad), length=1) == 40
        assert counted(MACS + tags + IP6 + ip6() + bytes(pad), length=1) == 60
        assert counted(MACS + tags + IP4 + ip4() + bytes(pad)) == 14 + len(tags) + 40 + pad
        assert counted(MACS + tags + IP4 + ip4() + bytes(pad), length=1, packet=500) == 500


@pytest.mark.parametrize("tags", [NONE, ONE, TWO])
def test_a_length_that_lies_counts_at_most_what_the_frame_holds(tags):
    for size in (100, 1514, 9000, 65535):
        room = size - 14 - len(tags)
        for length in (1, 40, room - 1, room, room + 1, 65535):
            if 0 < length < 65536:
                assert counted(MACS + tags + IP4 + said(ip4(), length), size, length=1) == min(length, room)
            payload = length - 40
            if 0 < payload < 65496:
                assert counted(MACS + tags + IP6 + said(ip6(), payload, True), size, length=1) == min(length, room)
        assert counted(MACS + tags + IP4 + said(ip4(), 0), size, length=1) == room  # offloads, jumbograms
        assert counted(MACS + tags + IP6 + said(ip6(), 0, True), size, length=1) == room


@pytest.mark.parametrize("tags", [NONE, ONE, TWO])
def test_what_is_not_ip_counts_from_its_fifteenth_byte(tags):
    frame = MACS + tags + b"\x08\x06" + bytes(46)
    assert counted(frame, length=1) == len(frame) - 14
    assert counted(bytes(14), length=1) == 0 and counted(bytes(9), length=1) == 0


DEFAULTS = {"srtcm": 1, "trtcm": 1, "leaf": 0, "redp": 0}


@pytest.mark.parametrize("kind", DEFAULTS)
def test_the_rfcs_meters_count_ip_bytes_unless_told_otherwise(kind):
    depths = {"bucket": "60KB", "low": "15KB", "high": "45KB"} if kind == "redp" else {}
    word = lambda **fields: quantise.hardware(parse(kind, **depths, **fields))["queues"][0]["marker"]["length"]
    assert word() == DEFAULTS[kind]
    assert (word(length="ip"), word(length="frame")) == (1, 0)


def test_length_is_refused_where_all_packets_count_the_same():
    for length in ("ip", "frame"):
        with pytest.raises(UserError, match=f'length "{length}", but its buckets are in packets'):
            parse("srtcm", cbs="10p", ebs="10p", length=length)
    for kind in ("3cpm", "wpm", "apm", "nm"):
        with pytest.raises(UserError, match="length"):
            parse(kind, length="ip")


TEXT = """
[port]
rate = "1Gbit"
[[queue]]
name = "a"
default = true
[[marker]]
queue = "a"
kind = "{kind}"
{fields}
"""
FIELDS = {
    "srtcm": 'cir = "1Mbit"\ncbs = "2KB"\nebs = "2KB"',
    "trtcm": 'cir = "1Mbit"\ncbs = "2KB"\npir = "4Mbit"\npbs = "2KB"',
    "leaf": 'rate = "1Mbit"\nburst = "2KB"\nlength = "ip"',
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FIELDS)
def test_the_green_rate_is_the_committed_rate_of_ip_bytes(program, tmp_path, kind):
    """2 Mbit/s of bare acknowledgements, 40 bytes in a frame of 60 or tagged 64, to 1 Mbit/s: half go green, by both engines alike."""
    head = struct.pack(">BBHHHBBHII", 0x45, 0, 40, 0, 0, 64, 6, 0, 1, 2)
    frames = [(10**6 + k * 160_000, MACS + (ONE if k % 2 else NONE) + IP4 + head + bytes(26)) for k in range(12_000)]
    text = TEXT.format(kind=kind, fields=FIELDS[kind])
    figures = lane(program, tmp_path, frames, text)
    alone = lane(program, tmp_path, frames, text, engine="model")
    assert figures["queues"][0]["colours_in_out"] == alone["queues"][0]["colours_in_out"]
    green = figures["queues"][0]["colours_in_out"][0][0]
    rate = (green * 40 - 2000) * 8 / (12_000 * 160e-6)
    assert abs(rate - 1e6) < 1e4, rate
