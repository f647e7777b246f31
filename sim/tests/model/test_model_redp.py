"""REDP and its combined dropper (P0, section II): eq. (1) inside each region, P_drop and its meter, where the level ends, fairness.

Draws are those of a lane's markers. Each check that a plain bucket could pass by chance is held against a plain bucket too.
"""

import math
from fractions import Fraction
from itertools import islice

import pytest

from support.model_bindings import LEAF, REDP
from support.token_marker_bench import GREEN, PACKET, RED, YELLOW, Model, interval, lane_draws, redp

START, SMALL = 10**9, 64  # ns; bytes of a packet that nearly any level covers
INSIDE = [Fraction(x, 100) for x in (1, 5, 15, 25, 40, 55, 70, 85, 95, 99)]  # of a region, from its lower end
MARKERS = {
    "P0": dict(bucket=60, low=15, high=45, demote=Fraction(1, 2), promote=Fraction(1, 2)),
    "uneven": dict(bucket=100, low=30, high=60, demote=Fraction(9, 10), promote=Fraction(1, 4)),
}


def at(model, tokens):
    """The bucket full, then at `tokens` ns."""
    model.fill()
    out = model.mark(START, GREEN, (model.config.burst[0] - int(tokens)) // 8, 0xFFFFFFFF)
    assert out.colour == GREEN and not out.policed


def inside(config, region, part):
    """The level at this part of the region, in ns of whole bytes."""
    base, end = (0, config.low_threshold) if region == "demotion" else (config.high_threshold, config.burst[0])
    return base + int(part * (end - base)) // 8 * 8


def equation_1(fields, packets):
    """P_demo, P_promo at a level in packets."""
    low, high, top = fields["low"], fields["high"], fields["bucket"]
    return (
        max(0, (low - packets) * fields["demote"] / low),
        max(0, (packets - high) * fields["promote"] / (top - high)),
    )


@pytest.mark.parametrize("region", ["demotion", "promotion"])
@pytest.mark.parametrize("name", MARKERS)
def test_probabilities_are_equation_1_at_ten_levels_of_each_region(name, region):
    fields, count = MARKERS[name], 10_000
    model, draws = Model(redp(**fields)), lane_draws(1)
    colour, other = (GREEN, YELLOW) if region == "demotion" else (YELLOW, GREEN)
    for part in INSIDE:
        level, changed = inside(model.config, region, part), 0
        for draw in islice(draws, count):
            at(model, level)
            out = model.mark(START, colour, SMALL, draw)
            assert out.level == level << 16 and out.colour in (GREEN, YELLOW) and not out.policed
            changed += out.colour == other
        p = equation_1(fields, Fraction(level, PACKET))[region == "promotion"]
        low, high = interval(count, float(p))
        print(f"seed 1, {region} at {float(part)}: {changed} of {count}, {low} to {high} by eq. (1)")
        assert 0 < low <= changed <= high < count
        for draw in islice(draws, 200):
            for still in (other, RED):
                at(model, level)
                assert model.mark(START, still, SMALL, draw).colour == still


def test_no_colour_changes_in_the_balanced_region_and_every_green_turns_yellow_without_tokens():
    model = Model(redp())
    for draw in (0, 0xFFFF, 0xFFFF0000, 0xFFFFFFFF, *islice(lane_draws(2), 200)):
        for level in (15 * PACKET, 15 * PACKET + 8, 30 * PACKET, 45 * PACKET - 8, 45 * PACKET):
            for colour in range(3):
                at(model, level)
                assert model.mark(START, colour, 1000, draw).colour == colour
        for level, length in ((0, SMALL), (SMALL * 8 - 8, SMALL), (PACKET - 8, 1000), (14 * PACKET, 14001)):
            at(model, level)
            assert model.mark(START, GREEN, length, draw).colour == YELLOW


@pytest.mark.parametrize("p", [0.02, 0.25])
def test_p_drop_is_the_droppers_rate_in_the_demotion_region_and_nowhere_else(p):
    """And what it leaves is demoted as eq. (1) says: the two draws are independent."""
    count, fields, drop = 10_000, MARKERS["P0"], round(p * 2**16)
    model, draws = Model(redp(**fields, p_drop=drop, meter=1000)), lane_draws(3)
    for part in INSIDE:
        level, dropped, demoted = inside(model.config, "demotion", part), 0, 0
        for draw in islice(draws, count):
            at(model, level)
            out = model.mark(START, GREEN, SMALL, draw)
            dropped += out.policed
            demoted += not out.policed and out.colour == YELLOW
        low, high = interval(count, drop / 2**16)
        print(f"seed 3, at {float(part)} of T_L: {dropped} of {count} dropped, {low} to {high} by P_drop")
        assert low <= dropped <= high
        demotion = float(equation_1(fields, Fraction(level, PACKET))[0])
        low, high = interval(count - dropped, demotion, 1 - 1e-5)  # wider: one in 1,000 misses by chance
        assert low <= demoted <= high
    for level in (15 * PACKET, 15 * PACKET + 8, 30 * PACKET, 45 * PACKET, 50 * PACKET, 60 * PACKET - 8):
        for draw in (0, *islice(draws, 2000)):
            at(model, level)
            assert not model.mark(START, GREEN, SMALL, draw).policed
    for colour in (YELLOW, RED):
        for draw in (0, *islice(draws, 2000)):
            at(model, 5 * PACKET)
            assert not model.mark(START, colour, SMALL, draw).policed


METER = 1000  # ns
NO_YELLOW = {"nothing": [], "a red one": [(0, RED)], "a green one that left yellow": [(0, GREEN)]}
YELLOWS = {
    "one": [(0, YELLOW)],
    "another in time": [(0, YELLOW), (METER, YELLOW)],
    "one and a red": [(0, YELLOW), (0, RED)],
}


@pytest.mark.parametrize("late", [1, METER, 3 * METER])
@pytest.mark.parametrize("before", [*NO_YELLOW, *YELLOWS])
def test_the_dropper_rests_for_the_meters_time_behind_a_yellow_packet_that_came(before, late):
    """`late`: ns behind the last packet before, or behind the meter's end."""
    count, drop = 3000, 2**14
    model, draws = Model(redp(p_drop=drop, meter=METER)), lane_draws(4)
    packets = NO_YELLOW.get(before) or YELLOWS.get(before, [])
    last = max((time for time, _ in packets), default=0)

    def dropped(after):
        total = 0
        for draw in islice(draws, count):
            at(model, 5 * PACKET)
            for time, colour in packets:
                assert model.mark(START + time, colour, SMALL, 0x0000FFFF).colour == max(colour, YELLOW)
            out = model.mark(START + last + after, GREEN, SMALL, draw)
            assert not out.policed or out.colour == GREEN
            total += out.policed
        return total

    low, high = interval(count, drop / 2**16)
    if before in NO_YELLOW:
        assert low <= dropped(late) <= high
    else:
        assert low <= dropped(METER + late) <= high
        assert dropped(min(late, METER)) == dropped(0) == 0


def test_the_dropper_acts_only_in_the_demotion_region_and_while_no_yellow_came():
    model = Model(redp(p_drop=65536, meter=METER))
    model.fill()
    assert not model.mark(START, GREEN, 45_000, 0).policed  # 60 packets: not in the region
    assert not model.mark(START, GREEN, 100, 0).policed  # 15 packets: not below the threshold
    assert model.mark(START, GREEN, 1000, 0).policed  # below
    level = model.mark(START, RED, 1000, 0).level
    assert model.mark(START, GREEN, 1000, 0xFFFF0000).policed  # and would have left green, by its r
    assert model.mark(START, RED, 1000, 0).level == level  # a dropped packet takes nothing
    model.mark(START, YELLOW, 1000, 0)
    assert not model.mark(START + METER, GREEN, 1000, 0xFFFF0000).policed
    assert model.mark(START + METER + 1, GREEN, 1000, 0xFFFF0000).policed


STARTS = {"empty": 60_000, "middle": 30_000, "full": 0}  # bytes taken first
RUNS, GREENS, END = 10, 1000, 300


def run(kind, load, yellows, first, seed):
    """(level in packets, colour in, colour out) of each packet: greens of 1000 B at `load` times R, `yellows` with each."""
    config = redp(out=YELLOW)
    config.kind = kind
    model, draws, seen = Model(config), lane_draws(seed), []
    if first:
        model.mark(0, GREEN, first)
    for k in range(GREENS):
        time = int((k + 1) * PACKET / load)
        for colour in [YELLOW] * yellows + [GREEN]:
            out = model.mark(time, colour, 1000, next(draws))
            seen.append((out.level / (PACKET << 16), colour, out.colour))
    return seen


def faults(kind, load, yellows):
    """What is not as the paper has it: the level's region at the end from each start; changes of colour against eq. (1) over all levels met."""
    found, changes = [], {GREEN: [0, 0.0, 0.0], YELLOW: [0, 0.0, 0.0]}  # seen; mean and variance by eq. (1)
    for start, first in STARTS.items():
        for seed in range(RUNS):
            seen = run(kind, load, yellows, first, seed)
            for level, came, left in seen:
                p = float(equation_1(MARKERS["P0"], level)[came])
                p = p if level >= 1 else 1.0 - came  # no tokens for the packet
                total = changes[came]
                total[0], total[1], total[2] = total[0] + (left != came), total[1] + p, total[2] + p * (1 - p)
            end = [level for level, came, _ in seen if came == GREEN][-END:]
            if load == 1 and start == "full" and not yellows:
                right = set(end) == {60}  # as much comes as is filled, and no yellow that could be promoted
            else:
                right = all({0.5: t > 45, 1: 15 <= t <= 45, 2: t < 15}[load] for t in end)
            if not right:
                found.append(f"from {start}, seed {seed}: {min(end)} to {max(end)} packets")
    for came, (number, mean, variance) in changes.items():
        if abs(number - mean) > 4 * math.sqrt(variance):
            found.append(f"{('green', 'yellow')[came]}: {number} changed, {mean:.1f} by eq. (1)")
    return found


@pytest.mark.parametrize("yellows", [0, 3])
@pytest.mark.parametrize("load", [0.5, 1, 2])
def test_redp_settles_in_the_region_of_its_load_from_any_level_and_a_plain_bucket_does_not(load, yellows):
    """Green at half, once and twice R ends in the promotion, balanced and demotion region, by changes of eq. (1)'s number.

    With one exception, of the algorithm: from a full bucket at R, without yellow to promote, the level stays where it is.
    """
    assert not (wrong := faults(REDP, load, yellows)), wrong
    plain = faults(LEAF, load, yellows)
    print(f"a plain bucket: {plain[-3:]}")
    assert plain


def share(kind, phase):
    """Six UDP flows of equal rate, together 1.5 R, each at its phase of their period; the packets of each that are demoted, of 16,666."""
    flows, config = 6, redp(out=YELLOW)
    config.kind, period = kind, 6 * PACKET * 2 // 3
    model, draws, demoted = Model(config), lane_draws(4), [0] * flows
    for k in range(16_666):
        for flow in range(flows):
            out = model.mark(k * period + phase(flow, period), GREEN, 1000, next(draws))
            demoted[flow] += out.colour == YELLOW
    print(f"seed 4, demoted: {demoted}")
    return demoted


def test_flows_of_equal_rate_and_evenly_spread_phase_are_demoted_equally_where_a_plain_bucket_takes_two_of_six():
    even = lambda flow, period: flow * period // 6
    demoted, plain = share(REDP, even), share(LEAF, even)
    assert max(demoted) <= 1.05 * min(demoted)
    assert sum(number > 16_000 for number in plain) == 2 and sum(number == 0 for number in plain) == 4


def test_flows_of_equal_rate_that_come_all_at_once_are_demoted_by_their_place_in_the_burst_but_none_is_spared_or_starved():
    """Each packet meets fewer tokens than the one before it: the last flow has half as many again as the first."""
    at_once = lambda flow, period: 0
    demoted, plain = share(REDP, at_once), share(LEAF, at_once)
    assert demoted == sorted(demoted) and 1.3 < demoted[-1] / demoted[0] < 1.6
    assert sum(number > 16_000 for number in plain) == 2 and sum(number == 0 for number in plain) == 4
