"""RAMs as unkind as a block RAM may be: a read of the address that is being written gives other than the new data.

Those in LUTs, which give the newest data, stay as they are.
"""

import re
from pathlib import Path

READ = "held <= memory[readAddress];"


def make_unkind(folder: Path, garbled: str = "~writeData") -> int:
    """Rewrites every `MemoryArray` of block RAM or UltraRAM in a folder of SystemVerilog; how many there are. `garbled`: what is read instead."""
    count = 0
    for path in sorted(folder.glob("*.sv")):
        text = path.read_text()
        assert not re.search(r"_R\d+_addr_d0", text), f"{path.name} is a synchronous RAM of another form"
        if re.search(r"^module (Block|Ultra)Ram_", text, re.M):
            assert READ in text or garbled in text, path.name
            path.write_text(
                text.replace(READ, f"held <= write && writeAddress == readAddress ? {garbled} : memory[readAddress];")
            )
            count += 1
    return count
