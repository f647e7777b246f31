"""The model's per-flow markers against the paper in exact fractions, a trace worked by hand, and hostile traffic."""

import random
import struct
from ctypes import byref
from fractions import Fraction
from pathlib import Path

import pytest

from support.flow_bench import ACK, FIN, GREEN, RED, RST, SYN, YELLOW, Model, Paper, average, config, events, headers
from support.model_bindings import Headers, OptionTypes, library, u32
from support.runs import CAPTURES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "flow-markers.md"
COLOUR = {"green": GREEN, "yellow": YELLOW, "red": RED}


@pytest.mark.parametrize("by_factor", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_colours_and_state_are_the_papers_in_exact_fractions(seed, by_factor):
    rng = random.Random(seed)
    print(f"seed {seed}")
    model, paper, marks = Model(65536), Paper(), [0, 0, 0]
    queues = [
        config(kind=k, alpha=n, a0=a, increase=by_factor, ack=rng.randrange(2),
               ns=rng.choice([0, 5, 255]), na=rng.choice([0, 1, 5]))
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
        c = config(alpha=n, a0=a, increase=1)
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
    model, c, seq = Model(), config(a0=0), 1
    for cycle in range(40):
        while model.step(headers(seq), c).colour != RED:
            seq += 1
        assert average(model.step(headers(seq), c).state, c) == cycle + 1
        seq += 1


def test_a_run_without_losses_saturates_and_goes_on():
    for by_factor, n in [(0, 4), (1, 4), (1, 7), (1, 8), (0, 8)]:
        model, c = Model(), config(alpha=n, increase=by_factor, a0=65535 * 256)
        for k in range(3 * 65536):
            answer = model.step(headers(k), c)
        assert answer.state.average <= 2**24 - 1 and answer.state.burst <= 2**17 - 1
        lost = model.step(headers(1), c)
        assert lost.colour == GREEN and lost.state.burst == 0 and lost.state.raised == 0


def test_an_average_of_zero_is_not_the_end():
    for n in range(1, 9):
        model, c = Model(), config(alpha=n, increase=1, a0=0)
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
        for ack in (0, 1):
            answer = model.step(headers(50, 0, flags), config(ack=ack))
            assert answer.colour == (GREEN if ack else YELLOW) and not answer.has_state and not events(answer)
    assert model.step(headers(60, 1, RST), c).has_state == 0
    after = model.step(headers(9, 1, FIN | ACK), c).state
    assert (after.credits, after.burst, after.highest_seq) == (before.credits - 1, before.burst + 1, 9)


def test_other_packets_are_yellow_and_leave_no_trace():
    model, c = Model(), config(ack=1)
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
        answer = model.step(headers(1000 * k, 0, SYN, flow, ip6, vlan=vlan), config(ns=k + 1), queue=queue)
        assert not events(answer)
    for k, (flow, ip6, queue, vlan) in enumerate(cases):
        answer = model.step(headers(1000 * k + 1, 1, ACK, flow, ip6, vlan=vlan), c, queue=queue)
        assert answer.state.credits == k


@pytest.mark.parametrize("name", "gnutella netflix reddit teams wechat".split())
def test_real_connections_get_five_green_first(name):
    """Every flow of a real capture with five data packets behind its SYN, or seen without one."""
    path = CAPTURES / f"{name}.pcap"
    if not path.exists():
        pytest.skip(f"VERMILION_CAPTURES names no folder with {path.name}")
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
