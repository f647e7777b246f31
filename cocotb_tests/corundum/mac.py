"""A port's MAC and the FIFOs between it and the block, as Corundum has them (fpga/common/rtl/mqnic_port_tx.v,
mqnic_port_rx.v at 1ca0151b).

Times are in ps. A byte takes 8000 / (Gbit/s); a frame takes its bytes, at least 60, and 24 more: preamble, FCS and the
gap between frames. A beat of the block is due all so many bytes once a frame has begun: the MAC cannot wait.

TX: a FIFO of 32 beats that keeps a frame until its last beat is in. A frame that is longer goes on as soon as the FIFO
is full of it, and from there the MAC gets what is in. So in the first 32 beats gaps do no harm; behind them one that
runs the FIFO empty cuts the frame on the wire. The read side learns of new beats some clocks later, one update at a
time; the write side of room, too. The MAC takes the tag from a frame's first beat and completes it, with the time at
which it began, while it is sent. A reset of the MAC's side empties the FIFO and the one of its completions; while it lasts the FIFO takes
nothing, and behind it the rest of a frame that was coming in is dropped (axis_async_fifo.v there). If that frame was longer than the FIFO, the next
one is still given to the MAC beat by beat, and may run dry there.

RX: a FIFO of 32 beats. What meets it full is lost without a word: a frame at its first beat as a whole, else what is
left of it, with a bad end as soon as there is room.
"""

from collections import Counter, deque

from .frames import Frame
from .streams import Assembler, cut

FIFO_BEATS = 32
OVERHEAD, PREAMBLE, SHORTEST = 24, 8, 60
TO_READER_PS, UPDATE_PS, TO_WRITER_CLOCKS = 12_000, 30_000, 3
REPORT_PS = (20_000, 40_000)  # from a frame's begin to its completion at the block: six frames at 100 Gbit/s
COMPLETIONS = 32  # that may wait; for an engine slower than Corundum's the MAC waits, too, instead of losing them


class MacTx:
    def __init__(self, port: int, random, lanes: int, gigabits: int, clock_ps: int):
        self.port, self.random, self.clock_ps = port, random, clock_ps
        self.byte_ps, self.beat_ps = 8000 // gigabits, 8000 * lanes // gigabits
        self.assembler = Assembler(f"m_axis_sync_tx of port {port}", lanes)
        self.fifo: deque = deque()  # beats that are in: (last, user, bytes)
        self.written = self.committed = self.read = 0  # beats
        self.sending = False  # a frame longer than the FIFO is coming in
        self.updates: deque = deque()  # (time, beats): what the reader will see
        self.visible, self.next_update = 0, 0
        self.reads: deque = deque()  # as the writer will see them, a clock each
        self.seen_read = 0
        self.free_at, self.inside, self.begun_at, self.bytes = 0, False, 0, 0
        self.paused = False  # no frame begins
        self.completions: deque = deque()  # (time, stamp, tag)
        self.held = False  # a frame had to wait for room of its completion
        self.resetting, self.dropping = 0, False  # clocks of a reset to come; the rest of a frame goes nowhere
        self.exposed, self.dry = False, 0  # a frame may run dry behind a reset; clocks in which one did
        self.stamps: list = []  # (stamp, tag) of the frames that began, in order

    def ready(self) -> bool:
        return not self.resetting and self.written - self.seen_read < FIFO_BEATS

    def reset(self, clocks: int):
        """A reset of the MAC's side, of so many clocks."""
        for each in (self.fifo, self.updates, self.completions, self.reads):
            each.clear()
        self.written = self.committed = self.read = self.visible = self.seen_read = 0
        self.inside, self.exposed = False, self.sending  # `sending` outlives the reset
        self.resetting, self.dropping = clocks, bool(self.assembler.parts)

    def offered(self):
        """A beat waits while the FIFO is full: a frame that fills it alone begins to leave."""
        if self.written - self.committed == FIFO_BEATS:
            self.sending, self.committed = True, self.written

    def write(self, beat: tuple):
        _, keep, last, user = beat
        if self.dropping:
            self.dropping = not last
            return
        self.fifo.append((last, user, keep.bit_length()))
        self.written += 1
        if last or self.sending:
            self.sending, self.committed = not last, self.written

    def clock(self, now: int):
        """All that the MAC does up to a time."""
        if self.resetting:
            self.resetting, self.free_at = self.resetting - 1, now
            return
        if self.committed != self.visible and now >= self.next_update and not self.updates:
            self.updates.append((now + TO_READER_PS, self.committed))
            self.next_update = now + UPDATE_PS
        if self.updates and self.updates[0][0] <= now:
            self.visible = self.updates.popleft()[1]
        while self.free_at <= now:
            if not self.inside:
                if self.paused or self.read == self.visible:
                    break
                if len(self.completions) >= COMPLETIONS:
                    self.held = True
                    break
            self.beat(max(self.free_at, now - self.clock_ps), now)
        self.reads.append(self.read)
        if len(self.reads) > TO_WRITER_CLOCKS:
            self.seen_read = self.reads.popleft()

    def beat(self, at: int, now: int):
        if self.read >= self.visible:
            assert self.exposed, f"port {self.port}: the MAC underflows {now // self.clock_ps} clocks in"
            self.dry, self.free_at = self.dry + 1, now + self.clock_ps
            return
        last, user, size = self.fifo.popleft()
        self.read += 1
        if not self.inside:
            self.begun_at, self.bytes = at, 0
            stamp = (at + 1) << 16 | self.port
            self.stamps.append((stamp, user >> 1))
            before = self.completions[-1][0] if self.completions else 0
            ready_at = max(at + self.random.randrange(*REPORT_PS), before)
            self.completions.append((ready_at, stamp, user >> 1))
        self.bytes += size
        self.inside = not last
        self.free_at = at + self.beat_ps
        if last:
            self.exposed = self.sending
            self.free_at = self.begun_at + (OVERHEAD + max(self.bytes, SHORTEST)) * self.byte_ps

    @property
    def idle(self) -> bool:
        return not self.fifo and not self.completions and not self.assembler.parts


