"""The BAR as a driver sees it, time, and statistics."""

import cocotb
from cocotbext.axi import AxiResp

from .accounts import at_rest, lane_agrees, opened
from .core import seeded
from .driver import BY_LANE, FORWARD, App
from .lanes import plenty, short

BLOCK = 0x10000


@cocotb.test()
async def the_list_of_blocks_names_every_lane_and_its_shape(dut):
    core = seeded(dut, 300)
    app = await opened(core)
    assert await app.read("data_bits") == 8 * core.lanes and await app.read("stat_ids") == 16
    assert await app.read("clock_num") == 4 and await app.read("clock_denom") == 1
    features = await app.fields("features")
    assert features["timestamps"] == core.stamps and features["host_lanes"] == bool(app.host)
    shared = await app.read("lanes") == 1 < len(app.lanes)
    bases = [BLOCK] * len(app.lanes) if shared else [BLOCK * (1 + i) for i in range(len(app.lanes))]
    assert [lane.base for lane in app.lanes] == bases
    assert [lane.egress for lane in app.lanes] == [i * shared for i in range(len(app.lanes))]
    for lane in app.lanes:
        inputs = 2 * core.ports if shared else 2 if lane in app.wire else 1
        assert await lane.read("inputs") == inputs and await lane.read("data_bits") == 8 * core.lanes
    assert await app.fields("statistics") == {"base": 64, "enable": 1}
    for port in range(core.ports):
        assert await app.read("port.route", port) == 0 and await app.read("port.completion", port) == 1


@cocotb.test()
async def every_address_answers(dut):
    """All words of the blocks' registers and random ones of the BAR, read and written at the same time."""
    core = seeded(dut, 310)
    app = await opened(core)
    top, used = 2 ** len(dut.s_axil_app_ctrl_araddr), BLOCK * (1 + await app.read("lanes"))
    own = [base + offset for base in range(0, used, BLOCK) for offset in range(0, 0x400, 4)]
    empty = [address for address in (4 * core.random.randrange(top // 4) for _ in range(800)) if address >= used]

    async def read():
        for address in [*own, *empty, top - 4]:
            answer = await core.axil.read(address, 4)
            assert answer.resp == AxiResp.OKAY, f"{address:06x}: {answer.resp}"

    async def write():
        for address in core.random.sample(own, 500) + empty:
            answer = await core.axil.write(address, core.random.randbytes(4))
            assert answer.resp == AxiResp.OKAY, f"{address:06x}: {answer.resp}"

    for task in [cocotb.start_soon(read()), cocotb.start_soon(write())]:
        await task
    for address in empty:
        assert await core.axil.read_dword(address) == 0, f"{address:06x} keeps what was written"
    await App(core).find()


@cocotb.test()
async def reserved_bits_and_byte_strobes_of_the_route(dut):
    core = seeded(dut, 320)
    app = await opened(core)
    route = app.address("port.route", 0)
    await core.axil.write_dword(route, 0xFFFFFFFF)
    assert await core.axil.read_dword(route) == 0x301
    await core.axil.write_byte(route + 1, 0x02)
    assert await core.axil.read_dword(route) == 0x201
    await core.axil.write_byte(route, 0x00)
    assert await core.axil.read_dword(route) == 0x200


@cocotb.test()
async def time_is_the_blocks_own_or_that_of_the_ptp_clock(dut):
    core = seeded(dut, 330)
    app = await opened(core)
    now = lambda: app.read64("now_low", "now_high")
    begun, clock = await now(), core.clocks
    await core.after(1000)
    assert abs(await now() - begun - 4 * (core.clocks - clock)) < 200, "own time is that of the clock"
    if not (await app.fields("features"))["ptp_time"]:
        return
    core.ptp_ns = 0x1234_5678_9ABC
    dut.ptp_sync_locked.value = 1
    assert abs(await now() - 4 * core.clocks) < 10_000, "the PTP clock counts although it was not chosen"
    assert (await app.fields("status"))["ptp_locked"] == 1
    await app.write("control", {"time_source": 1})
    for jump in (0, 10**9, -(10**6), 2**40, -core.ptp_ns // 2):
        core.ptp_ns += jump
        await core.after(20)
        assert abs(await now() - core.ptp_ns) < 200, f"after a jump of {jump} ns"
    await app.write("control", {"time_source": 0})
    assert abs(await now() - 4 * core.clocks) < 10_000


@cocotb.test()
async def a_lane_keeps_working_when_ptp_time_jumps(dut):
    core = seeded(dut, 340)
    app = await opened(core, plenty())
    if not (await app.fields("features"))["ptp_time"]:
        return
    core.ptp_ns = 10**12
    await app.write("control", {"time_source": 1})
    await app.route(0, tx=BY_LANE)
    for jump in (0, 10**9, -(10**6), -(10**11), 2**39):
        core.ptp_ns += jump
        for _ in range(20):
            core.send(0, core.random.choice([60, 300]))
        await core.rest()
    core.settle()
    assert len(core.on_wire[0]) == core.number, "frames are stuck"


@cocotb.test()
@cocotb.parametrize(pace=[1.0, 0.02])
async def statistics_sum_up_to_the_registers_at_their_ids(dut, pace):
    core = seeded(dut, 350 + round(pace))
    app = await opened(core, short(20))
    core.stat_pace = pace
    base = 64 if pace == 1 else 4096 - 16  # ids wrap
    await app.write("statistics", {"base": base, "enable": 1})
    for port in range(core.ports):
        await app.route(port, tx=BY_LANE, rx=FORWARD)
    for _ in range(150):
        for port in range(core.ports):
            core.send(port, core.random.choice([60, 500]), bad=core.random.random() < 0.1)
            core.receive(port, core.random.choice([60, 500]))
    await at_rest(core, app)
    core.settle()
    each = len(app.lanes) // core.ports
    lost = 0
    for lane in range(len(app.lanes)):
        told = await lane_agrees(app, lane, 1 if lane % each else 2)
        lost += told["lost_bytes"]
        assert bool(told["sent"]) == (lane % each == 0) and bool(told["tail"]) == (lane % each == 0)
    if not app.lanes[0].alone:
        sizes = [(await app.lanes[0].lost(i))[1] for i in range(2 * core.ports)]
        assert lost == sum(sizes), f"{lost} bytes are lost by the statistics, {sizes} by the registers"
    ids = {(base + i) % 4096 for i in range(16 * len(app.lanes))}
    assert {number for number, total in core.statistics.items() if total} <= ids
    await app.write("statistics", {"base": base, "enable": 0})
    before = core.statistics.copy()
    core.send(0, 60)
    await at_rest(core, app)
    assert core.statistics == before, "statistics that are off count"
