"""The flow table of the model under hostile traffic: floods, full sets, ages, silences, a clock set back, names that look alike, one tag."""

import random

import pytest

from support.flow_bench import (
    ACK,
    FOLD,
    GREEN,
    SYN,
    TICK,
    YELLOW,
    Model,
    config,
    events,
    headers,
    settled,
    toeplitz,
    twins,
)

HOSTILE = {
    "SYN flood": lambda r: (r.getrandbits(32), 2, r.getrandbits(16), 80),
    "SYN flood from IPv6": lambda r: (r.getrandbits(128), 2, r.getrandbits(16), 80),
    "port scan": lambda r: (66, 2, 4000, r.getrandbits(16)),
    "from one port on": lambda r: (66, 2, r.getrandbits(16), 80),
}


@pytest.mark.parametrize("flags", [SYN, ACK])
@pytest.mark.parametrize("name", HOSTILE)
def test_floods_cost_established_flows_nothing(name, flags):
    """One packet a flow, SYNs or data: the established are marked as if there were no flood."""
    rng, c = random.Random(name), config()
    alone, flooded = Model(256), Model(256)
    flows = [(rng.getrandbits(32), 1, rng.getrandbits(16), 443) for _ in range(120)]
    flows = settled(alone, c, flows)
    assert settled(flooded, c, flows) == flows and len(flows) > 80
    seen, seqs = set(), dict.fromkeys(flows, 5)
    for k in range(20000):
        time = k * 10**6  # 20 s, and no established flow is quiet for as long
        answer = flooded.step(headers(rng.getrandbits(32), flags != SYN, flags, HOSTILE[name](rng)), c, time)
        seen |= events(answer)
        flow = flows[k % len(flows)]
        seqs[flow] += rng.choice([1000, 1000, 1000, -1000])
        h = headers(seqs[flow], 1, ACK, flow)
        a, b = alone.step(h, c, time), flooded.step(h, c, time)
        assert bytes(a) == bytes(b)
    assert {"collision", "displaced"} <= seen


def test_a_full_set_makes_no_state_and_hurts_no_one():
    rng, c, model = random.Random(3), config(), Model(256)
    flows = [(rng.getrandbits(128), 1, rng.getrandbits(16), 443) for _ in range(400)]
    have = settled(model, c, flows)
    assert 200 < len(have) <= 256
    for flow in set(flows) - set(have):
        for h in (headers(0, 0, SYN, flow), headers(5, 1, ACK, flow)):
            answer = model.step(h, c)
            assert answer.colour == YELLOW and not answer.has_state and events(answer) == {"collision", "table_full"}
    for flow in have:
        answer = model.step(headers(5, 1, ACK, flow), c)
        assert answer.state.credits == 0 and answer.state.burst == 5
    free = [model.step(headers(3, 1, ACK, f), c, (c.idle + 1) * TICK) for f in set(flows) - set(have)]
    assert all(events(a) == {"adopted", "collision", "aged_out"} or "displaced" in events(a) for a in free[:20])


@pytest.mark.parametrize("half_open", [False, True])
def test_ages(half_open):
    """A flow that comes back after its age is adopted anew, one tick earlier it is not; a packet renews the age."""
    c = config(idle=100, half_open=10)
    for start in (0, 2**48 - 5 * TICK):  # over the clock's end too
        for packets, age in ((1, 10), (4, 10)) if half_open else ((5, 100),):
            for late in (0, 1):
                model = Model()
                for k in range(packets):
                    model.step(headers(k, k > 0, ACK if k else SYN), c, start)
                answer = model.step(headers(5), c, start + (age + late) * TICK)
                assert events(answer) == ({"adopted", "aged_out"} if late else set())
                assert model.step(headers(6), c, start - TICK).has_state  # the clock was set back: still young
                assert not events(model.step(headers(7), c, start))