class MacRx:
    def __init__(self, port: int, random, lanes: int, gigabits: int):
        self.port, self.random, self.lanes = port, random, lanes
        self.byte_ps, self.beat_ps = 8000 // gigabits, 8000 * lanes // gigabits
        self.waiting: deque[Frame] = deque()
        self.pace = 1.0  # of the line that frames fill
        self.next_frame = self.due = 0
        self.coming: deque = deque()  # beats of the frame on the line
        self.fifo: deque = deque()
        self.dropping = self.marking = self.inside = False
        self.counts: Counter = Counter()

    def clock(self, now: int, clock: int):
        """What the line brings up to a time."""
        while True:
            if not self.coming:
                if not self.waiting:
                    return
                if self.next_frame < now - 50_000:
                    self.next_frame = now
                if self.next_frame + PREAMBLE * self.byte_ps + self.beat_ps > now:
                    return
                frame = self.waiting.popleft()
                frame.began = clock
                self.coming.extend(cut(frame.data, self.lanes, frame.stamp, frame.bad))
                self.due = self.next_frame + PREAMBLE * self.byte_ps + self.beat_ps
                time = (OVERHEAD + max(len(frame.data), SHORTEST)) * self.byte_ps
                self.next_frame += time
                if self.pace < 1:
                    self.next_frame += int(self.random.random() * 2 * time * (1 / self.pace - 1))
            if self.due > now:
                return
            self.due += self.beat_ps
            self.push(self.coming.popleft())

    def push(self, beat: tuple):
        """One beat into the FIFO, if it has room, by its rules for marked frames."""
        full, last = len(self.fifo) >= FIFO_BEATS, beat[2]
        first, self.inside = not self.inside, not last
        if self.marking and not full:
            self.fifo.append((0, 1, 1, beat[3] | 1))
            self.marking = False
            full = len(self.fifo) >= FIFO_BEATS
        if self.dropping:
            self.dropping = not last
        elif full or self.marking:
            self.counts["lost"] += 1
            self.marking |= not first
            self.dropping = not last
        else:
            self.fifo.append(beat)

    @property
    def idle(self) -> bool:
        return not self.waiting and not self.coming and not self.fifo
