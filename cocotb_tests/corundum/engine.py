"""The host's side of a port as Corundum has it: the TX engine with its table of frames in flight, and the sink of
received frames.

What the TX engine asks of its completions, as read in its RTL (fpga/common/rtl/tx_engine.v at 1ca0151b):

* Its table has 32 entries, used round and round. A frame's tag is 0x8000 plus its entry's number, on all of its beats.
  At most 32 frames are in flight.
* A completion whose tag has its highest bit clear is ignored. It is always ready for completions.
* Completions may come in any order: each marks its entry. But entries are given back, and reported to the host, in the
  order in which they were taken, so one that is missing stops everything 31 frames later, for good.
* A completion marks an entry whether or not it is in use, and marking twice is the same as once. So one too many does
  harm when it comes late, with the entry in use again: it completes that other frame before it was sent, and its buffer
  is used again too early. Here it is an error at once.

Behind the engine is a store-and-forward buffer of 32 KiB, so the block gets a frame without gaps, unless another stage
in between makes some: both are tried.
"""

from collections import Counter, deque

from .frames import ASKS, Frame
from .streams import Assembler, cut

ENTRIES = 32


class Engine:
    def __init__(self, port: int, random, lanes: int):
        self.port, self.random, self.lanes = port, random, lanes
        self.waiting: deque[Frame] = deque()
        self.table: list[Frame | None] = [None] * ENTRIES
        self.done = [False] * ENTRIES
        self.start = self.finish = 0  # frames begun, frames given back
        self.beats: deque = deque()  # of the frame under way
        self.frame: Frame | None = None
        self.pace = 1.0  # of clocks in which a frame may begin
        self.gaps, self.gap = 0.0, 0.1  # share of frames with gaps, and of clocks that are gaps in them
        self.gappy = False
        self.swallows = False  # completions without a timestamp vanish on their way here
        self.counts: Counter = Counter()

    def beat(self, clock: int) -> tuple | None:
        """The next beat for the block, or None."""
        if not self.beats:
            if not self.waiting or self.pace < 1 and self.random.random() >= self.pace:
                return None
            frame = self.waiting[0]
            if frame.tag & ASKS:
                if self.start - self.finish == ENTRIES:
                    return None
                frame.tag = ASKS | self.start % ENTRIES
                self.table[self.start % ENTRIES] = frame
                self.start += 1
            self.frame = self.waiting.popleft()
            frame.began = clock
            self.gappy = self.gaps > 0 and self.random.random() < self.gaps
            self.beats.extend(cut(frame.data, self.lanes, frame.tag, frame.bad))
        elif self.gappy and self.random.random() < self.gap:
            return None
        return self.beats.popleft()

    def complete(self, stamp: int, tag: int, clock: int):
        if not tag & ASKS:
            self.counts["ignored"] += 1
            return
        if self.swallows and not stamp:
            self.counts["swallowed"] += 1
            return
        entry = tag & ~ASKS
        frame = self.table[entry] if entry < ENTRIES else None
        assert frame is not None, (
            f"clock {clock}: port {self.port}, completion of tag {tag:04x}, which is not in flight"
        )
        assert not self.done[entry], f"clock {clock}: port {self.port}, tag {tag:04x} is completed twice"
        frame.completions.append((clock, stamp))
        self.done[entry] = True
        self.counts["stamped" if stamp else "plain"] += 1
        while self.finish < self.start and self.done[self.finish % ENTRIES]:
            self.table[self.finish % ENTRIES], self.done[self.finish % ENTRIES] = None, False
            self.finish += 1

    @property
    def in_flight(self) -> int:
        return self.start - self.finish

    @property
    def idle(self) -> bool:
        return not self.waiting and not self.beats and not self.in_flight


class HostRx:
    """Takes received frames, or does not, when the host is slow."""

    def __init__(self, port: int, random, lanes: int):
        self.random = random
        self.pace, self.stalled = 1.0, False
        self.assembler = Assembler(f"m_axis_sync_rx of port {port}", lanes)

    def ready(self) -> bool:
        return not self.stalled and (self.pace >= 1 or self.random.random() < self.pace)