def test_a_flow_that_is_slow_from_the_start_is_settled_by_its_fourth_data_packet():
    """Packets further apart than the half-open age, nearer than the idle age: four adoptions, then state is kept."""
    model, c = Model(), config()
    seen = [
        events(model.step(headers(k, k > 0, ACK if k else SYN), c, k * (c.half_open + 1) * TICK)) for k in range(11)
    ]
    assert seen == [set()] + 4 * [{"adopted", "aged_out"}] + [set()] * 6


@pytest.mark.parametrize("hours", [1, 38, 40, 50, 77, 79, 100])
def test_new_flows_get_state_after_any_silence(hours):
    """A table full of settled flows, then nothing for hours: all of it has aged, for new flows and for its own."""
    rng, c, model = random.Random(hours), config(), Model(256)
    have = settled(model, c, [(rng.getrandbits(32), 1, rng.getrandbits(16), 443) for _ in range(2000)])
    assert len(have) > 240
    now = hours * 3600 * 10**9
    back = model.step(headers(6, flow=have[0]), c, now)
    assert events(back) == {"adopted", "aged_out"} and back.state.burst == 1
    new = [(rng.getrandbits(32), 9, rng.getrandbits(16), 443) for _ in range(500)]
    answers = [model.step(headers(0, 0, SYN, flow), c, now) for flow in new]
    assert all(a.has_state and a.colour == GREEN for a in answers)
    assert sum("aged_out" in events(a) for a in answers) >= 240


def test_a_clock_set_back_by_less_than_two_minutes_leaves_flows_young():
    """An age in the last 2^15 ticks of the clock's round is a tick that lies ahead; one tick more is an age."""
    c = config()
    for back, young in ((1, True), (2**15, True), (2**15 + 1, False), (2**25, False)):
        model = Model()
        settled(model, c, [(1, 2, 3, 4)], 10**15)
        assert ("aged_out" not in events(model.step(headers(6), c, 10**15 - back * TICK))) == young, back


