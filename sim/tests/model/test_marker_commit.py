"""A commit under traffic: a marker of the same kind goes on with its buckets and its meter, one of another kind begins anew."""

import random

import pytest

from support.model_bindings import LEAF, REDP, SRTCM, TRTCM
from support.token_marker_bench import GREEN, RED, YELLOW, Model, marker, span

MILLI = 10**6
KINDS = {"leaf": LEAF, "srtcm": SRTCM, "trtcm": TRTCM, "redp": REDP}


def of(kind, depth=8 * MILLI, rate=10**6):
    """1 Mbit/s, 1,000 bytes deep; REDP's thresholds a quarter from either end, its dropper sure, its meter 100 ms."""
    m = marker(kind, (rate, rate), (depth, 2 * depth), out=RED)
    m.low_threshold, m.high_threshold, m.p_drop, m.meter = depth // 4, depth * 3 // 4, 65536, 100 * MILLI
    m.demote = m.promote = span(depth // 2)
    return m


def level(model, time):
    """Of bucket A; a packet of no bytes takes none."""
    return model.mark(time, RED, 0, 0xFFFFFFFF).level


def commit(model, config):
    """What the lane does: the next packet meets another record."""
    model.config = config


@pytest.mark.parametrize("name", KINDS)
def test_a_commit_of_the_same_kind_fills_no_bucket(name):
    """80 Mbit/s offered to 1 Mbit/s, a commit a millisecond with other colours and bursts: as many bytes as without commits pass."""
    rng, kinds = random.Random(1), [of(KINDS[name])]
    kinds.append(of(KINDS[name]))
    kinds[0].p_drop = kinds[1].p_drop = 0
    kinds[1].drop = 4
    passed = []
    for commits in (False, True):
        model, green = Model(kinds[0]), 0
        for k in range(10_000):
            if commits and k % 10 == 0:
                commit(model, rng.choice(kinds))
            green += model.mark(10**9 + k * 10**5, GREEN, 1000, 0xFFFF0000).colour == GREEN
        passed.append(green)
    assert passed[0] == passed[1] and 100 < passed[0] < 140, passed  # a second at 1 Mbit/s, and the burst


@pytest.mark.parametrize("before", KINDS)
@pytest.mark.parametrize("after", KINDS)
def test_a_commit_of_another_kind_begins_with_full_buckets(before, after):
    model = Model(of(KINDS[before]))
    for _ in range(20):
        model.mark(10**9, GREEN, 1000, 0xFFFF0000)
    left = level(model, 10**9)
    assert left < 8 * MILLI << 16
    commit(model, of(KINDS[after]))
    assert level(model, 10**9) == (left if before == after else 8 * MILLI << 16)


@pytest.mark.parametrize("name", KINDS)
def test_a_smaller_bucket_clips_and_a_deeper_one_keeps_what_is_there(name):
    model = Model(of(KINDS[name]))
    assert level(model, 10**9) == 8 * MILLI << 16
    commit(model, of(KINDS[name], 4 * MILLI))
    assert level(model, 10**9) == 4 * MILLI << 16
    commit(model, of(KINDS[name], 16 * MILLI))
    assert level(model, 10**9) == 4 * MILLI << 16
    assert level(model, 10**9 + 12 * MILLI) == 16 * MILLI << 16


def empty(model, time):
    """Takes the bucket down into REDP's demotion region, without the dropper's draw."""
    while level(model, time) >= model.config.low_threshold << 16:
        model.mark(time, GREEN, 100, 0xFFFF)


def test_the_dropper_waits_for_its_meter_at_the_start_and_behind_another_kind():
    config, start = of(REDP), 10**9
    config.p_drop = 65535  # sure but for a draw of 0xFFFF
    model = Model(config)
    empty(model, start)
    for ns, dropped in ((0, False), (100 * MILLI, False)):
        empty(model, start + ns)
        assert model.mark(start + ns, GREEN, 64, 0).policed == dropped
    empty(model, start + 100 * MILLI + 1)
    assert model.mark(start + 100 * MILLI + 1, GREEN, 64, 0).policed
    commit(model, of(LEAF))
    model.mark(start + 200 * MILLI, GREEN, 64)
    commit(model, config)
    empty(model, start + 200 * MILLI)
    assert not model.mark(start + 200 * MILLI, GREEN, 64, 0).policed


def test_a_commit_does_not_forget_that_yellow_was_seen():
    config, time = of(REDP), 10**9
    config.p_drop = 65535
    model = Model(config)
    model.mark(time, GREEN, 64)
    time += 200 * MILLI
    empty(model, time)
    assert model.mark(time, GREEN, 64, 0).policed
    model.mark(time, YELLOW, 64, 0)
    commit(model, of(REDP))
    model.config.p_drop = 65535
    assert not model.mark(time + 1, GREEN, 64, 0).policed
    empty(model, time + 100 * MILLI + 1)
    assert model.mark(time + 100 * MILLI + 1, GREEN, 64, 0).policed
