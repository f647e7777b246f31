"""The wheel, as pip builds it from the files of the checkout."""

import os
import shutil
import sys
from pathlib import Path

from vermilion.toolchain import build

from .checkout import Checkout, export
from .tools import tools


def wheel(of: Checkout, work: Path, out: Path) -> Path:
    """Writes the wheel to `out`. `work` is an empty folder; nothing in the wheel tells where it is."""
    sources = work / "sources"
    export(sources)
    (sources / "sim" / "vermilion" / "COMMIT").write_text(of.commit + "\n")
    if build.UPLOT.exists():  # where a wheel's build looks for what draws plots
        (sources / ".vermilion").mkdir()
        shutil.copy(build.UPLOT, sources / ".vermilion" / "uplot.jar")
    made = work / "made"
    # The builder has a fixed version, too: it writes its own into the wheel.
    command = [sys.executable, "-m", "pip", "wheel", "-v", "--no-deps", "--no-build-isolation", "-w", made, sources]
    environment = os.environ | of.environment | {"PYTHONPATH": str(tools())}
    build.run(command, build.BUILD / "release-wheel.log", cwd=sources, env=environment)
    (packed,) = made.glob("*.whl")
    return Path(shutil.move(packed, out / packed.name))
