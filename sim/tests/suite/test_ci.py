"""Continuous integration: the jobs of the workflow run every test, and the image has the packages that the script would install."""

import re
from pathlib import Path

import yaml

from vermilion.testing import suite
from vermilion.toolchain.build import ROOT, files

WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
SCRIPT = (ROOT / "vermilion").read_text()
NEEDS = ("need_base", "need_test", "missing_oracle")


def commands(job: dict) -> list[list[str]]:
    """The words after `./vermilion test` of each such command of a job, once for each value of its matrix."""
    scripts = "\n".join(step.get("run", "") for step in job["steps"])
    found = []
    for words in re.findall(r"^.*\./vermilion test\b(.*)$", scripts, re.M):
        values = job.get("strategy", {}).get("matrix", {}).get("part", [""])
        found += [words.replace("${{ matrix.part }}", value).split() for value in values]
    return found


def test_jobs_run_every_part_once():
    """Each job names known parts. Together they are what `./vermilion test` runs, and no test runs in two of them."""
    parts = [part for job in WORKFLOW["jobs"].values() for words in commands(job) for part in words]
    assert parts and set(parts) <= set(suite.legal())
    whole = []
    for part in parts:
        assert part != suite.QUICK, "its tests are also in python-main"
        whole += [each for each in suite.parts() if each.startswith(suite.FORMS)] if part == suite.FORMAT else [part]
    assert len(whole) == len(set(whole)), "a part is in two jobs"
    for part in suite.PYTEST:
        shards = [name for name, shard in suite.SHARDS.items() if shard.part == part]
        if set(shards) <= set(whole):
            whole = [name for name in whole if name not in shards] + [part]
    assert sorted(whole) == sorted(suite.parts())


def test_jobs_name_parts_one_by_one():
    """A job without a part would run everything again."""
    for job in WORKFLOW["jobs"].values():
        assert all(words and not words[0].startswith("$") for words in commands(job))


def test_what_is_saved_is_what_is_restored():
    """Caches of a job: the same folders under the same key, and a save and a restore for each."""
    for job in WORKFLOW["jobs"].values():
        saved, restored = (
            {(s["with"]["key"], s["with"]["path"]) for s in job["steps"] if s.get("uses", "").startswith(action)}
            for action in ("actions/cache/save@", "actions/cache/restore@")
        )
        assert saved == restored and len(saved) == 2


def packages(name: str) -> set[str]:
    """Debian's packages that a function of the script asks for."""
    body = re.search(rf"^{name}\(\) {{.*?$(.*?)^}}$", SCRIPT, re.M | re.S)[1]
    found = {package for names in re.findall(r"missing\+=\((.*?)\)", body) for package in names.split()}
    assert found, name
    return found


def test_the_image_has_the_packages_of_the_script():
    assert set(NEEDS) == set(re.findall(r"^(\w+)\(\) \{(?=[^}]*\bmissing\+=)", SCRIPT, re.M))
    text = (ROOT / ".ci/Containerfile").read_text()
    assert re.search(r"^FROM debian:12$", text, re.M)
    installed = re.search(r"apt-get install -y --no-install-recommends (.*?) &&", re.sub(r"\\\n", "", text))[1].split()
    assert sorted(installed) == sorted(set().union(*map(packages, NEEDS))) == installed


def test_what_is_nightly_is_named():
    """The page has a row for each file with a nightly form, and says what every run has in its place."""
    using = [path for folder in suite.PYTEST.values() for path in files(folder, "test_*.py") if path != Path(__file__)]
    assert not [path for path in using if "VERMILION_LONG" in path.read_text()], "nightly.py alone asks for it"
    using = [path for path in using if re.search(r"^from support\.nightly import", path.read_text(), re.M)]
    rows = re.findall(
        r"^\| `(\S+/test_\w+\.py)` \| (.+) \| (.+) \|$", (ROOT / "docs/changing/tests.md").read_text(), re.M
    )
    assert sorted(file for file, *_ in rows) == sorted(str(path.relative_to(ROOT)) for path in using)
    scala = [path for path in files("hw/test", "*.scala") if "Nightly.is" in path.read_text()]
    rows = re.findall(r"^\| `(\S+\.scala)` \| .+ \| .+ \|$", (ROOT / "docs/changing/tests.md").read_text(), re.M)
    assert sorted(rows) == sorted(str(path.relative_to(ROOT)) for path in scala) and scala
    chosen = "${{ (github.event_name == 'schedule' || inputs.nightly) && '1' || '' }}"
    assert WORKFLOW["jobs"]["test"]["env"]["VERMILION_LONG"] == chosen
    events = WORKFLOW[True]  # to YAML, `on` is true
    assert events["schedule"] and events["workflow_dispatch"]["inputs"]["nightly"]["type"] == "boolean"
