# Generated from hw/regs/profile.yaml by sim/vermilion/generate/profile.py. Do not edit.
"""Tables of the configuration file, field by field. What fields have to do with each other is in `config.py` and `markers.py`."""
# fmt: off

from typing import Annotated, Literal

from pydantic import BeforeValidator, StrictBool

from vermilion.values.fields import (
    Burst,
    Depth,
    Probability,
    Rate,
    Strict,
    Threshold,
    amount,
    duration,
    number,
    power_of_two,
)
from vermilion.values.marker_kind import Bucket, MarkerKind
from vermilion.values.units import Amount


class AverageFields(Strict):
    """The queue's averages."""

    weight: Annotated[float, number(3.0517578125e-05, 1, "2^-15 (0.0000306) to 1")] = 0.002  # Weight of the averages, w of avg + w (q - avg).
    kind: Literal["red", "wred", "rio-c", "rio-2", "rio-dc"] = "red"  # Which colours each colour's average counts.
    unit: Literal["byte", "packet"] = "byte"  # Unit of the averages and of all thresholds of the queue.
    update: Literal["arrival", "both"] = "arrival"  # both: the averages step on departures, too.
    idle_packet: Annotated[Amount, amount(64, 9600, "byte")] = Amount(1000, "byte")  # Typical packet of idle times.


class CurveFields(Strict):
    """A drop or mark curve."""

    curve: Literal["tail", "red", "gentle", "exred"]  # Form of the curve. tail: no early drops; as a curve of marks: marks follow the drops.
    min: Threshold | None = None  # Average below which the probability is 0. All curves but tail need it.
    max: Threshold | None = None  # Average at which the probability is p. All curves but tail need it.
    p: Probability | None = None  # Probability at max. All curves but tail need it.
    end: Threshold | None = None  # exred: K; without it, the queue's limit. red: p is 1 from max up to here, and drops are early, not forced; without it, max.


class DistanceFields(Strict):
    """What a packet's distance is taken from."""

    option: StrictBool = True  # The initial TTL of the TTL option, where the packet has it.
    infer: StrictBool = True  # Otherwise the least of 32, 64, 128 and 255 not below the TTL.
    share: StrictBool = False  # The share of the path, in 64ths, in place of hops.


class MarkerFields(Strict):
    """What gives the queue's packets their colour."""

    kind: Literal["leaf", "srtcm", "trtcm", "redp", "nm", "3cpm", "wpm", "apm"]  # Kind of the marker.
    drop: list[Literal["green", "yellow", "red"]] = []  # Packets that the marker gives these colours are dropped.
    packet: Annotated[Amount, amount(64, 9600, "byte")] | None = None  # What every packet counts as where depths are packets; in the file 1000B if left out. In C and netlink depths are bytes, and 0 stands for the packet's own length.
    rate: Rate | None = None  # Rate that fills the bucket.
    burst: Depth | None = None  # Depth of the bucket.
    cir: Rate | None = None  # Committed information rate (RFC 2697 and 2698).
    cbs: Depth | None = None  # Committed burst size.
    ebs: Depth | None = None  # Excess burst size (RFC 2697).
    pir: Rate | None = None  # Peak information rate (RFC 2698).
    pbs: Depth | None = None  # Peak burst size (RFC 2698).
    bucket: Depth | None = None  # Depth of the bucket, b.
    low: Depth | None = None  # Threshold T_L.
    high: Depth | None = None  # Threshold T_H.
    out: Literal["yellow", "red"] | None = None  # Colour of packets out of profile.
    colour_aware: StrictBool | None = None  # The colour that a packet comes with is the best it can get.
    max_demote: Annotated[float, number(0, 1, "above 0 to 1")] | None = None  # Greatest probability of a demotion.
    max_promote: Annotated[float, number(0, 1, "above 0 to 1")] | None = None  # Greatest probability of a promotion.
    p_drop: Probability | None = None  # Probability of the combined dropper.
    meter: Annotated[int, duration(0, 3600000000000, "0ns to 3600s")] | None = None  # How long a yellow packet keeps the dropper off.
    length: Literal["frame", "ip"] | None = None  # Whose length counts. In the file srtcm and trtcm have ip where it is left out.
    alpha: Annotated[float, number(0.125, 1, "0.125 to 1 in steps of 0.125")] | None = None  # Share of the expected burst, in eighths.
    a0: Annotated[float, number(0, 65535, "0 to 65535 packets")] | None = None  # Initial average burst A_0, packets.
    ns: Annotated[int, number(0, 255, "0 to 255 packets, whole", whole=True)] | None = None  # Credits at the start, N_s, packets.
    na: Annotated[int, number(0, 255, "0 to 255 packets, whole", whole=True)] | None = None  # Credits after a loss, N_a, packets.
    increase: Literal["double", "factor"] | None = None  # How the average grows: doubled, or by the factor 1 / (1 - alpha).
    ack: Literal["yellow", "green"] | None = None  # Colour of TCP segments without payload and of SYNs.
    idle: Annotated[int, duration(4194304, 274873712640, "5ms to 274s")] | None = None  # When a flow's state is given up.
    half_open: Annotated[int, duration(4194304, 274873712640, "5ms to 274s")] | None = None  # The same for flows with fewer than four data packets.


