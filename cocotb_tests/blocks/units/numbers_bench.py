"""Bench of the pipelines without state: IdleAge, CurveUnit, SizeRatio, and the Classifier's table; a vector a clock.

The first three against the bit-exact model, over register values that a host would write and over any others; the table against a dict.
"""

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly

from bench import queues
from bench.bundle import plain, ports
from blocks.units.stream import any_size, start, through
from support import model_bindings as mb

CURVE_EARLY = 3  # clocks from inverses and ratio to the average
PRODUCT = 3  # clocks from an idle time to its product
LATENCY = {"idleAge": 5, "curve": CURVE_EARLY + 8, "size": 4}
RATIO_ONE = 4096
AVERAGE_MAX = 2**43 - 1


@cocotb.test()
async def an_idle_spell_takes_away_what_the_model_says(dut):
    random = await start(dut, 1)
    library = mb.library()
    vectors = [(i, mb.queue(**{"lambda": mb.Scaled(1, 0)}), 0, 0) for i in range(1024)]  # every entry of the table
    for _ in range(5000):
        m, s = any_size(random, 16), random.randrange(64)
        wanted = random.randrange(66 << 10)  # an exponent, up to over the saturation at 64
        t = (wanted << s) // m if m and random.random() < 0.8 else any_size(random, 48)
        step = any_size(random, min(48, s + 14)) if random.random() < 0.9 else any_size(random, 48)
        record = mb.queue(**{"lambda": mb.Scaled(m, s), "idle_step": step})
        vectors.append((min(t, 2**48 - 1), record, any_size(random, 48), random.randrange(7)))
    seen, carried, products, shown = set(), 0, [], {}

    def drive(vectors, k):
        shown[k - PRODUCT] = int(dut.idleAge_product.value)
        if k < len(vectors):
            t, record, residue, steps = vectors[k]
            kept = 2 ** min(48, getattr(record, "lambda").shift) - 1
            start_from = {"residue": residue, "kept": kept, "step": record.idle_step, "steps": steps}
            ports(dut, "idleAge", {"idleNs": t, "lambda": queues.pair(getattr(record, "lambda")), "from": start_from})

    def look(vector):
        nonlocal carried
        t, record, residue, steps = vector
        factor, halvings = int(dut.idleAge_factor.value), int(dut.idleAge_halvings.value)
        lam = getattr(record, "lambda")
        about = (t, lam.mant, lam.shift, record.idle_step, residue, steps, factor, halvings)
        if lam.mant == 1 and lam.shift == 0 and t < 1024 and not (residue or steps):
            assert (factor, halvings) == (library.vm_age_rom(t), 0), about
        for average in (AVERAGE_MAX, random.getrandbits(43)):
            aged, left = average * factor >> 17 >> halvings, mb.u64(residue)
            assert aged == library.vm_average_age(average, t, mb.byref(record), steps, mb.byref(left)), about
            products.append(left.value)
            carried += aged != library.vm_average_age(average, t, mb.byref(record), steps, None)
        seen.add((factor, halvings))

    await through(dut, vectors, LATENCY["idleAge"], drive, look)
    assert {h for _, h in seen} == set(range(64)), "not every number of halvings was met"
    assert [shown[k] for k in range(len(vectors))] == products[::2], "a product is another than the model's"
    assert carried > 100, "what an ageing left over hardly ever changed the next"


def wild(random):
    """Any register values, sense or none."""
    th, p = (lambda: any_size(random, 27)), (lambda: any_size(random, 33))
    inverse = lambda: mb.Scaled(any_size(random, 18), random.randrange(64))
    return mb.Curve(
        on=random.random() < 0.9, min=th(), max=th(), end=th(), inv1=inverse(), slope1=p(), inv2=inverse(),
        base2=p(), slope2=p(), square2=inverse(),
    )  # fmt: skip


def step(random):
    """A step: all three thresholds are one."""
    at = any_size(random, 27)
    return mb.Curve(on=1, min=at, max=at, end=at)


def certain(random):
    """A segment that is at p = 1 exactly, or reaches it, before its end."""
    low = random.randrange(1 << 20)
    flat = mb.Curve(
        on=1, min=low, max=low, end=low + (1 << 20), inv2=mb.Scaled(random.getrandbits(18), 8),
        base2=2**32 - random.choice([0, 1, 2**20]), slope2=random.choice([0, 1, 2**32]),
    )  # fmt: skip
    return flat


def pair_of_curves(random, k):
    """A drop and a mark curve, of the kind that is k's turn, and the averages at their corners and between."""
    top = 1 << random.randrange(2, 26)
    curves = [(wild, step, certain, queues.curve)[k % 4](*((random, top) if k % 4 == 3 else (random,))) for _ in (0, 1)]
    corners = {0, AVERAGE_MAX, random.getrandbits(43)}
    for curve in curves:
        for th in (curve.min, curve.max, curve.end):
            corners |= {(th << 16) - 1, th << 16, (th << 16) + 1, (th << 16) + random.getrandbits(16)}
        low, end = sorted((curve.min << 16, curve.end << 16))
        corners |= {random.randint(low, end) for _ in range(3)}
    return curves, [a for a in sorted(corners) if 0 <= a <= AVERAGE_MAX]


