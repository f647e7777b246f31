"""Drawings of the hardware: lane, pipeline, buffer, scheduler, push-out, commit."""

import re

from vermilion.toolchain.build import ROOT

from .svg import Drawing


def timing() -> dict[str, int]:
    """The constants of `sim/model/timing.h` that need no build parameter."""
    values: dict[str, int] = {"EwmaStages": 6}
    for each in re.findall(r"^constexpr u(?:64|32) (\w[^;{(]*);", (ROOT / "sim/model/timing.h").read_text(), re.M):
        for part in each.split(", "):
            name, _, value = part.partition(" = ")
            if re.fullmatch(r"[\w\s+\-*]+", value):
                values[name] = sum_of(value, values)
    return values


def sum_of(text: str, values: dict[str, int]) -> int:
    """The value of names and numbers with + and - between them."""
    total, sign = 0, 1
    for word in text.split():
        if word in "+-":
            sign = 1 if word == "+" else -1
        else:
            total += sign * (int(word) if word.isdigit() else values[word])
    return total


def lane() -> Drawing:
    d = Drawing(
        "lane",
        720,
        350,
        "A lane",
        "Bytes go from the inputs through the cell buffer to the egress. A descriptor of each packet goes through the policy pipeline to the queues and the scheduler.",
    )
    d.text(24, 20, "bytes, in cells of 64", "small start")
    d.box(24, 28, 672, 104, kind="group")
    ins = d.box(40, 44, 90, 72, "Ingress", "one per input", "skid buffer")
    arb = d.box(150, 44, 120, 72, "IngressArbiter", "one cell", "per cycle")
    buf = d.box(290, 44, 104, 72, "CellBuffer", "one write,", "one read port")
    rd = d.box(414, 44, 116, 72, "PacketReader", "one cell", "per cycle")
    rw = d.box(550, 44, 130, 72, "HeaderRewrite", "DSCP, ECN,", "Serializer")
    d.row([ins, arb, buf, rd, rw])
    d.arrow((2, 80), ins.left())
    d.arrow(rw.right(), (718, 80))
    d.box(136, 176, 560, 116, kind="group")
    hp = d.box(150, 192, 120, 72, "HeaderParser", "first 128 bytes", "FrameHeads")
    pol = d.box(288, 192, 150, 72, "PolicyPipeline", "classify, mark,", "average, curve, verdict", kind="ours")
    q = d.box(462, 192, 122, 72, "QueueManager", "linked packets", "per queue", kind="ours")
    s = d.box(602, 192, 86, 72, "Scheduler", "strict, DRR,", "shapers", kind="ours")
    d.row([hp, pol, q, s])
    d.text(684, 284, "one descriptor per packet", "small end")
    d.arrow(arb.bottom(), hp.top())
    d.text(216, 158, "first two cells", "small start")
    d.arrow(s.top(), (645, 154), (500, 154), (500, 116))
    d.text(570, 148, "packet to send", "small")
    free = d.box(288, 312, 150, 30, "FreeList")
    d.arrow(pol.bottom(), free.top())
    d.text(358, 308, "drops", "small end")
    d.arrow((450, 116), (450, 327), free.right())
    d.text(458, 322, "cells of sent packets", "small start")
    d.arrow(free.left(), (60, 327), (60, 116))
    d.text(176, 321, "free cells", "small")
    return d