class QueueFields(Strict):
    """A queue. What concerns several queues is not here."""

    spacing: Literal["geometric", "uniform", "wait"] = "geometric"  # How early drops are spread.
    size_weight: Annotated[Amount, amount(64, 9600, "byte")] | None = None  # Mean length, for probabilities by size; without it, size does not count.
    ecn: StrictBool = False  # Early verdicts mark ECN-capable packets instead of dropping them.
    limit: Annotated[Amount, amount(1, 134217727, "byte")] | None = None  # Tail drop from here on; without it, no limit.
    limit_packets: Annotated[Amount, amount(1, 134217727, "packet")] | None = None  # Tail drop from here on; without it, no limit.
    alpha: Annotated[float, BeforeValidator(power_of_two)] | None = None  # Dynamic threshold in the pool, a power of two; without it, none. It needs a pool.
    priority: Annotated[int, number(0, 7, "0 to 7, higher goes first", whole=True)] | None = None  # Of strict queues: higher goes first.
    quantum: Annotated[Amount, amount(64, 65535, "byte")] | None = None  # Deficit round robin: what the queue may send in a turn.
    rate: Rate | None = None  # Shaper of the queue; without it, the queue is not shaped.
    burst: Burst | None = None  # What the shaper lets out at once.
    ttl_option: Literal["keep", "remove"] = "keep"  # remove: the TTL option becomes padding as packets leave.
    victim: Literal["arriving", "nearest"] = "arriving"  # nearest: the queued packet with the smallest distance is dropped or marked, not the arriving one. Packets of the queue's head never are.
    victim_by_colour: StrictBool = False  # With nearest, only packets of the arriving one's colour or a worse one may be lost.
    victim_window: Annotated[int, number(1, 16, "1 to 16 packets", whole=True)] | None = None  # With nearest, the tail-drop form among so many of the last packets; without it, the form by the curve.
    aqm: Literal["curve", "codel", "pie", "dualpi2"] = "curve"  # The queue's AQM. curve: on arrival, by the curves of the colours. codel: at departure, by sojourn time (RFC 8289). pie: on arrival, by a probability that a controller sets from the sojourn time (RFC 8033). dualpi2: at departure, in a pair of queues of which the one with the even number, C, has the settings and the next, L, has low delay (RFC 9332). The curves of all but curve are tail.
    target: Annotated[int, duration(1024, 60000000000, "1024ns to 60s")] | None = None  # Sojourn time that the queue may always have; without it, 5 ms for codel and 15 ms for pie and dualpi2. Legal for these two are up to 4s.
    interval: Annotated[int, duration(1024, 60000000000, "1024ns to 60s")] | None = None  # codel: time for which the sojourn time must be at the target before a packet is dropped or marked; without it, 100 ms.
    mtu: Annotated[Amount, amount(64, 16384, "byte")] = Amount(1514, "byte")  # codel: nothing is dropped or marked while no more bytes are queued behind the packet. pie and dualpi2: nothing is dropped or marked by chance while fewer than two of it are queued.
    ce_threshold: Annotated[int, duration(1024, 60000000000, "1024ns to 60s")] | None = None  # ECN-capable packets with a longer sojourn time leave with CE, whatever the AQM; without it, none.
    ce_mask: Annotated[int, number(0, 255, "0 to 255", whole=True)] = 0  # ce_threshold applies to packets with DS field & ce_mask = ce_selector. 0: to all.
    ce_selector: Annotated[int, number(0, 255, "0 to 255", whole=True)] = 0  # See ce_mask. 1 with mask 3: ECT(1).
    tupdate: Annotated[int, duration(65536, 1073676288, "65536ns to 1073ms")] | None = None  # pie and dualpi2: time between two updates of the probability; without it, 15 ms for pie and 16 ms for dualpi2.
    pie_alpha: Annotated[float, number(0, 3, "0 to 3")] | None = None  # pie: what the probability gains in an update, for each second by which the sojourn time is above the target.
    pie_beta: Annotated[float, number(0, 3, "0 to 3")] | None = None  # pie: what the probability gains in an update, for each second by which the sojourn time has grown since the one before.
    burst_allowance: Annotated[int, duration(0, 4000000000, "0ns to 4s")] | None = None  # pie: how long a queue that was idle may send without drops and marks.
    bytemode: StrictBool = False  # pie: the probability is for packets of mtu bytes, and less for shorter ones.
    coupling: Annotated[int, number(1, 255, "1 to 255", whole=True)] | None = None  # dualpi2: the probability of a mark in L is so many times the base probability, whose square is that of C.
    step_threshold: Annotated[int, duration(64, 4000000000, "64ns to 4s")] | None = None  # dualpi2: packets of L with a longer sojourn time leave with CE.
    dualpi2_alpha: Annotated[float, number(0, 255, "0 to 255")] | None = None  # dualpi2: what the base probability gains in an update, for each second by which the sojourn time is above the target.
    dualpi2_beta: Annotated[float, number(0, 255, "0 to 255")] | None = None  # dualpi2: what the base probability gains in an update, for each second by which the sojourn time has grown since the one before.
    overload: Literal["drop", "mark"] = "drop"  # dualpi2: what L does while its probability would be above 1. drop: the classic drop before a mark. mark: marks alone, and the base probability stays below 1 / coupling.
    l4s_mask: Annotated[int, number(1, 3, "1 to 3", whole=True)] | None = None  # dualpi2: packets of C's classes whose ECN field & l4s_mask is not 0 go to L. 1: ECT(1) and CE.
    mark_at: Literal["enqueue", "dequeue"] = "enqueue"  # curve: when ECN-capable packets are marked. enqueue: as they arrive. dequeue: as they leave, by what is queued behind them, or by the average.
    fq: Annotated[int, number(2, 1024, "2 to 1024, a power of two", whole=True)] | None = None  # Number of queues in the group of the queue. The packets of their classes go to the queue that the hash of their flow selects, and new flows are served before old ones (RFC 8290). With aqm = codel it is FQ-CoDel. Without it, no group.


