"""Corundum's core as the app block sees it: engines, MACs, host, statistics and PTP time round one block, moved on by
one coroutine, clock by clock.

Every frame is known (frames.py), and every one that comes out is checked: it is a frame that came in, whole, once, in
the order of its stream. What a test does with all ports at once: `send`, `receive`, `until`, `rest`, `reset`;
registers: driver.py. At the end `settle` checks what the tags' rules ask of all frames.

Signals are driven at the falling edge and looked at before the next rising one, when all that depends on them has
settled.
"""

import os
import random as randomness
from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Event, FallingEdge, ReadOnly
from cocotbext.axi import AxiLiteBus, AxiLiteMaster

from . import frames
from .engine import Engine, HostRx
from .frames import ASKS, REPORT, Frame, number_of, without_marks
from .mac import MacRx, MacTx
from .streams import Driver, Watch

CLOCK_PS = 4000
AXIS, COMPLETION = ("tdata", "tkeep", "tlast", "tuser"), ("ts", "tag")
GIGABITS = {8: 10, 16: 25, 64: 100}  # by bytes of a beat
REST_CLOCKS = 200  # without a beat anywhere


def seeded(dut, number: int) -> "Core":
    return Core(dut, 1000 * int(os.environ.get("VERMILION_SEED", "1")) + number)