def pipeline() -> Drawing:
    t = timing()
    mark, lookup, verdict = t["Mark"], t["Lookup"], t["Lookup"] + t["Verdict"]
    average, decide = mark + 6, verdict - 1
    d = Drawing(
        "pipeline",
        720,
        356,
        "The policy pipeline, cycle by cycle",
        f"A packet takes one slot. Its colour is known after {mark} cycles, its average after {average}, its verdict after {verdict}.",
    )
    x0, step = 128, 20

    def at(cycle: float) -> float:
        return x0 + step * cycle

    for cycle in range(verdict + 4):
        long = cycle % 5 == 0
        d.line((at(cycle), 28), (at(cycle), 36 if long else 32))
        if long:
            d.text(at(cycle), 22, str(cycle), "small")
    d.text(at(0) - 12, 22, "cycle", "small end")
    d.line((at(0), 36), (at(verdict + 3), 36))
    final = verdict + t["Searching"] - t["SearchAhead"]
    for cycle, told in ((mark, "colour known"), (average, "average known"), (verdict, "verdict")):
        d.line((at(cycle), 36), (at(cycle), 312), kind="line dash")
        d.text(at(cycle), 330, told, "small")
    d.line((at(final), 36), (at(final), 330), kind="line dash")
    d.text(at(final) + 20, 348, "final with the search", "small end")
    rows = [
        ("Classifier", 0, 1, "", "box"),
        ("markers", 1, mark, "FlowMarker, TokenMarker", "yellow"),
        ("queue state", lookup, mark + 1, "QueueStateLookup", "blue"),
        ("average", mark, average, "AverageUnit", "green"),
        ("PIE", decide - t["Pie"] + 1, verdict, "PieUnit", "box"),
        ("curve", average, decide, "QueueCurves, CurveUnit", "green"),
        ("verdict", decide, verdict, "", "ours"),
        (
            "victim search",
            verdict - t["SearchAhead"],
            final,
            "VictimPipeline",
            "red",
        ),
    ]
    for i, (name, first, last, inside, kind) in enumerate(rows):
        y = 48 + 32 * i
        d.text(x0 - 12, y + 17, name, "end")
        d.box(at(first), y, step * (last - first), 24, *([inside] if inside else []), kind=kind, small=True)
    d.text(at(decide) - 8, 48 + 32 * 6 + 17, "VerdictUnit", "small end")
    return d


def pool() -> Drawing:
    d = Drawing(
        "pool",
        720,
        300,
        "The pool of cells",
        "Each egress has a reserve. All queues share the other cells. A queue may hold alpha times the free cells of the shared part.",
    )
    d.text(16, 24, "pool.size, in cells of 64 bytes", "start")
    parts = [
        (16, 90, "green", "reserve", "egress 0"),
        (106, 90, "green", "reserve", "egress 1"),
        (196, 130, "blue", "queue a", "its cells"),
        (326, 130, "blue", "queue b", "its cells"),
        (456, 160, "box", "free", "F cells"),
        (616, 88, "group", "outside", "of the pool"),
    ]
    boxes = [d.box(x, 36, w, 56, *lines, kind=kind) for x, w, kind, *lines in parts]
    d.line((196, 104), (196, 112), (616, 112), (616, 104))
    d.text(406, 132, "shared part, B cells", "small")
    d.arrow(boxes[4].bottom(), (536, 150), label="")
    d.box(
        356,
        150,
        348,
        52,
        "a queue may hold alpha x F cells",
        "dynamic threshold: falls while the pool fills",
        kind="ours",
    )
    d.text(712, 24, "frames in ingress and egress", "small end")
    d.text(16, 170, "A frame is a chain of cells:", "start")
    chain = [d.box(16 + 84 * i, 184, 64, 36, f"cell {n}", small=True) for i, n in enumerate((7, 42, 9))]
    d.row(chain)
    d.text(16, 252, "n full queues, one alpha: each holds alpha B / (1 + n alpha) cells.", "start")
    d.text(
        16,
        276,
        "Free then: B / (1 + n alpha). With alpha = 1, one queue takes a half, two take a third each.",
        "small start",
    )
    return d


def drr() -> Drawing:
    d = Drawing(
        "scheduler",
        720,
        350,
        "The lists of the scheduler",
        "Strict levels come first, then new flows, then the DRR list. The scheduler serves the first queue of the highest list that holds one.",
    )
    y = 34
    d.text(16, 22, "ServiceLists: each list in order of insertion", "small start")
    for i, (name, queues) in enumerate(
        (
            ("strict, priority 7", ["ef"]),
            ("strict, priority 6 to 0", []),
            ("new flows (fq)", ["flows.3"]),
            ("DRR list", ["af1", "af2", "default"]),
        )
    ):
        top = y + 58 * i
        d.text(176, top + 25, name, "end")
        d.box(190, top, 310, 40, kind="group")
        boxes = [
            d.box(200 + 100 * k, top + 6, 84, 28, q, kind="ours" if not i and not k else "box")
            for k, q in enumerate(queues)
        ]
        d.row(boxes)
        if not queues:
            d.text(345, top + 25, "empty", "small")
    serve = d.box(560, 34, 140, 72, "Scheduler", "first queue of the", "highest list", kind="ours")
    d.arrow((500, 54), (560, 54))
    send = d.box(560, 150, 140, 46, "packet sent", "shapers are charged")
    d.arrow(serve.bottom(), send.top())
    d.arrow((345, 190), (345, 206), dashed=True)
    d.text(356, 203, "quantum used up", "small start")
    d.line((242, 248), (242, 286), (545, 286), (545, 228), kind="line dash")
    d.arrow((545, 228), (502, 228), dashed=True)
    d.text(394, 304, "DRR turn ends: to the end of the list, with another quantum", "small")
    d.text(
        16,
        338,
        "A strict queue sends until it is empty or shaped. A DRR queue sends while its deficit covers its packet.",
        "small start",
    )
    return d


