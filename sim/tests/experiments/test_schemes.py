"""Schemes beside each other: settings, what each scheme is made of, and a few short runs."""

import pytest
from click.testing import CliRunner

from vermilion.commands import cli
from vermilion.experiments import network, runs, schemes, schemes_pages, settings
from vermilion.profile import quantise
from vermilion.toolchain import build
from vermilion.values.fields import UserError

OF = schemes.load()
TEXT = schemes.FILE.read_text()


def test_every_queue_meets_every_marker_with_ecn_and_without():
    assert set(OF.queue) == {"tail", "red", "gentle", "wred", "rio-c", "rio-dc", "exred", "ddred"}
    assert set(OF.marker) == {"none", "redp", "redp-dropper", "wpm", "apm", "3cpm"} and len(OF.seeds) >= 8
    planned = schemes.planned(OF, OF.seeds, 1)
    assert len({(run.name, run.seed) for run in planned}) == len(planned) == 8 * 2 * 6 * len(OF.seeds)


def test_all_schemes_of_a_seed_have_the_same_traffic():
    traffic = lambda name, seed: {
        k: v for k, v in schemes.scenario(OF, *name, seed, 1).items() if k in ("bulk", "transactions")
    }
    for seed in OF.seeds:
        assert all(traffic(name, seed) == traffic(("tail", "drop", "none"), seed) for name in schemes.names(OF))
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
        assert any(drop["on"] for drop in drops) == (queue != "tail")


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("far = [1, 2]", "far = [1, 7]", "has network.far 7; legal are hosts 1 to 4"),
        ("rtt_ms = 60.0", "rtt_ms = 20.0", "has the round trip 20 ms"),
        ("clients = 4", "clients = 0", "short.clients is 0"),
        ("[colours]", "[colors]", "colors is no key"),
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
    """Runs of 10 s: all queues without a marker, RED with all markers, with ECN and without."""
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
        assert 7 < got[f"{name}.delay"][0] < 430  # a packet's own sending, the whole queue's
        assert abs(sum(got[f"{name}.{colour}"][0] for colour in network.COLOURS) - 100) < 1e-9
    assert got["tail.drop.none.delay"][0] > got["red.drop.none.delay"][0]


def test_what_ecn_changes_is_paired_by_seed():
    """Seeds that differ by far more than ECN changes leave a narrow interval."""
    figure = lambda ecn, what: [1.0, 5.0, 9.0] if ecn == "drop" else [1.2, 5.3, 9.1]
    names = [(q, e, w) for q in OF.queue for e in schemes.ECN for w in schemes_pages.ECN_HEADS]
    rows = schemes_pages.ecn_effects(OF, {f"{q}.{e}.none.{w}": figure(e, w) for q, e, w in names})
    assert [row[0] for row in rows] == list(OF.queue)
    assert all(cell == "+0.2 (-0.048 to +0.45)" for row in rows for cell in row[1:])


def test_the_published_table_has_every_scheme():
    page = schemes_pages.PUBLISHED / "schemes.md"
    if page.exists():
        first = page.read_text().split("\n## ")[0]
        rows = [line for line in first.splitlines() if line.startswith("| ")][2:]
        assert len(rows) == len(schemes.names(OF))
