"""Rules by the driver's library, on a card made of a dictionary: the registers as the harness leaves them, counters, refusals, a card that fails."""

import ctypes
import json
import random
import subprocess
from ctypes import byref

import pytest

from support import harness_access
from support.lane_rules import drawn, record
from support.register_file import Card, Lane, address
from vermilion.configuration import config
from vermilion.hardware.driver_library import C, library
from vermilion.profile import quantise

RUN = library()
RULES = 64


def opened(**shape):
    held = Lane(rules=RULES, **shape)
    card = Card(held, polls=17)
    error, lane = card.open(RUN)
    assert error == 0 and lane.has.rules == RULES
    return held, card, lane


def image(words: dict):
    return C.RuleImage((ctypes.c_uint32 * 11)(*words["value"]), (ctypes.c_uint32 * 11)(*words["mask"]), words["action"], words["marker"])  # fmt: skip


def ranges(pairs):
    made = C.PortRanges()
    for each, (low, high) in zip(made.range, pairs, strict=True):
        each.low, each.high = low, high
    return made


def write(lane, made: dict):
    error = RUN.vm_lane_begin_rules(byref(lane))
    for number, words in enumerate(made["rules"]):
        error = error or RUN.vm_lane_write_rule(byref(lane), number, byref(image(words)))
    error = error or RUN.vm_lane_write_port_ranges(byref(lane), byref(ranges(made["port_ranges"])))
    return error or RUN.vm_lane_commit_rules(byref(lane))


def some(seed=1, count=5) -> dict:
    rules, made, _ = drawn(random.Random(seed), count, 4)
    return record(rules, made)


def test_rules_end_in_the_registers_as_the_harness_leaves_them(tmp_path):
    program = harness_access.program(tmp_path)
    asked = config.parse({"port": {"rate": 10**10}, "queue": [{"name": f"q{i}", "default": i == 0} for i in range(4)]})
    for seed, count in enumerate((1, 7, RULES)):
        made = some(seed, count)
        text = json.dumps(quantise.hardware(asked) | made)
        lines = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.splitlines()
        wanted = Lane(rules=RULES)
        for at, value in (map(int, line.split()) for line in lines):
            wanted.pending["commit"] = 0
            wanted.write(at, value)
        held, card, lane = opened(seed=seed)
        assert write(lane, made) == 0 and card.faults == []
        assert held.ruled == wanted.ruled and len(held.ruled) == count + 1


def test_a_rule_goes_off_by_its_action_alone():
    held, _, lane = opened()
    assert write(lane, some()) == 0
    before = json.loads(json.dumps(held.ruled))
    assert RUN.vm_lane_begin_rules(byref(lane)) == 0
    assert RUN.vm_lane_write_rule(byref(lane), 3, None) == 0
    assert RUN.vm_lane_commit_rules(byref(lane)) == 0
    before["3"][str(address("rule_action"))] = 0
    assert json.loads(json.dumps(held.ruled)) == before


def test_counters_of_a_rule():
    held, card, lane = opened()
    got, held.rule_counts[9] = C.Count(), (7 | 8 << 32, 9 | 10 << 32)
    assert RUN.vm_lane_rule_count(byref(lane), 9, byref(got)) == 0
    assert (got.packets, got.bytes) == held.rule_counts[9] and card.faults == []


def test_a_rule_that_a_build_lacks_is_refused_before_anything_is_written():
    for held, lane in ((each[0], each[2]) for each in [opened()]):
        before = dict(held.words)
        assert RUN.vm_lane_write_rule(byref(lane), RULES, None) == C.VM_ERROR_RULE
        assert RUN.vm_lane_rule_count(byref(lane), RULES, byref(C.Count())) == C.VM_ERROR_RULE
        assert held.words == before
    _, none = Card(Lane()).open(RUN)
    empty = byref(ranges([(1, 0)] * 16))
    assert none.has.rules == 0
    for error in (
        RUN.vm_lane_begin_rules(byref(none)),
        RUN.vm_lane_write_rule(byref(none), 0, None),
        RUN.vm_lane_write_port_ranges(byref(none), empty),
        RUN.vm_lane_commit_rules(byref(none)),
        RUN.vm_lane_rule_count(byref(none), 0, byref(C.Count())),
    ):
        assert error == C.VM_ERROR_RULE
    assert Card(Lane(rules=4097)).open(RUN)[0] == C.VM_ERROR_SHAPE


def test_a_write_that_the_lane_ignores_is_an_error_and_an_old_one_is_not():
    held, _, lane = opened()
    held.words[address("status")] |= 1 << 10
    assert write(lane, some()) == 0
    assert RUN.vm_lane_begin_rules(byref(lane)) == 0
    held.words[address("status")] |= 1 << 10
    assert RUN.vm_lane_commit_rules(byref(lane)) == C.VM_ERROR_RULE


@pytest.mark.parametrize("path", ["rule_value", "rule_mask", "rule_action", "rule_marker", "port_range", "rule_select"])
def test_a_lost_write_of_a_rule_is_found_before_the_commit(path):
    held, _, lane = opened()
    held.stuck = address(path)
    held.words[held.stuck] ^= 1
    held.rule_register = lambda at, value: False
    assert write(lane, some(seed=3, count=2)) == C.VM_ERROR_READBACK and lane.at == held.stuck and not held.ruled


def test_a_commit_of_rules_without_end_is_given_up_after_the_polls_allowed():
    held, card, lane = opened()
    held.hangs = True
    assert write(lane, some()) == C.VM_ERROR_TIMEOUT and card.pauses == 17
    assert RUN.vm_lane_begin_rules(byref(lane)) == C.VM_ERROR_TIMEOUT


def test_a_card_that_vanishes_among_rules_is_found_gone():
    held, card, lane = opened()
    assert write(lane, some()) == 0
    for accesses in range(0, card.accesses - 30, 5):
        _, card, lane = opened()
        card.gone_after = card.accesses + accesses
        assert write(lane, some()) == C.VM_ERROR_GONE, accesses


def converted(**fields):
    rule, made, out = C.Rule(), C.PortRanges(), C.RuleImage()
    for name, value in fields.items():
        setattr(rule, name, value)
    RUN.vm_port_ranges_clear(byref(made))
    assert RUN.vm_rule_convert(byref(rule), byref(made), byref(out))
    return out


def test_tags_and_bits_of_the_traffic_class_have_the_keys_places():
    """docs/rules.md: word 9 has the tag in bit 15, DSCP in 29:24 and ECN in 31:30; bit 7 of word 10 is IP."""
    for tagged in (0, 1):
        out = converted(match=C.VM_MATCH_TAGGED, tagged=tagged)
        assert (out.value[9], out.mask[9], out.mask[10]) == (tagged << 15, 1 << 15, 0)
    out = converted(match=C.VM_MATCH_TRAFFIC, traffic=0b10111010, traffic_mask=0b11100001)
    assert (out.value[9], out.mask[9]) == (0b101000 << 24, 0b111000 << 24 | 1 << 30)
    assert (out.value[10], out.mask[10]) == (1 << 7, 1 << 7)
