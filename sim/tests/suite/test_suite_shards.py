"""The parts of `vermilion test` that are shares of others: together they are all tests, and none runs twice."""

import re
import subprocess
import sys
from collections import Counter

import pytest

from vermilion.commands import cli
from vermilion.testing import suite
from vermilion.toolchain import build
from vermilion.values.fields import UserError

COLLECT = """import sys
import pytest
class Markers:
    def pytest_collection_finish(self, session):
        for item in session.items:
            print("marked", item.nodeid.replace(" ", "_"), *sorted({mark.name for mark in item.iter_markers()}))
sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *sys.argv[1:]], plugins=[Markers()]))
"""


def collect(*targets: str) -> list[tuple[str, set[str]]]:
    """Each test that pytest finds there, and its markers."""
    done = subprocess.run([sys.executable, "-c", COLLECT, *targets], cwd=build.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    words = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("marked ")]
    return [(name, set(marks)) for name, *marks in words]


@pytest.fixture(scope="module")
def python_tests():
    return collect("sim/tests")


def test_every_test_has_a_marker(python_tests):
    """A test is quick, or says why it is not. Guests and proofs are marked."""
    assert len(python_tests) > 1000
    assert all(("quick" in marks) != bool(marks & {*suite.SLOWER}) for _, marks in python_tests)
    file = lambda name: name.split("::")[0].rsplit("/", 1)[-1]
    of = lambda marker: {file(name) for name, marks in python_tests if marker in marks}
    assert {path.name for path in (build.ROOT / "sim/tests").rglob("test_*guest*.py")} <= of("guest") - of("quick")
    assert {"test_prove.py", "test_prove_blocks.py"} == of("proof")
    assert {"test_simulator.py", "test_run.py", "test_device.py"} <= of("slow") - of("quick")


def fits(marker: str, marks: set[str]) -> bool:
    """What pytest's -m says of a test: a marker's name is whether the test has it."""
    names = {"guest", "proof", "quick", "slow", "long"}
    return not marker or eval(marker, {"__builtins__": {}}, {name: name in marks for name in names})


def test_shards_of_python_are_all_of_it(python_tests):
    """Each test of the Python side is in exactly one shard, and each shard has tests."""
    shards = {name: shard for name, shard in suite.SHARDS.items() if shard.part == "python"}
    assert all(shard.targets() == ["sim/tests"] for shard in shards.values())
    found = Counter()
    for name, marks in python_tests:
        of = [shard for shard, about in shards.items() if fits(about.marker, marks)]
        assert len(of) == 1, f"{name} is in the shards {of}"
        found.update(of)
    assert set(found) == set(shards) and sum(found.values()) == len(python_tests)


def test_shards_of_cocotb_are_all_of_it():
    """Each bench is in exactly one shard, as pytest collects them."""
    shards = [shard for shard in suite.SHARDS.values() if shard.part == "cocotb"]
    assert not any(shard.marker for shard in shards)
    found = [{name for name, _ in collect(*shard.targets())} for shard in shards]
    assert all(found) and sum(map(len, found)) == len(set().union(*found))
    assert set().union(*found) == {name for name, _ in collect("cocotb_tests")}


def test_a_new_folder_of_benches_is_in_a_shard(tmp_path, monkeypatch):
    for name in ("blocks/a/test_a.py", "lane/test_b.py", "new/deep/test_c.py", "test_d.py", "bench/pipeline.py"):
        (tmp_path / "cocotb_tests" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "cocotb_tests" / name).touch()
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "files", lambda folder, pattern: list((tmp_path / folder).rglob(pattern)))
    assert suite.SHARDS["cocotb-a"].targets() == ["cocotb_tests/blocks"]
    assert suite.SHARDS["cocotb-b"].targets() == [f"cocotb_tests/{name}" for name in ("lane", "new", "test_d.py")]


def test_no_test_runs_twice(monkeypatch):
    """A shard does not run beside its whole part, nor `quick` beside a part that holds it. Without PARTS, all parts run, and no shard."""
    run = lambda *names, **options: list(suite.chosen(names, suite.Choice(**options)))
    formats = [name for name in suite.parts() if name.startswith(("format-", "lint-"))]
    assert run() == [*formats, "python", "scala", "cocotb"] == list(suite.parts())
    assert run("format") == run("format", "format-cpp") == formats
    assert run("guests", "cocotb-b", "python") == ["python", "cocotb-b"]
    assert run("cocotb", "cocotb-a", "cocotb-b") == ["cocotb"]
    assert run("proofs", "guests") == ["guests", "proofs"]
    assert run("quick", "python-main") == [*formats, "python-main"]
    assert run("quick", "guests", expression="a") == ["guests", "quick"]


def test_a_shard_gives_pytest_its_marker_and_folders(monkeypatch):
    ran = []
    monkeypatch.setattr(
        suite, "pytest", lambda targets, log, choice: ran.append((targets, choice.marker, choice.first))
    )
    for name, part in suite.chosen(tuple(suite.SHARDS), suite.Choice(marker="slow or quick", first=True)).items():
        part(name)
    chosen = "(slow or quick)"
    assert ran[:3] == [
        (["sim/tests"], f"(not guest and not proof) and {chosen}", True),
        (["sim/tests"], f"guest and {chosen}", True),
        (["sim/tests"], f"(proof and not guest) and {chosen}", True),
    ]
    assert ran[3] == (["cocotb_tests/blocks"], chosen, True)
    assert ran[4][1:] == (chosen, True) and "cocotb_tests/lane" in ran[4][0]


def test_names_of_parts_on_the_command_line(monkeypatch):
    """Groups and shards are parts there; `format` takes no options of pytest's. The help names each."""
    monkeypatch.setattr(suite, "run", lambda *_: 0)
    for part in suite.legal():
        with pytest.raises(SystemExit, match="^0$"):
            cli.cli.main(["test", part], standalone_mode=False)
        assert part in re.findall(r"[\w-]+", cli.cli.commands["test"].help), part
    for part in suite.SHARDS:
        with pytest.raises(SystemExit, match="^0$"):
            cli.cli.main(["test", part, "-k", "a"], standalone_mode=False)
    with pytest.raises(UserError, match="^test format: does not take -k"):
        cli.cli.main(["test", "format", "-k", "a"], standalone_mode=False)
    with pytest.raises(UserError, match="^test guest: is no part .*guests"):
        cli.cli.main(["test", "guest"], standalone_mode=False)
