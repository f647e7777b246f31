"""Bench of the lane's datapath: random frames on every input at once, random stalls, backpressure, bad frames, commits, resets.

What is checked of every frame: datapath.py. In builds with the victim search (`VICTIMS` in the environment: in so many queues) the queues have
all forms of it, changed by commits, and every push-out is checked as push_outs.py says.
"""

import os

import cocotb

from lane.datapath import FREE, Bench
from lane.push_outs import VICTIMS, PushOutBench
from support import model_bindings as mb
from support.nightly import NIGHTLY

FRAMES = 80 if VICTIMS and NIGHTLY else 40  # for each input, at each pace
CHOSEN_CLOCKS = 1500  # four cells and the longest frame fed, at 64 bits


def seeded(dut, number: int) -> Bench:
    return (PushOutBench if VICTIMS else Bench)(dut, 100 * int(os.environ.get("VERMILION_SEED", "1")) + number)


async def until_a_verdict(bench: Bench):
    """Traffic on all inputs until the lane is open; what comes before on input 0 is lost."""
    decided = sum(bench.fates[v] for v in range(8))
    for _ in range(20 * bench.cells):
        for source in range(bench.inputs):
            if not bench.waiting[source]:
                bench.feed(source)
        await bench.clock(1.0, 1.0)
        if sum(bench.fates[v] for v in range(8)) > decided:
            return
    raise AssertionError("the lane does not open")


@cocotb.test()
@cocotb.parametrize(limit=[FREE, 3], take=[1.0, 0.4])
async def frames_leave_as_they_came_or_are_counted(dut, limit, take):
    bench = seeded(dut, round(take * 10) + (limit == FREE))
    await bench.start(limit)
    runs_out = limit == FREE and take < 1
    for turn, pace in enumerate((1.0, 0.6, 0.05) + 10 * (1.0,)):
        if turn >= 3 and (bench.fates[mb.NOBUF] or not runs_out):
            break
        for _ in range(FRAMES):
            for source in range(bench.inputs):
                bench.feed(source)
        while any(bench.waiting):
            await bench.clock(pace, take)
    await bench.finish()
    assert bench.fates["lost"] == 0 and bench.fates[mb.BAD]
    if limit == 3 and take < 1:
        assert bench.fates[mb.TAIL], "the limit was never met"
    if runs_out:
        assert bench.fates[mb.NOBUF], "the cells never ran out"


@cocotb.test()
async def traffic_from_the_first_clock_is_whole_or_lost(dut):
    bench = seeded(dut, 20)
    for source in range(bench.inputs):
        for _ in range(40):
            bench.feed(source)
    await bench.start(FREE, pace=1.0)
    await until_a_verdict(bench)
    for source in range(bench.inputs):
        for _ in range(40):
            bench.feed(source)
    await bench.finish()
    assert bench.fates["lost"] and bench.fates["sent"]


@cocotb.test()
async def commits_under_traffic_at_full_rate_splice_and_leak_nothing(dut):
    bench = seeded(dut, 21)
    await bench.start(FREE)
    for source in range(bench.inputs):
        for _ in range(600):
            bench.feed(source, bench.random.choice([60, 64, 64, 65, 200]))
    while any(bench.waiting):
        if not bench.commits and bench.clocks % 40 == 0:  # a host needs some hundred clocks for one
            bench.commits.append(
                (bench.random.choice(bench.all_queues()), bench.record(bench.random.choice([FREE, 5])))
            )
        await bench.clock(1.0, 0.5)
    await bench.finish()
    assert bench.fates["sent"] and bench.fates[mb.TAIL]


@cocotb.test(skip=not VICTIMS)
@cocotb.parametrize(commits=[False, True])
async def push_outs_of_every_form_cost_one_packet_each(dut, commits):
    bench = seeded(dut, 30 + commits)
    await bench.start(FREE)
    for _ in range(1000):  # until each has been met often enough
        pace, take = bench.random.choice([1.0, 1.0, 0.6, 0.2]), bench.random.choice([1.0, 0.4, 0.2, 0.1, 0.0])
        for _ in range(300):
            for waiting, source in zip(bench.waiting, range(bench.inputs), strict=False):
                if len(waiting) < 4:
                    bench.feed(source, bench.random.choice([60, 64, 64, 65, 200]))
            if not bench.commits and bench.random.random() < (0.03 if commits else 0.003):
                bench.commits.append(
                    (bench.random.choice(bench.all_queues()), bench.record(bench.random.choice([FREE, 20])))
                )
            await bench.clock(pace, take)
        if bench.least_met() >= 30:
            break
    await bench.finish()
    assert bench.least_met() >= 30, f"{bench.fates}"


