"""Random token bucket markers, and their records as Chisel bundles."""

from support import model_bindings as mb


def scaled(random, bits):
    return mb.Scaled(random.randrange(2**bits), random.randrange(64))


def marker(random, kind):
    """Any register values, most of them such that the bucket is neither always full nor always empty."""
    burst = [random.randrange(2 ** random.randrange(1, 45)) for _ in range(2)]
    if kind == mb.SRTCM:
        burst[1] += burst[0]
    sensible = random.random() < 0.8
    m = mb.Marker(
        kind=kind, colour_aware=random.randrange(2), packet=random.choice([0, 0, random.randrange(1, 2**16)]),
        length=random.randrange(2),
        out=random.randrange(3), p_drop=random.choice([0, 2**16, random.randrange(2**16)]),
        meter=random.randrange(2 ** random.randrange(1, 45)), drop=random.choice([0, 0, random.randrange(8)]),
    )  # fmt: skip
    for i in range(2):
        if sensible:
            burst[i] = min(burst[i], 2**24)
            m.cost[i] = mb.Scaled(random.randrange(2**12), random.randrange(4, 16))
        else:
            m.cost[i] = scaled(random, 18)
        m.burst[i] = burst[i] % 2**44
    m.flow = mb.FlowConfig(
        kind=random.randrange(4), alpha=random.randrange(9), a0=random.randrange(2**11),
        ns=random.randrange(8), na=random.randrange(8), ack=random.randrange(2),
        increase=random.randrange(2), idle=random.choice([1, 14305]), half_open=random.choice([1, 715]),
    )  # fmt: skip
    m.low_threshold, m.high_threshold = (random.randrange(max(1, burst[0])) % 2**44 for _ in range(2))
    width = max(1, burst[0]).bit_length()
    shift = max(0, min(63, 44 - width + random.randrange(-2, 4)))
    m.demote, m.promote = (mb.Scaled(random.randrange(2**18), shift) for _ in range(2))
    return m


def bundle(m) -> dict:
    """The record as the Chisel bundle `MarkConfig`."""
    pair = lambda x: {"mant": x.mant, "shift": x.shift}
    return {
        "kind": m.kind, "colourAware": m.colour_aware, "length": m.length, "packet": m.packet, "cost": [pair(c) for c in m.cost],
        "burst": list(m.burst), "out": m.out, "lowThreshold": m.low_threshold, "highThreshold": m.high_threshold,
        "demote": pair(m.demote), "promote": pair(m.promote), "pDrop": m.p_drop, "meter": m.meter,
        "drop": m.drop,
        "flow": {
            "kind": m.flow.kind, "alpha": m.flow.alpha, "a0": m.flow.a0,
            "ns": m.flow.ns, "na": m.flow.na,
            "increase": m.flow.increase, "ack": m.flow.ack,
            "idle": m.flow.idle, "halfOpen": m.flow.half_open,
        },
    }  # fmt: skip
