"""The flow table at its largest: 65,536 entries with more than 40,000 flows at once, each with the state of P1's rules and no other's."""

import random

from support.flow_bench import ACK, SYN, YELLOW, Model, Paper, average, config, events, headers

FLOWS, OFFERED, HELD, ROUNDS = 65536, 46_000, 40_000, 3


def test_a_table_of_65536_flows_holds_40000_at_once_each_with_its_own_state():
    """Sets of four, at random: about one flow in eleven finds its set full, has no state, and costs the others nothing."""
    rng, c = random.Random(7), config(a0=256, ns=2, na=1)
    print("seed 7")
    model, paper, packets = Model(FLOWS), Paper(), {}
    while len(packets) < OFFERED:
        flow = rng.getrandbits(32), rng.getrandbits(32), rng.getrandbits(16), 443
        packets[flow] = headers(rng.getrandbits(32), flow=flow)
    flows, held, losses, marks = list(packets), set(), 0, [0, 0, 0]

    def step(flow, ahead, flags=ACK):
        """A packet `ahead` of the flow's last, as the model and, for a flow that is held, the dictionary of the paper's flows see it."""
        nonlocal losses
        h = packets[flow]
        h.tcp_seq, h.tcp_flags, h.tcp_payload = (h.tcp_seq + ahead) % 2**32, flags, flags != SYN
        answer = model.step(h, c)
        if flags == SYN and answer.has_state:
            held.add(flow)
        if flow not in held:
            assert (answer.colour, answer.has_state, events(answer)) == (YELLOW, 0, {"collision", "table_full"})
            return
        assert answer.has_state and answer.colour == paper.step(flow, h, c)
        state, own = answer.state, paper.flows[flow]
        assert (state.credits, state.highest_seq, state.burst) == (own.credits, own.highest, own.burst)
        assert average(state, c) == own.average
        assert events(answer) <= {"loss", "probe"}
        losses, marks[answer.colour] = losses + answer.loss, marks[answer.colour] + 1

    for flow in flows:
        step(flow, 0, SYN)
        for _ in range(4):
            step(flow, 1)  # no longer half open, so nobody takes its place
    assert HELD <= len(held) == len(paper.flows) < OFFERED
    for _ in range(ROUNDS):
        rng.shuffle(flows)
        for flow in flows:
            step(flow, rng.choice((1000, 1000, 1000, 1460, -1000)))
    print(f"{len(held)} flows, {losses} losses, marked {marks}")
    assert losses > 10_000 and min(marks) > 10_000
