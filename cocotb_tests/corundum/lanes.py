"""Configurations of lanes that the benches use, as files would give them."""

from vermilion.configuration.config import Config, parse

QUEUES = 2  # that the configurations here have
UNSHAPED = {"rate": "100Gbit", "burst": "100KB"}
DROPPED = "CS1"  # the code point of frames that `plenty` drops, each with the verdict `forced`
DROPPED_DSCP = 8


def configuration(queue: dict, port: dict = UNSHAPED) -> Config:
    """A queue for everything but one code point, whose frames are dropped."""
    queue = {"name": "all", "index": 0, "default": True, "limit": "100MB"} | queue
    over = {"curve": "red", "min": "0B", "max": "0B", "p": 1.0}
    dropped = {"name": "dropped", "index": 1, "dscp": [DROPPED]} | {c: over for c in ("green", "yellow", "red")}
    return parse({"port": port, "queue": [queue, dropped]})


def plenty() -> Config:
    """Frames are dropped for want of cells alone."""
    return configuration({})


def short(packets: int) -> Config:
    """A queue that holds so many packets."""
    return configuration({"limit_packets": f"{packets}p"})


def rio(rate: str, p=(0.02, 0.1, 0.2)) -> Config:
    """RIO-C for one class with its three drop precedences, ECN on, behind a shaped port; thresholds fit buffers of 16
    KB.
    """
    curve = lambda low, high, p: {"curve": "red", "min": f"{low}B", "max": f"{high}B", "p": p}
    queue = {"limit": "12KB", "dscp": ["AF11", "AF12", "AF13"], "spacing": "uniform", "ecn": True}
    queue |= {"average": {"kind": "rio-c", "weight": 0.02, "unit": "byte", "idle_packet": "500B"}}
    queue |= {"green": curve(5000, 10000, p[0]), "yellow": curve(2500, 5000, p[1]), "red": curve(500, 2500, p[2])}
    return configuration(queue, {"rate": rate, "burst": "2KB"})


def nearest(limit: int, window: int | None = None) -> Config:
    """What must be dropped is the packet of the queue with the smallest distance: RED form, or in tail-drop form of the
    last `window` packets.
    """
    queue = {"victim": "nearest", "limit_packets": f"{limit}p", "spacing": "geometric"}
    if window:
        return configuration(queue | {"victim_window": window})
    queue |= {"average": {"weight": 0.5, "unit": "packet"}}
    curve = {"curve": "red", "min": f"{limit // 8}p", "max": f"{limit // 2}p", "p": 0.5}
    return configuration(queue | {c: curve for c in ("green", "yellow", "red")})


def codel(rate: str) -> Config:
    """CoDel with times that a few frames reach, behind a shaped port."""
    queue = {"aqm": "codel", "target": "2us", "interval": "20us", "limit": "100MB", "mtu": "64B"}
    return configuration(queue, {"rate": rate, "burst": "2KB"})
