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
    d = Drawing(
        "three-colour",
        720,
        270,
        "3CPM: the colours of a flow",
        "The first N_s packets are green. Then packets are yellow, and after A_Y of them a red probe follows. After a loss N_a packets are green.",
    )
    kinds = ["green"] * 5 + ["yellow"] * 6 + ["red"] + ["yellow"] * 6 + ["green"] * 4
    for i, kind in enumerate(kinds):
        d.box(16 + 31 * i, 70, 26, 36, *({0: ["S"], 11: ["P"], 18: ["R"]}.get(i, [])), kind=kind)

    def span(first: int, last: int, told: str, under: str) -> None:
        a, b = 16 + 31 * first, 16 + 31 * last + 26
        d.line((a, 116), (a, 122), (b, 122), (b, 116))
        d.text((a + b) / 2, 140, told, "small")
        d.text((a + b) / 2, 156, under, "small")

    span(0, 4, "N_s credits", "flow begins")
    span(5, 10, "A_Y packets", "yellow")
    span(12, 17, "longer: 2 (A_Y + 1)", "the probe passed")
    span(18, 21, "N_a credits", "after a loss")
    d.text(16 + 31 * 11 + 13, 60, "red: probe", "mark")
    d.text(16 + 31 * 18 + 13, 60, "retransmission", "")
    d.text(29, 60, "SYN", "")
    d.text(
        16,
        196,
        "Green protects packets whose loss costs a timeout. A red probe is lost first, where the network is congested.",
        "small start",
    )
    d.text(
        16,
        218,
        "A loss sets A_Y <- (1 - alpha) A_Y + alpha L_Y. The marker sees it as a sequence number that is not new.",
        "small start",
    )
    d.text(
        16,
        240,
        "WPM keeps the green rules alone, APM the red ones. State is per flow, in FlowTable; FlowLoop updates it.",
        "small start",
    )
    return d


def dualpi2() -> Drawing:
    d = Drawing(
        "dualpi2",
        720,
        340,
        "DualPI2",
        "A controller computes one base probability from the delay. C uses its square, L uses it times the coupling factor or the step.",
    )
    cls = d.box(16, 110, 110, 60, "Classifier", "ECN field")
    low = d.box(180, 50, 140, 52, "L", "ECT(1) and CE", kind="blue")
    classic = d.box(180, 180, 140, 52, "C", "all others", kind="yellow")
    d.arrow(cls.right(0.3), (152, 128), (152, 76), low.left())
    d.arrow(cls.right(0.7), (152, 152), (152, 206), classic.left())
    lmark = d.box(372, 44, 176, 64, "mark", "k p', or sojourn time", "above step_threshold", kind="ours")
    cmark = d.box(372, 174, 176, 64, "mark or drop", "p' squared", kind="ours")
    d.row([low, lmark])
    d.row([classic, cmark])
    d.box(598, 106, 106, 68, "Scheduler", "DRR: 9 to 1")
    d.arrow(lmark.right(), (570, 76), (570, 126), (598, 126))
    d.arrow(cmark.right(), (570, 206), (570, 154), (598, 154))
    pi = d.box(
        140,
        272,
        448,
        52,
        "UpdateSweep, every tupdate",
        "p' <- p' + alpha (delay - target) + beta (delay - last delay)",
        kind="ours",
    )
    d.arrow((cmark.bottom(0.3)[0], 272), cmark.bottom(0.3), label="p'")
    d.arrow((346, 272), (346, 92), (372, 92), label="p'")
    d.arrow((650, 174), (650, 298), pi.right(), label="delay")
    return d


def departure() -> Drawing:
    t = timing()
    d = Drawing(
        "departure",
        720,
        260,
        "Decisions on arrival and at departure",
        "Curves and PIE decide when a packet arrives. CoDel, DualPI2 and marks at departure decide when it leaves.",
    )
    first = d.box(16, 70, 130, 72, "on arrival", "curves, PIE,", "limits, pool", kind="ours")
    queue = d.box(206, 70, 150, 72, "queue", "sojourn time", "runs")
    sched = d.box(416, 70, 110, 72, "Scheduler", "chooses it")
    last = d.box(576, 70, 128, 72, "at departure", "CodelUnit,", "DualPi2Unit", kind="ours")
    d.row([first, queue, sched, last])
    d.arrow(first.bottom(), (81, 190))
    d.text(81, 208, "early, forced, tail", "small")
    d.arrow(last.bottom(), (640, 190))
    d.text(628, 208, "dropped, or CE", "small")
    d.arrow(last.top(), (640, 40), (470, 40), sched.top(), label="drop: costs no rate, no quantum")
    d.text(
        16,
        244,
        f"A verdict at departure takes {t['Judging']} cycles. CurveMarks marks CE by the level that the packet leaves behind.",
        "small start",
    )
    return d


ALL = (average, three_colour, dualpi2, departure)
