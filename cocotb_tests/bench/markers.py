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
        kind=kind, colour_aware=random.randrange(2), packet_bytes=random.choice([0, 0, random.randrange(1, 2**16)]),
        ip_length=random.randrange(2),
        out_colour=random.randrange(3), drop=random.choice([0, 2**16, random.randrange(2**16)]),
        yellow_ns=random.randrange(2 ** random.randrange(1, 45)), drop_colours=random.choice([0, 0, random.randrange(8)]),
    )  # fmt: skip
    for i in range(2):
        if sensible:
            burst[i] = min(burst[i], 2**24)
            m.cost[i] = mb.Scaled(random.randrange(2**12), random.randrange(4, 16))
        else:
            m.cost[i] = scaled(random, 18)
        m.burst_ns[i] = burst[i] % 2**44
    m.flow = mb.FlowConfig(
        kind=random.randrange(4), alpha_eighths=random.randrange(9), initial_average=random.randrange(2**11),
        start_credits=random.randrange(8), recovery_credits=random.randrange(8), ack_green=random.randrange(2),
        increase_by_factor=random.randrange(2), idle_age=random.choice([1, 14305]), half_open_age=random.choice([1, 715]),
    )  # fmt: skip
    m.low_ns, m.high_ns = (random.randrange(max(1, burst[0])) % 2**44 for _ in range(2))
    width = max(1, burst[0]).bit_length()
    shift = max(0, min(63, 44 - width + random.randrange(-2, 4)))
    m.demote, m.promote = (mb.Scaled(random.randrange(2**18), shift) for _ in range(2))
    return m


def bundle(m) -> dict:
    """The record as the Chisel bundle `MarkConfig`."""
    pair = lambda x: {"mant": x.m, "shift": x.s}
    return {
        "kind": m.kind, "colourAware": m.colour_aware, "ipLength": m.ip_length, "packetBytes": m.packet_bytes, "cost": [pair(c) for c in m.cost],
        "burstNs": list(m.burst_ns), "outColour": m.out_colour, "lowNs": m.low_ns, "highNs": m.high_ns,
        "demote": pair(m.demote), "promote": pair(m.promote), "drop": m.drop, "yellowNs": m.yellow_ns,
        "dropColours": m.drop_colours,
        "flow": {
            "kind": m.flow.kind, "alphaEighths": m.flow.alpha_eighths, "initialAverage": m.flow.initial_average,
            "startCredits": m.flow.start_credits, "recoveryCredits": m.flow.recovery_credits,
            "increaseByFactor": m.flow.increase_by_factor, "ackGreen": m.flow.ack_green,
            "idleAge": m.flow.idle_age, "halfOpenAge": m.flow.half_open_age,
        },
    }  # fmt: skip
