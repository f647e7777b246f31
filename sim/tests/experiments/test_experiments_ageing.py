"""`vermilion experiment ageing`: P2 and P3 with three rules for the average of an idle queue."""

import json
import math

import pytest
from click.testing import CliRunner

from support.nightly import at_night
from vermilion.commands import cli
from vermilion.experiments import ageing, network, pages, papers, runs, settings
from vermilion.toolchain import build
from vermilion.values.fields import UserError

OF = ageing.load()
TEXT = ageing.FILE.read_text()


def test_the_last_variant_is_the_model_as_it_is():
    assert [each.ageing for each in OF.variant.values()] == [0, 1, None]


@pytest.mark.parametrize("name", OF.base)
def test_rows_have_the_runs_that_they_need(name):
    of = settings.load(settings.FOLDER / f"{name}.toml")
    planned = {run.name for run in ageing.planned(OF.base[name], of, [1], 1000)}
    every = {run.name for run in papers.module(of).planned(of, [1], 1000)}
    assert planned < every and OF.base[name].seeds <= len(of.seeds)
    for row in (row for row in OF.row if row.base == name):
        for values in row.each.values():
            assert values
        base = row.value.rsplit(".", 1)[0]
        assert any(run.split(".")[0] == base.split(".")[0] or "{" in base.split(".")[0] for run in planned)


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("ageing = 1", "ageing = 3", "variant.exact.ageing is 3"),
        ("[base.p3]", "[base.p9]", "has base.p9; legal are p0, p0-two, p1, p2, p3, p4"),
        ('base = "p2"', 'base = "p1"', 'with base "p1"; legal are p2, p3'),
        ("seeds = 8", "seed = 8", "base.p2.seed is no key of the comparison's"),
    ],
)
def test_settings_are_refused_with_a_sentence(tmp_path, old, new, words):
    assert old in TEXT
    path = tmp_path / "x.toml"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(UserError, match=f"x.toml: .*{words}"):
        ageing.load(path)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--engine", "rtl"], "does not serve experiment ageing; legal is model"),
        (["--seeds", "9"], "--seeds is 9; experiment ageing has 8"),
        (["--quick", "--publish"], "--publish takes every seed and whole runs"),
    ],
)
def test_the_command_refuses_with_a_sentence(words, sentence):
    done = CliRunner().invoke(cli.cli, ["experiment", "ageing", *words])
    assert isinstance(done.exception, UserError) and sentence in str(done.exception)


def figures(**of_variant):
    """All figures of P2's first row, by variant."""
    few = OF.model_copy(update={"row": OF.row[:1], "base": {"p2": OF.base["p2"]}})
    made = {("p2", v): {f"t2.{s}.yellow_loss": numbers for s in ("rio", "wred")} for v, numbers in of_variant.items()}
    return few, ageing.compared(few, made)


def test_differences_are_paired_by_seed():
    of, made = figures(old=[91.0, 92.0, 93.0], exact=[90.0, 91.5, 92.0], step=[88.0, 89.1, 89.9])
    less = made[0]["less"]
    assert math.isclose(less["old"]["mean"], -3.0) and math.isclose(less["exact"]["mean"], -(2 + 2.4 + 2.1) / 3)
    assert less["old"]["low"] < -3 < less["old"]["high"] < -2.7  # the seeds' own spread is not in it
    cells = ageing.cells(made[0])
    assert cells[0] == "Table 2, yellow loss, rio, %" and cells[1:4] == ["92", "91.17", "89"]
    assert cells[4].startswith("-3 (-3.2") and cells[-2:] == ["87.78", "87.53"]


def test_figures_of_ns2_are_those_of_its_oracle():
    """The means of yellow's loss in table 2."""
    found = json.loads((build.ROOT / "docs" / "results" / "oracles.json").read_text())
    means = next(each for each in found if each["name"] == "ns2-dsred")["tables"][0]
    column = means["head"].index("ns-2")
    lost = {row[0]: float(row[column].split(" / ")[1]) for row in means["rows"] if "lost" in row[1]}
    told = [row.ns2 for row in OF.row if row.ns2]
    assert told == [{"rio": lost["table 2, RIO-C"], "wred": lost["table 2, WRED"]}]


def test_a_model_that_does_not_read_the_definition_is_told():
    _, made = figures(old=[91.0, 92.0], exact=[90.0, 91.0], step=[88.0, 89.0])
    ageing.refuse_alike(made)
    _, made = figures(old=[91.0, 92.0], exact=[88.0, 89.0], step=[88.0, 89.0])
    with pytest.raises(build.BuildError, match="variant exact gives the same figures as the last"):
        ageing.refuse_alike(made)


def test_a_page_has_every_row_and_says_what_the_variants_are(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "PUBLISHED", tmp_path)
    of, made = figures(old=[91.0, 92.0], exact=[90.0, 91.0], step=[88.0, 89.0])
    about = {"engine": "model", "seeds": {"p2": [1, 2]}, "quick": "", "versions": {}}
    ageing.publish(of, made, about)
    text = (tmp_path / "ageing.md").read_text()
    assert all(each.is_ in text for each in OF.variant.values()) and text.count("| Table 2, yellow loss") == 2
    assert len(json.loads((tmp_path / "ageing.json").read_text())["rows"]) == 2


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Table 2 with RIO-C, a tenth of the length, seed 1, by each variant of the model."""
    of, out = settings.load(settings.FOLDER / "p2.toml"), {}
    for name, variant in OF.variant.items():
        program = network.program("model", build.quiet, variant.ageing)
        plan = [run for run in papers.module(of).planned(of, [1], 10) if run.name == "t2.rio"]
        found = runs.Runner(program, tmp_path_factory.mktemp(name), 1).all(plan)
        out[name] = (program, papers.module(of).figures(of, found, 10)["t2.rio.yellow_loss"][0])
    return out


@at_night
@pytest.mark.slow
def test_variants_are_kept_apart(results):
    assert len({program.digest for program, _ in results.values()}) == 3
    assert len({program.arguments for program, _ in results.values()}) == 3


@at_night
@pytest.mark.slow
def test_an_average_that_forgets_more_loses_less(results):
    old, exact, step = (loss for _, loss in results.values())
    assert old > exact > step, (old, exact, step)
