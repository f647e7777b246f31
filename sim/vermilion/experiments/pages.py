"""The report of an experiment, one HTML file, and docs/results/papers.md, which has a section an experiment."""

import json
import re
from html import escape
from pathlib import Path

from .. import build
from ..report import Page, plots, tables
from . import verdicts
from .settings import Experiment

PUBLISHED = build.ROOT / "docs" / "results"
HEAD = """# The papers' experiments

Made by `./vermilion experiment NAME --publish`. What each class means, what is known of the rows that do not come out, how runs are kept and what can be changed:
[experiments.md](../experiments.md). Rows, their bounds and seeds stood in the files of [sim/experiments/settings](../../sim/experiments/settings) before the first
result did, but for the remaining columns of P1's and P2's tables, judged by nobody, and P4's gates at more loads by the same bounds. So did the rest of the settings but for
two: the flower of P3, whose load was another until one seed of it had been run, and the thresholds of P1's long flows, of which one seed had shown too few. Each file says so.

Ours is the mean of the seeds, +- their standard deviation. A comparison is judged by the two means, or by a number of seeds where the row says so; in how many seeds
it holds stands beside it either way: about half of them means that nothing is shown.
"""


def kind(quick: bool, seeds: list[int], all_seeds: list[int]) -> str:
    """What names of a table and a page begin with, so that those of a part do not take the place of the whole's."""
    return "quick-" if quick else f"{len(seeds)}-seeds-" if len(seeds) < len(all_seeds) else ""


def about(made: dict) -> str:
    text = f"engine {made['engine']}, seeds {', '.join(map(str, made['seeds']))}"
    if "beside" in made:
        text += f", {made['beside']['sentence']}"
    return text + (", --quick: shorter runs and fewer seeds, not for comparison" if made["quick"] else "")


def write(page: Path, of: Experiment, made: dict, judged: list[verdicts.Judged], pictures, notes):
    """The report; `made`: name, engine, seeds, quick, versions."""
    out = Page()
    out.section("results", "Results")
    out.text(verdicts.counted(judged), "verdict")
    out.text(f"{of.paper}. {about(made)}.")
    rows = [verdicts.cells(row) for row in judged]
    for row, source in zip(rows, judged):
        row[-1] = (row[-1], "#d8403a" if not source.good and row[-1] else "#2e9e43" if row[-1] else "")
    # Columns of text come first in the page's tables.
    heads = [verdicts.HEADS[i] for i in (0, 1, 6, 5)], [verdicts.HEADS[i] for i in (2, 3, 4)]
    out.body.append(tables.table(*heads, [[row[i] for i in (0, 1, 6, 5, 2, 3, 4)] for row in rows]))
    out.text(
        "+- is the standard deviation over seeds. Gates must hold, bands are ranges to lie in, reports are not judged.",
        "note",
    )
    out.section("figures", "Figures")
    for name, caption, height, draw in pictures:
        out.figure(name, caption, height, draw)
    out.section("assumptions", "What was assumed")
    for note in notes:
        out.text(note)
    out.section("settings", "Settings")
    text = json.dumps(of.model_dump(by_alias=True, exclude={"row"}, mode="json"), indent=1, default=str)
    out.body.append(tables.table(["software"], [], [[f"{k} {v}"] for k, v in made["versions"].items()]))
    out.details("All settings, as JSON", f"<pre>{escape(text)}</pre>")
    page.write_text(out.html(of.title), encoding="utf-8")


def section(of: Experiment, made: dict, judged: list[verdicts.Judged], notes: list[str], shown: dict[str, str]) -> str:
    """The experiment's section of papers.md; `shown`: file and caption of its pictures."""
    told = about(made)
    lines = [f"## {of.title}", "", f"{of.paper}. {told[0].upper()}{told[1:]}; **{verdicts.counted(judged)}**.", ""]
    lines += [f"* {note}" for note in notes] + [""]
    lines += ["| " + " | ".join(verdicts.HEADS) + " |", "| --- | --- | ---: | ---: | ---: | --- | --- |"]
    for row in judged:
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in verdicts.cells(row)) + " |")
    for file, caption in shown.items():
        lines += ["", f"![{caption}](papers/{file})", "", f"*{caption}*"]
    return "\n".join(lines) + "\n"


def summary(parts: list[dict]) -> str:
    """A line for each experiment that was published, with a link to its section."""
    lines = []
    for part in parts:
        anchor = re.sub(r"[^\w\- ]", "", part["title"].lower()).replace(" ", "-")
        told = verdicts.counted([verdicts.Judged.read(row) for row in part["rows"]])
        lines.append(f"* [{part['title']}](#{anchor}): {told}")
    return "\n".join(lines) + "\n"


def publish(name: str, of: Experiment, made: dict, judged: list[verdicts.Judged], pictures, notes: list[str]):
    """Writes this experiment's JSON and pictures, and the page of all that were published."""
    folder = PUBLISHED / "papers"
    folder.mkdir(exist_ok=True)
    for old in folder.glob(f"{name}.*.png"):
        old.unlink()
    shown = {}
    for figure, caption, height, draw in pictures:
        file = f"{name}.{figure}.png"
        plots.picture(folder / file, height, draw)
        shown[file] = caption
    text = section(of, made, judged, notes, shown)
    rows = ",\n".join(json.dumps(row.record()) for row in judged)
    record = json.dumps(made | {"title": of.title, "text": text})[:-1] + f', "rows": [\n{rows}\n]}}\n'
    (folder / f"{name}.json").write_text(record)
    parts = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"), key=lambda path: path.stem)]
    (PUBLISHED / "papers.md").write_text("\n".join([HEAD, summary(parts), *(part["text"] for part in parts)]))
