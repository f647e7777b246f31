"""A queue with RED of two colours behind a port, exactly, by the lane's rules or by those of ns-2's dsRED: what P2's open traffic loses.

ns-2's rules, by the names of RULES, each read in ns-2.35's diffserv/dsredq.cc:

    rule      the lane                             ns-2
    integer   idle packets are a real number       an integer
    spell     an idle spell begins anew with       it goes on from its start until a packet is admitted, so each
              each arrival                         packet that is dropped ages by all of it again
    colour    WRED's queue is idle when empty      when the last packet of some colour has left
    drops     the sum of p reaches R; the first    u <= p / (1 - count p), never if that is negative; the first packet
              packet after a drop has count 0      after a drop has count 1

Both take a step with the arriving packet at an empty queue. Doubles, as in floyd.py.
"""

import random
from collections import deque
from dataclasses import dataclass

COLOURS = 2
RULES = ("integer", "spell", "colour", "drops")


@dataclass(frozen=True)
class Curve:
    low: float
    high: float
    top: float


@dataclass
class Seen:
    """Packets by colour, and the sums of the averages that they met."""

    came: list[int]
    lost: list[int]
    averages: list[float]

    @property
    def figures(self) -> list[float]:
        """Losses of green and yellow, %, and their mean averages, packets."""
        shares = [100 * lost / came for lost, came in zip(self.lost, self.came, strict=True)]
        return shares + [total / came for total, came in zip(self.averages, self.came, strict=True)]


class Estimators:
    """Averages of both colours: `shared` in WRED, else green's own and that of both."""

    def __init__(self, shared: bool, weight: float, packet_ns: float, integer: bool):
        self.shared, self.weight, self.packet_ns, self.integer = shared, weight, packet_ns, integer
        self.avg = [0.0] * COLOURS
        self.idle_since: list[float | None] = [0] * COLOURS  # None: not idle

    def arrive(self, now: float, colour: int, queued: list[int], restart: bool) -> float:
        for e in (0,) if self.shared else range(colour, COLOURS):
            length = sum(queued) if self.shared else sum(queued[: e + 1])
            since = self.idle_since[e]
            m = 0 if since is None else (now - since) / self.packet_ns
            self.avg[e] = (
                self.avg[e] * (1 - self.weight) ** ((int(m) if self.integer else m) + 1) + self.weight * length
            )
            if since is not None and restart:
                self.idle_since[e] = now
        return self.avg[0 if self.shared else colour]

    def admitted(self, colour: int):
        for e in (0,) if self.shared else range(colour, COLOURS):
            self.idle_since[e] = None

    def left(self, now: float, colour: int, queued: list[int], by_colour: bool):
        if self.shared:
            if queued[colour] == 0 if by_colour else sum(queued) == 0:
                self.idle_since[0] = now
            return
        for e in range(COLOURS):
            if self.idle_since[e] is None and sum(queued[: e + 1]) == 0:
                self.idle_since[e] = now


class LaneDrops:
    """Sum of p against R, drawn anew after each drop and when the average comes back over min."""

    def __init__(self, rng):
        self.rng, self.sum, self.r = rng, 0.0, None

    def drop(self, p: float) -> bool:
        if p == 0:
            self.sum, self.r = 0.0, None
            return False
        if self.r is None:
            self.r = self.rng.random()
        self.sum += p
        if self.sum >= self.r or p >= 1:
            self.sum, self.r = 0.0, self.rng.random()
            return True
        return False


class Ns2Drops:
    def __init__(self, rng):
        self.rng, self.count = rng, -1

    def drop(self, p: float) -> bool:
        if p == 0:
            self.count = -1
            return False
        if p >= 1:
            self.count = 0
            return True
        self.count += 1
        rest = 1 - self.count * p
        if rest == 0 or self.rng.random() <= p / rest:
            self.count = 0
            return True
        return False


def simulate(packets, curves: list[Curve], shared: bool, rules, seed: int, service_ns: float, packet_ns: float) -> Seen:
    """`packets`: (ns, colour) in order of time, all as long; weight 0.002. `rules`: those that are ns-2's."""
    rng = random.Random(f"dsred {seed}")
    estimators = Estimators(shared, 0.002, packet_ns, integer="integer" in rules)
    spacing = [(Ns2Drops if "drops" in rules else LaneDrops)(rng) for _ in curves]
    queue: deque[int] = deque()
    queued, free_at, out = [0, 0], 0.0, Seen([0, 0], [0, 0], [0.0, 0.0])

    def send(now: float):
        colour = queue.popleft()
        queued[colour] -= 1
        estimators.left(now, colour, queued, by_colour="colour" in rules)

    for now, colour in packets:
        while queue and free_at <= now:
            send(free_at)
            free_at += service_ns
        out.came[colour] += 1
        curve, avg = curves[colour], estimators.arrive(now, colour, queued, restart="spell" not in rules)
        out.averages[colour] += avg
        if avg < curve.low:
            p = 0.0
        else:
            p = 1.0 if avg >= curve.high else curve.top * (avg - curve.low) / (curve.high - curve.low)
        if spacing[colour].drop(p):
            out.lost[colour] += 1
            continue
        queue.append(colour)
        queued[colour] += 1
        estimators.admitted(colour)
        if free_at <= now:
            send(now)
            free_at = now + service_ns
    return out
