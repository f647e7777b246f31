"""The capture that the project ships is what `./vermilion run` without arguments needs."""

from support.shipped_capture import describe, packets
from vermilion.commands import run_command


def classes():
    return [c for _, _, frame in packets() if (c := describe.traffic_class(frame)) is not None]


def test_it_is_whole_and_small():
    assert 4000 <= len(packets()) <= 8000
    assert run_command.DEFAULT_CAPTURE.stat().st_size <= 3_000_000
    assert all(length == len(frame) <= 1514 for _, length, frame in packets())


def test_times_only_rise_in_nanoseconds():
    times = [time for time, _, _ in packets()]
    assert times == sorted(times)
    assert 8e9 <= times[-1] - times[0] <= 15e9
    assert any(time % 1000 for time in times)


def test_it_mixes_dscps_ecn_and_ip_versions():
    seen = {c >> 2 for c in classes()}
    assert seen >= set(describe.AF) | {46, 0}
    assert {c & 3 for c in classes()} == {0, 1, 2, 3}
    kinds = {describe.protocol(frame) for _, _, frame in packets()}
    assert kinds >= {"IPv4 TCP", "IPv6 TCP", "IPv4 UDP", "IPv6 UDP", "ARP"}


def test_every_address_is_private():
    for _, _, frame in packets():
        if describe.IP in frame:
            assert {frame[describe.IP].src, frame[describe.IP].dst} == {"10.0.0.1", "10.0.0.2"}
        elif describe.IPv6 in frame:
            ends = {frame[describe.IPv6].src, frame[describe.IPv6].dst}
            assert all(end == "::" or end.startswith(("fd00::", "ff02::")) for end in ends)
