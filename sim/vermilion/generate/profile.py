"""All that is made from the description of a profile, `hw/regs/profile.yaml`.

`python -m vermilion.generate.profile` writes the committed files anew; with `--check` it writes nothing and fails if one is stale. The register
maps and the netlink family have generators of their own, which come after this one: `registers.py` and `netlink_spec.py`.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from vermilion.toolchain import build

from . import profile_c, profile_cpp, profile_page, profile_python, profile_rdl, profile_scala
from .description import SOURCE, Profile, load

LIBRARY = build.ROOT / "sw_driver" / "lib"
PYTHON = build.ROOT / "sim" / "vermilion"
GENERATED: dict[Path, Callable[[Profile], str]] = {
    LIBRARY / "vm_profile_types.h": profile_c.types,
    LIBRARY / "vm_profile_fields.c": profile_c.fields,
    LIBRARY / "vm_queue_visit.c": profile_c.visit,
    build.ROOT / "hw" / "regs" / "shadow.rdl": profile_rdl.rdl,
    build.ROOT / "sim" / "model" / "image_reader.cpp": profile_cpp.reading,
    build.ROOT / "hw" / "src" / "vermilion" / "control" / "MarkerKind.scala": profile_scala.kinds,
    PYTHON / "configuration" / "tables.py": profile_python.tables,
    PYTHON / "hardware" / "profile_fields.py": profile_python.fields,
    build.ROOT / "docs" / "profile.md": profile_page.page,
}


def stale() -> list[Path]:
    """The committed files that are not what the description gives."""
    profile = load()
    return [path for path, make in GENERATED.items() if not path.is_file() or path.read_text() != make(profile)]


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        late = stale()
        for path in late:
            shown, source = path.relative_to(build.ROOT), SOURCE.relative_to(build.ROOT)
            print(f"{shown} is not what {source} gives; run python -m vermilion.generate.profile")
        return 1 if late else 0
    if arguments:
        print(f"{' '.join(arguments)}: the only option is --check")
        return 2
    for path, make in GENERATED.items():
        path.write_text(make(load()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
