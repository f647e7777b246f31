"""`vermilion bench --line-rate`: frames as a port brings them, at its rate and below, and how long the lane takes for each.

On the wire a frame takes 24 bytes more than in the lane: preamble 8, FCS 4, gap 12. So the shortest Ethernet frame, 64 bytes with its FCS, is one of 60
bytes here, and comes at 148.8 Mpps at 100 Gbit/s. All at a clock of 250 MHz. What is sent: `sim/harness/bench.h`; how the lane stands: `bench_config.py`;
figures of the program: `BenchTiming` in `sim/harness/bench.h`.
"""

import json
from pathlib import Path

from vermilion.profile.record import Record
from vermilion.toolchain import build

from . import bench, bench_config

PORTS = {
    "nic10g": 10_000_000_000,
    "nic10g-all": 10_000_000_000,
    "nic25g": 25_000_000_000,
    "nic100g": 100_000_000_000,
    "nic100g-all": 100_000_000_000,
    "nic100g-codel": 100_000_000_000,
    "nic100g-aqm": 100_000_000_000,
    "card-2x10g": 10_000_000_000,
    "card-2x25g": 25_000_000_000,
}
FRAMES = (60, 64, 65, 128, 594, 1518, 9018, "imix")
LONG = (60, 1_000_000)  # one more row of a card: bytes of a frame, and frames, of all inputs together
SPREADS, LOADS = ("one", "random"), (0.5, 0.9, 1.0)
LONGEST_OF_MIX, MEAN_OF_MIX, WIRE_OVERHEAD, CLOCK_NS = 1518, (7 * 64 + 4 * 594 + 1518) / 12, 24, 4
PAGE = build.ROOT / "docs" / "results" / "line-rate.md"

INTRODUCTION = """# The lane at line rate

Made by `./vermilion bench --line-rate --publish`, the Verilated lane with a clock of 4 ns, every decision replayed in the model and agreed, every frame accounted for. Frames come on
one input (of a `card-...` on all) as a port of the rate brings them, 24 bytes apart (preamble 8, FCS 4, gap 12); sizes are the lane's, without FCS, so 60 is the shortest Ethernet frame. `imix`: 64,
594 and 1,518 bytes, 7:4:1. To one queue, or to all at random. Queues have a curve from p = 1/16 at an empty queue, which drops up to 12 %, and no marker (those of a `card-...`: below); the way out takes a beat in every clock. `nic10g-all` and `nic100g-all` have the victim search built in.
`nic100g-codel` has CoDel built in, and each packet gets a verdict by `ce_threshold` as it leaves.
`nic100g-aqm` has everything built in: the victim search, all AQMs and reports of all drops and marks, which nothing limits. Queues 0 and 1 are a pair with DualPI2, 2 has PIE, 3 CoDel, 4 to 7 curves that mark at departure, 8 to 15 are a group with FQ-CoDel. With one flow all frames go to the pair.
Its way out takes nine tenths of what the port brings, so that at full load queues stand, and limits drop packets, too (`lost`). PIE follows delays of milliseconds: it has no drops in these runs.
The clock is assumed: no lane was placed in a device, and its longest path is an estimate ([timing](timing.md)).

The presets `card-...` serve a card of two ports, both ways: frames come on all four inputs at once, each with an egress of its own. Everything is on: the seven markers in turn, ECN, push-out in all queues, the pool with reserves and thresholds,
shapers of ports and queues at what the stream carries. To one queue the marker is `leaf`. The last row is of 1,000,000 frames.
Each of four egresses has its turn every fourth clock, and a packet of a shaped queue takes it one turn, or two if the queue's shaper blocks it then. At 25 Gbit/s frames of 60, 64 and 65 bytes come every 6.72, 7.04 and 7.12 clocks.
With 65 bytes the hosts are late, and `offered` is what was accepted, with the time in which the hosts alone send what is left. Two inputs are ports, which cannot wait; two are hosts, which can. One cell is stored in a clock. Four ports of 25 Gbit/s with frames of 65 bytes, two cells each, bring 1.12 in a clock, so the hosts wait. What is left of
theirs comes faster than their egresses send it, so their queues grow up to their limits, where a few frames are lost.

* `offered`, `decided`: clocks a frame as it came in, and a decision. `bubbles`: clocks by which the decisions took longer than the frames; up to 3 of
  a mix are none, but the difference of a first and a last frame, whose verdicts take 26 to 42 clocks.
* `late`: clocks by which the last frame came in behind its time, as the stream is narrower than the port (see below); the lane itself never stops a port. `hosts`: the same of inputs that can wait.
* `lost`: frames lost for want of a place, a cell or at a limit; curves drop some besides (`early`; packets pushed out of queues are counted there too).
* Latencies, clocks from a frame's last beat: least, median, 99 %, most; to the verdict, to the first beat out.

A stream moves whole beats: 65 bytes take two of 512 bits, 2 clocks, and a port of 100 Gbit/s brings them every 1.78. So 512 bits at 250 MHz cannot carry that size at line rate, whatever stands behind:
its rows at loads 0.9 and 1 are of a source that waits (`late`), where a port would lose 1 and 11 %.
"""
SLOWER = 0.9  # the way out of lanes with all AQMs, by what a port brings
HEADS = ["flows", "frame", "load", "offered", "decided", "bubbles", "late", "lost", "early"]
HEADS += ["to the verdict", "to the first beat out"]


