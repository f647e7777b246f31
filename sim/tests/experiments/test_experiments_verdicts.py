"""`vermilion experiment`: what a row of the results' table says, and the pages that keep it."""

import json
import math
import random

import pytest
from pydantic import ValidationError

from vermilion.experiments import intervals, pages, papers, rows, settings, verdicts
from vermilion.toolchain import build
from vermilion.values.fields import UserError


def row(**fields):
    made = {"of": "x", "value": "a", "class": "must hold"} | fields
    return rows.lines([rows.Row.model_validate(made)])[0]


# Intervals.

# Student's own data (1908): hours of sleep that two drugs gave each of ten patients; the paired t statistic is -4.0621 with 9 degrees of freedom.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_difference_of_students_sleep_data():
    """R's `t.test(extra ~ group, paired = TRUE)` prints -1.58 and -2.4598858 to -0.7001142."""
    got = intervals.difference(FIRST, SECOND)
    assert got.seeds == 10 and math.isclose(got.mean, -1.58, rel_tol=1e-12)
    assert math.isclose(got.low, -2.4598858, abs_tol=1e-7) and math.isclose(got.high, -0.7001142, abs_tol=1e-7)


@pytest.mark.parametrize("count", [2, 3, 8, 24, 200])
def test_intervals_are_those_of_scipy(count):
    from scipy import stats

    print("seed", count)
    draw = random.Random(count)
    ours, theirs = ([draw.lognormvariate(1, 0.5) for _ in range(count)] for _ in range(2))
    wanted = stats.ttest_rel(ours, theirs).confidence_interval(0.95)
    got = intervals.difference(ours, theirs)
    assert math.isclose(got.low, wanted.low, rel_tol=1e-9) and math.isclose(got.high, wanted.high, rel_tol=1e-9)
    wanted = stats.ttest_rel(*([math.log(x) for x in each] for each in (ours, theirs))).confidence_interval(0.95)
    got = intervals.ratio(ours, theirs)
    assert math.isclose(got.low, math.exp(wanted.low), rel_tol=1e-9)
    assert math.isclose(got.high, math.exp(wanted.high), rel_tol=1e-9)
    assert math.isclose(got.mean, stats.gmean(ours) / stats.gmean(theirs), rel_tol=1e-9)


def test_an_interval_holds_the_true_difference_in_95_of_100_samples():
    print("seed 1")
    draw, held = random.Random(1), 0
    for _ in range(4000):
        common = [draw.gauss(0, 50) for _ in range(6)]  # of a seed; pairing takes it away
        got = intervals.difference([x + draw.gauss(3, 1) for x in common], [x + draw.gauss(0, 1) for x in common])
        held += got.low < 3 < got.high
        assert got.high - got.low < 20
    assert abs(held / 4000 - 0.95) < 0.015  # four standard errors


def test_what_has_no_interval():
    assert intervals.of_mean([2.0]) == intervals.Interval(2.0, -math.inf, math.inf, 1)
    assert intervals.of_mean([0.0, 0.0]) == intervals.Interval(0.0, 0.0, 0.0, 2)
    for got in (intervals.ratio([0.0, 1.0], [1.0, 1.0]), intervals.difference([math.nan, 1.0], [1.0, 1.0])):
        assert math.isnan(got.mean) and math.isnan(got.low) and math.isnan(got.high)
    with pytest.raises(ValueError):
        intervals.difference([1.0, 2.0], [1.0])


# Rows.

LOW, HIGH = (
    [1.0, 1.1, 0.9, 1.0],
    [
        2.0,
        2.2,
        1.8,
        2.1,
    ],
)  # the ratio's interval is 0.475 to 0.514, the difference's -1.178 to -0.872


