"""The model beside other implementations, in short forms: all within tolerance, and each oracle finds a fault that is put in."""

import json
import math
import re
import subprocess
import sys
from fractions import Fraction

import pytest
from scipy import stats

from support.nightly import NIGHTLY
from vermilion.guests import guest
from vermilion.oracle import command, dpdk, dsred, floyd, lanes, linux, ns2
from vermilion.profile import quantise
from vermilion.toolchain import build

NAMES = list(command.ORACLES)


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    try:
        command.prepare([request.param])
    except guest.Unavailable as error:
        pytest.skip(str(error))
    return request.param


def out(found):
    print(*(f"{row.what}: {row.worst:.4g} of {row.tolerance:.4g} {row.unit}" for row in found.rows), sep="\n")
    return {row.what for row in found.rows if not row.held}


@pytest.mark.slow
def test_model_is_within_the_tolerances_of(name):
    found = command.consult(name, quick=True, faulty=False)
    assert not out(found) and found.held
    assert all(row.count > 0 and row.reason and row.whose and math.isfinite(row.worst) for row in found.rows)


@pytest.mark.slow
def test_a_fault_is_found_by(name):
    if name == "ns2-dsred" and not NIGHTLY:
        pytest.skip("for the nightly run: its quick form takes a minute of a processor")
    found = command.consult(name, quick=True, faulty=True)
    assert out(found) and not found.held


def of_queue(**words):
    """A fault: other words in the queue's record."""
    return lambda record: record["queues"][0].update(words)


def slopes(record):
    for colour in record["queues"][0]["colour"]:
        colour["curve"][0]["inv1"][0] -= 2


@pytest.mark.parametrize(
    "fault, row",
    [
        (of_queue(idle_step=0), "average over many short idle spells"),
        (lanes.off_by("lambda", 400, 2**16 - 1), "average over many short idle spells"),
        (slopes, "probability at that average"),
        (of_queue(spacing=1), "gaps between drops, three spacings"),
    ],
    ids=["no step", "lambda 1 % off", "slope", "spacing"],
)
def test_floyd_finds_other_faults_in_their_row(fault, row):
    assert row in out(floyd.run(quick=True, fault=fault))


def test_packets_that_come_one_by_one_look_at_the_last_average():
    """The step of Floyd 1993 is the look-ahead with n = 1, sim/model/average.h."""
    lane, (rate, load, burst), _ = floyd.random_case(0)
    decisions = lane.decisions(lanes.random_packets("look ahead", 500, rate, load, burst=burst))
    assert {d.look_ahead for d in decisions} == {1}


def test_a_meters_second_bucket_counts():
    """A byte's time of the second bucket alone, off by one unit."""

    def fault(record):
        record["queues"][0]["marker"]["cost"][1][0] += 1

    dirty = out(dpdk.run_meter(quick=True, fault=fault))
    assert {"srTCM: colours other than the RFC's", "trTCM: colours other than the RFC's"} <= dirty


@pytest.fixture(scope="module")
def frozen():
    """The model as it was before it kept the remainder of each idle spell."""
    made = build.BUILD / "oracle-lane-frozen"
    sources = [lanes.HERE / "lane.cpp", *build.files("sim/model", "*.cpp")]
    words = ["g++", "-std=gnu++20", *build.MODEL_FLAGS, "-O1", "-DVERMILION_AGEING=0", *sources, "-o", made]
    with build.locked(f"{made.name}.lock"):
        key = build.digest([*sources, *build.model_headers()], *words)
        build.step(made, key, build.quiet, "", lambda: build.run(words, build.BUILD / "oracle-lane-frozen.log"))
    return made


def freezes(of):
    """Whether one idle spell between two packets is less than 2^-10 halvings, so that it takes nothing away alone."""
    return (
        of.gap_ns * floyd.silence_lane(of).exact[1] < floyd.Average.LATE
    )  # a packet departs when its transmission begins