MARKER_KINDS = {
    "leaf": MarkerKind("leaf marker", "", "frame", (Bucket("rate", ("burst",), ""),), (), (), ("green", "yellow", "red")),
    "srtcm": MarkerKind("srTCM", "RFC 2697", "ip", (Bucket("cir", ("cbs",), "committed"), Bucket("cir", ("cbs", "ebs"), "excess"),), ("cbs", "ebs"), (), ("green", "yellow", "red")),
    "trtcm": MarkerKind("trTCM", "RFC 2698", "ip", (Bucket("pir", ("pbs",), "peak"), Bucket("cir", ("cbs",), "committed"),), (), ("pir", "cir"), ("green", "yellow", "red")),
    "redp": MarkerKind("REDP (random early demotion and promotion)", "", "frame", (Bucket("rate", ("bucket",), ""),), (), (), ("green", "yellow", "red")),
    "nm": MarkerKind("no flow marker, all yellow", "", "frame", (), (), (), ("yellow",)),
    "3cpm": MarkerKind("3CPM (green and red by TCP flow)", "", "frame", (), (), (), ("green", "yellow", "red")),
    "wpm": MarkerKind("WPM (green by TCP flow)", "", "frame", (), (), (), ("green", "yellow")),
    "apm": MarkerKind("APM (red by TCP flow)", "", "frame", (), (), (), ("yellow", "red")),
}

# Fields of each kind of marker: needed, and with a default.
MARKER_FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "leaf": (("rate", "burst"), ("out", "length")),
    "srtcm": (("cir", "cbs", "ebs"), ("colour_aware", "length")),
    "trtcm": (("cir", "cbs", "pir", "pbs"), ("colour_aware", "length")),
    "redp": (("rate", "bucket", "low", "high"), ("max_demote", "max_promote", "p_drop", "meter", "length")),
    "nm": ((), ()),
    "3cpm": ((), ("alpha", "a0", "ns", "na", "increase", "ack", "idle", "half_open")),
    "wpm": ((), ("ns", "na", "ack", "idle", "half_open")),
    "apm": ((), ("alpha", "a0", "increase", "idle", "half_open")),
}
MARKER_DEFAULTS: dict[str, object] = {
    "out": "red",
    "colour_aware": False,
    "max_demote": 0.5,
    "max_promote": 0.5,
    "p_drop": 0,
    "meter": 100000000,
    "alpha": 0.5,
    "a0": 7,
    "ns": 5,
    "na": 5,
    "increase": "double",
    "ack": "yellow",
    "idle": 60000000000,
    "half_open": 3000000000,
}
MARKER_DEPTHS = ("burst", "cbs", "ebs", "pbs", "bucket", "low", "high")
MARKER_RATES = ("rate", "cir", "pir")
