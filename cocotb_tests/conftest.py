"""Makes the benches, the package `vermilion` and the model's bindings importable, here and in the simulator (which gets sys.path)."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("cocotb_tests", "sim", "sim/tests")]
