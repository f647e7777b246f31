"""Schemes beside each other: settings, what each scheme is made of, and a few short runs."""

import json
import math

import pytest
from click.testing import CliRunner

from vermilion.commands import cli
from vermilion.experiments import (
    discs,
    intervals,
    network,
    pages,
    runs,
    schemes,
    schemes_pages,
    schemes_pictures,
    settings,
)
from vermilion.profile import quantise
from vermilion.toolchain import build
from vermilion.values.fields import UserError

OF = schemes.load()
TEXT = schemes.FILE.read_text()


def test_every_queue_meets_every_marker_with_ecn_and_without():
    assert set(OF.queue) == {"tail", "red", "gentle", "wred", "rio-c", "rio-dc", "exred", "ddred", "pie", "codel"}
    assert set(OF.marker) == {"none", "redp", "redp-dropper", "wpm", "apm", "3cpm"} and len(OF.seeds) >= 8
    assert set(OF.ns3) == {"tail", "red", "gentle", "pie", "codel", "fq-codel"}
    planned = schemes.planned(OF, OF.seeds, 1)
    assert len({(run.name, run.seed) for run in planned}) == len(planned) == (10 * 2 * 6 + 6 * 2) * len(OF.seeds)


def test_all_schemes_of_a_seed_have_the_same_traffic():
    traffic = lambda name, seed: {
        k: v for k, v in schemes.scenario(OF, *name, seed, 1).items() if k in ("bulk", "transactions")
    }
    for seed in OF.seeds:
        for name in schemes.names(OF):
            asked = schemes.scenario(OF, *name, seed, 1)
            assert traffic(name, seed) == traffic(("tail", "drop", "none"), seed) and asked["seed"] == seed
            assert ("lanes" in asked["links"][-1]) == (not name[0].startswith("ns3-")) or not asked["links"][-1][
                "lanes"
            ]
    assert traffic(("tail", "drop", "none"), 1) != traffic(("tail", "drop", "none"), 2)


def test_lanes_of_a_scenario_have_different_draws():
    for seed in OF.seeds:
        links = schemes.scenario(OF, "ddred", "mark", "3cpm", seed, 1)["links"]
        seeds = [lane["lane"]["seed"] for link in links for lane in link["lanes"]]
        assert len(seeds) == len(set(seeds)) == 7


@pytest.mark.parametrize("queue", OF.queue)
def test_a_queue_is_what_its_name_says(queue):
    for ecn in schemes.ECN:
        record = quantise.hardware(settings.lane(schemes.core(OF, queue, ecn)))["queues"][0]
        drops = [colour["curve"][0] for colour in record["colour"]]
        masks = {"rio-c": [1, 3, 7], "rio-dc": [1, 2, 4]}.get(queue, [7, 7, 7])
        assert record["masks"] == masks and bool(record["ecn"]) == (ecn == "mark")
        assert (drops[0] == drops[1] == drops[2]) == (queue not in ("wred", "rio-c", "rio-dc"))
        assert any(drop["on"] for drop in drops) == (queue not in ("tail", "pie", "codel"))
        assert [record["pie"]["on"], record["codel"]["on"]] == [queue == "pie", queue == "codel"]
        assert record["pie"]["target"] * 64 == (
            15_000_000 // 64 * 64 if queue == "pie" else record["pie"]["target"] * 64
        )


