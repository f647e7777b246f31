"""`vermilion experiment`: what a row of the results' table says, and the pages that keep it."""

import json
import math

import pytest
from vermilion import build
from vermilion.experiments import pages, settings, verdicts


def row(**fields):
    return settings.lines([settings.Row.model_validate({"of": "x", "value": "a", "class": "gate"} | fields)])[0]


@pytest.mark.parametrize(
    "fields, ours, other, good",
    [
        ({"exact": 2.0, "within": 0.01}, [2.01, 2.02], [], True),
        ({"exact": 2.0, "within": 0.01}, [2.02, 2.04], [], False),
        ({"paper": 6.0, "factor": 1.5}, [4.1], [], True),
        ({"paper": 6.0, "factor": 1.5}, [3.9], [], False),
        ({"paper": 6.0, "factor": 1.5}, [9.1], [], False),
        ({"high": 0.0}, [0.0, 0.0], [], True),
        ({"high": 0.0}, [0.0, 1e-9], [], False),
        ({"low": 1.0, "high": 2.0}, [0.9], [], False),
        ({"below": "b"}, [1.0], [1.0], False),
        ({"at_most": "b"}, [1.0], [1.0], True),
        ({"above": "b", "times": 2.0}, [2.0], [1.0], False),
        ({"above": "b", "times": 2.0}, [2.1], [1.0], True),
        ({"at_least": "b", "times": 0.99}, [0.98], [1.0], False),
        ({"below": "b", "in_seeds": 2}, [1.0, 1.0, 9.0], [2.0, 2.0, 2.0], True),
        ({"below": "b", "in_seeds": 3}, [1.0, 1.0, 1.9, 2.1], [2.0] * 4, True),
        ({"below": "b", "in_seeds": 4}, [1.0, 1.0, 1.9, 2.1], [2.0] * 4, False),
    ],
)
def test_rows_are_judged(fields, ours, other, good):
    judged = verdicts.judge(row(**fields), {"a": ours, "b": other}, len(ours))
    assert judged.good == good and judged.verdict == ("held" if good else "NOT HELD")


def test_a_row_says_in_how_many_seeds_it_holds_and_what_was_wanted():
    figures = {"a": [1.0, 3.0], "b": [2.0, 2.5]}
    held = verdicts.judge(row(below="b"), figures, 2)
    assert held.good and held.wanted == "< 2.25 by the means; it is in 1 of 2 seeds"
    assert verdicts.judge(row(below="b", in_seeds=1), figures, 2).wanted == "< 2.25 in 1 seeds; it is in 1 of 2"
    assert verdicts.judge(row(low=1.5), figures, 2).wanted == "at least 1.5"
    assert [verdicts.shown(x) for x in (999.951, 1000.02, 12345.6)] == ["1,000.0", "1,000.0", "12,346"]


@pytest.mark.parametrize("fields", [{"high": 0.0}, {"below": "b"}, {"exact": 1.0, "within": 9.0}, {"low": 0.0}])
def test_nothing_holds_for_a_figure_that_a_run_could_not_give(fields):
    judged = verdicts.judge(row(**fields), {"a": [math.nan, 0.0], "b": [2.0, 2.0]}, 2)
    assert not judged.good and math.isnan(judged.ours) and math.isnan(judged.spread)
    record = json.loads(json.dumps(judged.record(), allow_nan=False))
    assert record["ours"] is None and record["spread"] is None and not verdicts.Judged.read(record).good


def test_fewer_seeds_lower_what_must_hold_in_some_of_them():
    line = row(below="b", in_seeds=11)
    assert verdicts.judge(line, {"a": [1.0, 1.0], "b": [2.0, 2.0]}, 12).good
    assert not verdicts.judge(line, {"a": [1.0, 3.0], "b": [2.0, 2.0]}, 12).good


def test_a_row_of_a_figure_that_is_not_there_is_a_defect():
    with pytest.raises(build.BuildError, match="asks for a, which the experiment does not give"):
        verdicts.judge(row(high=1.0), {}, 1)


# Pages.


def test_publishing_keeps_what_others_published_in_order_with_a_line_each(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "PUBLISHED", tmp_path)
    judged = [verdicts.judge(row(high=high), {"a": [0.5, 0.7]}, 2) for high in (1.0, 0.1)]
    for name in ("p2", "p0-two", "p0"):
        of = settings.load(settings.FOLDER / f"{name}.toml")
        made = {"name": name, "engine": "model", "seeds": of.seeds, "quick": False, "versions": {}}
        pages.publish(name, of, made, judged, [], ["a note"])
    page = (tmp_path / "papers.md").read_text()
    heads = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    assert heads == [settings.load(settings.FOLDER / f"{name}.toml").title for name in ("p0", "p0-two", "p2")]
    assert page.count(": 1 of 2 gates held\n") == 3 and "[P2: WRED against RIO-C](#p2-wred-against-rio-c)" in page


def test_a_page_of_a_part_does_not_take_the_place_of_the_whole():
    assert [pages.kind(*each) for each in ((False, [1, 2], [1, 2]), (False, [1], [1, 2]), (True, [1, 2], [1, 2]))] == [
        "",
        "1-seeds-",
        "quick-",
    ]
