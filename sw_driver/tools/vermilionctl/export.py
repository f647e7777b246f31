"""A lane's counters for Prometheus: read when they are asked for, so a scrape is one snapshot a queue.

Names: docs/tools.md. The latency histogram has the hardware's bins: bin k ends below 2^(k+1) ns, and 2^31 ns and more are in +Inf alone; a
sum of latencies is not counted by the hardware, so there is none.
"""

import sys
import threading

from vermilion.values import units

from .counters import EVENTS, read
from .errors import DeviceError, UserError
from .settings import COLOURS

NEEDED = "the exporter needs prometheus_client; in its environment: pip install 'prometheus_client==0.26.0'"


def families(found: dict, has: dict, lane: int):
    """Prometheus metric families of what `counters.read` gave. In a lane with several egresses metrics of queues say which it is, and what is counted for the whole lane
    comes with egress 0 alone.
    """
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, InfoMetricFamily

    egress = {"egress": str(has["egress"])} if "egress" in has else {}
    mine, names = str(lane), ("lane", *egress, "queue", "name")
    of = lambda queue: [mine, *egress.values(), str(queue["index"]), queue["name"]]
    made = []

    def family(kind, name, text, labels):
        made.append(kind(f"vermilion_{name}", text, labels=labels))
        return made[-1].add_metric

    info = InfoMetricFamily("vermilion_build", "What the lane's build has", labels=("lane", *egress))
    info.add_metric([mine, *egress.values()], {name: str(value) for name, value in has.items() if name != "egress"})
    made.append(info)
    packets = family(
        CounterMetricFamily, "queue_packets", "Packets by what became of them", (*names, "colour", "event")
    )
    size = family(
        CounterMetricFamily, "queue_bytes", "Bytes of frames by what became of them", (*names, "colour", "event")
    )
    for queue in found["queues"]:
        for colour in COLOURS:
            for event in EVENTS:
                count = queue["colours"][colour][event]
                packets([*of(queue), colour, event], count["packets"])
                size([*of(queue), colour, event], count["bytes"])
    became = family(
        CounterMetricFamily,
        "queue_recoloured_packets",
        "Packets by colour before and behind the marker",
        (*names, "came", "left"),
    )
    for queue in found["queues"]:
        for colour in COLOURS:
            for left, count in queue["colours"][colour]["became"].items():
                became([*of(queue), colour, left], count)
    for part, words in (("backlog", "What stands in the queue"), ("most", "Greatest backlog since the last clear")):
        for unit in ("packets", "bytes"):
            name = f"queue_backlog_{unit}" if part == "backlog" else f"queue_backlog_highest_{unit}"
            gauge = family(GaugeMetricFamily, name, words, names)
            for queue in found["queues"]:
                gauge(of(queue), queue[part][unit])
    average = family(
        GaugeMetricFamily,
        "queue_average",
        "Average queue length, in bytes or packets as the queue counts",
        (*names, "colour"),
    )
    for queue in found["queues"]:
        for colour in COLOURS:
            average([*of(queue), colour], queue["colours"][colour]["average"])
    latency = family(HistogramMetricFamily, "queue_latency_seconds", "From decision to departure", names)
    for queue in found["queues"]:
        latency(of(queue), cumulated(queue["latency_log2_ns"]), sum_value=None)
    for name, text in (
        ("push_outs", "Decisions that could push out a queued packet"),
        ("stale", "Push-outs whose selected packet had already left"),
    ):
        counter = family(CounterMetricFamily, f"queue_{name}", text, names)
        for queue in found["queues"]:
            counter(of(queue), queue[name])
    if has.get("egress"):
        return made
    for unit in ("packets", "bytes"):
        lost = family(CounterMetricFamily, f"input_lost_{unit}", f"Frames left out whole, {unit}", ("lane", "input"))
        for number, count in enumerate(found["lost"]):
            lost([mine, str(number)], count[unit])
    for name, label in (("flow_events", "event"), ("upsets", "kind")):
        counter = family(
            CounterMetricFamily,
            name,
            {"upsets": "Upsets of protected memories"}.get(name, "Events of flow markers"),
            ("lane", label),
        )
        for word, count in found[name].items():
            counter([mine, word], count)
    if "refreshes_skipped" in found:  # not through netlink
        family(CounterMetricFamily, "refreshes_skipped", "Refreshes of averages left out", ("lane",))(
            [mine], found["refreshes_skipped"]
        )
    if "flow_collisions" in found:  # nor this
        text = "Packets enqueued after one of another flow in a queue of a group"
        counter = family(CounterMetricFamily, "flow_collisions", text, ("lane",))
        if found["flow_collisions"] is not None:
            counter([mine], found["flow_collisions"])
    return made


def cumulated(bins: list[int]) -> list[tuple[str, int]]:
    total, out = 0, []
    for k, count in enumerate(bins):
        total += count
        out.append(("+Inf" if k == len(bins) - 1 else f"{(2 ** (k + 1) - 1) / 1e9:.9g}", total))
    return out


class Collector:
    """Opens the lane for each scrape, so that other programs may use it in between."""

    def __init__(self, where):
        self.where, self.last, self.turn = where, None, threading.Lock()

    def describe(self):
        return []  # no scrape before somebody asks

    def collect(self):
        from prometheus_client.core import GaugeMetricFamily

        egress = {"egress": str(self.where.egress)} if self.where.egress else {}
        up = GaugeMetricFamily("vermilion_up", "1: the card answers; 0: nothing else is told", labels=("lane", *egress))
        made, good = [], 0
        with self.turn:
            try:
                with self.where.session() as session:
                    made, good = families(read(session), session.has(), self.where.lane), 1
                self.last = None
            except (DeviceError, UserError) as error:
                if str(error) != self.last:  # once, not at each scrape
                    print(f"vermilionctl: {error}", file=sys.stderr, flush=True)
                self.last = str(error)
        up.add_metric([str(self.where.lane), *egress.values()], good)
        return [up, *made]


def serve(where, listen: str):
    """Until a signal comes. The card must answer at the start; later on a scrape says that it does not."""
    try:
        from prometheus_client import CollectorRegistry, start_http_server
    except ImportError:
        raise UserError(NEEDED) from None
    address, _, port = listen.rpartition(":")
    number = units.bare(port)
    if number is None or number > 65535:
        raise UserError(f"--listen is {listen}; legal are PORT, :PORT and ADDRESS:PORT")
    with where.session():
        pass
    registry = CollectorRegistry()
    registry.register(Collector(where))
    try:
        server, thread = start_http_server(number, address or "0.0.0.0", registry)
    except OSError as error:
        raise UserError(f"--listen {listen}: {error.strerror or error}") from None
    print(f"listening http://{address or '0.0.0.0'}:{server.server_port}/metrics", flush=True)
    thread.join()
