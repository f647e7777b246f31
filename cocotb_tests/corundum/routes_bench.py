"""Routes: transparent after a reset, and frames stay whole whatever is switched while they pass. For every width and
number of ports.
"""

import cocotb

from .accounts import at_rest, found, opened, port_agrees
from .core import Core, seeded
from .driver import BY_LANE, BYPASS, DROP, FORWARD, HOST_LANE, TO_HOST, VERDICTS, App
from .frames import ASKS
from .lanes import plenty

SIZES = (60, 61, 64, 65, 127, 128, 129, 512, 1514)


def traffic(core: Core, count: int, **words):
    """Frames of both directions on all ports, of any size, a few of them bad."""
    random = core.random
    for _ in range(count):
        for port in range(core.ports):
            core.send(port, random.choice(SIZES), bad=random.random() < 0.05, asks=random.random() < 0.9, **words)
            core.receive(port, random.choice(SIZES), bad=random.random() < 0.05, **words)


@cocotb.test()
@cocotb.parametrize(gaps=[0.0, 0.5])
async def after_a_reset_everything_passes_as_it_is(dut, gaps):
    core = seeded(dut, 200 + int(gaps * 2))
    core.transparent = True
    traffic(core, 100)
    for port in range(core.ports):
        core.send(port, 9014)
        core.receive(port, 9014)
        core.engines[port].gaps = gaps
    if gaps:
        core.cpl_pace = 0.4
        for mac in core.mac_rx:
            mac.pace = 0.6
    await core.start()
    await core.rest()
    core.settle()
    assert all(len(frames) == 101 for frames in (*core.on_wire, *core.to_host)), "a frame is missing"
    asked = sum(frame.tag & ASKS != 0 for frame in core.frames.values() if frame.source == "host")
    assert core.counts["stamped completions"] == asked and not core.counts["plain completions"]


@cocotb.test()
async def every_route_alone_brings_every_frame_where_it_says(dut):
    core = seeded(dut, 210)
    app = await opened(core, plenty())
    ports = range(core.ports)
    for tx in (BY_LANE, BYPASS):
        for rx in (TO_HOST, HOST_LANE, FORWARD, DROP):
            if rx == HOST_LANE and not app.host:
                continue
            before = [len(core.to_host[port]) for port in ports], [len(core.on_wire[port]) for port in ports]
            for port in ports:
                await app.route(port, tx=tx, rx=rx)
                for _ in range(10):
                    core.receive(port, core.random.choice(SIZES))
            await core.rest()  # one after the other: together they may be more than the line takes
            for port in ports:
                for _ in range(10):
                    core.send(port, core.random.choice(SIZES))
            await at_rest(core, app)
            for port in ports:
                host, wire = len(core.to_host[port]) - before[0][port], len(core.on_wire[port]) - before[1][port]
                assert host == (10 if rx in (TO_HOST, HOST_LANE) else 0), f"tx {tx}, rx {rx}: {host} reached the host"
                assert wire == (20 if rx == FORWARD else 10), f"tx {tx}, rx {rx}: {wire} reached the wire"
    core.settle()
    for port in ports:
        counts = await port_agrees(core, app, port)
        assert counts["rx_dropped"] == 20 and counts["forwarded"] == 20, counts
        assert counts["taken"] == 10 * (4 if app.host else 3), counts
        assert not counts["rx_lost"] and not counts["rx_cut"]


@cocotb.test()
async def routes_that_change_under_traffic_neither_cut_nor_mix_frames(dut):
    core = seeded(dut, 220)
    app = await opened(core, plenty())
    random = core.random
    for _ in range(60):
        traffic(core, 4, stream=None)
        port = random.randrange(core.ports)
        rx = random.choice([TO_HOST, HOST_LANE, FORWARD, DROP] if app.host else [TO_HOST, FORWARD, DROP])
        for mac in core.mac_rx:
            mac.pace = random.choice([1.0, 0.4])
        for engine in core.engines:
            engine.gaps = random.choice([0.0, 0.3])
        core.cpl_pace = random.choice([1.0, 0.3])
        await app.route(port, random.choice([BYPASS, BY_LANE]), rx)
        await core.after(random.randrange(400))
    core.cpl_pace = 1.0
    await at_rest(core, app)
    core.settle()
    each = len(app.lanes) // core.ports
    left = gone = 0
    for port in range(core.ports):
        counts = await port_agrees(core, app, port)
        kinds = ("tail", "nobuf", "bad", "early", "forced", "policed", "lost")
        gone += sum(counts[f"lane {kind}"] for kind in kinds) + counts["rx_dropped"] + counts["rx_lost"]
        if each == 2:
            told = await app.statistics(each * port + 1)
            gone += sum(told[kind] for kind in kinds)
        left += len(core.on_wire[port]) + len(core.to_host[port])
        assert not counts["rx_cut"] + counts["rx_lost"], "the host takes everything"
    assert left + gone == core.number, f"{core.number} frames, {left} came out, {gone} were counted"
    dut._log.info(f"{core.number} frames, {left} came out, {gone} were counted as dropped")