@pytest.mark.slow
@pytest.mark.parametrize("of", floyd.SILENCES, ids=lambda of: of.name)
def test_an_average_that_freezes_is_found(frozen, monkeypatch, of):
    """Its average leaves the tolerance after each silence. Where it freezes, it drops every packet."""
    monkeypatch.setattr(lanes, "program", lambda: frozen)
    lost, difference = floyd.silence(of, 1500)
    assert difference > 1 and (lost == 1500) == freezes(of), (lost, difference)


def test_five_of_seven_silences_freeze_the_average():
    """As the page says."""
    assert [freezes(of) for of in floyd.SILENCES].count(True) == 5 and len(floyd.SILENCES) == 7


@pytest.mark.parametrize("spacing", ["geometric", "uniform", "wait"])
@pytest.mark.parametrize("p", [0.01, 0.03, 0.2])
def test_exact_gaps_have_the_mean_of_the_effective_rate(spacing, p):
    """Two derivations, here and in quantise.py."""
    mean = sum(floyd.survival(spacing, p, k) for k in range(10_000))
    assert mean == pytest.approx(float(1 / quantise.effective(spacing, Fraction(str(p)))), rel=1e-9)


def averages(arrivals, rule, shared=False, drop_from=0.001):
    """The sum of the averages that these packets meet in dsred.py, by the lane's rules or with one of ns-2's; weight 0.002.

    Arrivals are (time, colour). A packet is sent in 10 and an idle packet is 10, too. From `drop_from` on all packets are dropped.
    """
    curve = dsred.Curve(drop_from, drop_from, 1.0)
    return sum(dsred.simulate(arrivals, [curve, curve], shared, rule, 1, 10, 10).averages)


# Green packets at 0, 1 and 2: the first is sent at once, the second waits until 10. The third meets it: average 0.002, so it is dropped.
# The queue is empty from 10 on.
FIRST = [(0, 0), (1, 0), (2, 0)]


def test_rule_integer_truncates_idle_packets():
    """A packet at 19 ends an idle time of m = 0.9 packets: 0.998^(m + 1) by the lane, 0.998^(0 + 1) in ns-2."""
    arrivals = [*FIRST, (19, 0)]
    assert averages(arrivals, ()) == pytest.approx(0.002 + 0.002 * 0.998**1.9, rel=1e-12)
    assert averages(arrivals, ("integer",)) == pytest.approx(0.002 + 0.002 * 0.998, rel=1e-12)


def test_rule_spell_counts_an_idle_time_again_after_a_drop():
    """Packets at 20 and 30 are dropped at the empty queue. Both: 0.998^(1 + 1) at 20. At 30 m is 1 by the lane, and 2, from 10, in ns-2."""
    arrivals = [*FIRST, (20, 0), (30, 0)]
    once = 0.002 + 0.002 * 0.998**2
    assert averages(arrivals, ()) == pytest.approx(once + 0.002 * 0.998 ** (2 + 2), rel=1e-12)
    assert averages(arrivals, ("spell",)) == pytest.approx(once + 0.002 * 0.998 ** (2 + 3), rel=1e-12)


def test_rule_colour_takes_a_queue_for_idle_when_one_colour_has_left():
    """WRED, without a drop: a yellow packet at 2 waits behind the green one, which leaves at 10. At 15 the queue holds 1 packet. By the lane it was
    never empty: 0.998 avg + 0.002. In ns-2 it is idle from 10 on, m = 0.5."""
    arrivals = [(0, 0), (1, 0), (2, 1), (15, 1)]
    assert averages(arrivals, (), True, 1) == pytest.approx(0.002 + 0.002 * 0.998 + 0.002, rel=1e-12)
    assert averages(arrivals, ("colour",), True, 1) == pytest.approx(0.002 + 0.002 * 0.998**1.5 + 0.002, rel=1e-12)


