"""The model's per-flow markers against the paper in exact fractions, a trace worked by hand, and hostile traffic."""

import random
import re
import struct
from ctypes import byref
from fractions import Fraction
from pathlib import Path

import pytest
from flow_bench import (
    ACK, FIN, GREEN, RED, RST, SYN, TICK, YELLOW, Model, Paper, average, config, events, headers, toeplitz
)  # fmt: skip
from model_bindings import Headers, OptionTypes, library, u32

PAGE = Path(__file__).resolve().parents[2] / "docs" / "flow-markers.md"
COLOUR = {"green": GREEN, "yellow": YELLOW, "red": RED}


@pytest.mark.parametrize("by_factor", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_colours_and_state_are_the_papers_in_exact_fractions(seed, by_factor):
    rng = random.Random(seed)
    print(f"seed {seed}")
    model, paper, marks = Model(65536), Paper(), [0, 0, 0]
    queues = [
        config(kind=k, alpha_eighths=n, initial_average=a, increase_by_factor=by_factor, ack_green=rng.randrange(2),
               start_credits=rng.choice([0, 5, 255]), recovery_credits=rng.choice([0, 1, 5]))
        for k in range(4) for n in range(1, 8) for a in (0, 1, 200, 7 * 256, rng.randrange(5000))
    ]  # fmt: skip
    at = {}
    for _ in range(30000):
        queue, port = rng.randrange(len(queues)), rng.randrange(2)
        at.setdefault((queue, port), rng.choice([0, 2**32 - 3000, rng.randrange(2**32)]))
        kind = rng.random()
        seq = at[queue, port] = (at[queue, port] + rng.choice([1, 1000, 1460])) % 2**32
        flags, payload = ACK, 1
        if kind < 0.05:
            flags, payload = rng.choice([SYN, SYN | ACK]), rng.randrange(2)
        elif kind < 0.1:
            flags, payload = rng.randrange(256) & ~SYN, rng.randrange(2)
        elif kind < 0.2:
            seq -= rng.choice([0, 1000, 5000, 2**30, 2**30 + 1, 2**31 - 1, 2**31, 2**30 - 1, 3 * 2**30])
        h = headers(seq, payload, flags, (queue, 9, port, 80))
        answer = model.step(h, queues[queue], queue=queue)
        key = queue, port
        assert answer.colour == paper.step(key, h, queues[queue])
        assert "table_full" not in events(answer)
        if answer.has_state:
            s, f = answer.state, paper.flows[key]
            assert (s.credits, s.highest_seq, s.burst) == (f.credits, f.highest, f.burst)
            assert average(s, queues[queue]) == f.average and s.raised == f.raised
        marks[answer.colour] += 1
    assert min(marks) > 1000, marks


def trace_rows():
    """The page's table of 40 packets: number, packet, SN, payload, colour, credits, SN_h, L_Y, A_Y."""
    rows = [[c.strip() for c in line.strip()[1:-1].split("|")] for line in PAGE.read_text().splitlines()]
    return [row for row in rows if len(row) == 9 and row[0].isdigit()]


def test_the_trace_worked_by_hand():
    model, c, rows = Model(), config(), trace_rows()
    assert len(rows) == 40
    for number, kind, seq, payload, colour, *state in rows:
        flags = {"SYN": SYN, "FIN": FIN | ACK}.get(kind, ACK)
        answer = model.step(headers(int(seq), int(payload) > 0, flags), c)
        assert answer.colour == COLOUR[colour], f"packet {number}"
        if answer.has_state:
            s = answer.state
            after = [str(s.credits), str(s.highest_seq), str(s.burst), f"{float(average(s, c)):g}"]
            assert after == state, f"packet {number}"
        else:
            assert state == ["", "", "", ""], f"packet {number}"


@pytest.mark.parametrize("n", range(1, 8))
def test_the_stationary_point_of_the_paper_is_a_fixed_point_for_every_alpha(n):
    """Every probe is lost and nothing else: A_Y is the same for ever, and so is the number of packets between probes."""
    rng = random.Random(n)
    for a in (256, 257, 1791, 7 * 256, 100 * 256 + 85, rng.randrange(256, 60000)):
        model, seq, gaps = Model(), 1, []
        c = config(alpha_eighths=n, initial_average=a, increase_by_factor=1)
        for _ in range(60):
            gap = 0
            while True:
                answer = model.step(headers(seq), c)
                gap += 1
                if answer.colour == RED:
                    break
                seq += 1000
            gaps.append(gap)
            assert average(answer.state, c) == Fraction(a, 256) / (1 - Fraction(n, 8))
            back = model.step(headers(seq), c)
            assert events(back) == {"loss"} and back.colour == GREEN
            assert average(back.state, c) == Fraction(a, 256)
            seq += 1000
        assert set(gaps) == {a // 256 + 1}


def test_the_default_increase_finds_the_congestion_again():
    """With 2 (A_Y + 1) and alpha 1/2 each lost probe leaves A_Y one higher: an estimate that was too low rises by itself."""
    model, c, seq = Model(), config(initial_average=0), 1
    for cycle in range(40):
        while model.step(headers(seq), c).colour != RED:
            seq += 1
        assert average(model.step(headers(seq), c).state, c) == cycle + 1
        seq += 1


def test_a_run_without_losses_saturates_and_goes_on():
    for by_factor, n in [(0, 4), (1, 4), (1, 7), (1, 8), (0, 8)]:
        model, c = Model(), config(alpha_eighths=n, increase_by_factor=by_factor, initial_average=65535 * 256)
        for k in range(3 * 65536):
            answer = model.step(headers(k), c)
        assert answer.state.average <= 2**24 - 1 and answer.state.burst <= 2**17 - 1
        lost = model.step(headers(1), c)
        assert lost.colour == GREEN and lost.state.burst == 0 and lost.state.raised == 0


def test_an_average_of_zero_is_not_the_end():
    for n in range(1, 9):
        model, c = Model(), config(alpha_eighths=n, increase_by_factor=1, initial_average=0)
        colours = [model.step(headers(k), c).colour for k in range(400)]
        assert colours[0] == RED and YELLOW in colours


def test_web_adaptive_and_none_are_parts_of_three_colour():
    """WPM never marks red, APM never green, NM always yellow; 3CPM's reds are APM's, WPM's greens are 3CPM's or probes."""
    rng, models = random.Random(5), [Model() for _ in range(4)]
    seq, marks = 0, []
    for k in range(3000):
        seq += 1000 if rng.random() < 0.97 else -3000
        h = headers(seq, flags=SYN if k % 700 == 0 else ACK, payload=k % 50 != 0)
        marks.append([m.step(h, config(kind=kind)).colour for kind, m in enumerate(models)])
    for none, three, web, adaptive in marks:
        assert none == YELLOW and web != RED and adaptive != GREEN
        assert (three == RED) == (adaptive == RED)
        assert web != GREEN or three in (GREEN, RED)  # a probe takes no credit
    assert all(any(m[k] == colour for m in marks) for k, colour in [(1, RED), (1, GREEN), (2, GREEN), (3, RED)])


def test_syn_kinds_and_packets_without_payload():
    model, c = Model(), config()
    for flags in (SYN, SYN | ACK):
        for payload in (0, 1):
            for seq in (100, 100, 7):  # sent again, and another connection on the same ports
                answer = model.step(headers(seq, payload, flags), c)
                assert answer.colour == GREEN and answer.state.credits == 5 and answer.state.highest_seq == seq
                assert answer.state.burst == 0 and not events(answer)
    before = model.step(headers(8), c).state
    for flags in (ACK, FIN | ACK, RST, RST | ACK, RST | SYN, 0):
        for ack_green in (0, 1):
            answer = model.step(headers(50, 0, flags), config(ack_green=ack_green))
            assert answer.colour == (GREEN if ack_green else YELLOW) and not answer.has_state and not events(answer)
    assert model.step(headers(60, 1, RST), c).has_state == 0
    after = model.step(headers(9, 1, FIN | ACK), c).state
    assert (after.credits, after.burst, after.highest_seq) == (before.credits - 1, before.burst + 1, 9)


def test_other_packets_are_yellow_and_leave_no_trace():
    model, c = Model(), config(ack_green=1)
    model.step(headers(1, 0, SYN), c)
    cut = Headers(is_ip4=1, proto=6, has_ports=1, src_port=3, dst_port=4)
    later = Headers(is_ip4=1, proto=6)
    udp = headers(proto=17, is_tcp=0, tcp_payload=0)
    for h in (cut, later, udp, Headers()):
        answer = model.step(h, c)
        assert (answer.colour, answer.has_state, events(answer)) == (YELLOW, 0, set())
    assert model.step(headers(2), c).state.credits == 4


@pytest.mark.parametrize("jump", [2**30, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 2**30 - 1])
def test_a_sequence_number_out_of_reach_makes_state_anew(jump):
    model, c = Model(), config()
    for k in range(6):
        model.step(headers(1000 + k), c)
    answer = model.step(headers(1005 + jump), c)
    assert events(answer) == {"jump"} and answer.colour == GREEN
    assert (answer.state.credits, answer.state.burst) == (4, 1)
    assert model.step(headers(1006 + jump), c).colour == GREEN
    for near in (2**30 - 1, -(2**30)):
        model.step(headers(0, 0, SYN), c)
        assert ("loss" in events(model.step(headers(near), c))) == (near < 0)


def test_flows_differ_in_each_part_of_their_name():
    model, c = Model(), config()
    base = (1, 2, 3, 4)
    names = [base, (1 << 127 | 1, 2, 3, 4), (1, 1 << 96 | 2, 3, 4), (1, 2, 4, 3), (2, 1, 3, 4), (1, 2, 3, 5)]
    cases = [(name, 0, 0, 0) for name in names] + [(base, 1, 0, 0), (base, 0, 7, 0)]
    cases += [(base, 0, 0, vlan) for vlan in (1, 0x800, 0x1000, 0x800000, 0x1001)]
    for k, (flow, ip6, queue, vlan) in enumerate(cases):
        answer = model.step(headers(1000 * k, 0, SYN, flow, ip6, vlan=vlan), config(start_credits=k + 1), queue=queue)
        assert not events(answer)
    for k, (flow, ip6, queue, vlan) in enumerate(cases):
        answer = model.step(headers(1000 * k + 1, 1, ACK, flow, ip6, vlan=vlan), c, queue=queue)
        assert answer.state.credits == k


def settled(model, c, flows, time=0):
    """Opens each flow and sends four packets of it; those that got state."""
    have = []
    for flow in flows:
        answers = [model.step(headers(s, s > 0, SYN if s == 0 else ACK, flow), c, time) for s in range(5)]
        if answers[-1].has_state:
            have.append(flow)
    return have


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
    free = [model.step(headers(3, 1, ACK, f), c, (c.idle_age + 1) * TICK) for f in set(flows) - set(have)]
    assert all(events(a) == {"adopted", "collision", "aged_out"} or "displaced" in events(a) for a in free[:20])


@pytest.mark.parametrize("half_open", [False, True])
def test_ages(half_open):
    """A flow that comes back after its age is adopted anew, one tick earlier it is not; a packet renews the age."""
    c = config(idle_age=100, half_open_age=10)
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
        events(model.step(headers(k, k > 0, ACK if k else SYN), c, k * (c.half_open_age + 1) * TICK)) for k in range(11)
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
        late = (c.idle_age + 1) * TICK
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


@pytest.mark.parametrize("name", "gnutella netflix reddit teams wechat".split())
def test_real_connections_get_five_green_first(name):
    """Every flow of a real capture with five data packets behind its SYN, or seen without one."""
    path = PAGE.parents[2] / "shared" / "captures" / f"{name}.pcap"
    if not path.exists():
        pytest.skip(f"{path} is missing")
    data, at, model, c, flows = path.read_bytes(), 24, Model(), config(), {}
    while at + 16 <= len(data):
        seconds, micros, size, _ = struct.unpack_from("<IIII", data, at)
        frame, h = data[at + 16 : at + 16 + size], Headers()
        at += 16 + size
        library().vm_parse(frame, len(frame), OptionTypes(), byref(h))
        answer = model.step(h, c, seconds * 10**9 + micros * 1000)
        key = (*h.src_addr, *h.dst_addr, h.src_port, h.dst_port)
        if h.tcp_flags & SYN:
            flows[key] = []
        elif answer.has_state:
            flows.setdefault(key, []).append(answer.colour)
    long = [colours for colours in flows.values() if len(colours) >= 5]
    assert len(long) >= 20 and all(colours[:5] == [GREEN] * 5 for colours in long)
    assert sum(colours.count(RED) for colours in long) > 20


def test_what_is_refused():
    lib = library()
    for flows in (0, 255, 300, 131072):
        assert not lib.vm_flow_create(flows, (u32 * 4)(1, 2, 3, 4))
    assert not lib.vm_flow_create(256, (u32 * 4)())
    model = Model(256)
    model.step(headers(), config(kind=4), status=-1)
    model.step(headers(), config(), queue=2**15, status=-1)
