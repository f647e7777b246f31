"""Tags and completions: a Corundum engine behind the wire lanes never waits for one in vain and never gets one twice.

`FRAMES` in the environment: how many host frames the random test sends on each port; the suite sends few.
"""

import os

import cocotb

from . import frames
from .accounts import at_rest, opened, port_agrees
from .core import GIGABITS, seeded
from .driver import BY_LANE, BYPASS, FORWARD, TO_HOST
from .engine import ENTRIES
from .lanes import DROPPED_DSCP, nearest, plenty, rio
from .mac import FIFO_BEATS

FRAMES = int(os.environ.get("FRAMES", "1500"))
CHOSEN = 8  # frames of a cell that have departed and are not with the MAC: four chosen, one in the reader, two in the rewrite, one behind it
JUDGED = 12  # more of them that are chosen, in builds with codel
BEATS = 2  # that wait in front of the MAC; frames only where a beat holds a whole one
EVICTS = "EVICTS" in os.environ  # a build that can evict queued packets


async def through_the_lane(dut, number: int):
    core = seeded(dut, number)
    app = await opened(core, plenty())
    await app.route(0, tx=BY_LANE)
    return core, app


@cocotb.test()
@cocotb.parametrize(at_enqueue=[0, 1])
async def a_hundred_frames_leave_behind_forty_that_were_dropped(dut, at_enqueue):
    core, app = await through_the_lane(dut, 10 + at_enqueue)
    await app.write("port.completion", at_enqueue, 0)
    for i in range(40):
        core.send(0, 60 + i, dscp=DROPPED_DSCP if i % 2 else 0, bad=not i % 2)
    for _ in range(100):
        core.send(0, 60)
    await at_rest(core, app)
    core.settle()
    counts = await port_agrees(core, app, 0)
    assert len(core.on_wire[0]) == 100 and counts["for_drop"] == 40 and counts["at_enqueue"] == 100 * at_enqueue
    assert counts["lane bad"] == counts["lane forced"] == 20


@cocotb.test()
@cocotb.parametrize(dropped=[1, 40])
async def the_engine_would_stop_if_dropped_frames_were_not_completed(dut, dropped):
    core, app = await through_the_lane(dut, 20)
    await app.write("port.completion", 0, 0)
    core.engines[0].swallows = True
    for _ in range(dropped):
        core.send(0, 60, dscp=DROPPED_DSCP)
    for _ in range(100):
        core.send(0, 60)
    await core.after(5_000)
    assert core.engines[0].in_flight == ENTRIES and core.engines[0].waiting
    assert len(core.on_wire[0]) < 100, "the bench does not notice a completion that is missing"


