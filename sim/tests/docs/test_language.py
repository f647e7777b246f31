"""The language of the pages, by the rules of `docs/language.toml`: short sentences, short cells, forbidden words, one form of each name.

Pages that a program makes are not read.
"""

import re
import tomllib
from statistics import mean

import pytest

from support.prose import prose, sentences
from vermilion.toolchain.build import ROOT

RULES = tomllib.loads((ROOT / "docs" / "language.toml").read_text())
GENERATED = (
    "results/",
    "proofs/",
    "registers.md",
    "app-registers.md",
    "profile.md",
    "netlink-attributes.md",
    "blocks.md",
)
PAGES = {
    name: path.read_text()
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if not (name := str(path.relative_to(ROOT / "docs"))).startswith(GENERATED)
}


def plain(text: str) -> str:
    """Prose without code, targets of links, images and addresses."""
    text = re.sub(r"`[^`]*`", "CODE", prose(text))
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    return re.sub(r"\]\([^)]*\)|https?:\S+", "]", text)


def lengths(text: str) -> list[int]:
    return [len(words) for words in sentences(re.sub(r"^ {4}.*$|^\d+\. |^- ", "\n", text, flags=re.M))]


def faults(text: str) -> list[str]:
    """Every breach of a rule."""
    found = [f"{count} words in a sentence" for count in lengths(text) if count > RULES["most_words"]]
    if lengths(text) and mean(lengths(text)) > RULES["mean_words"]:
        found.append(f"{mean(lengths(text)):.1f} words in a sentence on average")
    if len(prose(text).split()) > RULES["page_words"]:
        found.append(f"{len(prose(text).split())} words in the page")
    words = plain(text)
    for row in re.findall(r"^\|(.*)\|$", words, re.M):
        found += [f"cell: {cell.strip()}" for cell in row.split("|") if len(cell.split()) > RULES["cell_words"]]
    for word, better in RULES["forbidden"].items():
        if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", words, re.I if word.islower() else 0):
            found.append(f"{word}: {better or 'leave it out'}")
    for name in RULES["terms"]["names"]:
        for form in re.findall(rf"(?<![\w./-]){re.escape(name)}(?![\w./:-])", words, re.I):
            if form != name and form not in RULES["terms"]["lower"] and form != form.capitalize():
                found.append(f"{form}: {name}")
    return found


@pytest.mark.parametrize("name", PAGES)
def test_a_page_holds_the_rules(name):
    assert not faults(PAGES[name])


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("explanation/")])
def test_every_explanation_has_a_drawing(name):
    assert re.search(r"^!\[[^\]]+\]\(\.\./images/[\w-]+\.svg\)$", PAGES[name], re.M)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("word " * 25 + "end.", "26 words in a sentence"),
        ("| a | " + "word " * 23 + "|", "cell: "),
        ("The packet who pays is dropped.", "who pays: the victim"),
        ("DUALPI2 marks.", "DUALPI2: DualPI2"),
        ("word " * 20 + "end. " + "word " * 20 + "end.", "21.0 words"),
    ],
)
def test_a_fault_is_found(text, fault):
    assert any(each.startswith(fault) for each in faults(text)), faults(text)
    assert not faults("The lane drops one packet. `who pays` is code, and CoDel a name.")


def test_the_statistics_of_all_pages():
    """`pytest -s` prints them."""
    rows = [(name, counts) for name, text in PAGES.items() if (counts := lengths(text))]
    for name, counts in rows:
        print(f"{name:40} {len(counts):5} sentences, mean {mean(counts):5.1f}, most {max(counts)}")
    assert rows