@pytest.mark.parametrize("ecn", schemes.ECN)
def test_ns3s_discs_have_the_settings_of_our_queues(ecn):
    made = {queue: schemes.disc(OF, f"ns3-{queue}", ecn) for queue in OF.ns3}
    told = {queue: disc["attributes"] for queue, disc in made.items()}
    assert {disc["kind"] for disc in made.values()} == {f"ns3::{kind}QueueDisc" for kind in discs.KINDS.values()}
    assert all(disc["rate"] == 1_200_000 and disc["attributes"]["MaxSize"] == "60p" for disc in made.values())
    for queue in ("red", "gentle"):
        curve = quantise.hardware(settings.lane(schemes.core(OF, queue, ecn)))["queues"][0]["colour"][0]["curve"][0]
        assert [curve["min"], curve["max"]] == [int(told[queue][name]) for name in ("MinTh", "MaxTh")] == [10, 30]
        assert told[queue] | {"Gentle": "", "UseEcn": ""} == told["red"] | {"Gentle": "", "UseEcn": ""}
        assert told[queue]["Gentle"] == str(queue == "gentle").lower() and told[queue]["MeanPktSize"] == "1054"
        assert [float(told[queue][name]) for name in ("QW", "LInterm")] == [0.002, 10]
    assert (
        told["pie"]["QueueDelayReference"] == "15.0ms"
        and told["pie"]["UseDerandomization"] == str(ecn == "drop").lower()
    )
    assert told["codel"]["Target"] == told["fq-codel"]["Target"] == "10.0ms"
    assert {queue: attributes.get("UseEcn") for queue, attributes in told.items()} == {
        queue: None if queue == "tail" else str(ecn == "mark").lower() for queue in OF.ns3
    }


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("far = [1, 2]", "far = [1, 7]", "has network.far 7; legal are hosts 1 to 4"),
        ("rtt_ms = 60.0", "rtt_ms = 20.0", "has the round trip 20 ms"),
        ("clients = 4", "clients = 0", "short.clients is 0"),
        ("[colours]", "[colors]", "colors is no key"),
        ('aqm = "pie"', 'aqm = "pi"', "queue.pie.aqm is .pi"),
        ('aqm = "codel"', 'curve = { curve = "tail" }', "queue.codel needs average or aqm"),
        ('aqm = "codel"', 'aqm = "codel"\nvictim = "nearest"', "queue.codel has aqm codel and curve or victim"),
        ('ns3 = ["tail"', 'ns3 = ["tails"', "has ns3 tails; legal are tail, red"),
        ("[queue.gentle]", "[queue.gentler]", "has ns3 gentle; legal are those of queue"),
        ("none = {}", "no = {}", "has no marker.none"),
        ("interval_ms = 100.0", "", "codel.interval_ms is missing"),
    ],
)
def test_settings_are_refused_with_a_sentence(tmp_path, old, new, words):
    assert old in TEXT
    path = tmp_path / "x.toml"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(UserError, match=f"x.toml: .*{words}"):
        schemes.load(path)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--engine", "rtl"], "does not serve experiment schemes"),
        (["--seeds", "99"], "--seeds is 99; experiment schemes has 8"),
        (["--quick", "--publish"], "--publish takes every seed and whole runs"),
    ],
)
def test_the_command_refuses_with_a_sentence(words, sentence):
    done = CliRunner().invoke(cli.cli, ["experiment", "schemes", *words])
    assert isinstance(done.exception, UserError) and sentence in str(done.exception)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Runs of 10 s: all queues without a marker, ns-3's too, RED with all markers, with ECN and without."""
    chosen = [n for n in schemes.names(OF) if n[2] == "none" or n[0] == "red"]
    plan = [runs.Run(".".join(n), 1, schemes.scenario(OF, *n, 1, 6), 1) for n in chosen]
    folder = tmp_path_factory.mktemp("schemes")
    results = runs.Runner(network.program("model", build.quiet), folder, 2).all(plan)
    return results, schemes.figures(OF, results, 6)


@pytest.mark.slow
def test_ecn_marks_where_it_is_on_and_nowhere_else(measured):
    _, got = measured
    for queue in OF.queue:
        assert got[f"{queue}.drop.none.ce"] == [0.0]
        assert (got[f"{queue}.mark.none.ce"][0] > 0) == (queue != "tail"), queue
    for queue in OF.ns3:
        assert got[f"ns3-{queue}.drop.none.ce"] == [0.0]
        assert (got[f"ns3-{queue}.mark.none.ce"][0] > 0) == (queue != "tail"), queue