@pytest.mark.parametrize(
    "fields, ours, other, verdict",
    [
        ({"below": "b"}, LOW, HIGH, "held"),
        ({"below": "b", "times": 0.52}, LOW, HIGH, "held"),
        ({"below": "b", "times": 0.51}, LOW, HIGH, "NOT HELD, open"),
        ({"below": "b", "times": 0.47}, LOW, HIGH, "NOT HELD, contrary"),
        ({"above": "b"}, LOW, HIGH, "NOT HELD, contrary"),
        ({"above": "b", "times": 0.47}, LOW, HIGH, "held"),
        ({"above": "b", "times": 0.48}, LOW, HIGH, "NOT HELD, open"),
        ({"below": "b", "by": "difference"}, LOW, HIGH, "held"),
        ({"below": "b", "by": "difference", "margin": -0.87}, LOW, HIGH, "held"),
        ({"below": "b", "by": "difference", "margin": -0.88}, LOW, HIGH, "NOT HELD, open"),
        ({"above": "b", "by": "difference", "margin": -1.2}, LOW, HIGH, "held"),
        ({"at_least": "b", "times": 0.99}, [0.9952, 0.9956], [1.0, 1.0], "held"),
        ({"at_least": "b", "times": 0.99}, [0.98, 0.999], [1.0, 1.0], "NOT HELD, open"),
        ({"below": "b"}, [1.0, 1.0], [1.0, 1.0], "NOT HELD, contrary"),
        ({"at_most": "b"}, [1.0, 1.0], [1.0, 1.0], "held"),
        ({"below": "b"}, [0.0, 0.0], [1.0, 2.0], "NOT HELD, no interval"),  # 0 has no ratio
        ({"below": "b", "by": "difference"}, [0.0, 0.0], [1.0, 1.1], "held"),
        ({"exact": 2.0, "within": 0.01}, [2.01, 2.0105], [], "held"),
        ({"exact": 2.0, "within": 0.01}, [1.99, 2.03], [], "NOT HELD, open"),
        ({"exact": 2.0, "within": 0.01}, [2.05, 2.051], [], "NOT HELD, contrary"),
        ({"exact": -2.0, "within": 0.01}, [-2.01, -2.0105], [], "held"),
        ({"high": 0.0}, [0.0, 0.0], [], "held"),
        ({"high": 0.0}, [0.0, 1e-9], [], "NOT HELD, open"),
        ({"low": 1.0, "high": 2.0}, [0.9, 0.91], [], "NOT HELD, contrary"),
    ],
)
def test_a_row_must_hold_with_its_whole_interval(fields, ours, other, verdict):
    judged = verdicts.judge(row(**fields), {"a": ours, "b": other})
    assert judged.verdict == verdict and judged.good == (verdict == "held")


def test_a_mean_on_the_right_side_is_not_enough():
    """P1's figure 4 once held by 33.9 against 34.0 ms, lower in 4 of 8 seeds."""
    ours = [33.0, 35.5, 31.0, 36.0, 30.0, 37.0, 34.5, 34.2]
    theirs = [34.0, 34.0, 33.0, 34.5, 34.0, 34.8, 34.2, 34.5]
    judged = verdicts.judge(row(below="b"), {"a": ours, "b": theirs})
    assert judged.ours < judged.other and judged.verdict == "NOT HELD, open" and judged.right == 4
    assert judged.wanted == "< 1; in 4 of 8 seeds"


def test_more_seeds_of_one_effect_close_an_open_row():
    ours, theirs = [1.0, 1.2, 0.9, 1.05], [1.1, 1.25, 1.05, 1.04]
    line = row(below="b")
    assert verdicts.judge(line, {"a": ours, "b": theirs}).verdict == "NOT HELD, open"
    assert verdicts.judge(line, {"a": 6 * ours, "b": 6 * theirs}).verdict == "held"


@pytest.mark.parametrize(
    "ours, verdict, good", [([3.0, 3.1], "in", True), ([3.0, 4.1], "in", True), ([4.0, 4.1], "OUT", False)]
)
def test_an_expected_range_is_judged_by_the_mean(ours, verdict, good):
    line = row(**{"class": "expected range", "paper": 2.0, "factor": 2.0})
    judged = verdicts.judge(line, {"a": ours})
    assert (judged.verdict, judged.good) == (verdict, good) and judged.wanted == "1 to 4"


@pytest.mark.parametrize("word, verdict", [("below", "as the paper"), ("above", "contrary")])
def test_an_informational_comparison_says_what_was_found(word, verdict):
    line = row(**{"class": "informational", word: "b"})
    judged = verdicts.judge(line, {"a": LOW, "b": HIGH})
    assert judged.verdict == verdict and judged.good
    assert verdicts.judge(line, {"a": [1.0, 2.0], "b": [2.0, 1.0]}).verdict == "open"
    assert verdicts.judge(row(**{"class": "informational"}), {"a": LOW}).verdict == ""
    assert verdicts.judge(line, {"a": LOW, "b": HIGH}, "it is so").verdict == "cannot fail"


def test_what_is_not_judged():
    line, figures = row(below="b"), {"a": LOW, "b": HIGH}
    assert verdicts.judge(line, figures, judging=False).verdict == "not judged"
    one = verdicts.judge(line, {"a": LOW[:1], "b": HIGH[:1]})
    assert one.verdict == "not judged" and one.good and verdicts.cells(one)[6] == "none"
    assert verdicts.judge(row(**{"class": "expected range", "low": 9.0}), {"a": LOW[:1]}).verdict == "OUT"
    assert verdicts.counted([one]) == "1 rows of class must hold not judged"


def test_cells_show_effect_interval_seeds_and_the_papers_effect():
    judged = verdicts.judge(row(below="b", paper=3.0, paper_effect=0.7), {"a": LOW, "b": HIGH})
    cells = dict(zip(verdicts.HEADS, verdicts.cells(judged), strict=True))
    assert cells["effect"] == "x 0.4939" and cells["95 % interval"] == "0.4751 to 0.5135" and cells["n"] == "4"
    assert cells["paper"] == "3" and cells["paper's effect"] == "x 0.7" and cells["wanted"] == "< 1; in 4 of 4 seeds"
    judged = verdicts.judge(row(below="b", by="difference", paper_effect=2), {"a": LOW, "b": HIGH})
    cells = dict(zip(verdicts.HEADS, verdicts.cells(judged), strict=True))
    assert cells["effect"] == "-1.025" and cells["paper's effect"] == "+2"
    plain = dict(zip(verdicts.HEADS, verdicts.cells(verdicts.judge(row(low=0.5), {"a": LOW})), strict=True))
    assert plain["effect"] == "" and plain["95 % interval"] == "0.8701 to 1.13" and plain["wanted"] == "at least 0.5"
    assert [verdicts.shown(x) for x in (999.951, 1000.02, 12345.6)] == ["1,000.0", "1,000.0", "12,346"]
    assert len(verdicts.brief(judged)) == len(verdicts.BRIEF)