def test_differences_are_those_of_welch():
    """scipy's t and degrees of freedom. The critical value is for both sides of the distribution, and for each of the figures."""
    a, b = [1.0, 2.0, 4.0, 3.5], [2.0, 5.0, 9.0]
    found, scipys = ns2.difference((1, a), (-1, b)), stats.ttest_ind(a, b, equal_var=False)
    assert (found.total / found.error, found.freedom) == pytest.approx((scipys.statistic, scipys.df))
    critical = stats.t.isf(1 / (2 * ns2.CHANCE * 12), scipys.df)
    assert found.share(12) == pytest.approx(abs(scipys.statistic) / critical)
    assert found.share(12, slack=10) == 0


def test_figures_that_do_not_vary_have_to_be_equal():
    same, other = [0.0] * 8, [0.01] * 8
    assert ns2.difference((1, same), (-1, same)).share(12) == 0
    assert ns2.difference((1, same), (-1, other)).share(12) == math.inf
    case = ns2.Case("x", "", *([[0, 88 + seed, 7 + seed, 45 + seed] for seed in range(8)] for _ in range(4)))
    rows = ns2.rows([case], 8)
    assert all(row.held for row in rows) and all("1 of 2 do not vary" in row.reason for row in rows[:3])
    case.model = [[0.01, *rest] for _, *rest in case.model]
    assert [row.held for row in ns2.rows([case], 8)[:3]] == [False, True, False]


class Always:
    """A random source whose numbers are all the same."""

    def __init__(self, number):
        self.random = lambda: number


def dropped(spacing, ps):
    return [number for number, p in enumerate(ps, 1) if spacing.drop(p)]


def test_rule_drops_counts_otherwise():
    """p = 0.2, each random number 0.45. The lane's sum 0.2, 0.4, 0.6 passes 0.45 at the third packet, and so after each drop.

    ns-2 compares with 0.2 / (1 - count 0.2): 0.2, 0.25, 0.33, 0.5, so it drops the fourth. After a drop it begins with count 1: 0.25, 0.33, 0.5.
    """
    assert dropped(dsred.LaneDrops(Always(0.45)), [0.2] * 10) == [3, 6, 9]
    assert dropped(dsred.Ns2Drops(Always(0.45)), [0.2] * 10) == [4, 7, 10]


def test_rule_drops_never_drops_where_the_quotient_is_negative():
    """Each random number 0.95. ns-2 has count 3 when p comes to 0.4: 0.4 / (1 - 1.2) is negative. The lane's sum is 0.3 + 0.4 + 0.4 then."""
    ps = [0.1, 0.1, 0.1, 0.4, 0.4]
    assert dropped(dsred.LaneDrops(Always(0.95)), ps) == [5]
    assert dropped(dsred.Ns2Drops(Always(0.95)), ps) == []


def test_rules_of_drops_are_those_of_the_simulation(monkeypatch):
    """The third packet meets 0.002, between `min` and `max`, and a probability below 10^-9. ns-2's rule is made to drop there, and drops it."""
    monkeypatch.setattr(dsred.Ns2Drops, "drop", lambda self, p: p > 0)
    lost = [
        dsred.simulate(FIRST, [dsred.Curve(0.001, 0.1, 1e-9)] * 2, False, rule, 1, 10, 10).lost
        for rule in ((), ("drops",))
    ]
    assert lost == [[0, 0], [1, 0]]


# Wlog and Scell_log that Debian's tc 6.1 sends for `min 5000 max 15000 avpkt 1000 bandwidth 10mbit` and bursts from 8 to 55.
@pytest.mark.parametrize("wlog, cell", [(3, 13), (4, 14), (5, 15), (6, 16), (7, 17), (9, 19)])
def test_idle_cells_are_those_of_tc(wlog, cell):
    try:
        made, _ = linux.program()
    except guest.Unavailable as error:
        pytest.skip(str(error))
    assert lanes.feed([made, 5000, 15000, wlog, 1, 1000, 10**7, 1, "table"], "").split() == [str(cell)]


HELD = {each["name"]: each for each in json.loads(command.PAGE.with_suffix(".json").read_text())}


