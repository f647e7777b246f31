"""Not a test: how fast cocotb drives a lane (`vermilion speed`).

Frames back to back, the way out takes a beat in every clock, every frame's fate checked as datapath.py says. In the environment: FRAMES,
FRAME_BYTES, and FIGURES, the file for `clocks`, `packets`, `cpu_seconds` of the part between the first beat in and the last out.
"""

import json
import os
import time
from pathlib import Path

import cocotb

from lane.datapath import FREE, Bench, Frame, frame


@cocotb.test()
async def pace(dut):
    bench = Bench(dut, 1)
    await bench.start(FREE)
    for _ in range(int(os.environ["FRAMES"])):
        data = frame(bench.number, bench.random.randrange(4), int(os.environ["FRAME_BYTES"]), bench.random)
        bench.number += 1
        bench.waiting[0].append(Frame(data, False))
    frames, clocks, began = len(bench.waiting[0]), bench.clocks, time.process_time()
    while any(bench.waiting) or any(bench.inside) or any(bench.queued.values()):
        await bench.clock(1.0, 1.0)
    figures = {"clocks": bench.clocks - clocks, "packets": frames, "cpu_seconds": time.process_time() - began}
    Path(os.environ["FIGURES"]).write_text(json.dumps(figures))
