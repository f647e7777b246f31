"""Drops at departure and reports in a NIC: an engine gets the tags of frames that CoDel dropped, and the host a report of each drop and mark."""

from collections import Counter

import cocotb

from vermilion.configuration.reports import NAMES, Reports

from .accounts import at_rest, opened, port_agrees
from .core import Core, seeded
from .driver import BY_LANE, FORWARD, HOST_LANE, TO_HOST, App
from .frames import ASKS
from .lanes import DROPPED_DSCP, codel, plenty

HEAD = 64  # bytes of a record, and of a packet that a report has


async def reporting(app: App, **asked):
    """Selects reports in all lanes."""
    wanted = Reports(**asked)
    for lane in {lane.base: lane for lane in app.lanes}.values():
        await lane.write("report_every", wanted.every)
        await lane.write("report_interval", wanted.interval_ns)
        await lane.write("report_burst", wanted.burst_ns)
        header = wanted.ethernet() + [0, 0]
        for i in range(4):
            await lane.write("report_ethernet", int.from_bytes(bytes(header[4 * i : 4 * i + 4]), "little"), i)
        for queue in range(await lane.read("queues")):
            await lane.write("report_select", {"reasons": wanted.mask(""), "queue": queue})


def told(core: Core) -> list[tuple[str, int, bytes]]:
    """Reason, length and first bytes of each report, by the hosts of all ports; checked against what a report must be."""
    found, last = [], -1
    for reports in core.reports:
        for data in reports:
            assert len(data) in (HEAD, 2 * HEAD) and data[14] == 1
            number = int.from_bytes(data[50:54], "big")
            assert number > last
            last = number
            found.append((NAMES[data[15] - 1], int.from_bytes(data[20:22], "big"), data[HEAD:]))
    return found


def heads(frames) -> Counter:
    return Counter((len(frame.data), frame.data[:HEAD].ljust(HEAD, b"\0")) for frame in frames)


@cocotb.test()
async def each_drop_is_told_to_the_host_among_its_frames(dut):
    """Of 40 frames of each port's host 20 are forced drops; meanwhile the MACs bring frames past the lanes."""
    core = seeded(dut, 300)
    app = await opened(core, plenty())
    await reporting(app)
    lane = app.wire[0]
    await lane.write("report_select", {"reasons": 2, "queue": await lane.read("queues")})
    assert (await lane.fields("status"))["bad_queue"]
    await lane.write("status", {"bad_queue": 1})
    for port in range(core.ports):
        await app.route(port, tx=BY_LANE, rx=TO_HOST)
        core.hosts[port].pace = 0.9
    for i in range(40):
        for port in range(core.ports):
            core.send(port, core.random.choice((60, 64, 100, 1514)), dscp=DROPPED_DSCP if i % 2 else 0)
            core.receive(port, core.random.choice((60, 200, 1514)))
        await core.after(core.random.randrange(300))
    await at_rest(core, app)
    core.settle()
    reports = told(core)
    dropped = [f for f in core.frames.values() if f.source == "host" and f.left is None]
    assert len(dropped) == 20 * core.ports == len(reports)
    assert {reason for reason, _, _ in reports} == {"forced"}
    assert Counter((length, head) for _, length, head in reports) == heads(dropped)
    assert all(len(frames) == 40 for frames in core.to_host), "a frame of a MAC is missing"


@cocotb.test()
async def frames_of_the_lane_go_to_the_host_before_reports(dut):
    """A slow host: each second frame is dropped, and no report delays those that wait in the lane."""
    core = seeded(dut, 305)
    app = await opened(core, plenty())
    await reporting(app)
    await app.route(0, rx=HOST_LANE)
    core.hosts[0].pace = 0.1
    for i in range(120):
        core.receive(0, 60, dscp=DROPPED_DSCP if i % 2 else 0)
    await core.until(lambda: len(core.to_host[0]) == 60)
    early = len(core.reports[0])
    core.hosts[0].pace = 1.0
    await at_rest(core, app)
    core.settle()
    lost = sum([await lane.read("report_events", 1) for lane in {lane.base: lane for lane in app.lanes}.values()])
    assert len(told(core)) == 60 - lost > 15
    assert early < 4, f"{early} reports went before frames that waited"