@pytest.mark.slow
def test_markers_give_the_colours_that_they_have(measured):
    _, got = measured
    colours = lambda marker: {c for c in network.COLOURS if got[f"red.drop.{marker}.{c}"][0] > 0}
    assert colours("none") == {"green", "red"} and colours("wpm") == {"green", "yellow"}
    assert colours("apm") == {"yellow", "red"} and colours("3cpm") == set(network.COLOURS)
    assert colours("redp") == {"green", "yellow", "red"}


@pytest.mark.slow
def test_figures_add_up(measured):
    results, got = measured
    for name in results:
        assert 0.5 < got[f"{name}.goodput"][0] < 1.2 and 0.25 <= got[f"{name}.fairness"][0] <= 1
        assert 7 < got[f"{name}.delay"][0] < got[f"{name}.p99"][0]  # one packet's own sending
        if "fq-codel" not in name:  # a flow of FQ-CoDel may wait for others
            assert got[f"{name}.p99"][0] < 430  # the whole queue's
        if not name.startswith("ns3-"):
            assert abs(sum(got[f"{name}.{colour}"][0] for colour in network.COLOURS) - 100) < 1e-9
    tail, red, codel = (got[f"{queue}.drop.none.delay"][0] for queue in ("tail", "red", "codel"))
    assert tail > red > 2 * codel


@pytest.mark.slow
def test_tail_drop_and_codel_do_what_ns3s_do(measured):
    """Neither draws: with one seed all figures are those of ns-3's disc, but for a few us of delay."""
    _, got = measured
    for queue in ("tail", "codel"):
        for what in schemes.FIGURES:
            ours, theirs = (got[f"{whose}{queue}.drop.none.{what}"][0] for whose in ("", "ns3-"))
            assert math.isclose(ours, theirs, abs_tol=0.005), (queue, what)


@pytest.mark.slow
def test_loss_and_marks_are_of_the_packets_that_came(measured):
    results, got = measured
    for name, by_seed in results.items():
        came, lost, marked = discs.counts(by_seed[1], "cr")
        packets = discs.sojourn(by_seed[1], "cr")["packets"]
        assert came > 1000 and 0 <= came - lost - packets <= 60, name  # the rest is still queued
        assert got[f"{name}.loss"][0] == 100 * lost / came and got[f"{name}.ce"][0] == 100 * marked / came


# Pages.


def made_up(change=lambda name, what: 0.0):
    """Every figure 1, 5 and 9 for three seeds, and a change to each."""
    figures = (*schemes.FIGURES, *network.COLOURS, *schemes.OF_COLOURS)
    return {
        f"{'.'.join(name)}.{what}": [x + change(name, what) * y for x, y in ((1.0, 0.9), (5.0, 1.2), (9.0, 0.9))]
        for name in schemes.names(OF)
        for what in (schemes.FIGURES if name[0].startswith("ns3-") else figures)
    }


def test_what_ecn_changes_is_paired_by_seed():
    """Seeds that differ by far more than ECN changes leave a narrow interval."""
    every = schemes_pages.ecn_effects(OF, made_up(lambda name, what: 0.2 * (name[1] == "mark")))
    for _, _, heads, rows in every:
        assert [row[0] for row in rows] == [
            *(queue for queue in OF.queue if queue != "tail"),
            *(f"{queue}, ns-3" for queue in OF.ns3 if queue != "tail"),
        ]
        assert all(row[1:] == ["+0.2 (+0.11 to +0.29)"] * len(heads) for row in rows)


def test_ours_and_ns3s_are_compared_by_seed():
    """Ours is 0.2 above ns-3's in PIE's delay, and 40 above in RED's loss: there the intervals of the means are apart."""

    def change(name, what):
        return {("pie", "delay"): 0.2, ("red", "loss"): 40.0}.get((name[0], what), 0.0)

    rows = schemes_pages.compared(OF, made_up(change))
    assert len(rows) == (2 * 5 - 1) * (len(schemes_pages.COMPARED) - 1) + 4  # marks with ECN alone
    seen = {(row["queue"], row["figure"]) for row in rows if schemes_pages.apart(row)}
    assert seen == {("pie", "delay"), ("red", "loss")}
    assert {(row["queue"], row["figure"]) for row in rows if not schemes_pages.overlap(row)} == {("red", "loss")}
    assert schemes_pages.counted(rows) == (
        "The intervals of both means overlap in 47 of 49 comparisons. The interval of the paired difference contains 0 in 45."
    )
    delay = dict((row[0], row[1:]) for row in schemes_pages.beside(rows)[1][3])
    assert delay["pie *"][2] == delay["pie, ECN *"][2] == "+0.2" and delay["red"][2] == "+0"
    assert delay["red"][0] == delay["red"][1] == "5.00 (-4.94 to 14.94)"


