"""From `tc qdisc add` to a configuration file: codel, fq_codel, pie, dualpi2, red, pfifo and bfifo, at the root or below a tbf.

Options, units and defaults are those of iproute2 6.1 (man tc-codel, tc-fq_codel, tc-pie, tc-red, tc-pfifo, tc-tbf), of dualpi2 those of 6.18 (man tc-dualpi2): sizes count in 1,024s, times without a unit are
microseconds. What has no counterpart is refused with a sentence.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from vermilion.values import units
from vermilion.values.fields import LEN_MAX, UserError

from .tc_values import chance, count, gain, hertz, masked, percent, rate, refuse, size, step, time

Options = dict[str, Any]
LATER = ("fq_pie",)  # AQMs that no lane has yet


Reader = Callable[[str, str, str], Any]
LONGEST = 1514  # bytes of a frame: the quantum of flows, and of the queue of a pair that has the smaller share
LEAST_MTU = 64  # bytes
FLAG: Reader = lambda *_: True
# What each qdisc takes; a FLAG has no value.
TAKES: dict[str, dict[str, Reader]] = {
    "codel": {
        "limit": count,
        "target": time,
        "interval": time,
        "ce_threshold": time,
        "ecn": FLAG,
        "noecn": FLAG,
    },
    "fq_codel": {
        "limit": count,
        "memory_limit": size,
        "flows": count,
        "quantum": size,
        "target": time,
        "interval": time,
        "ce_threshold": time,
        "ce_threshold_selector": masked,
        "drop_batch": count,
        "ecn": FLAG,
        "noecn": FLAG,
    },
    "pie": {
        "limit": count,
        "target": time,
        "tupdate": time,
        "alpha": gain,
        "beta": gain,
        "ecn": FLAG,
        "noecn": FLAG,
        "bytemode": FLAG,
        "nobytemode": FLAG,
        "dq_rate_estimator": FLAG,
        "no_dq_rate_estimator": FLAG,
    },
    "dualpi2": {
        "limit": count,
        "memlimit": size,
        "coupling_factor": count,
        "step_thresh": step,
        "min_qlen_step": count,
        "drop_on_overload": FLAG,
        "overflow": FLAG,
        "drop_enqueue": FLAG,
        "drop_dequeue": FLAG,
        "l4s_ect": FLAG,
        "any_ect": FLAG,
        "classic_protection": percent,
        "max_rtt": time,
        "typical_rtt": time,
        "target": time,
        "tupdate": time,
        "alpha": hertz,
        "beta": hertz,
        "split_gso": FLAG,
        "no_split_gso": FLAG,
    },
    "red": {
        "limit": size,
        "min": size,
        "max": size,
        "avpkt": size,
        "burst": count,
        "bandwidth": rate,
        "probability": chance,
        "ecn": FLAG,
        "harddrop": FLAG,
        "nodrop": FLAG,
        "adaptive": FLAG,
    },
    "pfifo": {"limit": count},
    "bfifo": {"limit": size},
    "tbf": {
        "rate": rate,
        "burst": size,
        "buffer": size,
        "maxburst": size,
        "limit": size,
        "latency": time,
        "mtu": size,
        "minburst": size,
        "peakrate": rate,
        "mpu": size,
        "overhead": size,
    },
}


@dataclass
class Qdisc:
    """One command: `kind` with the options that it gives, and where it stands."""

    kind: str
    parent: str  # "root" or a class
    handle: str | None
    device: str | None
    options: Options = field(default_factory=dict)


def options_of(kind: str, words: Iterator[str]) -> Options:
    takes, found = TAKES[kind], {}
    for word in words:
        if word not in takes:
            raise refuse(kind, f'has "{word}"; legal are {", ".join(takes)}')
        if takes[word] is FLAG:
            found[word] = True
            continue
        value = next(words, None)
        if value is None:
            raise refuse(kind, f"{word} has no value")
        found[word] = takes[word](kind, word, value)
    return found


def parse(command: str) -> Qdisc:
    """`tc qdisc add dev DEV root codel limit 1000`, or what follows `tc qdisc add`."""
    try:
        words = iter(shlex.split(command))
    except ValueError as error:
        raise UserError(f"tc: {error}") from None
    place: dict[str, str | None] = {"dev": None, "handle": None, "parent": None}
    for word in words:
        if word in ("tc", "qdisc", "add", "replace"):
            continue
        if word == "root":
            place["parent"] = "root"
        elif word in place:
            place[word] = next(words, None)
        elif word in TAKES:
            return Qdisc(word, place["parent"] or "root", place["handle"], place["dev"], options_of(word, words))
        elif word in LATER:
            raise refuse(word, f"no lane has this AQM yet; legal are {', '.join(TAKES)}")
        else:
            raise UserError(f'tc: "{word}" is no qdisc that a lane has; legal are {", ".join(TAKES)}')
    raise UserError(f'tc: "{command}" names no qdisc; legal are {", ".join(TAKES)}')


def weight(minimum: int, burst: int, avpkt: int) -> float:
    """The averages' weight that `tc red` takes for a burst of so many packets: a power of two (tc_red_eval_ewma of iproute2)."""
    over = burst + 1 - minimum / avpkt
    if over < 1:
        raise refuse("red", f"burst {burst} is too small for min {minimum}; legal is {minimum // avpkt + 1} or more")
    for log in range(1, 32):
        w = 0.5**log
        if over <= (1 - (1 - w) ** burst) / w:
            return max(w, 2.0**-15)
    raise refuse("red", f"burst {burst} needs an average that is slower than 2^-31")


