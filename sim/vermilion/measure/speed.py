"""`vermilion speed`: how many clocks and packets a second of processor time simulates, in three ways, on the same sizes of frame.

    rtl      the Verilated lane in C++, with every decision replayed in the model and every frame accounted for, as in every run
    model    the lane of `sim/model` alone, which is exact to the clock too
    cocotb   the Verilated datapath under cocotb, driven and checked clock by clock in Python (`cocotb_tests/lane/speed_bench.py`)

Frames come back to back on one input (`sim/harness/bench.h`), to queues at random; one process on one core. A second here is one of the processor
(`cpu_seconds`), not of the wall clock, so what else the machine does counts for little.
"""

import json
import os
import platform
import re
import sys
from pathlib import Path

from vermilion.toolchain import build, chisel, verilated

from . import bench, bench_config

PRESETS, FRAMES = ("nic10g", "nic100g"), (64, 1518)
TARGETS = {"nic10g": (1_000_000, 100_000), "nic100g": (400_000, 0)}  # clocks and packets a second
PAGE = build.ROOT / "docs" / "results" / "speed.md"

COCOTB = """
import sys
from bench.build import run
run("LaneCore", "lane.speed_bench", sys.argv[1], FRAMES=sys.argv[2], FRAME_BYTES=sys.argv[3], FIGURES=sys.argv[4])
"""


def cocotb(preset: str, frame: int, packets: int) -> dict:
    """The figures of cocotb's run."""
    tests, place = build.ROOT / "cocotb_tests", build.BUILD / "speed.json"
    path = os.pathsep.join(str(each) for each in (tests, build.ROOT / "sim", build.ROOT / "sim" / "tests"))
    place.unlink(missing_ok=True)
    command = [sys.executable, "-c", COCOTB, preset, packets, frame, place]
    environment = chisel.mill_environment() | {"PYTHONPATH": path}
    build.run(command, build.BUILD / "speed-cocotb.log", cwd=tests, env=environment)
    return json.loads(place.read_text())


def row(preset: str, frame: int, way: str, figures: dict) -> dict:
    cpu = max(figures["cpu_seconds"], 1e-9)
    kept = {name: figures[name] for name in ("clocks", "cpu_seconds")}
    rates = {"clocks_per_second": figures["clocks"] / cpu, "packets_per_second": figures["packets"] / cpu}
    return {"preset": preset, "frame": frame, "way": way, "packets": figures["packets"]} | kept | rates


def measure(packets: int, note) -> list[dict]:
    """A row for each preset, frame and way; cocotb has a hundredth of the packets, and long frames a tenth."""
    rows = []
    programs = {preset: build.simulator(preset, "", note) for preset in PRESETS}
    for preset, program in programs.items():
        for frame in FRAMES:
            count = packets if frame == FRAMES[0] else max(100, packets // 10)
            words = bench_config.record(build.PRESETS[preset], frame, "random", "mixed")
            for way in ("rtl", "model"):
                note(f"{preset}, {frame} bytes, {way}", "measuring", "measured")
                figures = bench.once(program, words, frame, "random", False, count, ("--engine", way))
                rows.append(row(preset, frame, way, figures | {"packets": count}))
            note(f"{preset}, {frame} bytes, cocotb", "measuring", "measured")
            rows.append(row(preset, frame, "cocotb", cocotb(preset, frame, max(100, count // 100))))
    return rows


def processor() -> str:
    """The processor's name, as the system gives it."""
    try:
        return next(
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.machine()


def verilator() -> str:
    """Verilator's version, and that of the compiler of what it writes."""
    compiler = re.search(r"clang version [\d.]+", verilated.compiler_version())
    return ", ".join([f"Verilator {build.verilator_version()}", *([compiler[0]] if compiler else [])])


HEADS = ["preset", "frame", "way", "packets", "clocks", "clocks a second", "packets a second"]


def cells(row: dict) -> list:
    rates = [f"{row[name]:,.0f}" for name in ("clocks_per_second", "packets_per_second")]
    return [row["preset"], f"{row['frame']} B", row["way"], row["packets"], row["clocks"], *rates]


def publish(rows: list[dict], packets: int) -> None:
    """Writes the page and, beside it, the rows as JSON."""
    wanted = [
        f"{preset} {clocks:,} clocks a second" + (f" and {each:,} packets a second" if each else "")
        for preset, (clocks, each) in TARGETS.items()
    ]
    text = f"""# Speed of the simulation

Made by `./vermilion speed --packets {packets} --publish`, on one core of: {processor()}; {verilator()}. What is measured stands in
`sim/vermilion/measure/speed.py`; a second is one of processor time. Targets, of the Verilated lane: {"; ".join(wanted)}.

"""
    PAGE.write_text(text + bench.table(HEADS, 3, [cells(row) for row in rows]))
    PAGE.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")


def show(screen, rows: list[dict]) -> None:
    from vermilion.console.tables import table

    made = table("Speed of the simulation", HEADS[:3], HEADS[3:])
    for each in rows:
        made.add_row(*(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells(each)))
    screen.print(made)
