"""The notes of a release: what CHANGELOG.md says of its version, and how to check and use what is in the folder."""

import re

from vermilion.toolchain.build import ROOT, BuildError

from .checkout import Checkout

HEAD = """# Vermilion {version}

Commit {commit}. DiffServ marking and active queue management for FPGA NICs.

| file | what to do with it |
| --- | --- |
{rows}
`sha256sum -c SHA256SUMS` checks all of them. `./vermilion release --all` makes the same bytes from the same commit, with the same
compilers and the same packages of Debian.

"""
ROWS = {
    ".whl": "`pip install FILE`: `vermilion run` on the model, `vermilionctl`",
    "-site.tar.gz": "unpack; open `index.html`",
    ".tar.gz": "SystemVerilog of the presets; `fusesoc --cores-root DIR`",
    ".deb": "`apt install ./FILE`: the kernel module by DKMS",
    "-image.tar": "`podman load -i FILE`: a container with the wheel",
    ".cdx.json": "bill of materials, CycloneDX 1.6",
}


def notes(of: Checkout, names: list[str], draft: bool = False) -> str:
    """The notes, with a row for each of the files named. draft: of what is unreleased, if the version has no section yet."""
    rows = ""
    for name in names:
        what = next(text for end, text in ROWS.items() if name.endswith(end))
        rows += f"| `{name}` | {what.replace('FILE', name)} |\n"
    return HEAD.format(version=of.version, commit=of.commit, rows=rows) + changes(of.version, draft)


def changes(version: str, draft: bool = False) -> str:
    """The section of CHANGELOG.md for the version."""
    text = (ROOT / "CHANGELOG.md").read_text()
    for title in [version, "Unreleased"] if draft else [version]:
        found = re.search(rf"^## \[{re.escape(title)}\].*?\n(.*?)(?=^## |\Z)", text, re.M | re.S)
        if found:
            return f"## Changes\n\n{found[1].strip()}\n"
    raise BuildError(f"CHANGELOG.md has no section for {version}; add `## [{version}]`, or give --with-changes")
