"""RAMs as unkind as a block RAM may be: a read of the address that is being written gives other than the new data.

firtool's own RAMs give the new data there, so with them no simulation can tell whether ForwardingRam forwards. RAMs that are read in the clock
of their address, as those in LUTs are, stay as they are.
"""

import re
from pathlib import Path

BODY = """
  reg {width} data; // unkind
  always @(posedge R0_clk) if (R0_en) data <= W0_en && W0_addr == R0_addr ? {garbled} : Memory[R0_addr];
  always @(posedge W0_clk) if (W0_en) Memory[W0_addr] <= W0_data;
  assign R0_data = data;
endmodule
"""


def make_unkind(folder: Path, garbled: str = "~W0_data") -> int:
    """Rewrites every RAM in a folder of SystemVerilog that is read a clock behind its address, by one port; how many there are. `garbled`: what is
    read instead.
    """
    count = 0
    for path in sorted(folder.glob("*.sv")):
        text = path.read_text()
        memory = re.search(r"\n  reg +(\[\d+:0\])? *Memory\[0:\d+\];", text)
        if not memory or "assign R0_data = R0_en ?" in text:
            continue
        head = text[: memory.end()]
        assert not re.search(r"R1_addr|W1_addr|W0_mask", head), f"{path.name} has other ports"
        new = head + BODY.format(width=memory[1] or "", garbled=garbled)
        if new != text:
            path.write_text(new)
        count += 1
    return count