def packets_of(shape: build.Preset, port: int, frame, clocks: int) -> int:
    """So many frames that a row takes about `clocks` clocks at full load."""
    size = MEAN_OF_MIX if frame == "imix" else frame
    each = max((size + WIRE_OVERHEAD) * 8e9 / port / CLOCK_NS, -(-size // (shape.data_bits // 8)))
    return max(300, int(clocks / each)) * (shape.inputs if shape.egresses > 1 else 1)


def row(preset: str, program: Path, frame, spread: str, load: float, clocks: int, packets: int = 0) -> dict:
    """One run. `packets`: in place of as many as take about `clocks` clocks."""
    shape, port, mixed = build.shape(preset), PORTS[preset], frame == "imix"
    longest, card = LONGEST_OF_MIX if mixed else frame, shape.egresses > 1
    size = MEAN_OF_MIX if mixed else frame
    words: Record
    if card:
        words = bench_config.card(shape, longest, spread)
    elif preset.endswith("-aqm"):
        wire = int(SLOWER * port * size / (size + WIRE_OVERHEAD))
        words = bench_config.record(shape, longest, spread, "aqms", wire)
    else:
        words = bench_config.record(shape, longest, spread, "none")
    more = ("--line-rate", port, "--load", load, *["--imix"] * mixed, *["--all-inputs"] * card)
    packets = packets or packets_of(shape, port, frame, clocks)
    found = bench.once(program, words, 64 if mixed else frame, spread, False, packets, more)
    verdicts = found["verdicts"]
    lost = sum(each["packets"] for each in found.get("lost", []))
    figures = {name: found[name] for name in ("clocks_per_decision", "offered_clocks", "bubbles")}
    late = {"behind_clocks": 0, "hosts_behind_clocks": 0}
    for i, clocks in enumerate(found["behind_clocks"]):
        name = "hosts_behind_clocks" if shape.stallable >> i & 1 else "behind_clocks"
        late[name] = max(late[name], clocks)
    figures |= late if card else {"behind_clocks": found["behind_clocks"][0]}
    evicted = sum(colour["evicted"]["packets"] for queue in found["queues"] for colour in queue["colours"])
    figures |= {"not_ordered": lost + verdicts["nobuf"] + verdicts["tail"], "early": verdicts["early"] + evicted}
    figures |= {name: found[name] for name in ("latency_verdict", "latency_total")}
    if preset.endswith("-aqm") and not card:
        figures["at_departure"] = {aqm: [0, 0, 0] for aqm in bench_config.KINDS}
        for queue in found["queues"]:
            sums = figures["at_departure"][bench_config.kind_of(queue["index"])]
            for at, name in enumerate(("sent", "departure_marked", "departure_dropped")):
                sums[at] += sum(colour[name]["packets"] for colour in queue["colours"])
        figures["reports"] = {name: found["reports"][name] for name in ("offered", "sent", "lost")}
    return {"preset": preset, "frame": frame, "spread": spread, "load": load, "packets": packets} | figures


def measure(programs: dict, clocks: int, note=build.quiet) -> list[dict]:
    rows = []
    for preset, program in programs.items():
        for spread in SPREADS:
            for frame in FRAMES:
                note(f"{preset}, {frame} bytes, {spread}", "measuring", "measured")
                rows += [row(preset, program, frame, spread, load, clocks) for load in LOADS]
        if build.shape(preset).egresses > 1:
            note(f"{preset}, {LONG[0]} bytes, {LONG[1]:,} frames", "measuring", "measured")
            rows.append(row(preset, program, LONG[0], "random", 1.0, clocks, LONG[1]))
    return rows


def cells(row: dict) -> list[str]:
    """What a row has below HEADS."""
    figures = [f"{row['offered_clocks']:.4g}", f"{row['clocks_per_decision']:.4g}"]
    figures += [f"{row[name]:,}" for name in ("bubbles", "behind_clocks", "not_ordered", "early")]
    if row.get("hosts_behind_clocks"):
        figures[3] += f", hosts {row['hosts_behind_clocks']:,}"
    spans = [" / ".join(f"{clocks:,}" for clocks in row[name]) for name in ("latency_verdict", "latency_total")]
    return [row["spread"], str(row["frame"]), f"{row['load']:g}", *figures, *spans]


def departures(rows: list[dict]) -> str:
    """What the AQMs of a lane with all of them did, over all rows at full load."""
    rows = [row for row in rows if "at_departure" in row and row["load"] == 1]
    if not rows:
        return ""
    sums = {aqm: [sum(row["at_departure"][aqm][at] for row in rows) for at in range(3)] for aqm in bench_config.KINDS}
    lines = [[aqm, *(f"{number:,}" for number in numbers)] for aqm, numbers in sums.items()]
    offered, sent, lost = (sum(row["reports"][name] for row in rows) for name in ("offered", "sent", "lost"))
    text = "\nAt full load, all sizes together; marks and drops are those at departure:\n\n"
    text += bench.table(["AQM", "sent", "marked", "dropped"], 1, lines)
    return text + f"\nOf {offered:,} reports {sent:,} were sent, and {lost:,} were lost.\n"


def publish(rows: list[dict]) -> None:
    """Writes the page and, beside it, the same as JSON; presets that were not measured now stay as they were."""
    kept = PAGE.with_suffix(".json")
    known = json.loads(kept.read_text()) if kept.exists() else []
    now = {row["preset"] for row in rows}
    rows = [row for row in known if row["preset"] not in now] + rows
    text = INTRODUCTION
    for preset in PORTS:
        mine = [row for row in rows if row["preset"] == preset]
        if mine:
            text += f"\n## {preset}: {PORTS[preset] // 10**9} Gbit/s, {build.shape(preset).data_bits} bits\n"
            text += bench.OUTDATED * any(row.get("old") for row in mine)
            text += departures(mine)
            text += "\n" + bench.table(HEADS, 1, list(map(cells, mine)))
    PAGE.write_text(text)
    kept.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")


def show(screen, rows: list[dict]) -> None:
    from vermilion.console.tables import table

    made = table("Line rate", ["preset", "flows"], HEADS[1:])
    for row in rows:
        made.add_row(row["preset"], *cells(row))
    screen.print(made)
