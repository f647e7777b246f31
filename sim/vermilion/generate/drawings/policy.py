"""Drawings of markers and AQMs: look-ahead average, 3CPM, DualPI2, CoDel and marks at departure."""

from .hardware import timing
from .svg import Drawing


def average() -> Drawing:
    stages = timing()["EwmaStages"]
    d = Drawing(
        "average",
        720,
        290,
        "The look-ahead average",
        f"A step of the average takes {stages} cycles. A decision starts from the newest average that is written and applies all missed steps at once.",
    )
    d.text(16, 24, f"Decisions of one queue; a step takes {stages} cycles (EwmaStages)", "start")
    shown = 9
    boxes = [
        d.box(
            16 + 78 * i,
            60,
            62,
            44,
            f"j - {shown - 1 - i}" if i < shown - 1 else "j",
            kind="ours" if i == shown - 1 else "green" if i < shown - stages else "box",
        )
        for i in range(shown)
    ]
    d.text(94, 50, "average written", "small")
    d.text(440, 50, "still in the pipeline", "small")
    base = boxes[shown - 1 - stages]
    d.arrow(
        base.bottom(),
        (base.bottom()[0], 136),
        (boxes[-1].bottom()[0], 136),
        boxes[-1].bottom(),
        label=f"n = {stages}: starts from the average of decision j - n",
    )
    d.box(
        110,
        164,
        500,
        52,
        "avg <- avg + W[n] (q - avg)",
        "W[n] = 1 - (1 - w)^n, programmed by the host for n = 1 to 6",
        kind="ours",
    )
    d.text(16, 246, f"At most one decision in {stages} cycles: n = 1, and this is Floyd's average.", "small start")
    d.text(
        16,
        266,
        "Queue empty: avg ages by (1 - w) for each sending time of a typical packet. The remainder is kept exactly.",
        "small start",
    )
    return d


def three_colour() -> Drawing:
    """Rows 1 and 3 to 26 of the trace by hand in docs/flow-markers.md."""
    d = Drawing(
        "three-colour",
        720,
        290,
        "3CPM: the colours of a flow",
        "The SYN and the first N_s packets are green. After more than A_Y new packets, green or yellow, a red probe follows. After a loss N_a packets are green.",
    )
    kinds = ["green"] * 6 + ["yellow"] * 2 + ["red"] + ["yellow"] * 4 + ["green"] * 6 + ["yellow"] * 5 + ["red"]
    pitch, wide = 27, 23
    for i, kind in enumerate(kinds):
        d.box(16 + pitch * i, 48, wide, 34, *({0: ["S"], 8: ["P"], 13: ["R"], 24: ["P"]}.get(i, [])), kind=kind)

    def span(first: int, last: int, y: int, told: str, under: str = "") -> None:
        a, b = 16 + pitch * first, 16 + pitch * last + wide
        d.line((a, y), (a, y + 6), (b, y + 6), (b, y))
        d.text((a + b) / 2, y + 22, told, "small")
        if under:
            d.text((a + b) / 2, y + 38, under, "small")

    span(1, 5, 88, "N_s = 5 credits")
    span(14, 18, 88, "N_a = 5 credits")
    span(1, 7, 120, "A_Y = 7 new packets", "green or yellow")
    span(9, 12, 120, "A_Y = 2 (7 + 1)", "loss after 4")
    span(14, 23, 120, "A_Y = (16 + 4) / 2 = 10 new packets", "green or yellow")
    for place, told, kind in ((0, "SYN", ""), (8, "probe", "mark"), (13, "sent again", ""), (24, "probe", "mark")):
        d.text(16 + pitch * place + wide / 2, 38, told, kind)
    d.text(
        16,
        206,
        "Green protects packets whose loss costs a timeout. A red probe is lost first, where the network is congested.",
        "small start",
    )
    d.text(
        16,
        228,
        "A loss sets A_Y <- (1 - alpha) A_Y + alpha L_Y; a probe sets A_Y <- 2 (A_Y + 1). Here alpha is 1/2.",
        "small start",
    )
    d.text(
        16,
        250,
        "L_Y counts new packets since the last probe or loss. The SYN and the packet sent again use no credit.",
        "small start",
    )
    d.text(
        16,
        272,
        "WPM keeps the green rules alone, APM the red ones. State is per flow, in FlowTable; FlowLoop updates it.",
        "small start",
    )
    return d


