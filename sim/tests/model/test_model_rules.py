"""Rules in the model: the first rule that fits a frame, against plain comparisons of its bytes."""

import itertools
import random
from collections import Counter

import pytest

from support import model_bindings as mb
from support.drawn_rules import DrawnRules
from support.nightly import NIGHTLY
from support.plain_rules import Rule, View, first, frames
from support.rule_image import MARKER, MASKS, RULES, SIDE, WORDS, Image

TABLES, FRAMES = (500, 2000) if NIGHTLY else (30, 1000)


def image(rule: Rule, ranges) -> mb.MatchRule:
    words = Image(rule, ranges).words()
    made = mb.MatchRule(action=words[WORDS], marker=words[MARKER])
    made.value[:] = [words[i] for i in range(WORDS)]
    made.mask[:] = [words[MASKS + i] for i in range(WORDS)]
    return made


@pytest.fixture
def lookup():
    """Makes a table of rules, and returns its lookup."""
    library, made = mb.library(), []

    def of(rules: list[Rule], ranges):
        images = (mb.MatchRule * len(rules))(*(image(rule, ranges) for rule in rules))
        ports = (mb.PortRange * (2 * SIDE))()
        for side, all_of in enumerate(ranges.of):
            for i, (low, high) in enumerate(all_of):
                ports[side * SIDE + i] = mb.PortRange(low, high)
        made.append(library.vm_rules_create(images, len(rules), ports))
        return lambda frame, ingress: library.vm_rules_first(made[-1], frame, len(frame), ingress)

    yield of
    for table in made:
        library.vm_rules_destroy(table)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_first_rule_that_fits_is_that_of_plain_comparisons(lookup, seed):
    print("seed", seed)
    draws, seen = DrawnRules(random.Random(seed)), Counter()
    for _ in range(TABLES):
        draws.ranges = type(draws.ranges)()
        rules = [draws.drawn() for _ in range(RULES)]
        find = lookup(rules, draws.ranges)
        for frame in itertools.islice(draws.source, FRAMES):
            view, ingress = View(frame), draws.random.randrange(4)
            want = first(rules, view, ingress)
            assert find(frame, ingress) == (-1 if want is None else want), (frame.hex(), ingress, view)
            seen[want] += 1
    assert all(seen[number] for number in range(RULES)) and seen[None] > TABLES * FRAMES // 20, seen


def test_views_of_frames_are_those_of_the_parser():
    """The plain reader of frames that rules are tested with, against the model's parser."""
    for frame in itertools.islice(frames(random.Random(3)), 20_000):
        h, view = mb.Headers(), View(frame)
        mb.library().vm_parse(frame, len(frame), mb.OptionTypes(0, 0), mb.byref(h))
        version = 4 if h.is_ip4 else 6 if h.is_ip6 else 0
        ports = (h.src_port, h.dst_port) if h.has_ports else None
        got = version, h.dscp << 2 | h.ecn, h.proto, ports
        assert got == (view.version, view.traffic, view.protocol, view.ports), frame.hex()


def test_a_mask_of_zeros_matches_each_frame_and_a_bit_outside_of_it_none(lookup):
    draws = DrawnRules(random.Random(4))
    find = lookup([Rule(never=True), Rule(on=False), Rule()], draws.ranges)
    assert {find(frame, 3) for frame in itertools.islice(draws.source, 500)} == {2}
    assert lookup([], draws.ranges)(next(draws.source), 0) == -1
