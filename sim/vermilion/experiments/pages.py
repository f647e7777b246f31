"""The report of an experiment, one HTML file, and docs/results/papers.md, which has a section an experiment."""

import json
import math
import re
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from vermilion.console import screen
from vermilion.console import tables as console
from vermilion.report import Page, plots, tables
from vermilion.toolchain import build

from . import drawing, intervals, settings, verdicts
from .rows import Experiment

PUBLISHED = build.ROOT / "docs" / "results"
Table = tuple[str, list[str], list[str], list[list[str]]]  # title, columns of text, columns of numbers, rows
HEAD = """# The papers' experiments

`./vermilion experiment NAME --publish` makes this page. [experiments.md](../experiments.md) explains the classes of rows and how to change an experiment.
[What earlier seeds showed](earlier-seeds.md) explains why rows lie where they do. The files in [sim/experiments/settings](../../sim/experiments/settings) hold
rows, bounds and seeds. The seeds were fixed before the first run with them; no earlier page used them. Each file also names the settings that were chosen after a
run was seen.

Ours is the mean over n seeds. A comparison is paired by seed: its effect is the mean ratio (x, a geometric mean) or the mean difference (with a sign). The interval
holds the effect with 95 % confidence (Student's t). Where there is no effect the interval is that of ours. A row that must hold is held if the whole interval is on
the right side of the bound. `open` means that the interval contains the bound, `contrary` that all of it is on the wrong side. Intervals are not corrected for the
number of rows: of 40 comparisons without an effect, about two are not `open`.

**What changed in November 2026**: the average of an idle queue keeps the remainder of each idle time, and the arriving packet takes a step
([decision 16](../decisions/0016-ageing-keeps-its-remainder.md); [P2 and P3 with the old rule and the new](ageing.md)). All seeds are new. Rows are judged by
paired intervals, not by counts of seeds. P1 and P3 have 24 seeds in place of 8.
"""


def kind(quick: bool, seeds: list[int], all_seeds: list[int]) -> str:
    """What names of a table and a page begin with, so that those of a part do not take the place of the whole's."""
    return "quick-" if quick else f"{len(seeds)}-seeds-" if len(seeds) < len(all_seeds) else ""


def about(made: dict[str, Any]) -> str:
    text = f"engine {made['engine']}, seeds {numbers(made['seeds'])}"
    if "beside" in made:
        text += f", {made['beside']['sentence']}"
    return text + (f", --quick: {made['quick']}; not for comparison" if made["quick"] else "")


def numbers(seeds: list[int]) -> str:
    """1, 2 and 3 as 1 to 3."""
    if len(seeds) > 2 and seeds == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"{seeds[0]} to {seeds[-1]}"
    return ", ".join(map(str, seeds))


def markdown(left: list[str], right: list[str], rows: list[list[str]]) -> list[str]:
    """A table's lines: columns of text, then columns of numbers."""
    return [
        "| " + " | ".join(left + right) + " |",
        "| " + " | ".join(["---"] * len(left) + ["---:"] * len(right)) + " |",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def titled(made: Table) -> list[str]:
    """A table's lines with its title."""
    title, left, right, rows = made
    return ["", f"{title}:", "", *markdown(left, right, rows)]


def on_screen(every: Iterable[Table]) -> None:
    out = screen.console()
    for title, left, right, rows in every:
        shown = console.table(title, left or right[:1], right if left else right[1:])
        for row in rows:
            shown.add_row(*row)
        out.print(shown)


def on_page(page: Page, every: Iterable[Table]) -> None:
    """The report's."""
    for title, left, right, rows in every:
        page.text(f"{title}.")
        page.body.append(tables.table(left, right, rows))


def plain(text: str) -> str:
    """A sentence of a page without its marks for bold and links."""
    return re.sub(r"\*\*|\[|\]\([^)]*\)", "", text)


def closing(page: Page, made: dict[str, Any], of: Any, notes: list[str]) -> None:
    """The report's last section: notes, software, and settings."""
    page.section("how", "How it was run")
    for note in notes:
        page.text(note)
    page.body.append(tables.table(["software"], [], [[f"{k} {v}"] for k, v in made["versions"].items()]))
    text = json.dumps(of.model_dump(mode="json"), indent=1, default=str)
    page.details("All settings, as JSON", f"<pre>{escape(text)}</pre>")


def recorded(made: dict[str, Any], parts: dict[str, Any]) -> str:
    """A published record, one line for each entry of its parts, which are objects or lists."""
    out = json.dumps(made)[:-1]
    for name, part in parts.items():
        if isinstance(part, dict):
            each, ends = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in part.items()], "{}"
        else:
            each, ends = [json.dumps(value) for value in part], "[]"
        out += f', "{name}": {ends[0]}\n' + ",\n".join(each) + f"\n{ends[1]}"
    return out + "}\n"


def digits(x: float) -> int:
    """After the point, so that a number from 1 on has three digits; 3 at most."""
    return max(0, min(3, 2 - math.floor(math.log10(abs(x))))) if x and math.isfinite(x) else 0


def three(x: float) -> str:
    return f"{x:.{digits(x)}f}"


