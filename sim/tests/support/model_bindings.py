"""The model of sim/model as a shared library, for the tests: builds it once a session, names its C structs and functions."""

import ctypes
import hashlib
import math
import os
import subprocess
import tempfile
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from fractions import Fraction
from functools import cache
from pathlib import Path

from vermilion.hardware.driver_library import C

SOURCES = Path(__file__).resolve().parents[2] / "model"
DRIVER = SOURCES.parents[1] / "sw_driver" / "lib"
COLOURS, STAGES = 3, 6
ENQUEUE, MARK, EARLY, FORCED, TAIL, NOBUF, BAD, POLICED = range(8)
GEOMETRIC, UNIFORM, WAIT = range(3)
DROPS, MARKS = range(2)
ONE = 2**32
LEN_MAX = 2**27 - 1


def record(name, **fields):
    return type(name, (Structure,), {"_fields_": list(fields.items())})


u32, u64 = c_uint32, c_uint64
Scaled, Curve, Colour, Marker, FlowConfig = C.Scaled, C.CurveImage, C.ColourImage, C.MarkerImage, C.FlowImage
FlowState = record("FlowState", raised=u32, average=u32, burst=u32, highest_seq=u32, credits=u32)
Marked = record("Marked", colour=u32, policed=u32, level=u64)
NO_MARKER, LEAF, SRTCM, TRTCM, REDP, FLOW = range(6)
Distance, Queue = C.DistanceImage, C.QueueImage
OptionTypes = record("OptionTypes", ip4=u32, ip6=u32)
TTL_OPTION = OptionTypes(158, 0x1E)
Class = record("Class", queue=u32, colour=u32)
Egress = record("Egress", dscp=Class * 64, fallback=Class, port_cost=Scaled, port_burst_ns=u64)
Pool = record("Pool", size=u32, reserve=u32 * 8, cap=u32 * 8)
MatchRule = record("MatchRule", value=u32 * 11, mask=u32 * 11, action=u32, marker=u32)
PortRange = record("PortRange", low=u32, high=u32)
Config = record(
    "Config",
    queue_count=u32,
    queues=POINTER(Queue),
    egress_count=u32,
    egress=Egress * 8,
    route=u32 * 16,
    buffer_cells=u32,
    max_frame_bytes=u32,
    seed=u64,
    flows=u32,
    ttl_option=OptionTypes,
    pool=Pool,
    rules=POINTER(MatchRule),
    rule_count=u32,
    port_range=PortRange * 16,
)
Arrival = record(
    "Arrival",
    time=u64,
    queue=u32,
    colour=u32,
    len_bytes=u32,
    ecn=u32,
    bad=u32,
    no_buffer=u32,
    policed=u32,
    backlog_bytes=u32 * COLOURS,
    backlog_packets=u32 * COLOURS,
    n=u32 * COLOURS,
    last_departure=u64 * COLOURS,
    draw=u32,
    queued_bytes=u32,
    queued_packets=u32,
    distance=u32,
    pool_full=u32,
)
Departure = record(
    "Departure",
    time=u64,
    queue=u32,
    colour=u32,
    backlog_bytes=u32 * COLOURS,
    backlog_packets=u32 * COLOURS,
    n=u32 * COLOURS,
)
Decision = record("Decision", verdict=u32, avg=u64, p=u64, sum=u64)
HEADER_FIELDS = (
    "is_ptp_type is_ip4 is_ip6 l3_offset vlan ip_bytes dscp ecn ttl proto has_ports src_port dst_port is_tcp tcp_flags tcp_seq tcp_payload "
    "has_ttl_option initial_ttl final_ttl ttl_option_at"
).split()
Headers = record("Headers", **dict.fromkeys(HEADER_FIELDS, u32), src_addr=u32 * 4, dst_addr=u32 * 4)
Sent = record("Sent", time=u64, arrival=u64, id=u64, queue=u32, colour=u32, len_bytes=u32, ce_written=u32)
Evicted = record("Evicted", time=u64, arrival=u64, id=u64, by=u64, queue=u32, colour=u32, len_bytes=u32)
Counters = record(
    "Counters",
    packets=u64 * 8,
    bytes=u64 * 8,
    ce_written_packets=u64,
    ce_written_bytes=u64,
    sent_packets=u64,
    sent_bytes=u64,
    evicted_packets=u64,
    evicted_bytes=u64,
    victim_marked_packets=u64,
    victim_marked_bytes=u64,
    departure_dropped_packets=u64,
    departure_dropped_bytes=u64,
    departure_marked_packets=u64,
    departure_marked_bytes=u64,
)
CodelSettings = record(
    "CodelSettings", **dict.fromkeys("target interval ce_threshold mtu ecn ce_mask ce_selector".split(), u32)
)
CodelState = record(
    "CodelState", **dict.fromkeys("phase is_above may_drop_at drop_next count last_count inv_sqrt step".split(), u32)
)
PieSettings = record(
    "PieSettings", **dict.fromkeys("target burst alpha beta".split(), u64), mtu=u32, ecn=u32, byte_mode=u32
)
PieState = record(
    "PieState",
    **dict.fromkeys("prob prob_per_byte accumulated delay delay_before burst_left".split(), u64),
    departed=u32,
    restarts=u32,
)
DualPi2Settings = record(
    "DualPi2Settings",
    target=u64,
    step=u64,
    **dict.fromkeys("alpha beta most coupling mtu drop_overload".split(), u32),
)
DualPi2State = record("DualPi2State", delay_before=u64, prob=u32)
FLOW_EVENTS = "adopted collision aged_out displaced table_full loss jump probe".split()
FlowAnswer = record("FlowAnswer", colour=u32, has_state=u32, state=FlowState, **dict.fromkeys(FLOW_EVENTS, u32))
P = c_void_p
SIGNATURES = {
    "vm_create": (P, [POINTER(Config)]),
    "vm_destroy": (None, [P]),
    "vm_configure": (c_int, [P, u32, POINTER(Queue)]),
    "vm_decide": (c_int, [P, POINTER(Arrival), POINTER(Decision)]),
    "vm_depart": (c_int, [P, POINTER(Departure)]),
    "vm_average": (c_int, [P, u32, u32, POINTER(u64)]),
    "vm_lane_create": (P, [POINTER(Config)]),
    "vm_lane_destroy": (None, [P]),
    "vm_lane_arrive": (c_int, [P, u64, c_char_p, u32, u32, POINTER(Arrival), POINTER(Decision)]),
    "vm_lane_advance": (None, [P, u64]),
    "vm_lane_drain": (u64, [P]),
    "vm_lane_next": (c_int, [P, POINTER(u64)]),
    "vm_lane_take": (c_int, [P, POINTER(Sent), c_void_p, u32]),
    "vm_lane_evicted": (c_int, [P, POINTER(Evicted)]),
    "vm_lane_counters": (c_int, [P, u32, u32, POINTER(Counters)]),
    "vm_config_read": (P, [c_char_p, c_char_p, c_size_t]),
    "vm_config_get": (POINTER(Config), [P]),
    "vm_config_destroy": (None, [P]),
    "vm_marker_create": (P, []),
    "vm_marker_destroy": (None, [P]),
    "vm_marker_bytes": (u32, [POINTER(Marker), POINTER(Headers), u32]),
    "vm_marker_mark": (None, [P, POINTER(Marker), u64, u32, u32, u32, POINTER(Marked)]),
    "vm_average_step": (u64, [u64, u32, Scaled]),
    "vm_average_age": (u64, [u64, u64, POINTER(Queue), u32, POINTER(u64)]),
    "vm_average_aged": (c_int, [P, u32, u32, u32, u64, POINTER(u64)]),
    "vm_age_rom": (u32, [u32]),
    "vm_dualpi2_update": (None, [POINTER(DualPi2State), POINTER(DualPi2Settings), u64]),
    "vm_dualpi2_head": (
        u32,
        [POINTER(DualPi2State), POINTER(DualPi2Settings), u32, u32, u64, u32, u32, u32],
    ),
    "vm_pie_begin": (None, [POINTER(PieState)]),
    "vm_pie_arrives": (u32, [POINTER(PieState), POINTER(PieSettings), u32, u32, u32, u64]),
    "vm_pie_lost": (None, [POINTER(PieState)]),
    "vm_pie_departs": (None, [POINTER(PieState), POINTER(PieSettings), u64, u64, u32]),
    "vm_pie_restarts": (None, [POINTER(PieState), u64]),
    "vm_pie_update": (None, [POINTER(PieState), POINTER(PieSettings), u64, u32]),
    "vm_codel_head": (u32, [POINTER(CodelState), POINTER(CodelSettings), u32, u32, u32, u32, u32]),
    "vm_curve_probability": (u64, [POINTER(Curve), u64, u32, POINTER(u32)]),
    "vm_size_ratio": (u32, [u32, Scaled]),
    "vm_spacing_step": (u32, [POINTER(u64), POINTER(u32), POINTER(u32), u32, u64, u32]),
    "vm_parse": (None, [c_char_p, u32, OptionTypes, POINTER(Headers)]),
    "vm_rewrite": (u32, [c_void_p, POINTER(Headers), u32, u32, u32, u32]),
    "vm_distance": (u32, [POINTER(Headers), POINTER(Distance)]),
    "vm_checksum": (u32, [u32, u32, u32]),
    "vm_random_seed": (None, [u64, POINTER(u32 * 4)]),
    "vm_random_draw": (c_int, [POINTER(u32 * 4), POINTER(u32)]),
    "vm_rules_create": (P, [POINTER(MatchRule), u32, POINTER(PortRange)]),
    "vm_rules_destroy": (None, [P]),
    "vm_rules_first": (c_int, [P, c_char_p, u32, u32]),
    "vm_flow_create": (P, [u32, POINTER(u32 * 4)]),
    "vm_flow_destroy": (None, [P]),
    "vm_flow_step": (c_int, [P, u64, u32, POINTER(Headers), POINTER(FlowConfig), POINTER(FlowAnswer)]),
}


