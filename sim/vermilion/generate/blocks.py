"""The table of every block, `docs/blocks.md`: `python -m vermilion.generate.blocks` writes it, a test keeps it fresh.

What a file does is the first sentence of the Scaladoc of the class it is named after (a file of several others: their names) or of
its C++ head comment, so the table can say nothing else than the code. A C++ header and its .cpp are one line.
"""

import re
from pathlib import Path

from vermilion.toolchain.build import ROOT

PAGE = ROOT / "docs" / "blocks.md"
ORDER = "lane stream parse classify mark flow policy average curve decide queue victim schedule departure report rewrite stats control protect fixed nic".split()
HEAD = """# Every block

Made by `python -m vermilion.generate.blocks` from the heads of the files. Packages stand in the order in which a packet meets them.
No source file of the project is longer than 400 lines, generated ones apart; a test says so.

"""


def sentence(text: str) -> str:
    """The first sentence of a comment, on one line."""
    plain = " ".join(line.strip(" */") for line in text.splitlines()).strip()
    match = re.match(r"(.+?[.])(?:\s|$)", plain)
    return (match.group(1) if match else plain).rstrip(":").replace("|", "\\|")


def scala(path: Path) -> str:
    """The first sentence about the class named like the file; a file of several others gives their names."""
    text = path.read_text()
    comments = re.findall(
        r"/\*\*((?:(?!\*/).)*)\*/\s*(?:final |sealed |abstract |case |private )*(?:class|object|trait) (\w+)",
        text,
        re.S,
    )
    named = [comment for comment, name in comments if name == path.stem]
    if named or not comments:
        return sentence(max(named, key=len)) if named else ""
    if len(comments) == 1:
        return sentence(comments[0][0])
    return "Holds " + ", ".join(f"`{name}`" for _, name in comments) + "."


def cplusplus(path: Path) -> str:
    """The first sentence of a C++ file's head."""
    head = re.match(r"(?:(?://.*\n)+|/\*.*?\*/)", path.read_text(), re.S)
    return sentence(re.sub(r"^//", "", head.group(0), flags=re.M).strip("/*")) if head else ""


def cplusplus_rows(folder: str) -> list[str]:
    """A line for each header with the .cpp of its name, and for each .cpp that has no header."""
    files = {p.name: p for p in (ROOT / folder).iterdir() if p.suffix in (".h", ".cpp")}
    out = []
    for stem in sorted({Path(name).stem for name in files}):
        pair = [files[name] for name in (f"{stem}.h", f"{stem}.cpp") if name in files]
        links = ", ".join(f"[{p.name}](../{p.relative_to(ROOT)})" for p in pair)
        lines = " + ".join(str(len(p.read_text().splitlines())) for p in pair)
        out.append(f"| {links} | {lines} | {cplusplus(pair[0])} |")
    return out


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
        ("`sim/model`", cplusplus_rows("sim/model")),
        ("`sim/harness`", cplusplus_rows("sim/harness")),
    ]
    for title, table in tables:
        text += f"## {title}\n\n| file | lines | what it does |\n| --- | ---: | --- |\n" + "\n".join(table) + "\n\n"
    return text.rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
