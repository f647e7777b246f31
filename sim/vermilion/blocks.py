"""The table of every block, `docs/blocks.md`: `python -m vermilion.blocks` writes it, a test keeps it fresh.

What a file does is the first sentence of its first Scaladoc (or C++ head comment), so the table can say nothing else than the code.
"""

import re
from pathlib import Path

from .build import ROOT

PAGE = ROOT / "docs" / "blocks.md"
ORDER = "lane stream parse classify mark flow policy average curve decide queue schedule rewrite stats control fixed".split()
HEAD = """# Every block

Made by `python -m vermilion.blocks` from the heads of the files. Packages stand in the order in which a packet meets them.
No source file of the project is longer than 400 lines; a test says so.

"""


def sentence(text: str) -> str:
    """The first sentence of a comment, on one line."""
    plain = " ".join(line.strip(" */") for line in text.splitlines()).strip()
    match = re.match(r"(.+?[.])(?:\s|$)", plain)
    return (match.group(1) if match else plain).rstrip(":").replace("|", "\\|")


def scala(path: Path) -> str:
    """The first sentence about the file's main class: that named like the file, else the first documented one."""
    text = path.read_text()
    comments = re.findall(
        r"/\*\*((?:(?!\*/).)*)\*/\s*(?:final |sealed |abstract |case |private )*(?:class|object|trait) (\w+)",
        text,
        re.S,
    )
    named = [comment for comment, name in comments if name == path.stem]
    return sentence(max(named, key=len) if named else comments[0][0]) if comments else ""


def cplusplus(path: Path) -> str:
    """The first sentence of a C++ file's head."""
    head = re.match(r"(?:(?://.*\n)+|/\*.*?\*/)", path.read_text(), re.S)
    return sentence(re.sub(r"^//", "", head.group(0), flags=re.M).strip("/*")) if head else ""


def rows(folder: str, pattern: str, describe) -> list[str]:
    found = sorted((ROOT / folder).glob(pattern))
    return [
        f"| [{p.name}](../{p.relative_to(ROOT)}) | {len(p.read_text().splitlines())} | {describe(p)} |" for p in found
    ]


def page() -> str:
    """The whole page."""
    text = HEAD
    source = "hw/src/vermilion"
    assert {p.name for p in (ROOT / source).iterdir()} == set(ORDER), "ORDER does not name every package"
    tables = [(f"`hw/.../{name}`", rows(f"{source}/{name}", "*.scala", scala)) for name in ORDER]
    tables += [
        ("`sim/model`", rows("sim/model", "*.h", cplusplus)),
        ("`sim/harness`", rows("sim/harness", "*.h", cplusplus)),
    ]
    for title, table in tables:
        text += f"## {title}\n\n| file | lines | what it does |\n| --- | ---: | --- |\n" + "\n".join(table) + "\n\n"
    return text.rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