@cocotb.test()
async def two_hundred_frames_queue_up_behind_a_waiting_mac_and_leave(dut):
    core, app = await through_the_lane(dut, 30)
    mac, engine = core.mac_tx[0], core.engines[0]
    mac.paused = True
    for _ in range(200):
        core.send(0, 60)
    await core.until(lambda: engine.idle)
    beats = -(-60 // core.lanes)
    assert len(core.on_wire[0]) == FIFO_BEATS // beats, "the MAC holds what it has room for, the lane all others"
    mac.paused = False
    await at_rest(core, app)
    core.settle()
    assert len(core.on_wire[0]) == 200
    assert (await port_agrees(core, app, 0))["at_enqueue"] == 200


@cocotb.test()
async def without_completion_at_enqueue_the_queue_never_holds_more_than_the_engine_has_tags(dut):
    core, app = await through_the_lane(dut, 31)
    await app.write("port.completion", 0, 0)
    core.mac_tx[0].paused = True
    for _ in range(200):
        core.send(0, 60)
    await core.after(5_000)
    assert core.engines[0].in_flight == ENTRIES and len(core.engines[0].waiting) == 200 - ENTRIES
    core.mac_tx[0].paused = False
    await at_rest(core, app)
    core.settle()
    assert len(core.on_wire[0]) == 200 and not (await port_agrees(core, app, 0))["at_enqueue"]


async def held_by_a_mac_in_reset(dut, number: int, at_enqueue: int):
    """200 frames were sent; the MAC held as many as it has room for, and a reset of its side lost them."""
    core, app = await through_the_lane(dut, number)
    await app.write("port.completion", at_enqueue, 0)
    mac = core.mac_tx[0]
    mac.paused = True
    for _ in range(200):
        core.send(0, 60)
    lost = FIFO_BEATS // -(-60 // core.lanes)
    await core.until(lambda: len(core.on_wire[0]) == lost)
    await core.after(100)
    mac.reset(clocks=50)
    await core.after(40)
    assert len(core.on_wire[0]) == lost, "a MAC in reset took a frame"
    mac.paused = False
    return core, app, lost


@cocotb.test()
async def a_reset_of_the_mac_costs_what_it_held_where_frames_are_completed_at_enqueue(dut):
    core, app, lost = await held_by_a_mac_in_reset(dut, 34, at_enqueue=1)
    mac, engine = core.mac_tx[0], core.engines[0]
    await at_rest(core, app)
    assert not engine.in_flight and len(mac.stamps) == 200 - lost
    late = FIFO_BEATS + 8  # beats of a frame that are in: the FIFO is full, and the MAC has begun
    # What the lane's cells hold; in the last the frame behind the one that the reset cuts is given to the MAC before it is whole.
    for length, frames_sent, beats in ((1514, 20, 5), (9014, 3, 5), (9014, 3, late)):
        for _ in range(frames_sent):
            core.send(0, length)
        before, begun = len(core.on_wire[0]), len(mac.stamps)
        inside = lambda: len(core.on_wire[0]) > before and len(mac.assembler.parts) > beats
        await core.until(inside)
        mac.reset(clocks=core.random.randrange(1, 50))
        await at_rest(core, app)
        came = len(core.on_wire[0]) - before
        assert came == frames_sent and not engine.in_flight, f"{came} of {frames_sent} frames of {length} bytes came"
        held = 1 + FIFO_BEATS // -(-length // core.lanes)  # the one that was coming in, and whole ones
        assert came - held <= len(mac.stamps) - begun <= came
        assert not mac.dry or beats == late
    assert mac.dry, "no frame ran dry behind a reset inside a long frame"
    sent = len(mac.stamps)
    for _ in range(20):
        core.send(0, 60)
    await at_rest(core, app)
    assert len(mac.stamps) == sent + 20 and not engine.in_flight


@cocotb.test()
async def a_reset_of_the_mac_stops_the_engine_where_the_mac_completes_as_without_the_block(dut):
    core, _, lost = await held_by_a_mac_in_reset(dut, 36, at_enqueue=0)
    await core.after(5_000)
    engine, mac = core.engines[0], core.mac_tx[0]
    assert len(mac.stamps) == ENTRIES - lost == sum(engine.done), "the MAC did not go on behind its reset"
    assert engine.in_flight == ENTRIES and engine.waiting, "completions of lost frames came from somewhere"


@cocotb.test()
@cocotb.parametrize(at_enqueue=[0, 1])
async def frames_that_are_flushed_behind_a_waiting_mac_are_completed(dut, at_enqueue):
    core, app = await through_the_lane(dut, 38 + at_enqueue)
    await app.write("port.completion", at_enqueue, 0)
    mac, engine, lane = core.mac_tx[0], core.engines[0], app.wire[0]
    mac.paused = True
    for _ in range(200):
        core.send(0, 60)
    await core.after(5_000)
    assert at_enqueue or engine.in_flight == ENTRIES
    await lane.write("flush", {"egresses": 1 << lane.egress})
    await core.after(5_000)
    kept = len(core.on_wire[0]) + CHOSEN + (BEATS if core.lanes >= 60 else 0)
    kept += JUDGED * await lane.read("codel")
    # The engine gives entries back in order, so those that the MAC holds stop it. None behind them is missing.
    assert engine.in_flight - sum(engine.done) <= (0 if at_enqueue else kept), "frames that are gone hold the engine"
    mac.paused = False
    await core.until(lambda: engine.idle)
    await lane.write("flush", 0)
    await at_rest(core, app)
    core.settle()
    counts = await port_agrees(core, app, 0)
    assert counts["lane flushed"] == 200 - len(core.on_wire[0]) >= 200 - kept
    assert counts["for_eviction"] == (0 if at_enqueue else counts["lane flushed"])


@cocotb.test()
async def ptp_event_frames_keep_their_tag_and_get_the_time_at_which_they_left(dut):
    core, app = await through_the_lane(dut, 40)
    events = 0
    for form in range(12):
        core.send(0, 60)
        for length in (64, 300):
            core.send_data(0, frames.event(core.number, length, core.random, form), event=True)
            core.send_data(0, frames.nearly_an_event(core.number, length, core.random))
            events += 1
    await at_rest(core, app)
    core.settle()
    counts = await port_agrees(core, app, 0)
    assert counts["ptp"] == events and counts["at_enqueue"] == core.number - events == counts["lane completions"]
    asked = sum(tag & frames.ASKS != 0 for _, tag in core.mac_tx[0].stamps)
    assert core.counts["stamped completions"] == asked, "the host gets the MAC's completion of every frame that asks"


class Mixture:
    """Random frames of all kinds, with everything that may change at any time changing."""

    def __init__(self, core, app):
        self.core, self.app, self.random = core, app, core.random
        self.sent = [0] * core.ports

    def send(self, port: int):
        core, random = self.core, self.random
        kind = random.random()
        length = random.choice([60, 60, 60, 64, 65, 128, 200])
        if kind < 0.08:
            core.send_data(port, frames.event(core.number, length, random), event=True, bad=random.random() < 0.1)
        elif kind < 0.12:
            core.send_data(port, frames.nearly_an_event(core.number, length, random))
        elif kind < 0.15:
            core.send(port, 1514, stream=None)
        else:
            dscp, ecn = random.choice([0, 0, 10, 12, 14, 14, DROPPED_DSCP]), random.randrange(4)
            core.send(port, length, dscp, random.random() > 0.03, None, random.random() < 0.03, ecn)
        self.sent[port] += 1

    def receive(self, port: int):
        core, random = self.core, self.random
        if random.random() < 0.05:
            core.receive_data(port, frames.event(core.number, 90, random))
        else:
            core.receive(port, random.choice([60, 60, 200, 1514]), random.choice([0, 10, 12, 14]), stream=None)

    def paces(self):
        core, random = self.core, self.random
        core.cpl_pace, core.stat_pace = random.choice([1.0, 0.5, 0.1]), random.choice([1.0, 0.5, 0.05])
        for engine, rx, tx in zip(core.engines, core.mac_rx, core.mac_tx, strict=True):
            engine.pace, engine.gaps = random.choice([1.0, 1.0, 0.05]), random.choice([0.0, 0.5])
            rx.pace, tx.paused = random.choice([1.0, 0.3]), random.random() < 0.2

    async def registers(self):
        app, random = self.app, self.random
        port = random.randrange(self.core.ports)
        await app.write("port.completion", random.randrange(2), port)
        rx = random.choice([TO_HOST, FORWARD, FORWARD])
        await app.route(port, tx=random.choice([BYPASS, BY_LANE, BY_LANE, BY_LANE]), rx=rx, wait=False)
        flushes = {
            "egresses": 0,
            "queue": random.choice([0, *app.wire[port].queues()]),
            "queue_on": random.random() < 0.1,
        }
        flushes["egresses"] = 1 << app.wire[port].egress if random.random() < 0.15 else 0
        await app.wire[port].write("flush", flushes)

    async def run(self, each: int):
        core = self.core
        while min(self.sent) < each:
            self.paces()
            for port in range(core.ports):
                if len(core.engines[port].waiting) < 200:
                    for _ in range(self.random.randrange(60)):
                        self.send(port)
                for _ in range(self.random.randrange(20)):
                    if len(core.mac_rx[port].waiting) < 40:
                        self.receive(port)
            await core.after(20 + self.random.randrange(800) * 8 // core.lanes)
            await self.registers()
        core.cpl_pace = 1.0
        for lane in self.app.wire:
            await lane.write("flush", 0)
        for tx in core.mac_tx:
            tx.paused = False


@cocotb.test()
async def every_tag_is_completed_once_whatever_changes_under_way(dut):
    core = seeded(dut, 50)
    core.remarks = True
    rate = 0.8 * GIGABITS[core.lanes]
    app = await opened(core, nearest(40) if EVICTS else rio(f"{rate:g}Gbit", (0.5, 0.5, 0.5)), plenty())
    if EVICTS:
        await app.wire[-1].configure(nearest(40, 16))
    mixture = Mixture(core, app)
    await mixture.run(FRAMES)
    await at_rest(core, app, 2_000_000)
    core.settle()
    total = dict.fromkeys(await port_agrees(core, app, 0), 0)
    for port in range(core.ports):
        counts = await port_agrees(core, app, port)
        total = {name: total[name] + counts[name] for name in total}
    dut._log.info(f"{mixture.sent} host frames, {core.clocks} clocks; {total}")
    kinds = ["taken", "for_drop", "at_enqueue", "of_mac", "ptp", "forwarded", "lane bad", "lane forced"]
    kinds += ["for_eviction", "lane flushed"] + (["lane evicted"] if EVICTS else ["lane early", "lane ce"])
    assert all(total[kind] for kind in kinds), f"something never happened: {total}"
