"""Random configurations with everything that a lane can do, and random frames for them.

A configuration draws averages, curves, spacing, ECN, limits and markers as the campaign of profile changes does (`vermilion.measure.commits`), and
beside them services, remarks and the port. Frames are TCP, UDP and IPv6 of few flows, with some that are no IP, from any distance.
"""

import random
import struct

from support.captures import pcap
from vermilion.configuration import config
from vermilion.measure import commits
from vermilion.toolchain import build

OF_AQMS = (
    "aqm",
    "target",
    "interval",
    "tupdate",
    "mtu",
    "pie_alpha",
    "pie_beta",
    "burst_allowance",
    "bytemode",
)


def service(rng, port: int) -> dict:
    """Shaper, strict priority or quantum of a queue; `port` in bits a second."""
    out = {}
    if rng.random() < 0.4:
        out["rate"] = max(64_000, int(port * rng.choice((0.05, 0.3, 0.7, 1.2))))
        if rng.random() < 0.5:
            out["burst"] = rng.choice((2000, 9000, 40_000))
    if rng.random() < 0.4:
        out["priority"] = rng.randrange(8)
    elif rng.random() < 0.6:
        out["quantum"] = rng.choice((64, 128, 300, 1514, 9000))
    return out


def queue(rng, number: int, count: int, shape: build.Preset, port: int) -> tuple[dict, dict | None]:
    """A `[[queue]]` table and its `[[marker]]`, if any. Its limit is short, so that a few frames fill it."""
    out, marker = commits.profile(rng, str(number), shape, port // 2)
    limit = rng.randrange(4, 40) if "limit_packets" in out else rng.randrange(2000, 30_000)
    out["limit_packets" if "limit_packets" in out else "limit"] = limit
    out["average"] |= {"update": rng.choice(("arrival", "both")), "weight": round(2 ** rng.uniform(-6, 0), 6)}
    for colour in ("green", "yellow", "red"):
        out[colour] = commits.curve(rng, limit)
        if out["ecn"] and rng.random() < 0.5:
            own = commits.curve(rng, limit)
            out[colour] |= {"ecn": own} if own["curve"] != "tail" else {}
    for name in ("victim", "victim_by_colour", "victim_window"):
        out.pop(name, None)
    if number < shape.victims and rng.random() < 0.6:
        out |= {"victim": "nearest", "victim_by_colour": rng.random() < 0.5}
        if rng.random() < 0.5:
            out["victim_window"] = rng.randrange(1, 17)
    if shape.codel:
        out |= departure(rng, out)
    if shape.pie and out.get("aqm") is None and rng.random() < 0.5:
        out |= pie(rng, out)
    out |= {"name": str(number), "ttl_option": rng.choice(("keep", "remove")), **service(rng, port)}
    out["dscp"] = {
        colour: [d for d in range(64) if d % count == number and d // count % 3 == c]
        for c, colour in enumerate(("green", "yellow", "red"))
    }
    if rng.random() < 0.3:
        out["remark"] = {colour: rng.randrange(64) for colour in ("green", "yellow", "red")}
    return out, marker


def departure(rng, table: dict) -> dict:
    """CoDel, or a ce_threshold, or none, with times that a queue of a few packets reaches."""
    out = {}
    if rng.random() < 0.6:
        interval = int(2 ** rng.uniform(12, 20))
        out |= {
            "aqm": "codel",
            "target": f"{max(1024, interval // rng.choice((2, 5, 20)))}ns",
            "interval": f"{interval}ns",
        }
        out |= {"mtu": rng.choice((64, 300, 1514)), "ecn": rng.random() < 0.5}
        for colour in ("green", "yellow", "red"):
            table[colour] = {"curve": "tail"}
    if rng.random() < 0.4:
        out |= {"ce_threshold": f"{int(2 ** rng.uniform(11, 18))}ns"}
        out |= rng.choice(
            ({}, {"ce_mask": 3, "ce_selector": 1}, {"ce_mask": 255, "ce_selector": 4 * rng.randrange(64) + 2})
        )
    return out


def pie(rng, table: dict) -> dict:
    """PIE with the shortest updates and the greatest gains, for a capture of some milliseconds."""
    if "victim" in table:
        table["victim_window"] = rng.randrange(1, 17)
    for colour in ("green", "yellow", "red"):
        table[colour] = {"curve": "tail"}
    return {
        "aqm": "pie",
        "target": f"{int(2 ** rng.uniform(10, 19))}ns",
        "tupdate": f"{65536 * rng.choice((1, 1, 1, 2, 3))}ns",
        "pie_alpha": rng.choice((3, 3, 1, 0.125)),
        "pie_beta": rng.choice((3, 3, 1, 1.25)),
        "burst_allowance": rng.choice(("0ns", "100us", "1ms")),
        "mtu": rng.choice((64, 300, 1514)),
        "bytemode": rng.random() < 0.3,
        "ecn": rng.random() < 0.5,
    }


def pair(rng, classic: dict, low: dict):
    """Makes a pair under DualPI2 of two queues, with the shortest updates and the greatest gains."""
    for table in (classic, low):
        for name in OF_AQMS:
            table.pop(name, None)
        for colour in ("green", "yellow", "red"):
            table[colour] = {"curve": "tail"}
        table.pop("priority", None)
        table["aqm"] = "dualpi2"
    if "quantum" not in low and classic.get("quantum", 0) > 7281:  # L would get nine times as much
        low["quantum"] = 1522
    classic |= {
        "target": f"{int(2 ** rng.uniform(10, 19))}ns",
        "tupdate": f"{65536 * rng.choice((1, 1, 2))}ns",
        "dualpi2_alpha": rng.choice((255, 100, 0.16)),
        "dualpi2_beta": rng.choice((255, 100, 3.2)),
        "coupling": rng.choice((1, 2, 2, 5, 255)),
        "step_threshold": f"{int(2 ** rng.uniform(6, 20))}ns",
        "overload": rng.choice(("drop", "mark")),
        "l4s_mask": rng.choice((1, 1, 2, 3)),
        "mtu": rng.choice((64, 300, 1514)),
    }


def late(rng, table: dict):
    """Makes a queue one whose curves mark at departure, by its averages or by what is queued."""
    for name in (*OF_AQMS, "victim", "victim_by_colour", "victim_window", "size_weight"):
        table.pop(name, None)
    table |= {"mark_at": "dequeue", "ecn": True, "spacing": "geometric"}
    average = table["average"]
    if average["weight"] > 0.99 or rng.random() < 0.5:
        average |= {"weight": 1, "kind": rng.choice(("red", "wred"))}
    limit = table.get("limit") or table["limit_packets"]
    for colour in ("green", "yellow", "red"):
        curves = [
            {"curve": kind, "min": low, "max": low + rng.choice((0, 1, limit // 3)), "p": rng.choice((1, 0.5, 0.1))}
            for kind, low in ((rng.choice(("red", "gentle")), max(1, rng.randrange(limit // 2))) for _ in range(2))
        ]
        table[colour] = rng.choice((curves[0], {"curve": "tail", "ecn": curves[1]}, curves[0] | {"ecn": curves[1]}))


def group(rng, asked: list[dict], room: int):
    """Makes the last queue a group whose queues hold flows, if it fits into so many queues."""
    last = asked[-1]
    fits = [n for n in (2, 4, 8) if -(-(len(asked) - 1) // n) * n + n <= room]
    if not fits or last.get("aqm") == "dualpi2":
        return
    for name in ("priority", "rate", "burst"):
        last.pop(name, None)
    last |= {"fq": rng.choice(fits)} | rng.choice(({}, {"quantum": rng.choice((64, 300, 1514, 9000))}))


def configuration(rng, shape: build.Preset, late_share: float = 0.1) -> config.Config:
    """A configuration for a build of the lane. `late_share`: the share of queues whose curves mark at departure, in builds that have it."""
    count = rng.randrange(1, min(7, shape.queues + 1))
    port = int(10 ** rng.uniform(8, 10))
    asked = {"seed": rng.randrange(1, 2**32), "port": {"rate": port}, "queue": [], "marker": []}
    if rng.random() < 0.5:
        asked["port"]["burst"] = rng.choice((3000, 20_000))
    for number in range(count):
        table, marker = queue(rng, number, count, shape, port)
        asked["queue"].append(table)
        asked["marker"] += [marker] if marker else []
    own = random.Random(asked["seed"])  # the rest is drawn as in builds without these
    if shape.dualpi2:
        for classic, low in zip(asked["queue"][::2], asked["queue"][1::2], strict=False):
            if own.random() < 0.3:
                pair(own, classic, low)
    for table in asked["queue"] if shape.codel else ():
        if table.get("aqm") != "dualpi2" and own.random() < late_share:
            late(own, table)
    if shape.fq and own.random() < 0.4:
        group(own, asked["queue"], shape.queues // shape.egresses)
    return config.parse(asked, shape.queues, shape.victims)


def payload(rng) -> int:
    return rng.choice((0, 0, 20, rng.randrange(600), rng.randrange(1400)))


class Flow:
    """A flow of TCP or UDP over IPv4 or IPv6."""

    def __init__(self, rng):
        self.six, self.tcp = rng.random() < 0.25, rng.random() < 0.7
        self.macs = rng.randbytes(12)
        self.addresses = rng.randbytes(32 if self.six else 8)
        self.ports = rng.randbytes(4)
        self.hops, self.seq, self.begun = rng.randrange(64), rng.randrange(2**32), False

    def segment(self, rng, size: int) -> bytes:
        """Headers and bytes of the transport: TCP's numbers go on, some come again, some are left out."""
        if not self.tcp:
            return self.ports + struct.pack(">HH", 8 + size, 0) + bytes(size)
        flags = 0x02 if not self.begun else rng.choice((0x10, 0x10, 0x10, 0x18, 0x11, 0x14)) if size == 0 else 0x18
        self.begun = True
        back = rng.random()
        seq = self.seq - size if back < 0.1 else self.seq + 1000 if back > 0.95 else self.seq
        self.seq = (self.seq + size + (flags & 3 != 0)) % 2**32
        return self.ports + struct.pack(">IIBBHHH", seq % 2**32, 1, 0x50, flags, 1000, 0, 0) + bytes(size)

    def frame(self, rng, code: int) -> bytes:
        segment = self.segment(rng, payload(rng))
        ecn, ttl = rng.choice((0, 0, 1, 2, 3)), max(0, 64 - self.hops - (rng.random() < 0.1))
        tag = b"\x81\0\0\5" if rng.random() < 0.1 else b""
        protocol = 6 if self.tcp else 17
        if self.six:
            head = struct.pack(">IHBB", 6 << 28 | (code << 2 | ecn) << 20, len(segment), protocol, ttl)
            return self.macs + tag + b"\x86\xdd" + head + self.addresses + segment
        head = struct.pack(">BBHIBBH", 0x45, code << 2 | ecn, 20 + len(segment), 0, ttl, protocol, 0)
        return self.macs + tag + b"\x08\0" + head + self.addresses + segment


def odd(rng) -> bytes:
    """A frame that is no IP packet, or says wrongly that it is one."""
    return rng.randbytes(12) + rng.choice((b"\x08\x06" + bytes(46), bytes(8), b"\x08\0" + rng.randbytes(90)))


def frames(rng, count: int) -> list[tuple[int, bytes, int]]:
    """`count` frames with their times in ns and lengths: bursts at the stream's rate, and pauses."""
    flows, out, now = [Flow(rng) for _ in range(12)], [], 0
    codes = [rng.randrange(64) for _ in range(rng.choice((2, 6, 40)))]
    pause = 0
    for _ in range(count):
        data = odd(rng) if rng.random() < 0.05 else rng.choice(flows).frame(rng, rng.choice(codes))
        out.append((now, data, len(data)))
        pause = rng.choice((0, 0, 100, 1000)) if rng.random() < 0.05 else pause
        now += len(data) // 2 + pause + (rng.random() < 0.01) * rng.randrange(200_000)
    return out


def capture(path, rng, count: int):
    """The frames as a capture."""
    return pcap(path, frames(rng, count))
