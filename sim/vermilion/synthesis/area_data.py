"""What `vermilion area --publish` writes beside its page: docs/results/area.json, and the table of a card's memories.

    {design: {lut, ff, bram36, uram, dsp, circuit, flow}, and of cards memories: [{words, bits, number, bram36, uram, lut}]}

`bits` are those of a word; the rest is of all memories of that shape together. `circuit` is the digest of the circuit (circuit.py), `flow` how they were synthesised, as in fpga/resources.toml.
"""

import collections
import json
from pathlib import Path

BLOCK, ULTRA = 36 * 1024, 288 * 1024  # bits


def memories(made: dict, lutram: dict[str, int]) -> list[dict]:
    """The memories of a netlist by shape, those that take most of a device first. ROMs are not among them."""
    shapes: dict[tuple[int, int], dict] = {}
    for _, words, bits, rom, became in made["memories"]:
        if rom:
            continue
        row = shapes.setdefault(
            (words, bits), {"words": words, "bits": bits, "number": 0, "bram36": 0, "uram": 0, "lut": 0}
        )
        row["number"] += 1
        row["bram36"] += became.get("RAMB36E2", 0) + became.get("RAMB18E2", 0) / 2
        row["uram"] += became.get("URAM288", 0)
        row["lut"] += sum(luts * became.get(cell, 0) for cell, luts in lutram.items())
    return sorted(shapes.values(), key=lambda row: -(row["bram36"] + ULTRA / BLOCK * row["uram"] + row["lut"] / 452))


def table(rows: list[dict], device: dict[str, int], least: int = 100) -> str:
    """Markdown: each shape of `least` LUTs or a block RAM on, the others in one row, and what the device has."""
    large = [row for row in rows if row["bram36"] + row["uram"] or row["lut"] >= least]
    small = [row for row in rows if row not in large]
    out = (
        "| words x bits | memories | bits in all | BRAM36 | at least | URAM | at least | LUT |\n| --- "
        + "| ---: " * 7
        + "|\n"
    )
    total: collections.Counter = collections.Counter()

    def line(what: str, number: int, bits: int, row: dict) -> str:
        halves = f"{-(-2 * bits // BLOCK) / 2:g}" if row["bram36"] else ""  # a block RAM can be two of half its size
        wholes = f"{-(-bits // ULTRA):,}" if row["uram"] else ""
        cells = [f"{number:,}", f"{bits:,}", f"{row['bram36']:g}", halves, f"{row['uram']:g}", wholes]
        return f"| {' | '.join([what, *cells, format(row['lut'], ',')])} |\n"

    for row in rows:
        total.update({kind: row[kind] for kind in ("number", "bram36", "uram", "lut")})
        total["bits"] += row["number"] * row["words"] * row["bits"]
    for row in large:
        out += line(f"{row['words']:,} x {row['bits']}", row["number"], row["number"] * row["words"] * row["bits"], row)
    if small:
        rest = {kind: sum(row[kind] for row in small) for kind in ("number", "bram36", "uram", "lut")}
        out += line(
            "smaller ones", rest["number"], sum(row["number"] * row["words"] * row["bits"] for row in small), rest
        )
    has = [f"{total[kind]:g} of {device[name]}" for kind, name in (("bram36", "bram"), ("uram", "uram"))]
    return out + f"| all | {total['number']} | {total['bits']:,} | {has[0]} | | {has[1]} | | {total['lut']:,} |\n"


def write(place: Path, result: dict[str, dict], found: dict[str, list[dict]]) -> dict:
    """Writes the figures of all designs, with the memories `found` now or kept from before; returns what is written."""
    before = json.loads(place.read_text()) if place.exists() else {}
    out = {}
    for name, row in result.items():
        out[name] = {kind: row[kind] for kind in ("lut", "ff")} | {"bram36": row["bram"]}
        out[name] |= {kind: row[kind] for kind in ("uram", "dsp")} | {
            key: row.get(key, "earlier") for key in ("circuit", "flow")
        }
        kept = before.get(name, {})
        if name in found:
            out[name]["memories"] = found[name]
        elif "memories" in kept and kept["circuit"] == out[name]["circuit"]:
            out[name]["memories"] = kept["memories"]
    place.write_text(json.dumps(out, indent=1) + "\n")
    return out
