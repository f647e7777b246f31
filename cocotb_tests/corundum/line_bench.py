"""Frames at line rate: a host that stalls costs counted frames only, and what is forwarded reaches the wire whole."""

import cocotb

from .accounts import at_rest, lane_agrees, opened, port_agrees
from .core import CLOCK_PS, GIGABITS, seeded
from .driver import BY_LANE, FORWARD, HOST_LANE, VERDICTS
from .lanes import plenty, rio

SIZES = (60, 61, 242, 342, 642, 1042, 1514, 9014)


def line(core, port: int, count: int, sizes, **words):
    for _ in range(count):
        core.receive(port, core.random.choice(sizes), **words)


async def stalls(core, port: int, times: int):
    """The host takes nothing for long, and again; then it takes everything."""
    host, rx = core.hosts[port], core.mac_rx[port]
    for _ in range(times):
        host.stalled = True
        await core.after(core.random.randrange(300, 4000))
        host.stalled = False
        await core.after(core.random.randrange(50, 1500))
        host.pace = core.random.choice([1.0, 0.5, 0.2])
    host.stalled, host.pace = True, 1.0
    await core.until(lambda: rx.idle, 2_000_000)
    host.stalled = False


@cocotb.test()
@cocotb.parametrize(sizes=[(60,), (60, 64, 65, 242, 1514)])
async def a_host_that_stalls_costs_the_bypass_counted_frames_only(dut, sizes):
    core = seeded(dut, 100 + len(sizes))
    core.cuts = True
    app = await opened(core)
    line(core, 0, 40, sizes)
    await core.rest()
    assert len(core.to_host[0]) == 40, "a host that takes everything gets everything"
    line(core, 0, 3000 if sizes == (60,) else 1000, sizes)
    await stalls(core, 0, 6)
    await at_rest(core, app)
    before = len(core.to_host[0])
    line(core, 0, 20, sizes)
    await at_rest(core, app)
    assert [short for _, short in core.to_host[0][before:]] == [False] * 20, "the first frames afterwards are not whole"
    cut = sum(short for _, short in core.to_host[0])
    missing = core.number - len(core.to_host[0])
    counted = await app.count("rx_lost", 0), await app.count("rx_cut", 0)
    assert counted == (missing, cut), f"{counted} counted, {missing} missing and {cut} cut"
    assert missing > 50 and (cut or sizes == (60,))
    assert not core.mac_rx[0].counts["lost"]
    dut._log.info(f"{core.number} frames, {missing} missing, {cut} cut")


@cocotb.test()
async def a_host_that_stalls_costs_the_host_lane_counted_whole_frames_only(dut):
    core = seeded(dut, 110)
    app = await opened(core, plenty())
    await app.route(0, rx=HOST_LANE)
    sizes = (60, 64, 65, 242, 1514)
    for bad in (False, True):
        line(core, 0, 20, sizes, bad=bad)
    line(core, 0, 1000, sizes)
    await stalls(core, 0, 6)
    await at_rest(core, app)
    before = len(core.to_host[0])
    line(core, 0, 20, sizes)
    await at_rest(core, app)
    assert len(core.to_host[0]) == before + 20, "a frame behind the stall is missing"
    told = await lane_agrees(app, 1, 1)
    missing = core.number - len(core.to_host[0])
    dropped = sum(told[verdict] for verdict in VERDICTS[2:])
    assert missing == dropped + told["lost"] and told["bad"] == 20 and told["nobuf"] > 50 and not told["lost"], told
    assert not any(short for _, short in core.to_host[0])
    assert not await app.count("rx_lost", 0) and not await app.count("rx_cut", 0)
    dut._log.info(f"{core.number} frames, {missing} missing")


@cocotb.test()
async def frames_of_every_size_reach_the_wire_whole_and_in_order_back_to_back(dut):
    core = seeded(dut, 120)
    app = await opened(core, plenty())
    for port in range(core.ports):
        await app.route(port, rx=FORWARD)
    for size in SIZES:
        for port in range(core.ports):
            for _ in range(4 if size > 9000 else 12 if size > 1000 else 30):
                core.receive(port, size)
        await at_rest(core, app)
        for port in range(core.ports):
            came = sum(f.source == "wire" and core.peer(port) == f.port for f in core.frames.values())
            assert len(core.on_wire[port]) == came, f"{size} bytes: {came} came, {len(core.on_wire[port])} left"
    for port in range(core.ports):
        line(core, port, 300, SIZES[:-1])
    await at_rest(core, app)
    core.settle()
    for port in range(core.ports):
        counts = await port_agrees(core, app, port)
        assert counts["forwarded"] == counts["lane sent"] == len(core.on_wire[port])


@cocotb.test()
@cocotb.parametrize(host=[True, False])
async def rio_under_overload_counts_what_captures_of_all_sides_say(dut, host):
    """About twice what the port may send: the wire and the host together, which the block takes a beat a clock of, with
    half of that; or the wire alone, with half of the line's rate.
    """
    core = seeded(dut, 130 + host)
    core.remarks = True
    taken = 8000 * core.lanes // CLOCK_PS if host else GIGABITS[core.lanes]
    app = await opened(core, rio(f"{taken / 2:g}Gbit"))
    out, came = 0, core.peer(0)
    await app.route(out, tx=BY_LANE)
    await app.route(came, rx=FORWARD)
    core.engines[out].gaps, core.engines[out].gap = 0.3, 0.5  # a lane must not begin such a frame before it is in
    for _ in range(600):
        size = core.random.choice([60, 242, 642])
        dscp, ecn = core.random.choice([10, 12, 14]), core.random.choice([0, 0, 1, 2])
        core.receive(came, size, dscp, ecn=ecn)
        if host:
            core.send(out, size, dscp, ecn=ecn)
    await at_rest(core, app)
    core.settle()
    told = await port_agrees(core, app, out)
    left = core.on_wire[out]
    marked = sum(f.marked for f in left)
    assert told["lane sent"] == len(left) and told["lane sent_bytes"] == sum(len(f.data) for f in left)
    assert told["lane ce"] == marked > 0
    gone = [f for f in core.frames.values() if f.left is None]
    assert told["lane dropped_bytes"] == sum(len(f.data) for f in gone)
    assert len(gone) == sum(told[f"lane {verdict}"] for verdict in VERDICTS[2:]) + told["lane lost"]
    assert told["for_drop"] == sum(f.source == "host" for f in gone)
    of = lambda dscp, those: sum(f.data[15] >> 2 == dscp for f in those)
    shares = {dscp: of(dscp, gone) / of(dscp, core.frames.values()) for dscp in (10, 12, 14)}
    assert shares[10] < shares[12] < shares[14], f"share dropped by precedence: {shares}"
    dut._log.info(f"{core.number} frames, {len(gone)} dropped, shares {shares}, {marked} marked")
