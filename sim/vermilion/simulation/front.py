"""What `vermilion run` does to frames in front of the lane, `--spread` and `--split` (sim/harness/front.h, segmenter.h); and what rules matched."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from vermilion.configuration import egresses, rules
from vermilion.configuration.egresses import Asked
from vermilion.values import units
from vermilion.values.fields import UserError

from .result import Result

F = TypeVar("F", bound=Callable[..., Any])
SPLIT_MIN, SPLIT_MAX = 48, 9600  # TCP payload bytes of a segment; sim/harness/options.cpp
BY_MTU = "mtu"
TEXTS, COUNTS = ["rule", "does"], ["packets", "bytes"]  # columns of `rule_rows`


class Run(click.Command):
    """A command whose `--split` may stand without its number, before the capture's name too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        numbers = {i for i, word in enumerate(args[:end]) if units.bare(word) is not None}
        alone = [i for i, word in enumerate(args[:end]) if word == "--split" and i + 1 not in numbers]
        return super().parse_args(ctx, [f"{word}={BY_MTU}" if i in alone else word for i, word in enumerate(args)])


def split_bytes(_context: click.Context, _parameter: click.Parameter, raw: str | None) -> int | None:
    """Payload bytes of a segment; 0 where the MTU says."""
    if raw is None or raw == BY_MTU:
        return None if raw is None else 0
    size = units.bare(raw)
    if size is None or not SPLIT_MIN <= size <= SPLIT_MAX:
        raise UserError(f"--split is {raw}; legal are {SPLIT_MIN} to {SPLIT_MAX} bytes of TCP payload, or no number")
    return size


def options(command: F) -> F:
    """The options of `run`."""
    spread = click.option(
        "--spread",
        type=click.Choice(["flows"]),
        help="Gives each flow the green DSCP of one queue, by a hash of its 5-tuple.",
    )
    split = click.option(
        "--split",
        callback=split_bytes,
        metavar="[BYTES]",
        help="Segments TCP frames of offloads (GRO, TSO) as a NIC does, to BYTES of payload; default as fit 1500 bytes of IP.",
    )
    return spread(split(command))


def spread_codes(config: Asked) -> list[int]:
    """The green DSCPs that flows are spread over: one of each queue that has any."""
    if config.rule:
        raise UserError("--spread and [[rule]] are both given; one of them says where packets go")
    every = []
    for part in egresses.parts(config):
        codes = [rules.code_for(part.queue, queue, "green") for queue in part.queue]
        every.append([code for code in codes if code is not None])
    if any(codes != every[0] for codes in every):
        raise UserError("--spread flows: egresses have different DSCPs; legal is where all egresses have the same")
    found = every[0]
    if len(found) < 2:
        raise UserError(
            f"--spread flows: a green DSCP leads to {len(found)} of the configuration's queues; it takes at least 2"
        )
    return found


def words(config: Asked, spread: str | None) -> dict[str, Any] | None:
    """What sim/harness/front.h reads; None where frames stay as they are."""
    return {"spread": spread_codes(config)} if spread else None


def arguments(held: dict[str, Any] | None, split: int | None, place: Callable[[], Path | str]) -> list[object]:
    """Options of the simulator's program; `place()` is a file to write to."""
    found: list[object] = [] if split is None else ["--split", split]
    if held is not None:
        file = Path(place())
        file.write_text(json.dumps(held) + "\n")
        found += ["--front", file]
    return found


def rule_rows(result: Result, config: Asked | None) -> list[list[Any]]:
    """A row for each rule of a run: its number and name, what it does, and packets and bytes of which it was the first to match."""
    rows = []
    for number, (rule, counts) in enumerate(
        zip(config.rule if config else [], result.get("rules", []), strict=False), 1
    ):
        rows.append([f"{number} {rule.name or ''}".strip(), rules.does(rule), counts["packets"], counts["bytes"]])
    return rows


def lines(result: Result) -> list[str]:
    """A sentence for each thing that was done, at most 80 characters."""
    found = []
    if split := result.get("split"):
        found.append(f"split: {split['frames']:,} frames became {split['segments']:,} segments")
        found[-1] += f", {split['whole']:,} stayed whole" if split["whole"] else ""
    if result.get("unmatched"):
        found.append(f"{result['unmatched']:,} packets matched no rule")
    if spread := result.get("spread"):
        flows = f"spread: {spread['matched'] - spread['not_ip']:,} packets by flow"
        found.append(f"{flows}; {spread['not_ip']:,} frames that are not IP stay")
    return found
