"""Benches of a lane with the victim search: frames from all distances, queues in every form of it, and an account of the victims.

Of each push-out: it costs exactly one packet. A victim is named by its head cell; it stands in the queue of the arriving one behind another,
has its length, distance and colour, was no victim before, and is not further than the arriving packet. It leaves the queue and never comes
out; or it was ECT and stays, and comes out with CE. Queues without the search (`VICTIMS` and above) take no victims.

Not here: that the victim is the nearest of all (the block's own bench), nor how many push-outs are stale.
"""

import os

from lane.datapath import FREE, Bench, EcnFrame, Frame, frame
from support import model_bindings as mb

VICTIMS = int(os.environ.get("VICTIMS", "0"))  # of LaneParams, of the build under test
FORMS = ("red", "tail", "ecn", "arriving")
DISTANCE = mb.Distance(option=0, infer=1, share=0)
INITIAL_TTL = 128  # that is inferred from 65 to 128


class DistantFrame(EcnFrame):
    """A frame with what its push-outs need. A marked one has been a victim, or was marked when it came."""

    def __init__(self, data: bytes, bad: bool, distance: int, ecn: int):
        super().__init__(data, bad, ecn)
        self.distance = distance
        self.cell, self.colour = None, None


class PushOutBench(Bench):
    queues = (0, 1, VICTIMS, VICTIMS + 1)  # the last two without the search

    def __init__(self, dut, seed: int):
        super().__init__(dut, seed)
        self.turn = seed % len(FORMS)
        if self.egresses > 1:  # all queues have the search
            self.queues = Bench.queues

    def entry(self, dscp: int, egress: int) -> dict:
        return {"queue": self.queues[(dscp + egress) % 4], "colour": dscp // 4 % 3}

    def make(self, length: int, bad: bool) -> Frame:
        random = self.random
        distance, ecn = random.choice([random.randrange(64), 4]), random.randrange(4)
        dscp = random.choice([0, 0, 1, 1, 2, 3]) + 4 * random.randrange(3)
        data = frame(self.number, dscp, length, random, ecn, INITIAL_TTL - distance)
        return DistantFrame(data, bad, distance, ecn)

    def record(self, limit_packets: int):
        """A queue in the next form: RED, tail drop, ECN, or without push-outs, where only the limit drops."""
        form = FORMS[(self.turn + self.turn // 4) % len(FORMS)]  # another one for each queue, and behind each reset
        self.turn += 1
        curve = {"red": mb.red_curve(1, 16, 0.5), "ecn": mb.red_curve(1, 8, 0.5, end=100, b1=0.5)}.get(form)
        fields = {"limit": FREE, "limit_packets": limit_packets, "distance": DISTANCE, "ecn": form == "ecn"}
        fields |= {"victim": form != "arriving", "victim_by_colour": form != "arriving" and self.random.randrange(2)}
        if form == "tail":
            fields |= {"victim_window": 1 + self.random.randrange(16), "limit_packets": min(limit_packets, 12)}
        return mb.queue(masks=(7, 7, 7), curves=[curve] * 3 if curve else [], **fields)

    def peek(self, name: str) -> int:
        return int(getattr(self.dut, f"io_decision_bits_{name}").value)

    def decided(self):
        f, bits = super().decided()
        queue, verdict, provisional = bits["queue"], bits["verdict"], self.peek("provisionalVerdict")
        f.cell, f.colour = self.peek("headCell"), self.peek("colour")
        f.marked = verdict == mb.MARK
        if verdict not in (mb.BAD, mb.NOBUF):
            assert self.peek("distance") == f.distance
        if not self.peek("pushOut"):
            assert verdict == provisional
            return f, bits
        evicted, marked = self.peek("outcome_evicted"), self.peek("outcome_victimMarked")
        assert provisional in (mb.EARLY, mb.FORCED, mb.TAIL, mb.MARK)
        if not evicted and not marked:
            assert verdict == provisional, "no packet was the victim"
            self.fates["dropped itself"] += 1
            return f, bits
        assert not (evicted and marked) and verdict == mb.ENQUEUE, "two packets were victims"
        assert queue < VICTIMS, "a queue without the search had a victim"
        line, cell = self.queued[queue], self.peek("outcome_victim_cell")
        # A cell may be named again while its last packet is still on its way out, so the newest of that name.
        at = next((i for i in reversed(range(len(line) - 1)) if line[i].cell == cell), 0)
        assert at > 0, f"clock {self.clocks}: the victim is not in queue {queue}, or is its first packet"
        victim = line[at]
        told = [self.peek(f"outcome_victim_{name}") for name in ("lenBytes", "distance", "colour")]
        assert told == [len(victim.data), victim.distance, victim.colour] and victim.distance <= f.distance
        assert not victim.marked, "it was a victim before"
        self.fates[provisional, "evicted" if evicted else "marked"] += 1
        if evicted:
            del line[at]
            self.fates["evicted"] += 1
        else:
            assert victim.ecn, "a packet that is not ECT was marked"
            victim.marked = True
            self.fates["marked in its queue"] += 1
        return f, bits

    def least_met(self) -> int:
        """Of all forms the one with the fewest victims; and of arriving packets that were dropped."""
        met = self.fates
        red = met[mb.EARLY, "evicted"] + met[mb.FORCED, "evicted"]
        return min(red, met[mb.TAIL, "evicted"], met["marked in its queue"], met["dropped itself"])
