"""The table of blocks is what the files say, and no file has outgrown its purpose."""

import subprocess

from vermilion.generate import blocks
from vermilion.toolchain.build import ROOT


def test_the_table_of_blocks_is_fresh_and_says_something_of_each():
    assert blocks.PAGE.read_text() == blocks.page(), "run: python -m vermilion.generate.blocks (in sim/)"
    assert "|  |" not in blocks.page(), "a file has no head comment"


def test_no_source_file_is_over_400_lines():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    sources = [name for name in listed if name.endswith((".scala", ".py", ".cpp", ".h", ".rdl"))]
    long = {name: lines for name in sources if (lines := len((ROOT / name).read_text().splitlines())) > 400}
    generated = {"hw/src/vermilion/control/RegisterMap.scala", "sim/harness/register_map.h", "sw_driver/lib/vm_regs.h"}
    generated |= {"sw_driver/kernel/vm_test_vectors.h"}
    assert not set(long) - generated, long
