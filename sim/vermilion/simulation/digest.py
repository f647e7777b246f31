"""What a run says first: what came, what left, what was lost and why, and whether the port was busy.

Reads the run's JSON (sim/harness/results.h). Losses by the AQM are early and forced drops, drops at departure and push-outs; by limits, tail drops, frames without a
free cell, and frames that found no place at an input; other losses are damaged frames and those that a marker dropped.
"""

from typing import Literal, NotRequired, TypedDict

from .result import Reported, Result, count

LOPSIDED = 0.85  # of the IP packets in one queue
AQM, LIMITS, OTHER = ("early", "forced", "evicted", "departure_dropped"), ("tail", "nobuf"), ("bad", "policed")


class Figures(TypedDict):
    """Counts of frames; shares of the run's time, where the port has a rate and the run lasted."""

    offered: int
    carried: int
    aqm: int
    limits: int
    other: int
    marked: int
    used: NotRequired[float]
    congested: NotRequired[float]


def total(result: Result, *outcomes: str, of: Literal["packets", "bytes"] = "packets") -> int:
    """Packets (or bytes) of all queues and colours with one of the outcomes."""
    every = (per for queue in result.get("queues", []) for per in queue.get("colours", []))
    return sum(count(per, name)[of] for per in every for name in outcomes)


def figures(result: Result, rate: int | None = None) -> Figures:
    """Counts of frames; with the port's `rate` in bit/s and a run that lasted, `used` and `congested` as shares of its time."""
    left_out = sum(lost["packets"] for lost in result.get("lost", []))
    found: Figures = {
        "offered": total(result, "arrived") + left_out,
        "carried": total(result, "sent"),
        "aqm": total(result, *AQM),
        "limits": total(result, *LIMITS) + left_out,
        "other": total(result, *OTHER),
        "marked": total(result, "marked", "departure_marked"),
    }
    span = result.get("span_ns", 0)
    if rate and span:
        found["used"] = min(1.0, 8e9 * total(result, "sent", of="bytes") / rate / span)
        found["congested"] = result["waited_ns"] / span
    return found


def share(part: float) -> str:
    """A share of the time in percent; what is not 0 or 100 % is not shown as such."""
    shown = f"{100 * part:.3g}" if part < 0.1 else f"{100 * part:.0f}"
    if part and not float(shown) or part < 1e-5 and part:
        return "under 0.001 %"
    return "over 99 %" if part < 1 and shown == "100" else f"{shown} %"


def lines(result: Result, rate: int | None = None, queues: int = 0) -> list[str]:
    """The digest, at most 80 characters a line for up to 10 million frames; `queues` of the configuration."""
    seen = figures(result, rate)
    lost = seen["aqm"] + seen["limits"] + seen["other"]
    parts = f" ({seen['aqm']:,} AQM, {seen['limits']:,} limits, {seen['other']:,} other)" if lost else ""
    out = [f"{seen['offered']:,} offered, {seen['carried']:,} carried, {lost:,} lost{parts}"]
    if "used" in seen:
        text = f"port {share(seen['used'])} used"
        text += f", congested for {share(seen['congested'])} of the time" if seen["congested"] else ", never busy"
        out.append(text + (f", {seen['marked']:,} marked CE" if seen["marked"] else ""))
    if found := lopsided(result) if queues > 1 else None:
        out.append(f"hint: {found} met one queue; give [[rule]]s or --spread flows")
    if idle(seen):
        out.append("hint: next to nothing queued; lower port.rate, or send faster with --rate or --speed")
    return out


def reported(sent: Reported) -> str:
    """What became of the reports, in a line."""
    text = f"{sent['sent']:,} of {sent['offered']:,} reports were sent"
    for packets, what in (
        (sent["lost"], "lost"),
        (sent["limited"], "not offered, above the rate"),
        (sent["without_bytes"], "without bytes"),
    ):
        text += f", {packets:,} {what}" if packets else ""
    return text


def lopsided(result: Result) -> str | None:
    """Whose DSCPs lead nearly all IP packets to one queue, in words; None where they do not, or where DSCPs were given by rule or flow."""
    counts: dict[int, int] = {}
    most = every = 0
    for queue in result.get("queues", []):
        here = sum(packets for _, packets in queue.get("dscps", []))
        most, every = max(most, here), every + here
        counts |= {code: counts.get(code, 0) + packets for code, packets in queue.get("dscps", [])}
    if most < LOPSIDED * every or not every or "rules" in result or "spread" in result:
        return None
    code = max(counts, key=counts.__getitem__)
    if counts[code] < LOPSIDED * every:
        return f"{share(most / every)} of the packets"
    return f"{share(counts[code] / every)} have DSCP {code} and"


def idle(seen: Figures) -> bool:
    """Whether next to nothing waited, so that no average rose."""
    return seen.get("congested", 1) < 0.01 and not seen["aqm"] + seen["marked"]