def test_the_drivers_page_says_when_tcs_table_halves():
    """Once from 0.26 s to 13 s of idle time, at 10 Mbit/s with avpkt 1000 and weight 1/512. Scell_log is 19: linear to a half at 2^18 us, the second halving
    is in entry 25."""
    try:
        made, _ = linux.program()
    except guest.Unavailable as error:
        pytest.skip(str(error))
    red = linux.Red(10**7, 5000, 15_000, 0.1, 9)
    left = lambda us: linux.spell(red, made, us * 1000, 10**7)[1]
    assert left(2**18 - 1000) > 0.501 and left(25 * 2**19) == pytest.approx(0.25, rel=1e-4)
    assert [left(us) for us in (2**18, 10**6, 25 * 2**19 - 1)] == [pytest.approx(0.5, rel=1e-4)] * 3
    assert "once for any idle time from 0.26 s to 13 s" in (build.ROOT / "docs" / "driver.md").read_text()


def test_the_page_is_of_the_figures_and_all_are_within_tolerance():
    held = list(HELD.values())
    assert command.PAGE.read_text() == command.page(held)
    assert [each["name"] for each in held] == NAMES and all(each["held"] for each in held)
    assert command.verdict(held) == f"{len(NAMES)} of {len(NAMES)} oracles within tolerance"


def table(name, number):
    """A table of an oracle by row: {first cells: {column: cell}}; two figures of a cell are a list."""
    of = HELD[name]["tables"][number]
    figures = lambda cell: [float(part) for part in cell.split(" / ")] if cell else []
    return {
        tuple(row[: of["texts"]]): dict(zip(of["head"][of["texts"] :], map(figures, row[of["texts"] :]), strict=True))
        for row in of["rows"]
    }


def test_what_the_page_says_of_ns2_is_of_the_figures():
    """1.1 points in table 2, 1.8 to 2.2 in tables 3 and 4; of the rules in table 2, `spell` and WRED's `colour`."""
    less = {}
    for (case, figure), row in table(ns2.NAME, 0).items():
        if "lost" in figure:
            less.setdefault(case[:7], []).append(row["lane"][1] - row["ns-2"][1])
    assert [round(each, 1) for each in less["table 2"]] == [1.1, 1.1]
    both = less["table 3"] + less["table 4"]
    assert [round(min(both), 1), round(max(both), 1)] == [1.8, 2.2]
    rules = {rule: row for (rule,), row in table(ns2.NAME, 1).items()}
    less = lambda rule, scheme: round(rules["none: the lane's"][scheme][1] - rules[rule][scheme][1], 2)
    assert all(1.0 <= less("`spell`", scheme) < 1.1 for scheme in ns2.SCHEMES)
    assert less("`colour`", "WRED") == 0.95 and abs(less("`colour`", "RIO-C")) < 0.05
    assert less("all four: ns-2's", "WRED") < less("`spell`", "WRED") + less("`colour`", "WRED") - 0.5
    assert (
        "1.1 points in table 2, 1.8 to 2.2 in tables 3 and 4" in command.HEAD and "by 1.0 to 1.1 points" in command.HEAD
    )
    assert "`colour` alone lowers it by 0.95 points" in command.HEAD


def test_rows_of_ns2_are_of_the_stored_figures():
    held = HELD[ns2.NAME]
    if not held["figures"]:
        pytest.skip("the published run stored no figures of seeds")
    cases = ns2.stored(held["figures"])
    assert [row["worst"] for row in held["rows"]] == [
        pytest.approx(row.worst) for row in ns2.rows(cases, len(cases[0].model))
    ]


def test_what_the_page_says_of_dpdk_is_of_the_figures():
    shares = [float(value.split("%")[0]) for value in HELD["dpdk-meter"]["told"].values()]
    assert [round(share, 1) for share in shares] == [0.8, 2.8]
    longer = [re.fullmatch(r"lane (\S+), DPDK (\S+)", value).groups() for value in HELD["dpdk-red"]["told"].values()]
    assert sorted(round(100 * (float(theirs) / float(ours) - 1)) for ours, theirs in longer) == [6, 13]
    assert "0.8 % (srTCM) or 2.8 % (trTCM)" in command.HEAD and "6 to 13 % longer" in command.HEAD