@pytest.mark.parametrize("fields", [{"high": 0.0}, {"below": "b"}, {"exact": 1.0, "within": 9.0}, {"low": 0.0}])
def test_nothing_holds_for_a_figure_that_a_run_could_not_give(fields):
    judged = verdicts.judge(row(**fields), {"a": [math.nan, 0.0], "b": [2.0, 2.0]})
    assert not judged.good and math.isnan(judged.ours) and math.isnan(judged.spread)
    record = json.loads(json.dumps(judged.record(), allow_nan=False))
    assert record["ours"] is None and record["spread"] is None and not verdicts.Judged.read(record).good


def test_a_row_of_a_figure_that_is_not_there_is_a_defect():
    with pytest.raises(build.BuildError, match="asks for a, which the experiment does not give"):
        verdicts.judge(row(high=1.0), {})


# Rows that cannot fail.

CERTAIN = [
    (
        "p1",
        'class = "informational" # cannot fail',
        'class = "must hold" # cannot fail',
        "nothing drops a green packet",
    ),
    ("p4", 'load = ["0.9", "1.0"] }', 'load = ["0.9", "1.1"] }', "the server is always busy"),
]


@pytest.mark.parametrize("name, old, new, why", CERTAIN)
def test_a_row_that_cannot_fail_is_refused(tmp_path, name, old, new, why):
    text = (settings.FOLDER / f"{name}.toml").read_text()
    assert old in text
    path = tmp_path / "x.toml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UserError, match=f"x.toml: has the row .*which cannot fail: .*{why}"):
        papers.load(path)


def test_a_row_can_fail_again_when_its_settings_change():
    of = settings.load(settings.FOLDER / "p1.toml")
    line = next(line for line in rows.lines(of.row) if line.value == "web.3cpm.green_lost")
    assert papers.certain(of, line)
    limited = of.lane["queue"][0] | {"limit_packets": "100p"}
    assert not papers.certain(of.model_copy(update={"lane": of.lane | {"queue": [limited]}}), line)


@pytest.mark.parametrize("name", settings.names())
def test_rows_of_the_papers_experiments_are_marked_where_they_cannot_fail(name):
    of = papers.load(settings.FOLDER / f"{name}.toml")
    marked = {line.value for line in rows.lines(of.row) if papers.certain(of, line)}
    over = [f"exred.{1 + tenth / 10:.1f}.throughput" for tenth in range(1, 11)]
    assert marked == {"p1": {"web.wpm.green_lost", "web.3cpm.green_lost"}, "p4": set(over)}.get(name, set())


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"below": "a"}, "has below the row's own figure, a"),
        ({"below": "b", "margin": 1.0}, 'has margin, which does not go with by = "ratio"'),
        ({"below": "b", "by": "difference", "times": 2.0}, 'has times, which does not go with by = "difference"'),
        ({"high": 1.0, "paper_effect": 2.0}, "has paper_effect, which belongs to below"),
        ({"class": "gate", "high": 1.0}, "must hold"),
    ],
)
def test_rows_are_refused_with_a_sentence(fields, words):
    with pytest.raises(ValidationError, match=words):
        row(**fields)


# Pages.


def test_publishing_keeps_what_others_published_in_order_with_a_line_each(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "PUBLISHED", tmp_path)
    judged = [verdicts.judge(row(high=high), {"a": [0.5, 0.51]}) for high in (1.0, 0.1)]
    for name in ("p2", "p0-two", "p0"):
        of = settings.load(settings.FOLDER / f"{name}.toml")
        made = {"name": name, "engine": "model", "seeds": of.seeds, "quick": "", "versions": {}}
        pages.publish(name, of, made, judged, [], ["a note"])
    page = (tmp_path / "papers.md").read_text()
    heads = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    assert heads == [settings.load(settings.FOLDER / f"{name}.toml").title for name in ("p0", "p0-two", "p2")]
    assert (
        page.count(": 1 of 2 rows that must hold held\n") == 3
        and "[P2: WRED against RIO-C](#p2-wred-against-rio-c)" in page
    )


def test_a_page_of_a_part_does_not_take_the_place_of_the_whole():
    assert [pages.kind(*each) for each in ((False, [1, 2], [1, 2]), (False, [1], [1, 2]), (True, [1, 2], [1, 2]))] == [
        "",
        "1-seeds-",
        "quick-",
    ]