def test_the_report_shows_every_scheme(tmp_path):
    measured = made_up()
    made = {"title": OF.title, "engine": "model", "seeds": [1, 2, 3], "quick": "", "versions": {"ns3": "x"}}
    report = tmp_path / "x.html"
    schemes_pages.write(report, OF, made, measured)
    assert report.read_text().count("<svg") == len(schemes_pictures.DRAWN) + 2
    text = schemes_pages.page(OF, made, measured)
    for queue, ecn, _ in schemes.names(OF):
        tables = 1 if queue.startswith("ns3-") else 1 + len(schemes_pages.TITLES)
        assert text.count(f"| {schemes_pages.line(queue, ecn)} | 5.00 |") == tables, (queue, ecn)


def test_numbers_of_pages_have_three_digits():
    given = {
        309.12: "309",
        94.28: "94.3",
        1.0: "1.00",
        0.8136: "0.814",
        0.01158: "0.012",
        -25.8: "-25.8",
        0.0: "0",
        1e5: "100000",
    }
    assert {x: pages.three(x) for x in given} == given
    assert pages.ranged(intervals.Interval(1.0, 0.9876, 1.0123, 8)) == "1.00 (0.99 to 1.01)"
    assert pages.plain("**PIE**: as [bufferbloat](bufferbloat.md) says") == "PIE: as bufferbloat says"


def test_a_record_keeps_seven_digits_of_each_seed():
    figures = {"a.b.x": [1.23456789, math.nan], "a.b.y": [2.0, 3.0]}
    kept = pages.as_recorded(figures)
    assert kept["a.b.x"][0] == 1.234568 and math.isnan(kept["a.b.x"][1]) and kept["a.b.y"] == [2.0, 3.0]
    assert pages.told(kept)["a.b"]["x"]["seeds"] == pages.told(figures)["a.b"]["x"]["seeds"] == [1.234568, None]
    made = json.loads(
        pages.recorded({"title": "t"}, {"runs": pages.told(kept), "rows": [pages.rounded({"x": {"low": 1.23456789}})]})
    )
    assert list(made) == ["title", "runs", "rows"] and made["rows"] == [{"x": {"low": 1.234568}}]


def test_a_colour_that_did_not_come_has_no_loss():
    measured = made_up() | {"red.drop.wpm.red": [0.0, 0.0, 0.0], "red.drop.wpm.red_loss": [0.0, 0.0, 0.0]}
    assert schemes_pages.shown(measured, ("red", "drop", "wpm"), "red_loss") == "-"
    assert schemes_pages.shown(measured, ("red", "drop", "wpm"), "loss") == "5.00"


def test_the_published_page_is_that_of_the_settings():
    record = (schemes_pages.PUBLISHED / "schemes.json").read_text()
    kept = json.loads(record)
    page = (schemes_pages.PUBLISHED / "schemes.md").read_text()
    assert kept["seeds"] == OF.seeds and not kept["quick"]
    assert list(kept["schemes"]) == [".".join(name) for name in schemes.names(OF)]
    measured = {f"{run}.{what}": told["seeds"] for run, each in kept["schemes"].items() for what, told in each.items()}
    assert schemes_pages.page(OF, kept, measured) == page
    made = {name: what for name, what in kept.items() if name not in ("schemes", "differences")}
    assert schemes_pages.record(OF, made, pages.as_recorded(measured)) == record
    assert OF.shows and OF.differences
    assert max(len(line) for line in page.splitlines() if line.startswith("|")) <= 80