def red(given: Options) -> Options:
    """A queue with RED. min, max and burst have the defaults of `tc`."""
    for needed in ("limit", "avpkt"):
        if not given.get(needed):
            raise refuse("red", f"has no {needed}; tc needs limit and avpkt")
    if given.get("adaptive"):
        raise refuse("red", "has adaptive, which a lane cannot do; leave it out")
    if given.get("nodrop") and not given.get("ecn"):
        raise refuse("red", "has nodrop without ecn; legal is nodrop with ecn")
    limit, avpkt = given["limit"], given["avpkt"]
    high = given.get("max") or limit // 4
    low = given.get("min") or high // 3
    if not low < high <= limit:
        raise refuse("red", f"has min {low}, max {high}, limit {limit}; legal is min below max, and max up to limit")
    burst = given.get("burst") or (2 * low + high) // (3 * avpkt)
    curve: Options = {"curve": "red", "min": low, "max": high, "p": given.get("probability", 0.02)}
    ecn, hard, nodrop = (bool(given.get(name)) for name in ("ecn", "harddrop", "nodrop"))
    drops = dict(curve)
    if nodrop:  # marks alone; with harddrop all are dropped above max
        drops = {**curve, "p": 0.0} if hard else {"curve": "tail"}
        drops["ecn"] = curve
    elif ecn and not hard:
        drops["end"] = LEN_MAX  # ECN-capable packets are marked above max, too
    idle = min(max(avpkt, 64), 9600)
    made: Options = {"limit": limit, "average": {"weight": weight(low, burst, avpkt), "idle_packet": idle}}
    return made | ({"ecn": True} if ecn else {}) | dict.fromkeys(("green", "yellow", "red"), drops)


def codel(given: Options) -> Options:
    """A queue with CoDel; without `ecn` Linux drops."""
    made: Options = {"aqm": "codel", "limit_packets": f"{given.get('limit', 1000)}p"}
    if given.get("ecn") and not given.get("noecn"):
        made["ecn"] = True
    for name in ("target", "interval", "ce_threshold"):
        if name in given:
            made[name] = units.time_text(given[name])
    return made


def fq_codel(given: Options) -> Options:
    """A group of queues with CoDel; without `noecn` Linux marks. Linux's limits are of all flows together, here each queue has them."""
    if given.get("drop_batch"):
        raise refuse("fq_codel", "has drop_batch; a lane drops what arrives for a full queue, leave it out")
    made = codel({"limit": 10_240} | given | {"ecn": not given.get("noecn")})
    if "memory_limit" in given:
        made["limit"] = given["memory_limit"]
    if "ce_threshold_selector" in given:
        made["ce_selector"], made["ce_mask"] = given["ce_threshold_selector"]
    # Linux's CoDel acts while more than an MTU is queued in all flows, a lane's while more than `mtu` is queued in this one.
    return made | {"fq": given.get("flows", 1024), "quantum": given.get("quantum", LONGEST), "mtu": LEAST_MTU}


def pie(given: Options) -> Options:
    """A queue with PIE. `alpha` and `beta` count in sixteenths per second, as in Linux."""
    made: Options = {"aqm": "pie", "limit_packets": f"{given.get('limit', 1000)}p"}
    if given.get("dq_rate_estimator") and not given.get("no_dq_rate_estimator"):
        raise refuse("pie", "has dq_rate_estimator; a lane measures delays with timestamps, leave it out")
    for name, other, to in (("ecn", "noecn", "ecn"), ("bytemode", "nobytemode", "bytemode")):
        if given.get(name) and not given.get(other):
            made[to] = True
    for name in ("target", "tupdate"):
        if name in given:
            made[name] = units.time_text(given[name])
    for name in ("alpha", "beta"):
        if name in given:
            made[f"pie_{name}"] = given[name] / 16
    return made