class Core:
    def __init__(self, dut, seed: int):
        dut._log.info(f"seed {seed}")
        self.dut, self.random = dut, randomness.Random(seed)
        self.resets = randomness.Random(seed + 1)
        self.ports = len(dut.m_axis_sync_tx_tvalid)
        self.lanes = len(dut.m_axis_sync_tx_tkeep) // self.ports
        self.stamps = len(dut.s_axis_sync_rx_tuser) // self.ports > 1
        axis = lambda kind, prefix: kind(dut, prefix, self.ports, AXIS, "tvalid", "tready")
        self.tx_in, self.rx_in = axis(Driver, "s_axis_sync_tx"), axis(Driver, "s_axis_sync_rx")
        self.tx_out, self.rx_out = axis(Watch, "m_axis_sync_tx"), axis(Watch, "m_axis_sync_rx")
        self.cpl_in = Driver(dut, "s_axis_sync_tx_cpl", self.ports, COMPLETION, "valid", "ready")
        self.cpl_out = Watch(dut, "m_axis_sync_tx_cpl", self.ports, COMPLETION, "valid", "ready")
        self.stat_out = Watch(dut, "m_axis_stat", 1, ("tdata", "tid"), "tvalid", "tready")
        self.streams = [self.tx_in, self.rx_in, self.cpl_in, self.tx_out, self.rx_out, self.cpl_out, self.stat_out]
        self.cpl_pace = self.stat_pace = 1.0
        self.clocks, self.quiet, self.number = 0, 0, 0
        self.resetting = False
        self.remarks = False  # lanes write DSCP or ECN
        self.cuts = False  # a bypass may cut frames
        self.transparent = False  # tags must leave as they came
        self.ptp_ns = None  # driven where a number
        self.waits: list = []
        self.axil = None
        self.renew()

    def renew(self):
        """Everything round the block as it is after a reset; frames are numbered on."""
        ports, lanes, gigabits = range(self.ports), self.lanes, GIGABITS[self.lanes]
        self.engines = [Engine(i, self.random, lanes) for i in ports]
        self.hosts = [HostRx(i, self.random, lanes) for i in ports]
        self.mac_tx = [MacTx(i, self.random, lanes, gigabits, CLOCK_PS) for i in ports]
        self.mac_rx = [MacRx(i, self.random, lanes, gigabits) for i in ports]
        self.frames: dict[int, Frame] = {}
        self.statistics: Counter = Counter()  # by id
        self.counts: Counter = Counter()
        self.last_of: dict[tuple, int] = {}  # by way out and stream: the number of the last frame
        self.on_wire: list[list[Frame]] = [[] for _ in ports]  # captures
        self.reports: list[list[bytes]] = [[] for _ in ports]  # of the lanes, to the host of a port
        self.to_host: list[list[tuple[Frame, bool]]] = [[] for _ in ports]  # frames, and whether they were cut
        self.slow_engine = False  # was it ever?

    # ---- Running ----
    async def start(self):
        """The clock, the first reset, and from then on all that moves: once a test."""
        dut = self.dut
        for name in ("ptp_sync_ts_rel", "ptp_sync_locked"):
            getattr(dut, name).value = 0
        cocotb.start_soon(Clock(dut.clk, CLOCK_PS, unit="ps").start())
        self.axil = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil_app_ctrl"), dut.clk, dut.rst)
        for log in ("write_if", "read_if"):
            getattr(self.axil, log).log.setLevel("WARNING")
        await self.pulse()
        cocotb.start_soon(self.run())

    async def reset(self):
        """Resets the block and all round it, as a NIC does, whatever is under way: a frame of before that comes out
        afterwards, or a completion for one, is an error. One clock is enough.
        """
        self.renew()
        await self.pulse(self.resets.choice((1, 1, 2, 3, 8)))

    async def pulse(self, clocks: int = 8):
        self.resetting = True
        self.dut.rst.value = 1
        for stream in self.streams:
            stream.clear()
            stream.drive()
        for _ in range(clocks):
            await FallingEdge(self.dut.clk)
        self.dut.rst.value = 0
        self.resetting = False

    async def run(self):
        falling, settled = FallingEdge(self.dut.clk), ReadOnly()
        while True:
            if not self.resetting:
                self.drive(self.clocks * CLOCK_PS)
            await settled
            if not self.resetting:
                self.look()
            self.clocks += 1
            for wait in [wait for wait in self.waits if wait[0]()]:
                self.waits.remove(wait)
                wait[1].set()
            await falling

    async def until(self, done, clocks: int = 400_000):
        """Until a condition holds; it is looked at in every clock."""
        end, event = self.clocks + clocks, Event()
        self.waits.append((lambda: done() or self.clocks > end, event))
        await event.wait()
        await FallingEdge(self.dut.clk)
        assert done(), f"that did not come within {clocks} clocks"

    async def after(self, clocks: int):
        end = self.clocks + clocks
        await self.until(lambda: self.clocks >= end, clocks + 1)

    async def rest(self, clocks: int = 400_000):
        """Until nothing has moved for a while and the sources have nothing left."""
        idle = lambda: self.sources_rest() and all(mac.idle for mac in self.mac_tx)
        await self.until(lambda: self.quiet > REST_CLOCKS and idle(), clocks)

    def sources_rest(self) -> bool:
        """Nothing waits or is under way on the sources' side."""
        return all(rx.idle for rx in self.mac_rx) and not any(e.waiting or e.beats for e in self.engines)

    # ---- Traffic ----
    def peer(self, port: int) -> int:
        """The port whose RX goes out at `port` when it is forwarded."""
        return port ^ 1 if port ^ 1 < self.ports else port

    def add(self, source: str, port: int, data: bytes, stream, bad: bool = False, event: bool = False) -> Frame:
        """One more frame; `data` has the number `self.number`."""
        frame = Frame(self.number, data, source, port, bad, event, stream=stream and (source, port, stream))
        self.frames[self.number] = frame
        self.number += 1
        return frame

    def send(
        self, port: int, length: int, dscp: int = 0, asks: bool = True, stream="", bad: bool = False, ecn: int = 0
    ):
        """A plain frame from the host. Frames of a port with one DSCP are a stream, unless `stream` names another, or
        None: none.
        """
        data = frames.plain(self.number, length, self.random, dscp, ecn)
        return self.send_data(port, data, asks, f"dscp {dscp}" if stream == "" else stream, bad)

    def send_data(self, port: int, data: bytes, asks: bool = True, stream=None, bad: bool = False, event: bool = False):
        frame = self.add("host", port, data, stream, bad, event)
        frame.tag = ASKS if asks else self.random.randrange(ASKS)
        self.engines[port].waiting.append(frame)
        return frame

    def receive(self, port: int, length: int, dscp: int = 0, stream="", bad: bool = False, ecn: int = 0):
        """A plain frame from the wire."""
        data = frames.plain(self.number, length, self.random, dscp, ecn)
        return self.receive_data(port, data, f"dscp {dscp}" if stream == "" else stream, bad)

    def receive_data(self, port: int, data: bytes, stream=None, bad: bool = False, event: bool = False):
        frame = self.add("wire", port, data, stream, bad, event)
        frame.stamp = self.random.getrandbits(96) if self.stamps else 0
        self.mac_rx[port].waiting.append(frame)
        return frame

    # ---- A clock ----
    def drive(self, now: int):
        random = self.random
        for i in range(self.ports):
            if self.tx_in.holds[i] is None:
                beat = self.engines[i].beat(self.clocks)
                if beat is not None:
                    self.tx_in.put(i, beat)
            rx = self.mac_rx[i]
            rx.clock(now, self.clocks)
            if self.rx_in.holds[i] is None and rx.fifo:
                self.rx_in.put(i, rx.fifo.popleft())
            tx = self.mac_tx[i]
            tx.clock(now)
            if self.cpl_in.holds[i] is None and tx.completions and tx.completions[0][0] <= now:
                self.cpl_in.put(i, tx.completions.popleft()[1:])
        self.tx_out.ready_now = sum(tx.ready() << i for i, tx in enumerate(self.mac_tx))
        self.rx_out.ready_now = sum(host.ready() << i for i, host in enumerate(self.hosts))
        self.cpl_out.ready_now = 2**self.ports - 1 if self.cpl_pace >= 1 or random.random() < self.cpl_pace else 0
        self.stat_out.ready_now = int(self.stat_pace >= 1 or random.random() < self.stat_pace)
        self.slow_engine |= self.cpl_pace < 1
        for stream in self.streams:
            stream.drive()
        if self.ptp_ns is not None:
            self.ptp_ns += CLOCK_PS // 1000
            self.dut.ptp_sync_ts_rel.value = (self.ptp_ns << 16) & (2**64 - 1)

    def look(self):
        self.quiet += 1
        if self.tx_in.taken() | self.cpl_in.taken():
            self.quiet = 0
        offered = self.rx_in.valid_now
        if offered:
            self.quiet = 0
            assert self.rx_in.taken() == offered, f"clock {self.clocks}: s_axis_sync_rx is stalled"
        for i, beat in self.tx_out.beats(self.clocks):
            self.quiet = 0
            self.mac_tx[i].write(beat)
            frame = self.mac_tx[i].assembler.add(beat, self.clocks)
            if frame:
                self.sent(i, *frame)
        for i, beat in enumerate(self.tx_out.stalled):
            if beat is not None:
                self.mac_tx[i].offered()
        for i, beat in self.rx_out.beats(self.clocks):
            self.quiet = 0
            frame = self.hosts[i].assembler.add(beat, self.clocks)
            if frame:
                self.received(i, *frame)
        for i, (stamp, tag) in self.cpl_out.beats(self.clocks):
            self.quiet = 0
            self.engines[i].complete(stamp, tag, self.clocks)
            self.counts["stamped completions" if stamp else "plain completions"] += 1
        for _, (increment, number) in self.stat_out.beats(self.clocks):
            self.statistics[number] += increment

    # ---- What comes out ----
    def known(self, data: bytes, where: str) -> Frame:
        frame = self.frames.get(number_of(data))
        assert frame is not None, f"clock {self.clocks}: {where} gave a frame that nobody sent: {data[:32].hex()}"
        return frame

    def whole(self, frame: Frame, data: bytes, where: str):
        same = data == frame.data or self.remarks and without_marks(data) == without_marks(frame.data)
        frame.marked = same and data[15] & 3 == 3 != frame.data[15] & 3
        assert same, (
            f"clock {self.clocks}: {where} changed frame {frame.number} of {len(frame.data)} bytes, {len(data)} came"
        )
        assert frame.left is None, f"clock {self.clocks}: {where} gave frame {frame.number} twice"
        frame.left = self.clocks
        if frame.stream:
            key = (where, frame.stream)
            assert self.last_of.get(key, -1) < frame.number, (
                f"clock {self.clocks}: {where} gave {frame.number} too late"
            )
            self.last_of[key] = frame.number

    def sent(self, port: int, data: bytes, user: int):
        where = f"TX of port {port}"
        frame = self.known(data, where)
        self.whole(frame, data, where)
        frame.left_tag = user >> 1
        if self.transparent:
            assert user == frame.tag << 1 | frame.bad, f"{where} changed tag or bad: {user:x}"
        assert frame.bad == bool(user & 1), f"clock {self.clocks}: {where} has bad wrong"
        came_at = port if frame.source == "host" else self.peer(port)
        assert frame.port == came_at, f"clock {self.clocks}: {where} gave a frame of another port"
        self.on_wire[port].append(frame)

    def received(self, port: int, data: bytes, user: int):
        where = f"RX of port {port}"
        if data[12:14] == REPORT.to_bytes(2, "big"):
            assert not user, f"clock {self.clocks}: {where} gave a report with a timestamp, or a bad one"
            self.reports[port].append(data)
            return
        frame = self.known(data, where)
        assert frame.source == "wire" and frame.port == port, f"{where} gave a frame of another port"
        assert user >> 1 == frame.stamp, f"clock {self.clocks}: {where} changed the timestamp"
        beats = -(-len(data) // self.lanes) - 1  # of the frame; the last one only ends it
        short = bool(self.cuts and user & 1 and data != frame.data)
        if short:
            assert frame.data.startswith(data[: beats * self.lanes]), f"clock {self.clocks}: {where} mixed a cut frame"
            assert len(data) <= len(frame.data) and frame.left is None
            frame.left = self.clocks
        else:
            self.whole(frame, data, where)
            assert frame.bad == bool(user & 1), f"clock {self.clocks}: {where} has bad wrong"
        self.to_host[port].append((frame, short))

    # ---- What must be true at rest ----
    def settle(self):
        """What the rules of tags and completions ask of every frame, once nothing is under way any more."""
        for port, (mac, engine) in enumerate(zip(self.mac_tx, self.engines, strict=True)):
            assert self.slow_engine or not mac.held, f"the MAC of port {port} could not get rid of its completions"
            assert len(mac.stamps) == len(self.on_wire[port]), f"the MAC of port {port} sent other frames than it got"
            for (stamp, tag), frame in zip(mac.stamps, self.on_wire[port], strict=False):
                assert tag == frame.left_tag
                frame.mac_stamp = stamp
            if not engine.swallows:
                assert not engine.in_flight, f"port {port}: {engine.in_flight} frames were never completed"
        for frame in self.frames.values():
            if frame.source == "wire":
                assert not frame.left_tag and not frame.completions
            elif frame.began is not None and not self.engines[frame.port].swallows:
                self.completed_once(frame)

    def completed_once(self, frame: Frame):
        text = f"frame {frame.number}, tag {frame.tag:04x}, left with {frame.left_tag:04x} at {frame.left}"
        stamps = [stamp for _, stamp in frame.completions]
        if not frame.tag & ASKS:
            assert not stamps and (frame.left is None or frame.left_tag == frame.tag), text
        elif frame.left is None:
            assert stamps == [0], f"{text}: it was lost, and completed with {stamps}"
        elif frame.left_tag & ASKS:
            assert frame.left_tag == frame.tag and stamps == [frame.mac_stamp], f"{text}: completed with {stamps}"
        else:
            assert frame.left_tag == frame.tag & ~ASKS and stamps == [0], f"{text}: completed with {stamps}"
            assert not frame.event, f"{text}: a PTP event frame without the time at which it left"