def dualpi2() -> Drawing:
    d = Drawing(
        "dualpi2",
        720,
        350,
        "DualPI2",
        "The scheduler chooses a packet of L or C. At departure C uses the square of the base probability, L uses it times the coupling factor or the step.",
    )
    cls = d.box(16, 106, 100, 60, "Classifier", "ECN field")
    low = d.box(152, 56, 112, 52, "L", "ECT(1) and CE", kind="blue")
    classic = d.box(152, 164, 112, 52, "C", "all others", kind="yellow")
    d.arrow(cls.right(0.3), (134, 124), (134, 82), low.left())
    d.arrow(cls.right(0.7), (134, 148), (134, 190), classic.left())
    sched = d.box(302, 102, 104, 68, "Scheduler", "DRR: 9 to 1")
    d.arrow(low.right(), (282, 82), (282, 120), sched.left(18 / 68))
    d.arrow(classic.right(), (282, 190), (282, 152), sched.left(50 / 68))
    d.text(532, 26, "at departure: DualPi2Unit", "small")
    d.box(434, 34, 196, 202, kind="group")
    lmark = d.box(446, 48, 172, 66, "of L: mark", "k p', or sojourn time", "above step_threshold", kind="ours")
    cmark = d.box(446, 158, 172, 66, "of C: mark or drop", "p' squared", kind="ours")
    d.arrow(sched.right(20 / 68), (420, 122), (420, 81), lmark.left())
    d.arrow(sched.right(48 / 68), (420, 150), (420, 191), cmark.left())
    wire = d.box(658, 110, 52, 52, "wire")
    d.arrow(lmark.right(), (684, 81), wire.top())
    d.arrow(cmark.right(), (684, 191), wire.bottom())
    pi = d.box(
        64,
        284,
        450,
        52,
        "UpdateSweep, every tupdate",
        "p' <- p' + alpha (delay - target) + beta (delay - last delay)",
        kind="ours",
    )
    d.arrow((480, 284), (480, 236), label="p'")
    d.arrow((580, 236), (580, 310), pi.right())
    d.text(588, 270, "sojourn times", "small start")
    return d


def departure() -> Drawing:
    t = timing()
    d = Drawing(
        "departure",
        720,
        280,
        "Decisions on arrival and at departure",
        "Curves and PIE decide when a packet arrives. CoDel, DualPI2 and marks at departure decide when it leaves.",
    )
    first = d.box(16, 70, 130, 72, "on arrival", "curves, PIE,", "limits, pool", kind="ours")
    queue = d.box(206, 70, 150, 72, "queue", "sojourn time", "runs")
    sched = d.box(416, 70, 110, 72, "Scheduler", "chooses a packet")
    last = d.box(576, 70, 128, 72, "at departure", "CodelUnit,", "DualPi2Unit", kind="ours")
    d.row([first, queue, sched, last])
    d.arrow(first.bottom(), (81, 190))
    d.text(81, 208, "early, forced, tail", "small")
    wire = d.box(576, 196, 128, 40, "wire")
    d.arrow(last.bottom(), wire.top())
    d.text(630, 174, "sent, perhaps CE", "small end")
    d.arrow(last.top(), (640, 36), (471, 36), sched.top(), label="dropped: choose again")
    d.text(555, 54, "no rate, no quantum", "small")
    d.text(
        16,
        264,
        f"A verdict at departure takes {t['Judging']} cycles. CurveMarks marks CE by the level that the packet leaves behind.",
        "small start",
    )
    return d


ALL = (average, three_colour, dualpi2, departure)