@pytest.mark.parametrize("syn", [False, True])
@pytest.mark.parametrize("packets", [1, 2, 3])
def test_a_flood_of_short_flows_leaves_room_for_new_ones(packets, syn):
    """1,000 data packets a second, up to three a made-up flow, with a SYN before them or not, for a minute: each honest flow that begins
    meanwhile gets state, and once it has sent four packets it keeps it to the end."""
    rng, c, model = random.Random(packets), config(), Model()
    honest, seqs, refused, lost = [], {}, 0, 0
    for k in range(60_000 // packets):
        time = k * packets * 10**6
        flow = (rng.getrandbits(32), 2, rng.getrandbits(16), 80)
        for s in range(1 - syn, packets + 1):
            model.step(headers(s, s > 0, ACK if s else SYN, flow), c, time)
        if k * packets % 180 == 0:
            new = (rng.getrandbits(32), 9, rng.getrandbits(16), 443)
            for s in range(5):
                refused += not model.step(headers(s, s > 0, ACK if s else SYN, new), c, time + s).has_state
            honest.append(new)
            seqs[new] = 4
        if k % 3 == 0:
            old = honest[k // 3 % len(honest)]
            seqs[old] += 1
            answer = model.step(headers(seqs[old], flow=old), c, time + 9)
            refused += not answer.has_state
            lost += "adopted" in events(answer)
    assert len(honest) > 300 and not refused and not lost, (len(honest), refused, lost)


def test_a_flood_of_four_packets_a_flow_takes_the_room_that_is_left():
    """What remains: 1,000 data packets a second, four a flow, settle 250 entries a second; within a minute new flows find sets full."""
    rng, c, model = random.Random(4), config(), Model()
    states = []
    for k in range(15_000):
        flow = (rng.getrandbits(32), 2, rng.getrandbits(16), 80)
        for s in range(1, 5):
            model.step(headers(s, flow=flow), c, 4 * k * 10**6)
        if k > 10_000:
            new = (rng.getrandbits(32), 9, rng.getrandbits(16), 443)
            states.append(model.step(headers(0, 0, SYN, new), c, 4 * k * 10**6).has_state)
    print(f"{sum(states)} of {len(states)} new flows got state")
    assert sum(states) < len(states) // 2


def test_a_syn_on_an_aged_entry_is_half_open_again():
    """Four settled flows of one set, silent for more than a minute, sent SYNs: a fifth takes one of them, as from any half-open flow."""
    rng, c, seed = random.Random(7), config(), (11, 12, 13, 14)
    flows = ((rng.getrandbits(32), 1, rng.getrandbits(16), 443) for _ in range(20000))
    crowd = [flow for flow in flows if toeplitz(flow, seed, 6) == 5][:5]
    for flags in (SYN, ACK):  # and so is one that a data packet finds
        model = Model(256, seed)
        assert len(settled(model, c, crowd[:4])) == 4
        late = (c.idle + 1) * TICK
        for flow in crowd[:4]:
            assert "aged_out" in events(model.step(headers(9, flags != SYN, flags, flow), c, late))
        answer = model.step(headers(0, 0, SYN, crowd[4]), c, late)
        assert answer.has_state and events(answer) == {"collision", "displaced"}


@pytest.mark.parametrize("seed", [(1, 2, 3, 4), (2**32 - 1, 0, 0, 5)])
def test_flows_that_look_alike_spread_over_the_table(seed):
    """1,024 settled flows in 4,096 entries: chance leaves about 4 of them without an entry, whatever their names have in common."""
    c = config()
    alike = {
        "ports": [(1, 2, p, 80) for p in range(1024)],
        "addresses": [(0x0A000000 + a, 2, 5000, 80) for a in range(1024)],
        "both ends": [(1, 0x0A000000 + 256 * (a % 32), 1024 * (a // 32), 80) for a in range(1024)],
        "IPv6 networks": [(0x20010DB8 << 96 | a << 64, 2, 5000, 80) for a in range(1024)],
    }
    for name, flows in alike.items():
        assert 1024 - len(settled(Model(4096, seed), c, flows)) < 40, name


def test_flows_that_collide_under_one_seed_do_not_under_another():
    """Sixty flows chosen to share a set: four of them have state. Under twenty other seeds they are like any others."""
    rng, c, seed = random.Random(8), config(), (11, 12, 13, 14)
    flows = ((rng.getrandbits(32), 1, rng.getrandbits(16), 443) for _ in range(20000))
    crowd = [flow for flow in flows if toeplitz(flow, seed, 6) == 5][:60]
    assert len(crowd) == 60 and settled(Model(256, seed), c, crowd) == crowd[:4]
    shares = [len(settled(Model(256, (s + 1, 7, 7, 7)), c, crowd)) for s in range(20)]
    assert min(shares) >= 50, shares


def flow_of(name):
    return name & 2**128 - 1, name >> 128 & 2**128 - 1, name >> 256 & 0xFFFF, name >> 272


def test_of_two_flows_with_one_tag_the_first_has_state_as_if_it_were_alone():
    """Names that differ in two bits which cancel in the tag: the later flow is yellow until the first has aged, and changes nothing of its state."""
    rng, c, seen = random.Random(10), config(a0=512), set()
    print("seed 10")
    for seed, bits in twins(range(FOLD, 288), 6, rng):
        for bit in bits:
            name = rng.getrandbits(288)
            first, second = flow_of(name), flow_of(name ^ 1 << bit ^ 1 << bit % FOLD)
            alone, both, time, seq = Model(256, seed), Model(256, seed), 0, 3
            for model in (alone, both):
                assert settled(model, c, [first])
            for _ in range(30):
                time += rng.choice((1, 10**6, 9 * 10**7))  # never quiet for the half-open age
                if rng.random() < 0.5:
                    seq += rng.choice((1000, 1000, -1000))
                    h = headers(seq, flow=first)
                    a = alone.step(h, c, time)
                    assert bytes(a) == bytes(both.step(h, c, time)) and a.has_state
                else:
                    syn = rng.random() < 0.3
                    answer = both.step(headers(rng.getrandbits(32), not syn, SYN if syn else ACK, second), c, time)
                    assert answer.colour == YELLOW and not answer.has_state
                    assert events(answer) == {"collision", "table_full"}
            time += (c.idle + 1) * TICK
            seen |= events(both.step(headers(5, flow=second), c, time))
            assert events(both.step(headers(6, flow=first), c, time)) == {"collision", "table_full"}
    assert seen == {"adopted", "aged_out"}


def test_names_that_differ_in_one_bit_never_share_a_state():
    """Each bit of a name, under a key that gives both names one set and one secret part: the fold tells them apart, so both have state, each its own."""
    rng, c = random.Random(12), config(a0=512, ns=200)
    print("seed 12")
    for seed, bits in twins(range(288), 6, rng, folds_alike=False):
        for bit in bits:
            name = rng.getrandbits(288)
            model, pair, sent = Model(256, seed), (flow_of(name), flow_of(name ^ 1 << bit)), [0, 0]
            for k in range(12):
                which = k % 2 if k < 2 else rng.randrange(2)
                sent[which] += 1
                answer = model.step(headers(1000 * sent[which], flow=pair[which]), c)
                assert answer.has_state and events(answer) == (
                    {"adopted"} if sent[which] == 1 else events(answer) & {"probe"}
                )
                assert answer.state.highest_seq == 1000 * sent[which]


def test_flows_that_all_fold_alike_lose_no_more_than_the_secret_bits_say():
    """The worst that names can do to tags: of 1,024 flows with one fold in 4,096 entries, two meet with a chance of 1 in 8,192, so about 62 have no state."""
    rng, c, without = random.Random(11), config(), []
    print("seed 11")
    names = set()
    while len(names) < 1024:
        high = rng.getrandbits(288 - FOLD)
        low = 0
        for at in range(0, 288 - FOLD, FOLD):
            low ^= high >> at & 2**FOLD - 1
        names.add(high << FOLD | low)
    for s in range(8):
        without.append(1024 - len(settled(Model(4096, (s + 1, 2, 3, 4)), c, [flow_of(n) for n in sorted(names)])))
    print(f"without state: {without}")
    assert 40 < sum(without) / len(without) < 90 and max(without) < 120


@pytest.mark.parametrize("packets", range(6))
def test_what_a_name_with_a_chosen_tag_can_do(packets):
    """A SYN takes a half-open entry with its tag; one of four data packets keeps the known flow from having state, for as long as that sends."""
    rng, c = random.Random(packets), config()
    seed, (bit, *_) = next(twins(range(FOLD, 288), 6, rng))
    name = rng.getrandbits(288)
    made_up, known = flow_of(name), flow_of(name ^ 1 << bit ^ 1 << bit % FOLD)
    model = Model(256, seed)
    for s in range(packets):
        assert model.step(headers(s, s > 0, ACK if s else SYN, made_up), c).has_state
    has = [model.step(headers(s, s > 0, ACK if s else SYN, known), c, s * 10**9).has_state for s in range(500)]
    assert all(has) if packets < 5 else not any(has)
    assert settled(Model(256, (*seed[:3], seed[3] ^ 1)), c, [made_up, known]) == [made_up, known]


def test_a_syn_that_takes_an_entry_of_its_tag_begins_the_count_anew():
    """Three data packets of one flow and one of another with its tag do not settle their entry together."""
    rng, c = random.Random(13), config()
    seed, (bit, *_) = next(twins(range(FOLD, 288), 6, rng))
    name = rng.getrandbits(288)
    one, other = flow_of(name), flow_of(name ^ 1 << bit ^ 1 << bit % FOLD)
    model = Model(256, seed)
    for flow, packets in ((one, 3), (other, 1), (one, 3), (other, 3), (one, 4)):
        for s in range(packets + 1):
            assert model.step(headers(s, s > 0, ACK if s else SYN, flow), c).has_state
    assert not model.step(headers(0, 0, SYN, other), c).has_state
