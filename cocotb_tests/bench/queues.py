"""Random queue configurations: any legal register values, and enough of the sensible ones that every verdict is met."""

from fractions import Fraction

from bench import markers
from support import model_bindings as mb


def scaled(m: int, s: int):
    return mb.Scaled(mant=m, shift=s)


def weight_table(w: float):
    """W[1..6] = 1-(1-w)^n as mantissa and exponent."""
    table = []
    for n in range(1, 7):
        value, exponent = 1 - (1 - w) ** n, 0
        while value < 0.5 and exponent < 31:
            value, exponent = value * 2, exponent + 1
        table.append(scaled(min(256, round(value * 256)), exponent))
    return table


def curve(random, top: int):
    """A curve from threshold to threshold, below `top`, of any kind."""
    low = random.randrange(0, top)
    high = low + random.randrange(0, top)
    end = high + random.choice([0, random.randrange(0, top)])

    def inverse(width):
        shift = 0
        while width and (1 << (shift + 1)) * 256 // width < (1 << 18) and shift < 63:
            shift += 1
        return scaled(min((1 << 18) - 1, (256 << shift) // width) if width else 0, shift)

    def square(gained, width):
        exact, shift = Fraction(gained, max(width, 1) << 16), 0
        while gained and exact * (1 << (shift + 1)) < (1 << 18) and shift < 63:
            shift += 1
        return scaled(min((1 << 18) - 1, int(exact * (1 << shift))) if width else 0, shift)

    at_high = random.choice([0, 2**32, random.randrange(2**32), random.randrange(2**28)])
    rest = 2**32 - at_high
    slope = random.randrange(rest + 1)
    return mb.Curve(
        on=random.random() < 0.85, min=low, max=high, end=end, inv1=inverse(high - low), slope1=at_high,
        inv2=inverse(end - high), base2=at_high, slope2=slope, square2=square(rest - slope, end - high),
    )  # fmt: skip


MASKS = {"red": (7, 7, 7), "rio-c": (1, 3, 7), "rio-2": (1, 7, 7), "rio-dc": (1, 2, 4)}


def queue(random, top: int, unit: bool, departures: bool = False):
    """A queue whose lengths move below about `top` units."""
    weight = random.choice([1.0, 0.5, 0.2, 0.02, 0.002])
    table = weight_table(weight)
    if random.random() < 0.1:  # what no host writes: weights above 1 overshoot and saturate
        table = [scaled(random.randrange(512), random.randrange(32) if random.random() < 0.5 else 0) for _ in table]
    record = mb.Queue(
        weight=(mb.Scaled * 6)(*table),
        masks=(mb.u32 * 3)(*random.choice(list(MASKS.values()))),
        unit=unit, update=departures, spacing=random.randrange(4),
        size_weight=random.random() < 0.3, inv_mean_len=scaled(random.randrange(1, 1 << 16), random.randrange(4, 20)),
        ecn=random.random() < 0.6, limit=random.choice([2**27 - 1, 20000]), limit_packets=random.choice([2**27 - 1, 40]),
    )  # fmt: skip
    setattr(record, "lambda", scaled(random.randrange(1 << 16), random.randrange(10, 40)))
    record.idle_step = random.getrandbits(random.randrange(49))
    if random.random() < 0.7:
        record.marker = markers.marker(random, random.randrange(6))
    for remark in record.marker.remark:
        remark.on, remark.dscp = random.randrange(2), random.randrange(64)
    record.distance = mb.Distance(*(random.randrange(2) for _ in range(3)))
    record.ttl_option = random.randrange(2)
    for c in range(3):
        record.colour[c] = mb.colour(curve(random, top), curve(random, top))
        record.colour[c].ecn_own = random.random() < 0.5
    return record


def pair(x):
    return {"mant": x.mant, "shift": x.shift}


def shape(x) -> dict:
    """A curve's thresholds and coefficients as the Chisel bundle `CurveShape`."""
    return {
        "on": x.on, "min": x.min, "max": x.max, "end": x.end, "slope1": x.slope1,
        "base2": x.base2, "slope2": x.slope2, "square2": pair(x.square2),
    }  # fmt: skip


def bundle(queue_record) -> dict:
    """The record as the Chisel bundle `PolicyConfig`."""

    def one(x):
        return {
            "shape": shape(x), "inverses": [pair(x.inv1), pair(x.inv2)],
        }  # fmt: skip

    q = queue_record
    return {
        "mark": markers.bundle(q.marker),
        "distance": {"option": q.distance.option, "infer": q.distance.infer, "share": q.distance.share},
        "average": {
            "unit": q.unit, "update": q.update, "masks": list(q.masks),
            "weight": [pair(w) for w in q.weight], "lambda": pair(getattr(q, "lambda")),
            "idleStep": q.idle_step,
        },
        "size": {"weight": q.size_weight, "invMeanLen": pair(q.inv_mean_len)},
        "decide": {
            "ecn": q.ecn, "spacing": q.spacing, "limit": q.limit, "limitPackets": q.limit_packets,
            "remark": [{"on": r.on, "dscp": r.dscp} for r in q.marker.remark],
            "ttlOption": q.ttl_option, "victim": q.victim, "victimByColour": q.victim_by_colour, "victimWindow": q.victim_window,
        },
        "colours": [{"drop": one(c.curve[0]), "ecnOwn": c.ecn_own, "ecn": one(c.curve[1])} for c in q.colour],
    }  # fmt: skip