@cache
def library():
    """Compiled from the sources as they are; kept in the temporary folder under the hash of these."""
    sources = sorted(SOURCES.glob("*.cpp"))
    made_from = [path for folder in (SOURCES, DRIVER) for path in sorted(folder.iterdir()) if path.is_file()]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in made_from)).hexdigest()[:16]
    target = Path(tempfile.gettempdir()) / f"vermilion-model-{os.getuid()}-{digest}.so"
    if not target.exists():
        part = target.with_suffix(f".{os.getpid()}")
        flags = ["-std=c++20", f"-I{DRIVER}", "-O2", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror"]
        subprocess.run([os.environ.get("CXX", "g++"), *flags, *map(str, sources), "-o", str(part)], check=True)
        part.rename(target)
    lib = ctypes.CDLL(str(target))
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments
    return lib


def scaled(x, bits, shift_max=63, rounded=round):
    """The pair (m, s) nearest to the fraction x, or rounded otherwise, mantissa of `bits` bits."""
    shift = 0
    while shift < shift_max and rounded(x * 2 ** (shift + 1)) < 2**bits:
        shift += 1
    return Scaled(rounded(x * 2**shift), shift)


def red_curve(low, high, top, end=None, b1=0, b2=0):
    """RED with end = high; else a second segment top + y (b1 + b2 y). Probabilities are fractions."""
    end = high if end is None else end
    part = lambda whole, width: scaled(Fraction(whole) / width, 18, rounded=math.floor) if width else Scaled(0, 0)
    inverse = lambda width: part(256, width)
    whole = lambda p: round(p * ONE)
    return Curve(
        1,
        low,
        high,
        end,
        inverse(high - low),
        whole(top),
        inverse(end - high),
        whole(top),
        whole(b1),
        part(b2 * 2**16, end - high),
    )


def colour(drops, marks=None):
    """A colour's image; with `marks`, ECN-capable packets take their probability from there."""
    made = Colour(ecn_own=marks is not None)
    made.curve[DROPS] = drops
    if marks is not None:
        made.curve[MARKS] = marks
    return made


def queue(masks=(1, 2, 4), weight=1, curves=(), spacing=GEOMETRIC, **fields):
    """A queue in packets, without limits, that counts as `masks` say."""
    q = Queue(unit=1, spacing=spacing, limit=LEN_MAX, limit_packets=LEN_MAX, quantum=1522)
    q.masks = (u32 * COLOURS)(*masks)
    q.weight = (Scaled * STAGES)(*(scaled(256 * (1 - (1 - weight) ** n), 9, 31) for n in range(1, STAGES + 1)))
    if weight == 1:
        q.weight = (Scaled * STAGES)(*([Scaled(256, 0)] * STAGES))
    for c, curve in enumerate(curves):
        q.colour[c].curve[DROPS] = curve
    names = [name for name, _ in Queue._fields_]
    for name, value in fields.items():
        assert name in names, f"{name} is no member of a queue's image"
        setattr(q, name, value)
    return q


class Model:
    """Decisions of one or more queues."""

    def __init__(self, *queues):
        self.queues = (Queue * len(queues))(*queues)
        self.lib = library()
        self.handle = self.lib.vm_create(byref(Config(queue_count=len(queues), queues=self.queues)))
        assert self.handle

    def __del__(self):
        self.lib.vm_destroy(self.handle)

    def decide(self, colour=0, packets=(0, 0, 0), draw=0, n=(1, 1, 1), departed=(0, 0, 0), status=0, **fields):
        a = Arrival(colour=colour, draw=draw, **{"len_bytes": 1000, **fields})
        for c in range(COLOURS):
            a.backlog_packets[c], a.backlog_bytes[c] = packets[c], packets[c] * 1000
            a.n[c], a.last_departure[c] = n[c], departed[c]
        a.queued_bytes, a.queued_packets = sum(a.backlog_bytes), sum(a.backlog_packets)
        d = Decision()
        assert self.lib.vm_decide(self.handle, byref(a), byref(d)) == status
        return d

    def depart(self, colour, packets, time, queue=0):
        d = Departure(time=time, queue=queue, colour=colour)
        for c in range(COLOURS):
            d.backlog_packets[c], d.backlog_bytes[c], d.n[c] = packets[c], packets[c] * 1000, 1
        assert self.lib.vm_depart(self.handle, byref(d)) == 0

    def averages(self, queue=0):
        value, out = u64(), []
        for c in range(COLOURS):
            assert self.lib.vm_average(self.handle, queue, c, byref(value)) == 0
            out.append(value.value)
        return out


def draws(seed):
    """The random source, as an endless iterator."""
    words, draw = (u32 * 4)(), u32()
    library().vm_random_seed(seed, byref(words))
    while True:
        assert library().vm_random_draw(byref(words), byref(draw)) == 0
        yield draw.value