@cocotb.test()
async def a_bypass_loses_nothing_while_the_host_lane_before_it_empties(dut):
    """The host takes everything; while the lane gives what it had queued, the bypass waits a frame at a time."""
    core = seeded(dut, 230)
    app = await opened(core, plenty())
    if not app.host:
        return
    await app.route(0, rx=HOST_LANE)
    core.hosts[0].stalled = True
    sizes = (1514,) * 8 + (9014,)
    for size in sizes:
        core.receive(0, size, stream=None)
    await core.until(lambda: core.mac_rx[0].idle)
    await app.route(0, rx=TO_HOST)
    core.hosts[0].stalled = False
    for _ in range(200):
        core.receive(0, core.random.choice(SIZES), stream=None)
    await at_rest(core, app)
    assert not await app.count("rx_lost", 0) and not await app.count("rx_cut", 0)
    assert len(core.to_host[0]) == len(sizes) + 200


@cocotb.test()
async def a_reset_under_traffic_leaves_a_block_as_new(dut):
    """When it comes, frames wait in the lanes and at the MACs, and completions are owed. No source is within a frame: one
    that a reset cuts there takes the next frame of its source with it (hw/src/vermilion/nic/RxEntry.scala).
    """
    core = seeded(dut, 240)
    app = await opened(core, plenty())
    for _ in range(3):
        for port, mac in enumerate(core.mac_tx):
            await app.write("port.completion", 0, port)
            mac.paused = True
        await by_the_lanes(core, app, 60)
        await core.after(core.random.randrange(200, 2000) * 8 // core.lanes)
        for source in (*core.engines, *core.mac_rx):
            source.waiting.clear()
        await core.until(core.sources_rest)
        await core.after(20)  # what was begun is in the lanes
        inside = [f for f in core.frames.values() if f.began is not None and f.left is None]
        assert len(inside) > 4 and all(engine.in_flight for engine in core.engines)
        await core.reset()
        core.transparent = True
        traffic(core, 10)
        await core.rest()
        core.settle()
        assert all(len(frames) == 10 for frames in (*core.on_wire, *core.to_host)), "a frame is missing"
        core.transparent = False
        app = await found(core, plenty())
        await by_the_lanes(core, app, 20)
        await at_rest(core, app)
        core.settle()
        for port in range(core.ports):
            counts = await port_agrees(core, app, port)
            assert counts["taken"] == 20 and counts["at_enqueue"] and not counts["lane lost"], counts


@cocotb.test()
async def a_frame_that_a_reset_cuts_is_counted_and_the_next_ones_are_whole(dut):
    """The block and the host are reset, the MACs are not, and that of port 0 is within a frame: `rx_lost` says one."""
    core = seeded(dut, 250)
    app = await opened(core, plenty())
    beats = -(-1514 // core.lanes)
    for rx in (TO_HOST, FORWARD, DROP):
        await app.route(0, rx=rx)
        core.receive(0, 1514)
        macs, left = core.mac_rx, core.random.randrange(beats // 4, beats // 2)
        await core.until(lambda: macs[0].coming and len(macs[0].coming) <= left)
        core.renew()  # from here on the frame is unknown: nothing of it may come out
        core.mac_rx = macs
        await core.pulse()
        for port in range(core.ports):
            for _ in range(10):
                core.receive(port, core.random.choice(SIZES))
        app = await found(core, plenty())
        await at_rest(core, app)
        core.settle()
        assert all(len(frames) == 10 for frames in core.to_host), "a frame behind the cut one is missing"
        lost = [await app.count("rx_lost", port) for port in range(core.ports)]
        assert lost == [1] + [0] * (core.ports - 1) and not await app.count("rx_cut", 0), f"{lost} after route {rx}"
        assert not any(mac.counts["lost"] for mac in macs)


@cocotb.test()
async def what_a_lane_loses_counts_for_the_way_that_the_frames_were_to_go(dut):
    """Right behind a reset, when a lane takes nothing yet and what it loses is seen at the input alone, and a little later."""
    core = seeded(dut, 260)
    await core.start()
    app = await App(core).find()
    came = {}  # by way: frames, bytes
    for rx in (FORWARD, HOST_LANE) * 4:
        if rx == HOST_LANE and not app.host:
            continue
        await app.route(0, rx=rx)
        way = app.lanes.index(app.host[0] if rx == HOST_LANE else app.wire[core.peer(0)])
        for size in (60, core.random.choice(SIZES)):
            core.receive(0, size)
            frames, size_of_all = came.get(way, (0, 0))
            came[way] = frames + 1, size_of_all + size
        await core.until(lambda: core.mac_rx[0].idle)
    await at_rest(core, app)
    lost = 0
    for way in range(len(app.lanes)):
        told = await app.statistics(way)
        gone = told["lost"] + sum(told[verdict] for verdict in VERDICTS)
        size = told["dropped_bytes"] + told["sent_bytes"]
        assert (gone, size) == came.get(way, (0, 0)), f"way {way}: {came}, {told}"
        lost += told["lost"]
    assert 0 < lost


async def by_the_lanes(core: Core, app: App, count: int):
    """Traffic on all ports, with all routes by lanes."""
    for port in range(core.ports):
        await app.route(port, tx=BY_LANE, rx=core.random.choice([HOST_LANE, FORWARD]) if app.host else FORWARD)
    traffic(core, count, stream=None)