def test_the_drivers_page_has_the_figures_of_linux():
    page = (build.ROOT / "docs" / "driver.md").read_text()
    names = {
        "1000 ms": "1 s",
        "10000 ms": "10 s",
        "250,000 ns at 10Mbit": "250 us, at 10 Mbit/s",
        "260 ns at 10Gbit": "260 ns, at 10 Gbit/s",
    }
    told = HELD[linux.NAME]["told"]
    for what, figures in told.items():
        case = re.search(r"after (.*) idle$|60 B each (.*)$|at p = (\S+), lane with geometric", what)
        case = next(filter(None, case.groups()))
        ours, theirs = re.fullmatch(r"lane (\S+), Linux (\S+)", figures).groups()
        cells = " | ".join(f"{int(x):,}" if x.isdigit() else x for x in (ours, theirs))
        assert f"{names.get(case, case)} | {cells} |" in page, what
    assert len(told) == 9


def test_the_drivers_page_has_the_bound_and_the_worst_of_a_busy_queue():
    """Weights are down to 2^-11, so Linux's 1 B and the lane's 2^-16 / w allow 1.03 B."""
    row = HELD[linux.NAME]["rows"][0]
    page = (build.ROOT / "docs" / "driver.md").read_text()
    assert row["what"] == "average, busy queue" and row["worst"] * (1 + 2**-16 * 2**11) < 0.7
    assert "by less than 0.7 bytes" in page and "allow 1.03 bytes" in page


@pytest.mark.parametrize("p", [Fraction(2, 100), Fraction(1, 10)])
def test_linux_drops_at_the_effective_rate_of_uniform_gaps(p):
    """1.96 p at p = 0.02. The lane's default, geometric, drops at p."""
    pair = next(value for what, value in HELD[linux.NAME]["told"].items() if f"at p = {float(p)}, lane" in what)
    ours, theirs = map(float, re.fullmatch(r"lane (\S+), Linux (\S+)", pair).groups())
    for mean, spacing in ((ours, "geometric"), (theirs, "uniform")):
        assert mean * quantise.effective(spacing, p) == pytest.approx(1, abs=0.04), (spacing, mean)
    assert quantise.effective("uniform", Fraction(2, 100)) / Fraction(2, 100) == pytest.approx(1.96, abs=0.005)


@pytest.mark.parametrize(
    "words, said",
    [
        (["nobody"], f"oracle nobody: unknown oracle; choose from {', '.join(NAMES)}"),
        (["--publish", "--quick"], "--publish needs a full run of all oracles: no NAMES, no --quick, no --fault"),
    ],
)
def test_bad_words_are_refused(words, said):
    done = subprocess.run([sys.executable, "-m", "vermilion", "oracle", *words], capture_output=True, text=True)
    assert (done.returncode, done.stderr.strip()) == (2, f"vermilion: {said}")


def test_a_fault_that_nobody_finds_ends_with_status_1(monkeypatch):
    """And so does an oracle that is out of tolerance."""
    from click.testing import CliRunner

    blind = command.Oracle("blind", lambda quick, fault, note: floyd.Finding("floyd", "x", [ROW]), None, "")
    monkeypatch.setitem(command.ORACLES, "floyd", blind)
    done = CliRunner().invoke(command.oracle, ["floyd", "--fault"])
    assert isinstance(done.exception, build.BuildError) and "fault not detected by floyd" in str(done.exception)
    wrong = command.Oracle("wrong", lambda quick, fault, note: floyd.Finding("floyd", "x", [OUT]), None, "")
    monkeypatch.setitem(command.ORACLES, "floyd", wrong)
    done = CliRunner().invoke(command.oracle, ["floyd"])
    assert isinstance(done.exception, build.BuildError) and str(done.exception) == "out of tolerance: floyd"
    assert "0 of 1 oracles within tolerance" in done.output


ROW = floyd.Row("x", 0.5, 1, "packets", 1, "x", "x")
OUT = floyd.Row("x", 1.5, 1, "packets", 1, "x", "x")
