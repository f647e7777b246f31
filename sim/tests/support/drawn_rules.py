"""Random rules, each drawn from a frame so that some frames fit it."""

import ipaddress

from support.plain_rules import Network, Rule, Tested, View, frames
from support.rule_image import SIDE, Ranges, prefix


class DrawnRules:
    """Draws frames and rules. Rules that are drawn together share `ranges`."""

    def __init__(self, rng):
        self.random, self.source = rng, frames(rng)
        self.samples = [View(next(self.source)) for _ in range(60)]
        self.ranges = Ranges()

    def random_frame(self) -> tuple[bytes, int, bool]:
        return next(self.source), self.random.randrange(4), self.random.random() < 0.9

    def drawn(self) -> Rule:
        """A rule that some frame fits, and seldom many."""
        while True:
            made = self.drawn_from(View(next(self.source)))
            if sum(made.fits(view, n % 4) for n, view in enumerate(self.samples)) < 5 or self.random.random() < 0.02:
                made.on, made.never = self.random.random() < 0.95, self.random.random() < 0.03
                return made

    def drawn_from(self, view: View) -> Rule:
        r = self.random
        made = Rule(ingress=r.choice([None, None, r.randrange(4)]))
        fields = r.sample(["tag", "address", "ports", "protocol", "ds", "version"], r.choice([1, 1, 2, 3]))
        if "tag" in fields and view.tag is not None:
            made.vlan, made.pcp = r.choice(
                [(view.tag & 0xFFF, None), (None, view.tag >> 13), (view.tag & 0xFFF, view.tag >> 13)]
            )
        if view.version:
            self.draw_ip(made, view, fields)
        elif "version" in fields:
            made.version = 0
        return made

    def draw_ip(self, made: Rule, view: View, fields: list[str]):
        r = self.random
        if "version" in fields:
            made.version = view.version
        if "address" in fields:
            for name, value in (("source", view.source), ("destination", view.destination)):
                if r.random() < 0.6:
                    setattr(made, name, drawn_network(r, view.version, value))
        if "protocol" in fields:
            made.protocol = view.protocol
        if "ds" in fields:
            made.dscp, made.ecn = r.choice(
                [(view.traffic >> 2, None), (None, view.traffic & 3), (view.traffic >> 2, view.traffic & 3)]
            )
        if "ports" in fields and view.ports:
            for side, name in enumerate(("source_port", "destination_port")):
                if r.random() < 0.6:
                    setattr(made, name, self.range_with(side, view.ports[side]))

    def range_with(self, side: int, port: int) -> tuple[int, int]:
        """A range with the port in it; one that there is already, where no more fit."""
        r = self.random
        if r.random() < 0.3:
            bits = r.choice([0, 0, 4, 12])
            return port >> bits << bits, (port >> bits << bits) + (1 << bits) - 1
        if len(self.ranges.of[side]) == SIDE:
            return r.choice(self.ranges.of[side])
        ends = max(0, port - r.randrange(300)), min(0xFFFF, port + r.randrange(300))
        if not prefix(*ends):
            self.ranges.index(side, ends)
        return ends


def drawn_network(rng, version: int, address: int) -> Network | Tested:
    """A prefix with the address in it, or any bits of it."""
    bits = 32 if version == 4 else 128
    if rng.random() < 0.2:
        mask = rng.getrandbits(bits) & rng.getrandbits(bits)
        return version, address & mask, mask
    length = rng.choice([0, bits // 4, bits - 8, bits - 1, bits, rng.randrange(bits + 1)])
    kind = ipaddress.IPv4Address if version == 4 else ipaddress.IPv6Address
    return ipaddress.ip_network((kind(address), length), strict=False)


def random_action(rng, queues: int) -> dict:
    """What a rule does, in an egress of so many queues."""
    made = {"drop": rng.random() < 0.3}
    for name, most in (("queue", queues), ("colour", 3), ("dscp", 64), ("marker", queues)):
        if rng.random() < 0.6:
            made[name] = rng.randrange(most)
    return made
