"""All that is made from the description of a profile, `hw/regs/profile.yaml`.

`python -m vermilion.generate.profile` writes the committed files anew; with `--check` it writes nothing and fails if one is stale. The register
maps and the netlink family have generators of their own, which come after this one: `registers.py` and `netlink_spec.py`.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from vermilion.toolchain import build

from . import (
    committed,
    profile_c,
    profile_cpp,
    profile_page,
    profile_python,
    profile_rdl,
    profile_record,
    profile_scala,
)
from .description import load
from .records import Profile

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
    PYTHON / "profile" / "image_record.py": profile_record.image,
    build.ROOT / "docs" / "profile.md": profile_page.page,
}


def files() -> committed.Files:
    """Each committed file, with what the description gives for it."""
    profile = load()
    return {path: make(profile) for path, make in GENERATED.items()}


if __name__ == "__main__":
    sys.exit(committed.run("profile", files, sys.argv[1:]))
