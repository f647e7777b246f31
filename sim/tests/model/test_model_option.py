"""The TTL option in the model: found, turned into a distance, and taken out again (docs/ttl-option.md)."""

import itertools
import os
import random
import subprocess
from collections import Counter
from ctypes import byref, create_string_buffer
from fractions import Fraction
from math import floor

import numpy
import pytest

from support.headers import checksum
from support.model_bindings import SOURCES, Distance, Headers, OptionTypes, library
from support.option_frames import IP4, IP6, frames
from vermilion.toolchain import build

TYPES = OptionTypes(IP4, IP6)


def parse(frame, types=TYPES):
    h = Headers()
    library().vm_parse(frame, len(frame), types, byref(h))
    return h


@pytest.mark.parametrize("seed", [1, 2])
def test_the_option_is_found_where_the_page_says_and_nowhere_else(seed):
    print("seed", seed)
    rng, seen = random.Random(seed), Counter()
    for frame, want in itertools.islice(frames(rng), 30_000):
        h = parse(frame)
        assert (h.is_ip4, h.is_ip6) == (want.version == 4, want.version == 6), frame.hex()
        base = want.at + (20 if want.version == 4 else 42)
        got = base + h.ttl_option_at if h.has_ttl_option else None
        assert (got, h.initial_ttl, h.final_ttl) == (want.option, want.initial, want.final), frame.hex()
        seen[want.version, None if got is None else h.ttl_option_at] += 1
    assert all(seen[version, place] > 20 for version in (4, 6) for place in [*range(9), None]), seen


def test_no_type_finds_nothing_and_padding_is_no_type():
    rng = random.Random(3)
    for frame, _ in itertools.islice(frames(rng), 3000):
        for number in (0, 1):
            h = parse(frame, OptionTypes(number, number))
            assert (h.has_ttl_option, h.initial_ttl, h.final_ttl, h.ttl_option_at) == (0, 0, 0, 0)


@pytest.mark.parametrize("seed", [4, 5])
def test_taken_out_it_is_padding_and_the_checksum_as_right_or_wrong_as_before(seed):
    print("seed", seed)
    rng, seen = random.Random(seed), Counter()
    for frame, want in itertools.islice(frames(rng), 20_000):
        if want.version == 4 and rng.random() < 0.3:
            frame = frame[: want.at + 10] + rng.randbytes(2) + frame[want.at + 12 :]
        h, room = parse(frame), create_string_buffer(frame, len(frame))
        ce, set_dscp, dscp, remove = rng.randrange(2), rng.randrange(2), rng.randrange(64), rng.random() < 0.8
        changed = library().vm_rewrite(room, byref(h), ce, set_dscp, dscp, remove)
        out = room.raw
        assert bool(changed) or out == frame
        edited, at = set(), want.at
        if want.version:
            edited = {at, at + 1} if want.version == 6 else {at + 1, at + 10, at + 11}
        if want.option and remove:
            padding = b"\1\1\1\1" if want.version == 4 else b"\1\2\0\0"
            assert out[want.option : want.option + 4] == padding
            edited |= set(range(want.option, want.option + 4))
            seen[want.version, want.option % 2, out[at + 1] != frame[at + 1]] += 1
        assert all(i in edited for i, (a, b) in enumerate(zip(frame, out, strict=True)) if a != b)
        if want.version == 4:
            size = 4 * (frame[at] & 15)
            assert checksum(out[at : at + size]) % 0xFFFF == checksum(frame[at : at + size]) % 0xFFFF, frame.hex()
    assert len(seen) == 8 and min(seen.values()) > 50, seen


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    out = tmp_path_factory.mktemp("distance") / "all_distances"
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-O2", *build.MODEL_FLAGS]
    command += [SOURCES.parent / "tests" / "model" / "all_distances.cpp", SOURCES / "distance.cpp", "-o", out]
    subprocess.run(command, check=True)
    return out


def share(gone, path):
    return min(63, floor(Fraction(64 * gone, path)))


def by_table(option, infer, share_on):
    """(initial, ttl, final) -> d, and ttl -> d without the option, from fractions."""
    hops = numpy.minimum(numpy.arange(256), 63)
    if share_on:
        hops = numpy.array([share(gone, 16) for gone in range(256)])
    usual = lambda ttl: next(u for u in (32, 64, 128, 255) if u >= ttl)
    without = numpy.array([hops[usual(ttl) - ttl] if infer else 63 for ttl in range(256)])
    if not option:
        return numpy.broadcast_to(without[None, :, None], (256, 256, 256)), without
    shares = numpy.array([[share(gone, path) if path else 0 for path in range(256)] for gone in range(256)])
    initial, ttl, final = numpy.ogrid[0:256, 0:256, 0:256]
    gone, path = numpy.maximum(initial - ttl, 0), numpy.maximum(initial - final, 0)
    known = (final != 0) & (final < initial) & bool(share_on)
    d = numpy.where(known, shares[gone, path], hops[gone])
    return numpy.where(initial >= ttl, d, without[None, :, None]), without


@pytest.mark.parametrize("switches", list(itertools.product((0, 1), repeat=3)))
def test_every_distance_is_that_of_plain_fractions(program, switches):
    done = subprocess.run([program, "".join(map(str, switches))], check=True, capture_output=True)
    got = numpy.frombuffer(done.stdout, dtype=numpy.uint8)
    with_option, without = by_table(*switches)
    assert numpy.array_equal(got[: 256**3].reshape(256, 256, 256), with_option)
    assert numpy.array_equal(got[256**3 :], without)


def test_what_is_not_ip_has_come_farthest():
    for switches in itertools.product((0, 1), repeat=3):
        assert library().vm_distance(byref(Headers(ttl=60)), byref(Distance(*switches))) == 63


def test_the_papers_example_orders_near_before_far():
    """P3, section IV: of two packets the one with the smaller d goes; the share puts a short path's end before a long one's start."""
    near = Headers(is_ip4=1, has_ttl_option=1, ttl=62, initial_ttl=64, final_ttl=61)  # 2 of 3 hops
    far = Headers(is_ip4=1, has_ttl_option=1, ttl=56, initial_ttl=64, final_ttl=34)  # 8 of 30
    of = lambda h, s: library().vm_distance(byref(h), byref(Distance(1, 1, s)))
    assert (of(near, 0), of(far, 0)) == (2, 8)
    assert (of(near, 1), of(far, 1)) == (42, 17)