@cocotb.test()
async def a_host_that_takes_nothing_costs_reports_alone(dut):
    """Frames to the wire leave as before; reports that find no place are counted."""
    core = seeded(dut, 310)
    app = await opened(core, plenty())
    await reporting(app)
    await app.route(0, tx=BY_LANE)
    for host in core.hosts:
        host.stalled = True
    for i in range(200):
        core.send(0, 60, dscp=DROPPED_DSCP if i % 2 else 0)
    await core.until(lambda: len(core.on_wire[0]) == 100)
    await core.after(2000)
    lost = await app.wire[0].read("report_events", 1)
    assert 50 < lost < 100
    for host in core.hosts:
        host.stalled = False
    await at_rest(core, app)
    core.settle()
    assert len(told(core)) == 100 - lost == await app.wire[0].read("report_events", 0) - lost


@cocotb.test()
async def flushed_frames_are_told_with_their_own_bytes(dut):
    """A paused egress is flushed at a frame per clock, more than reports can be made, while frames arrive and are dropped. Their cells are used again at once."""
    core = seeded(dut, 315)
    app = await opened(core, plenty())
    await reporting(app, reasons=list(NAMES))
    lane, ports = app.wire[0], range(core.ports)
    for port in ports:
        await app.route(port, tx=BY_LANE)
    await lane.write("pause", 1 << lane.egress)
    for turn in range(4):
        for i in range(150):
            core.send(0, core.random.choice((60, 60, 60, 100)), dscp=0 if i < 100 else DROPPED_DSCP)
        await core.after(300 if turn == 3 else 100 * 20)
        await lane.write("flush", {"egresses": 1 << lane.egress})
        for _ in range(50):
            core.send(core.peer(0), 60, dscp=core.random.choice((0, DROPPED_DSCP)))
        await core.after(100 * 20)
        await lane.write("flush", 0)
    await lane.write("pause", 0)
    await at_rest(core, app)
    core.settle()
    dropped = heads([frame for frame in core.frames.values() if frame.left is None])
    reports = told(core)
    seen = Counter(reason for reason, *_ in reports)
    offered, lost = [await lane.read("report_events", i) for i in range(2)]
    flushed = (await lane.counters(2))["flushed"]
    dut._log.info(f"{flushed} flushed, {lost} of {offered} lost, {seen}")
    assert Counter((length, head) for _, length, head in reports if head) <= dropped
    assert len(reports) == offered - lost
    assert flushed > 200 and lost > 100 and 20 < seen["flushed"] <= flushed and seen["forced"] > 20, seen


@cocotb.test()
@cocotb.parametrize(at_enqueue=[0, 1])
async def frames_that_codel_drops_are_completed_and_told(dut, at_enqueue):
    """Frames of the host and of the peer's MAC share a queue. Each of the host's gets its completion once."""
    core = seeded(dut, 320 + at_enqueue)
    app = await opened(core, codel("300Mbit"))
    await reporting(app)
    await app.write("port.completion", at_enqueue, 0)
    await app.route(0, tx=BY_LANE)
    await app.route(core.peer(0), rx=FORWARD)
    for _ in range(150):
        core.send(0, core.random.choice((60, 300, 900)), asks=core.random.random() < 0.9)
        if core.random.random() < 0.5:
            core.receive(core.peer(0), core.random.choice((60, 300)))
    await at_rest(core, app, 2_000_000)
    core.settle()
    await port_agrees(core, app, 0)
    counted = await app.wire[0].counters(1)
    dropped = [frame for frame in core.frames.values() if frame.left is None]
    reports = told(core)
    shown = Counter((length, head) for _, length, head in reports if head)
    assert len(reports) == len(dropped) and shown <= heads(dropped)
    assert all(reason == "nobuf" for reason, _, head in reports if not head), "the bytes of a stored frame are gone"
    assert sum(reason == "departure_dropped" for reason, *_ in reports) == counted["departure_dropped"] > 10, counted
    asked = [frame for frame in dropped if frame.source == "host" and frame.tag & ASKS]
    assert len(asked) > 5 and all(len(frame.completions) == 1 for frame in asked)
