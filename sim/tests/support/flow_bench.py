"""What the tests of the per-flow markers share: packets, configurations, the model, and P1's rules in exact fractions.

`Paper` is written from the paper's text and docs/flow-markers.md, and shares no code with the model: no table, no fixed point; only the
roundings that the page states. The cocotb bench uses the rest.
"""

from ctypes import byref
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor

from support.model_bindings import FLOW_EVENTS, FlowAnswer, FlowConfig, Headers, library, u32

GREEN, YELLOW, RED = range(3)
NONE, THREE_COLOUR, WEB, ADAPTIVE = range(4)
FIN, SYN, RST, ACK = 1, 2, 4, 16
TICK = 2**22  # ns
LSB = Fraction(1, 256)
FOLD, SECRET = 39, 3  # bits of a tag: of the name folded, and of the hash


def config(**fields):
    """P1's parameters; ages of a minute and three seconds."""
    default = dict(kind=THREE_COLOUR, alpha=4, a0=7 * 256, ns=5, na=5)
    return FlowConfig(**{**default, "idle": 14305, "half_open": 715, **fields})


def headers(seq=0, payload=1, flags=ACK, flow=(1, 2, 3, 4), ip6=0, **fields):
    """A TCP segment of the flow (source, destination, source port, destination port)."""
    src, dst, src_port, dst_port = flow
    h = Headers(is_ip4=1 - ip6, is_ip6=ip6, l3_offset=14, proto=6, has_ports=1, src_port=src_port, dst_port=dst_port)
    h.is_tcp, h.tcp_flags, h.tcp_seq, h.tcp_payload = 1, flags, seq % 2**32, payload
    for i in range(4):
        h.src_addr[i], h.dst_addr[i] = src >> 32 * i & 0xFFFFFFFF, dst >> 32 * i & 0xFFFFFFFF
    for name, value in fields.items():
        setattr(h, name, value)
    return h


class Model:
    """The model's marker; a step gives the answer."""

    def __init__(self, flows=4096, seed=(1, 2, 3, 4)):
        self.lib = library()
        self.handle = self.lib.vm_flow_create(flows, (u32 * 4)(*seed))

    def __del__(self):
        self.lib.vm_flow_destroy(self.handle)

    def step(self, h, c, time=0, queue=0, status=0):
        answer = FlowAnswer()
        assert self.lib.vm_flow_step(self.handle, time % 2**48, queue, byref(h), byref(c), byref(answer)) == status
        return answer


def events(answer):
    """The names of what happened."""
    return {name for name in FLOW_EVENTS if getattr(answer, name)}


def average(state, c):
    """A_Y as a fraction."""
    base = Fraction(state.average, 256)
    return base / (1 - Fraction(c.alpha, 8)) if state.raised else base


def hash_key(seed) -> int:
    """Eleven draws of the generator, first draw lowest."""
    words, draw, key = (u32 * 4)(*seed), u32(), 0
    for i in range(11):
        library().vm_random_draw(byref(words), byref(draw))
        key |= draw.value << 32 * i
    return key


def toeplitz(flow, seed, bits):
    """The hash of an IPv4 flow in queue 0, from the definition; its low bits are the set."""
    key = hash_key(seed)
    src, dst, src_port, dst_port = flow
    name = src | dst << 128 | src_port << 256 | dst_port << 272
    return sum((name & key >> j).bit_count() % 2 << j for j in range(bits))


def twins(bits, set_bits, rng, folds_alike=True):
    """Seeds, each with bits of a name: names that differ in such a bit b, and in bit b % FOLD, have one tag in one set under that seed.

    Without `folds_alike` they differ in b alone: one set and one secret part of the tag, but two folds. The exclusive or of two names decides, as hash
    and fold are linear; the hash of a name of one bit is the key from there on.
    """
    mask, left = 2 ** (set_bits + SECRET) - 1, set(bits)
    while left:
        seed = tuple(rng.getrandbits(32) for _ in range(4))
        key = hash_key(seed)
        met = [b for b in sorted(left) if (key >> b ^ (key >> b % FOLD if folds_alike else 0)) & mask == 0]
        enough = 2 if len(left) > 100 else 1  # while many are left, only seeds that serve several
        if len(met) >= enough:
            left -= {*met}
            yield seed, met


def settled(model, c, flows, time=0):
    """Opens each flow and sends four packets of it; those that got state."""
    have = []
    for flow in flows:
        answers = [model.step(headers(s, s > 0, SYN if s == 0 else ACK, flow), c, time) for s in range(5)]
        if answers[-1].has_state:
            have.append(flow)
    return have


@dataclass
class PaperFlow:
    credits: int
    highest: int
    average: Fraction
    burst: int = 0
    raised: bool = False


@dataclass
class Paper:
    """Section II of the paper, one flow a dictionary entry."""

    flows: dict = field(default_factory=dict)

    # 1/(1-alpha) in the sums of shifts of docs/flow-markers.md, by n
    FACTORS = {1: (1, 8, 64), 2: (1, 4, 16), 3: (1, 2, 8), 4: (Fraction(1, 2),), 5: (Fraction(1, 2), 2, 8)}
    FACTORS |= {6: (Fraction(1, 4),), 7: (Fraction(1, 8),)}

    @staticmethod
    def down(x):
        return floor(x / LSB) * LSB

    def increase(self, f, c, alpha):
        if not c.increase:
            f.average = 2 * (f.average + 1)
        elif not f.raised:
            f.average, f.raised = f.average / (1 - alpha), True
        else:
            base = f.average * (1 - alpha)
            base = sum(self.down(base / d) for d in self.FACTORS[c.alpha]) + LSB
            f.average = base / (1 - alpha)

    def new(self, f, c, alpha, green, red):
        if red:
            f.burst += 1
            if f.burst > f.average:
                self.increase(f, c, alpha)
                f.burst = 0
                return RED
        if green and f.credits:
            f.credits -= 1
            return GREEN
        return YELLOW

    def step(self, key, h, c):
        """The colour; `self.flows[key]` is the state behind it."""
        alpha = Fraction(c.alpha, 8)
        green, red = c.kind in (THREE_COLOUR, WEB), c.kind in (THREE_COLOUR, ADAPTIVE)
        if c.kind == NONE or not h.is_tcp:
            return YELLOW
        if h.tcp_flags & RST or not (h.tcp_flags & SYN or h.tcp_payload):
            return GREEN if green and c.ack else YELLOW
        fresh = PaperFlow(c.ns, h.tcp_seq, Fraction(c.a0, 256))
        if h.tcp_flags & SYN:
            self.flows[key] = fresh
            return GREEN if green else YELLOW
        f = self.flows.get(key)
        ahead = (h.tcp_seq - f.highest + 2**31) % 2**32 - 2**31 if f else 0
        if f is None or not -(2**30) <= ahead < 2**30:
            self.flows[key] = fresh
            return self.new(fresh, c, alpha, green, red)
        if ahead <= 0:
            if red:
                f.average = self.down((1 - alpha) * f.average + alpha * f.burst)
                f.burst, f.raised = 0, False
            if green:
                f.credits = c.na
            return GREEN if green else YELLOW
        f.highest = h.tcp_seq
        return self.new(f, c, alpha, green, red)