def push_out() -> Drawing:
    t = timing()
    d = Drawing(
        "push-out",
        720,
        300,
        "A push-out",
        "The packet with the smallest distance loses its place. Packets of the head belong to the scheduler.",
    )
    new = d.box(16, 70, 96, 56, "arriving", "14 hops", kind="ours")
    d.box(170, 40, 330, 110, kind="group")
    d.text(335, 32, "body: any number of packets")
    hops = (9, 3, 12, 21)
    body = [
        d.box(182 + 78 * i, 70, 66, 56, f"{n}", "hops", kind="red" if n == 3 else "blue") for i, n in enumerate(hops)
    ]
    d.box(530, 40, 174, 110, kind="group")
    d.text(617, 32, "head: 4 or 8 packets")
    d.box(542, 70, 66, 56, "2", "hops")
    last = d.box(626, 70, 66, 56, "17", "hops")
    d.arrow(new.right(), body[0].left())
    d.arrow(body[-1].right(), (542, 98))
    d.box(210, 206, 160, 50, "victim", "dropped, or marked CE", kind="red")
    d.arrow(body[1].bottom(), (293, 206))
    d.box(580, 206, 124, 50, "Scheduler")
    d.arrow(last.bottom(), (659, 206))
    d.text(16, 146, "early, provisionally;", "small start")
    d.text(16, 162, "then enqueued instead", "small start")
    d.text(
        16,
        286,
        f"The search takes {t['Searching']} cycles for any queue length. It ends {t['Searching'] - t['SearchAhead']} cycles after the provisional verdict.",
        "small start",
    )
    return d


def commit() -> Drawing:
    t = timing()
    passing = t["Lookup"] + t["Verdict"]
    d = Drawing(
        "commit",
        720,
        290,
        "How a profile gets to its queue",
        "The host writes shadow registers. A commit loads them into a chain and sends them through the pipeline in a slot of its own.",
    )
    host = d.box(16, 40, 120, 60, "host", "writes the profile")
    ram = d.box(190, 40, 140, 60, "RegisterFile", "shadow registers", kind="ours")
    chain = d.box(400, 40, 130, 60, "chain", "of flip-flops", kind="ours")
    d.arrow(host.right(), ram.left(), label="AXI-Lite")
    d.arrow(ram.right(), chain.left(), label="COMMIT")
    d.text(365, 118, "about 110 cycles", "small")
    d.text(16, 160, "PolicyPipeline: slots", "start")
    names = [("packet", "blue"), ("packet", "blue"), ("commit", "ours"), ("packet", "green"), ("packet", "green")]
    slots = [d.box(190 + 92 * i, 172, 80, 40, name, kind=kind) for i, (name, kind) in enumerate(reversed(names))]
    d.row(slots)
    d.arrow(chain.bottom(), (465, 146), (slots[2].top()[0], 146), slots[2].top())
    d.text(270, 236, "new profile", "small")
    d.text(560, 236, "old profile", "small")
    sch = d.box(600, 40, 104, 60, "Scheduler", "its part")
    d.arrow(chain.right(), sch.left())
    d.text(
        16,
        270,
        f"Each stage changes its profile when the slot passes, {passing} cycles in all. No packet sees a mixture.",
        "small start",
    )
    return d


ALL = (lane, pipeline, pool, drr, push_out, commit)