def dualpi2(given: Options) -> list[Options]:
    """C and L of a pair. Linux's limits are of both together, here each queue has them."""
    refused = {
        "min_qlen_step": "the step applies to every packet of L",
        "drop_enqueue": "a lane drops packets as they leave",
        "max_rtt": "give target, tupdate, alpha and beta",
        "typical_rtt": "give target, tupdate, alpha and beta",
    }
    for option, why in refused.items():
        if given.get(option):
            raise refuse("dualpi2", f"has {option}; {why}, leave it out")
    for one, other in (("overflow", "drop_on_overload"), ("any_ect", "l4s_ect")):
        if given.get(one) and given.get(other):
            raise refuse("dualpi2", f"has both {one} and {other}; legal is one")
    limits: Options = {"limit_packets": f"{given.get('limit', 10_000)}p"}
    if "memlimit" in given:
        limits["limit"] = given["memlimit"]
    c: Options = {"aqm": "dualpi2", **limits}
    if "coupling_factor" in given:
        c["coupling"] = given["coupling_factor"]
    for option, name in (("target", "target"), ("tupdate", "tupdate"), ("step_thresh", "step_threshold")):
        if option in given:
            c[name] = units.time_text(given[option])
    for option in ("alpha", "beta"):
        if option in given:
            c[f"dualpi2_{option}"] = given[option]
    if given.get("overflow"):
        c["overload"] = "mark"
    if given.get("any_ect"):
        c["l4s_mask"] = 3
    share = given.get("classic_protection", 10)
    of_c, of_l = (
        (LONGEST, LONGEST * (100 - share) // share) if share <= 50 else (LONGEST * share // (100 - share), LONGEST)
    )
    return [c | {"quantum": of_c}, {"aqm": "dualpi2", **limits, "quantum": of_l}]


def burst_of(options: Options) -> int:
    """A tbf's burst, in bytes."""
    return next((options[name] for name in ("burst", "buffer", "maxburst") if name in options), 0)


def tbf(given: Options) -> Options:
    """The queue of a tbf that has no qdisc below it. A latency is, as in `tc`, what the rate sends in that time, and the burst."""
    if "limit" in given:
        return {"limit": given["limit"]}
    return {"limit": given["rate"] * given["latency"] // (8 * 10**9) + burst_of(given)}


MAKES: dict[str, Callable[[Options], Options]] = {
    "codel": codel,
    "fq_codel": fq_codel,
    "pie": pie,
    "red": red,
    "pfifo": lambda given: {"limit_packets": f"{given.get('limit', 1000)}p"},
    "bfifo": lambda given: {"limit": given.get("limit", 1_500_000)},
    "tbf": tbf,
}


def rate_of(bits: int) -> int | str:
    """A rate as the file has it: with a unit where that is exact."""
    text = units.rate_text(bits)
    return text if units.rate(text) == bits else bits


def port(shaper: Qdisc | None, given: int | None) -> Options:
    """The port: of the tbf, or of --rate."""
    if shaper is None:
        if given is None:
            raise UserError('from-tc: has no rate; give --rate, such as "10Gbit", or a tbf at the root')
        return {"rate": rate_of(given)}
    options = shaper.options
    for name in ("peakrate", "mpu", "overhead"):
        if options.get(name):
            raise refuse("tbf", f"has {name}, which a lane cannot do; a lane counts the bytes of frames")
    if not options.get("rate") or not burst_of(options):
        raise refuse("tbf", "has no rate or no burst; tc needs both")
    if ("limit" in options) == ("latency" in options):
        raise refuse("tbf", "has both limit and latency, or neither; tc needs one of them")
    return {"rate": rate_of(options["rate"]), "burst": burst_of(options)}


def tables(commands: Iterable[str], line_rate: int | None = None, name: str = "all") -> Options:
    """The tables of a configuration file. `commands`: one qdisc, or a tbf and the qdisc below it."""
    found = [parse(command) for command in commands if command.strip()]
    shapers = [each for each in found if each.kind == "tbf"]
    queues = [each for each in found if each.kind != "tbf"]
    if len(shapers) > 1 or len(queues) > 1 or not found:
        raise UserError(f"from-tc: has {len(found)} qdiscs; legal is one, or a tbf at the root and one below it")
    if shapers and shapers[0].parent != "root":
        raise refuse("tbf", f"is below {shapers[0].parent}; legal is the root")
    if queues and (queues[0].parent != "root") != bool(shapers):
        raise refuse(queues[0].kind, f"is at {queues[0].parent}; legal is the root, or below a tbf at the root")
    made = port(shapers[0] if shapers else None, line_rate)
    last = (queues or shapers)[0]
    if last.kind == "dualpi2":
        classic, low = dualpi2(last.options)
        return {"port": made, "queue": [{"name": name, "default": True} | classic, {"name": f"{name}-l4s"} | low]}
    return {"port": made, "queue": [{"name": name, "default": True} | MAKES[last.kind](last.options)]}


def toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml_value(each)}" for key, each in value.items()) + " }"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def toml(made: Options) -> str:
    """The file's text."""
    lines = ["[port]", *(f"{key} = {toml_value(value)}" for key, value in made["port"].items())]
    for queue in made["queue"]:
        lines += ["", "[[queue]]", *(f"{key} = {toml_value(value)}" for key, value in queue.items())]
    return "\n".join(lines) + "\n"