@cocotb.test()
async def a_probability_is_the_models_for_any_register_values(dut):
    """Drop and mark curve side by side, every corner of both; a packet's size weighted or not."""
    random = await start(dut, 2)
    library = mb.library()
    vectors = []
    for k in range(1100):
        curves, corners = pair_of_curves(random, k)
        ratio = random.choice([RATIO_ONE, RATIO_ONE, any_size(random, 20)])
        vectors += [(curves, ratio, a, random.random() < 0.5) for a in corners]
    random.shuffle(vectors)
    kinds = {"0": 0, "1 within": 0, "1 over the end": 0, "between": 0, "marked": 0}
    forced = {}

    def drive(vectors, k):
        if k < len(vectors):
            (drop, mark), ratio, *_ = vectors[k]
            ports(dut, "curve", {
                "ratio": ratio, "dropInverses": [queues.pair(drop.inv1), queues.pair(drop.inv2)],
                "markInverses": [queues.pair(mark.inv1), queues.pair(mark.inv2)],
            })  # fmt: skip
        if CURVE_EARLY <= k < len(vectors) + CURVE_EARLY:
            (drop, mark), _, average, may_mark = vectors[k - CURVE_EARLY]
            ports(dut, "curve", {
                "average": average, "drop": queues.shape(drop), "mark": queues.shape(mark), "mayMark": may_mark,
            })  # fmt: skip
        forced[k - 1] = int(dut.curve_forced.value)  # a clock behind the average

    def look(vector):
        (drop, mark), ratio, average, may_mark = vector
        over = mb.u32()
        expected = library.vm_curve_probability(mb.byref(drop), average, ratio, mb.byref(over))
        forces = over.value
        by_mark = may_mark and not forces
        if by_mark:
            expected = library.vm_curve_probability(mb.byref(mark), average, ratio, mb.byref(over))
        got = int(dut.curve_probability.value)
        assert got == expected, (
            f"average {average}, ratio {ratio}, on {plain(drop)} {plain(mark)} {may_mark}: {got}, model {expected}"
        )
        seen.append(forces)
        assert got <= mb.ONE
        kinds["1 over the end" if over.value else {0: "0", mb.ONE: "1 within"}.get(expected, "between")] += 1
        kinds["marked"] += by_mark

    seen = []
    await through(dut, vectors, LATENCY["curve"], drive, look)
    dut._log.info(f"{len(vectors)} points, probabilities {kinds}")
    assert min(kinds.values()) > 300, "some kind of probability was hardly met"
    shown = [forced[k + CURVE_EARLY + 0] for k in range(len(vectors))]
    assert shown == seen, "`forced` is not the drop curve's end"


@cocotb.test()
async def a_packets_size_over_the_mean_is_the_models(dut):
    random = await start(dut, 3)
    library = mb.library()
    vectors = []
    for _ in range(6000):
        length, m = any_size(random, 16), any_size(random, 16)
        s = random.choice([random.randrange(64), max(0, (length * m).bit_length() - random.randrange(8, 30))])
        vectors.append((length, m, s, random.random() < 0.8))
    kinds = {"off": 0, "most": 0, "0": 0, "between": 0}

    def drive(vectors, k):
        if k < len(vectors):
            length, m, s, on = vectors[k]
            ports(dut, "size", {"lenBytes": length, "config": {"weight": on, "invMeanLen": {"mant": m, "shift": s}}})

    def look(vector):
        length, m, s, on = vector
        expected = library.vm_size_ratio(length, mb.Scaled(m, s)) if on else RATIO_ONE
        got = int(dut.size_ratio.value)
        assert got == expected, (vector, got, expected)
        kinds["off" if not on else {0: "0", 2**20 - 1: "most"}.get(expected, "between")] += 1

    await through(dut, vectors, LATENCY["size"], drive, look)
    assert min(kinds.values()) > 300, kinds


@cocotb.test()
async def every_code_point_gives_what_was_last_written_to_it_and_no_other(dut):
    random = await start(dut, 4)
    table = {}

    async def write(address):
        entry = {"queue": random.randrange(16), "colour": random.randrange(4)}
        ports(dut, "classifier_write_bits", {"address": address, "entry": entry})
        dut.classifier_write_valid.value = 1
        await FallingEdge(dut.clock)
        ports(dut, "classifier_write_bits", {"address": random.randrange(65), "entry": {"queue": random.randrange(16)}})
        dut.classifier_write_valid.value = 0
        table[address] = entry | {"colour": min(entry["colour"], 2)}  # 3 is taken as red

    async def check(dscp, is_ip4, is_ip6):
        ports(dut, "classifier_headers", {"isIp4": is_ip4, "isIp6": is_ip6, "dscp": dscp})
        await ReadOnly()
        expected = table[dscp if is_ip4 or is_ip6 else 64]
        got = {name: int(getattr(dut, f"classifier_entry_{name}").value) for name in expected}
        assert got == expected, f"DSCP {dscp}, IPv4 {is_ip4}, IPv6 {is_ip6}: {got}, written {expected}"
        await FallingEdge(dut.clock)

    async def check_cleared():
        """64 clocks after the reset in which a table is cleared, and gives what a cleared one gives; then all of it."""
        table.update((address, {"queue": 0, "colour": 0}) for address in range(65))
        for ip in ((1, 0), (0, 1)):
            for dscp in random.sample(range(64), 64):
                await check(dscp, *ip)
        await check(0, 0, 0)

    await check_cleared()
    for address in random.sample(range(65), 65):
        await write(address)
    for _ in range(3):
        for address in random.sample(range(65), 20):
            await write(address)
        for dscp in random.sample(range(64), 64):
            for ip in ((1, 0), (0, 1), (0, 0)):
                await check(dscp, *ip)
    assert len({str(entry) for entry in table.values()}) > 25
    dut.reset.value = 1
    await FallingEdge(dut.clock)
    dut.reset.value = 0
    await check_cleared()
