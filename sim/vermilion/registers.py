"""`vermilion regs`: the register map as HTML and Markdown, from its one SystemRDL source in `hw/regs`."""

from pathlib import Path

from . import build
from .config import UserError


def generate(folder: Path) -> list[Path]:
    sources = sorted(build.files("hw/regs", "*.rdl"))
    if not sources:
        raise build.BuildError("hw/regs holds no .rdl file yet")
    if folder.exists() and not folder.is_dir():
        raise UserError(f"-o {folder}: is a file; give a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"-o {folder}: cannot be written: {error.strerror}") from None
    out = []
    for kind, target in (("html", folder / "html"), ("markdown", folder / "registers.md")):
        build.run(["peakrdl", kind, *sources, "-o", target], build.BUILD / f"peakrdl-{kind}.log")
        out.append(target)
    return out