def ranged(made: intervals.Interval) -> str:
    """A mean with its interval, all with the mean's digits."""
    n = digits(made.mean)
    return f"{made.mean:.{n}f} ({made.low:.{n}f} to {made.high:.{n}f})"


def short(x: float) -> float | None:
    """A number as a record has it: 7 digits; None if it is not finite."""
    return float(f"{x:.7g}") if math.isfinite(x) else None


def rounded(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a record, its numbers by `short`."""
    made = {key: short(value) if isinstance(value, float) else value for key, value in row.items()}
    return {key: rounded(value) if isinstance(value, dict) else value for key, value in made.items()}


def as_recorded(figures: dict[str, list[float]]) -> dict[str, list[float]]:
    """Figures with the digits that a record keeps, so that a page can be made again from its record."""
    return {name: [math.nan if short(x) is None else float(f"{x:.7g}") for x in each] for name, each in figures.items()}


def told(figures: dict[str, list[float]]) -> dict[str, dict[str, Any]]:
    """By run, then by figure: mean and 95 % interval over the seeds, and each seed's number. `figures`: `RUN.FIGURE`, as runs.measured."""
    out: dict[str, dict[str, Any]] = {}
    for full, given in figures.items():
        run, what = full.rsplit(".", 1)
        made = intervals.of_mean(given)
        ends = [short(made.low), short(made.high)]
        out.setdefault(run, {})[what] = {"mean": short(made.mean), "interval": ends, "seeds": [short(x) for x in given]}
    return out


def write(
    page: Path,
    of: Experiment,
    made: dict[str, Any],
    judged: list[verdicts.Judged],
    pictures: list[drawing.Picture],
    notes: list[str],
) -> None:
    """The report; `made`: name, engine, seeds, quick, versions."""
    out = Page()
    out.section("results", "Results")
    out.text(verdicts.counted(judged), "verdict")
    out.text(f"{of.paper}. {about(made)}.")
    rows: list[list[str | tuple[str, str]]] = []
    for source in judged:
        *cells, verdict = verdicts.cells(source)
        rows.append(
            [*cells, (verdict, "#d8403a" if not source.good else "#2e9e43" if verdict in ("held", "in") else "")]
        )
    # Columns of text come first in the page's tables.
    texts = [i for i in range(len(verdicts.HEADS)) if i not in verdicts.NUMBERS]
    left, right = ([verdicts.HEADS[i] for i in which] for which in (texts, verdicts.NUMBERS))
    out.body.append(tables.table(left, right, [[row[i] for i in (*texts, *verdicts.NUMBERS)] for row in rows]))
    out.text(
        "Effects are paired by seed: x is a ratio, a sign a difference. The 95 % interval is that of the effect, or of ours where there is none.",
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


def section(
    of: Experiment, made: dict[str, Any], judged: list[verdicts.Judged], notes: list[str], shown: dict[str, str]
) -> str:
    """The experiment's section of papers.md; `shown`: file and caption of its pictures."""
    told = about(made)
    lines = [f"## {of.title}", "", f"{of.paper}. {told[0].upper()}{told[1:]}; **{verdicts.counted(judged)}**.", ""]
    lines += [f"* {note}" for note in notes] + [""]
    rules = ["---:" if i in verdicts.NUMBERS else "---" for i in range(len(verdicts.HEADS))]
    lines += ["| " + " | ".join(verdicts.HEADS) + " |", "| " + " | ".join(rules) + " |"]
    for row in judged:
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in verdicts.cells(row)) + " |")
    for file, caption in shown.items():
        lines += ["", f"![{caption}](papers/{file})", "", f"*{caption}*"]
    return "\n".join(lines) + "\n"


def summary(parts: list[dict[str, Any]]) -> str:
    """A line for each experiment that was published, with a link to its section."""
    lines = []
    for part in parts:
        anchor = re.sub(r"[^\w\- ]", "", part["title"].lower()).replace(" ", "-")
        lines.append(f"* [{part['title']}](#{anchor}): {standing(part)}")
    return "\n".join(lines) + "\n"


def standing(part: dict[str, Any]) -> str:
    """How many rows of an experiment hold, or that its figures are of other settings than the files have now."""
    now = settings.parse((settings.FOLDER / f"{part['name']}.toml").read_text()).seeds
    if part["seeds"] != now:
        return f"**out of date**: made by earlier rules with seeds {numbers(part['seeds'])}; to be made again with {numbers(now)}"
    return str(part["counted"])


def assemble() -> None:
    """Writes papers.md from what is published of each experiment."""
    folder = PUBLISHED / "papers"
    parts = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"), key=lambda path: path.stem)]
    (PUBLISHED / "papers.md").write_text("\n".join([HEAD, summary(parts), *(part["text"] for part in parts)]))


def publish(
    name: str,
    of: Experiment,
    made: dict[str, Any],
    judged: list[verdicts.Judged],
    pictures: list[drawing.Picture],
    notes: list[str],
) -> None:
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
    record = (
        json.dumps(made | {"title": of.title, "counted": verdicts.counted(judged), "text": text})[:-1]
        + f', "rows": [\n{rows}\n]}}\n'
    )
    (folder / f"{name}.json").write_text(record)
    assemble()