@cocotb.test()
async def a_paused_egress_ends_its_frame_and_stops_alone(dut):
    bench = seeded(dut, 23)
    await bench.start(FREE)

    def feed_all():
        for source in range(bench.inputs):
            if len(bench.waiting[source]) < 2:
                bench.feed(source, bench.random.choice([60, 64, 65, 200, 1000]))

    within = 0  # pauses that came within a frame
    for turn in range(4 * bench.egresses):
        paused = turn % bench.egresses
        for _ in range(
            3000 if turn >= bench.egresses else 0
        ):  # until a frame is on its way out, in all turns but the first of each
            if bench.partial[paused]:
                break
            feed_all()
            await bench.clock(1.0, 1.0)
        within += bool(bench.partial[paused])
        bench.paused[paused] = True
        for _ in range(CHOSEN_CLOCKS):  # the frame under way goes out
            if turn % 2:
                feed_all()
            await bench.clock(1.0, 1.0)
        assert not bench.partial[paused], "a frame was stopped in its middle"
        before = dict(bench.fates)
        for _ in range(600):
            feed_all()
            await bench.clock(0.5, 1.0)
        now = bench.fates
        assert now["sent by", paused] == before.get(("sent by", paused), 0), "a paused egress has sent"
        if bench.egresses > 1:
            assert now["sent"] > before.get("sent", 0), "nobody else has sent"
        bench.paused[paused] = False
        await bench.rest()
    await bench.finish()
    assert within >= bench.egresses, f"{within} pauses came within a frame"
    assert bench.egresses == 1 or all(bench.fates["sent by", egress] for egress in range(bench.egresses))


@cocotb.test()
async def a_flush_discards_what_would_be_sent_and_nothing_else(dut):
    bench = seeded(dut, 24)
    await bench.start(FREE)
    random, blocked = bench.random, 0
    for turn in range(400):
        several = [random.random() < 0.3 for _ in range(bench.egresses)]
        bench.paused = random.choice([several, [False] * bench.egresses])
        one = [egress == turn % bench.egresses for egress in range(bench.egresses)]
        none = [False] * bench.egresses
        bench.flushed = random.choice([none, none, none, one, several, [True] * bench.egresses])
        bench.flushed_queue = random.choice([None, None, random.choice(bench.all_queues())])
        take, before = random.choice([1.0, 0.5, 0.1, 0.0]), bench.fates["flushed"]
        for _ in range(random.choice([5, 100, 300])):
            for waiting, source in zip(bench.waiting, range(bench.inputs), strict=False):
                if len(waiting) < 3:
                    bench.feed(source, random.choice([60, 64, 64, 65, 200, 1000]))
            await bench.clock(random.choice([1.0, 0.5]), take)
        blocked += bench.fates["flushed"] - before if not take else 0
    bench.paused = bench.flushed = [False] * bench.egresses
    bench.flushed_queue = None
    await bench.finish()
    seen = bench.fates["flushed"], bench.fates["flushed in a pause"], blocked, bench.fates["sent"]
    assert min(seen) > 50, f"flushed, in a pause, where nothing was taken; sent: {seen}"


@cocotb.test()
async def a_flushed_egress_that_is_stuck_is_empty_soon(dut):
    bench = seeded(dut, 25)
    await bench.start(FREE)
    stuck = bench.egresses - 1
    bench.paused[stuck] = True
    waiting = lambda: sum(
        not f.departed for queue, line in bench.queued.items() if queue // bench.share == stuck for f in line
    )
    for _ in range(20_000):
        if waiting() >= 60:
            break
        for source in range(bench.inputs):
            if len(bench.waiting[source]) < 2:
                bench.feed(source, 64)
        await bench.clock(1.0, 1.0)
    while any(bench.waiting) or any(bench.inside):
        await bench.clock(1.0, 1.0)
    for _ in range(80):  # a packet may be on its way to its queue
        await bench.clock(1.0, 1.0)
    held, sent = waiting(), bench.fates["sent by", stuck]
    assert held >= 60
    bench.flushed[stuck] = True
    for _ in range(4 * bench.egresses * held + 100):
        await bench.clock(1.0, 1.0)
    assert not waiting() and bench.fates["sent by", stuck] == sent, (
        "a flushed egress holds packets, or sends in a pause"
    )
    bench.paused[stuck] = bench.flushed[stuck] = False
    await bench.finish()
    assert bench.fates["flushed"] == held


@cocotb.test()
async def what_a_reset_cuts_never_comes_through(dut):
    bench = seeded(dut, 22)
    await bench.start(FREE)

    def feed(frames: int):
        for source in range(bench.inputs):
            for _ in range(frames):
                bench.feed(source, bench.random.choice([60, 64, 130]) if VICTIMS else None)

    def found() -> tuple:
        return bench.fates["lost"], bench.gone, bench.fates["sent"], bench.dissolved

    turn = 0
    while turn < 6 or turn < 60 and not all(found()):
        turn += 1
        feed(200 if VICTIMS else 12)
        for _ in range(bench.random.randrange(20, 1500 if VICTIMS else 400)):
            await bench.clock(0.9, 0.3 if VICTIMS else 0.8)
        feed(20 if VICTIMS else 2)  # so that there is traffic during the reset and behind it
        await bench.start(FREE, pace=0.9, reset_clocks=1 + bench.random.randrange(5))
        if turn % 2 == 0:  # else the next reset may come before the lane is open
            await until_a_verdict(bench)
    await bench.finish()
    assert all(found()), f"lost, gone, sent, dissolved: {found()}"
    assert not VICTIMS or bench.fates["evicted"]
