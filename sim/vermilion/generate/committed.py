"""Generated files that are committed: what every generator's command line does with them."""

from collections.abc import Callable
from pathlib import Path

from vermilion.toolchain import build

Files = dict[Path, str]  # each with the text that its source gives


def stale(files: Files) -> list[Path]:
    """Those that do not hold their text."""
    return [path for path, text in files.items() if not path.is_file() or path.read_text() != text]


def run(module: str, made: Callable[[], Files], arguments: list[str]) -> int:
    """`python -m vermilion.generate.MODULE`: writes the files anew, or with `--check` names those that are stale; returns the exit status."""
    if arguments not in ([], ["--check"]):
        print(f"{' '.join(arguments)}: the only option is --check")
        return 2
    files = made()
    late = stale(files)
    for path in late:
        shown = path.relative_to(build.ROOT)
        if arguments:
            print(f"{shown} is not what its source gives; run python -m vermilion.generate.{module}")
        else:
            path.write_text(files[path])
            print(f"{shown} written")
    return 1 if late and arguments else 0
