"""P4: a single-server queue with Poisson arrivals and exponential service, decided on by the model or the RTL; no network.

Runs are called `SCHEME.LOAD`; each gives `loss` (share of arrivals), `delay_ms` (before service, of those served), `throughput` (packets a
second), `mean_run` (E(N), of consecutive drops), `more_than_N` (P(N > n), n = 1 to 8), `average` (as compared, packets).
Program: `sim/experiments/queue/poisson.cpp`. Analytic curves: equations (2) to (13) of the paper.
"""

from statistics import fmean
from typing import TYPE_CHECKING, Any

from vermilion.configuration.config import Config
from vermilion.console.screen import Note
from vermilion.profile import curves, quantise
from vermilion.report.plots import _TEXT as INK_OF_TEXT
from vermilion.toolchain import build

from . import drawing, rtl, runs, settings
from .rows import Line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCE = build.ROOT / "sim" / "experiments" / "queue" / "poisson.cpp"
ENGINES = ("model", "rtl")
NAMES = {"tail": "tail drop", "red": "RED", "exred": "ExRED"}
INK = {"tail": "#5b8fc0", "red": "#d2603a", "exred": "#2e9e43"}
LONGEST = 8  # n of P(N > n)
EFFORT = 1.3e-7  # processor seconds an arrival


def program(engine: str, note: Note) -> runs.Program:
    """`model`: the decision of the model; `rtl`: the Verilated policy pipeline."""
    library, made = build.model_library(note), build.BUILD / ("poisson" if engine == "model" else f"poisson-{engine}")
    sources = [SOURCE, SOURCE.with_name(f"{engine}_decider.cpp")]
    with build.locked(f"{made.name}.lock"):
        archives, words, key = rtl.policy(note) if engine == "rtl" else ([], [*build.CXX_FLAGS, *build.MODEL_FLAGS], "")
        command = ["g++", *words, *sources, *archives, *build.linked(library), "-pthread", "-o", made]
        inputs = [*sources, SOURCE.with_name("decider.h"), *build.model_inputs()]
        action = lambda: build.run(command, build.BUILD / f"{made.name}.log")
        text = "the Poisson queue" + (", RTL" if engine == "rtl" else "")
        build.step(made, build.digest(inputs, key, *command), note, text, action)
    digest = build.digest(inputs, key)
    about = runs.versions(engine=engine, sources=digest[:16])
    return runs.Program(made, digest, about, stamps=build.stamps(made, library))


def certain(of: settings.Poisson, line: Line) -> str:
    """Why a row cannot fail: over saturation all schemes send alike."""
    load, what = line.value.split(".", 1)[1].rsplit(".", 1)
    if what == "throughput" and line.relation and float(load) > 1:
        return "above saturation (rho > 1) the server is always busy, so every scheme sends at the service rate"
    return ""


def config(of: settings.Poisson, scheme: str) -> Config:
    queue = dict(of.lane["queue"][0]) | {"green": of.scheme[scheme]}
    return settings.lane(of.lane | {"queue": [queue]})


def planned(of: settings.Poisson, seeds: list[int], shorter: int) -> list[runs.Run]:
    out = []
    for scheme in of.scheme:
        record = quantise.hardware(config(of, scheme))
        for load in of.traffic.loads:
            count = of.traffic.long_arrivals if load in of.traffic.long_loads else of.traffic.arrivals
            count = max(1, count // shorter)
            asked: dict[str, Any] = {
                "lane": record,
                "arrivals_per_second": load * of.traffic.service_rate,
                "services_per_second": of.traffic.service_rate,
                "count": count,
                "warm_up": of.traffic.warm_up,
            }
            out += [runs.Run(f"{scheme}.{load}", seed, asked | {"seed": seed}, EFFORT * count) for seed in seeds]
    return out


def of_run(result: runs.Result) -> dict[str, float]:
    """The figures of one run. Where nothing was dropped there is no run of drops: they count as 1 long."""
    lost, count = result["early"] + result["forced"] + result["tail"], result["run_count"]
    made = {
        "loss": lost / result["arrived"],
        "delay_ms": 1e3 * result["waited"] / max(result["served"], 1),
        "throughput": result["served"] / result["seconds"],
        "mean_run": result["run_sum"] / count if count else 1.0,
        "average": result["average"] / result["arrived"],
    }
    for n in range(1, LONGEST + 1):
        made[f"more_than_{n}"] = sum(result["runs"][n:]) / count if count else 0.0
    return made


def figures(_of: settings.Poisson, results: runs.Results, _shorter: int) -> dict[str, list[float]]:
    return runs.measured(results, lambda _, result: of_run(result))


# The paper's equations.


def curve(of: settings.Poisson, scheme: str) -> list[float]:
    """p_d at a backlog of 0 to K, with K itself as full."""
    given = config(of, scheme).queue[0].limit_packets
    limit = given.value if given else 0
    record = quantise.hardware(config(of, scheme))["queues"][0]["colour"][0]["curve"][0]
    p = [curves.integer_probability(record, q * curves.AVG_ONE) / curves.ONE for q in range(limit + 1)]
    return p[:-1] + [1.0]


def analytic(p: list[float], rho: float, mu: float) -> dict[str, float]:
    """Equations (9), (10), (12), (13), which take the average for the backlog: pi(k) goes as rho^k times the product of 1 - p_d below k.
    With p_d = 0 below K they are (2), (5), (6) exactly; tail drop's runs are (3) and (4), not (10). E(N), (11), has no end where p_d is 1 below K, as RED's.
    """
    weights = [1.0]
    for k in range(1, len(p)):
        weights.append(weights[-1] * rho * (1 - p[k - 1]))
    whole = sum(weights)
    pi = [w / whole for w in weights]
    loss = sum(a * b for a, b in zip(pi, p, strict=True))
    backlog = sum(k * a for k, a in enumerate(pi))
    made = {"loss": loss, "throughput": rho * mu * (1 - loss)}
    made["delay_ms"] = 1e3 * (backlog / ((1 - loss) * rho * mu) - 1 / mu)
    below, early = list(zip(pi, p, strict=True))[:-1], sum(a * b for a, b in list(zip(pi, p, strict=True))[:-1])
    for n in range(1, LONGEST + 1):
        tail_drop = (rho / (1 + rho)) ** n
        made[f"more_than_{n}"] = sum(a * b ** (n + 1) for a, b in below) / early if early else tail_drop
    if not early:
        made["mean_run"] = 1 + rho
    elif max(b for _, b in below) < 1:
        made["mean_run"] = 1 + sum(a * b * b / (1 - b) for a, b in below) / early
    return made


def line(of: settings.Poisson, measured: runs.Figures, scheme: str, what: str) -> tuple[list[float], list[float]]:
    loads = [load for load in of.traffic.loads if what != "mean_run" or fmean(measured[f"{scheme}.{load}.loss"]) > 0]
    return loads, [fmean(measured[f"{scheme}.{load}.{what}"]) for load in loads]


def over_load(
    of: settings.Poisson, measured: runs.Figures, what: str, label: str, simulated: bool = True
) -> drawing.Draw:
    """A figure of every scheme over the offered load: marks as simulated, lines by the equations."""

    def draw(figure: "Figure") -> None:
        axis = figure.subplots()
        fine = [of.traffic.loads[0] + i * (of.traffic.loads[-1] - of.traffic.loads[0]) / 200 for i in range(201)]
        for scheme, ink in drawing.inks(of.scheme, INK).items():
            p, name = curve(of, scheme), NAMES.get(scheme, scheme)
            rows = [(x, analytic(p, x, of.traffic.service_rate).get(what)) for x in fine]
            rows = [row for row in rows if row[1] is not None]
            if rows:
                axis.plot(*zip(*rows, strict=True), color=ink, linewidth=1, label=f"{name}, equations")
            if simulated:
                at = line(of, measured, scheme, what)
                axis.plot(*at, "o", color=ink, markersize=4, label=f"{name}, ours")
        axis.set(xlabel="offered load, rho", ylabel=label, yscale="linear")
        axis.legend()

    return draw


def figure_2(of: settings.Poisson) -> drawing.Draw:
    def draw(figure: "Figure") -> None:
        axis = figure.subplots()
        for high, ink in ((20, "#5b8fc0"), (30, "#2e9e43"), (40, "#c99300"), (50, "#d2603a")):
            green = of.scheme["exred"] | {"max": f"{high}p"}
            queue = dict(of.lane["queue"][0]) | {"green": green}
            record = quantise.hardware(settings.lane(of.lane | {"queue": [queue]}))["queues"][0]["colour"][0]["curve"][
                0
            ]
            axis.plot(*curves.points(record, 100), color=ink, label=f"k_l 10, k_h {high}")
        axis.set(xlabel="average, packets", ylabel="drop probability")
        axis.legend()

    return draw


def figure_3(of: settings.Poisson) -> drawing.Draw:
    def draw(figure: "Figure") -> None:
        axis = figure.subplots()
        for scheme in (each for each in of.scheme if each != "tail"):
            record = quantise.hardware(config(of, scheme))["queues"][0]["colour"][0]["curve"][0]
            ink = drawing.inks(of.scheme, INK)[scheme]
            axis.plot(*curves.points(record, 100), color=ink, label=NAMES.get(scheme, scheme))
        axis.set(xlabel="average, packets", ylabel="drop probability")
        axis.legend()

    return draw


def figure_6(of: settings.Poisson, measured: runs.Figures) -> drawing.Draw:
    def draw(figure: "Figure") -> None:
        axes = figure.subplots(2, 2, sharex=True, sharey=True)
        walk, inks = range(1, LONGEST + 1), drawing.inks(of.scheme, INK)
        for axis, load in zip(axes.flat, of.traffic.long_loads, strict=False):
            for scheme in of.scheme:
                told = analytic(curve(of, scheme), load, of.traffic.service_rate)
                axis.plot(walk, [told[f"more_than_{n}"] for n in walk], color=inks[scheme], linewidth=1)
                ours = [fmean(measured[f"{scheme}.{load}.more_than_{n}"]) for n in walk]
                kept = [(n, y) for n, y in zip(walk, ours, strict=True) if y > 0]
                if kept:
                    name = NAMES.get(scheme, scheme)
                    axis.plot(*zip(*kept, strict=True), "o", color=inks[scheme], markersize=4, label=name)
            axis.set(title=f"rho {load}", yscale="log", ylim=(1e-5, 1.5))
            axis.yaxis.set_major_formatter(lambda y, _: f"{y:g}")  # the page's figures have no mathematics
            axis.plot([], [], color=INK_OF_TEXT, linewidth=1, label="equations")
        axes[0][0].legend()
        for axis in axes[1]:
            axis.set_xlabel("n")
        for axis in axes[:, 0]:
            axis.set_ylabel("P(N > n)")

    return draw


def pictures(of: settings.Poisson, measured: runs.Figures, _results: runs.Results) -> list[drawing.Picture]:
    """Name, caption, height and drawing of each; figure 2 where there is an ExRED to draw it of."""
    made = [
        (
            "figure-2",
            "Figure 2: ExRED's drop function for several k_h, with the hardware's integers",
            3.0,
            figure_2(of),
        ),
        ("figure-3", "Figure 3: drop functions of RED and ExRED, with the hardware's integers", 3.0, figure_3(of)),
        (
            "figure-4",
            "Figure 4: throughput over offered load by equations (2), (9) and (15)",
            3.0,
            over_load(of, measured, "throughput", "packets a second", simulated=False),
        ),
        (
            "figure-5",
            "Figure 5: throughput over offered load, simulated, beside the equations",
            3.4,
            over_load(of, measured, "throughput", "packets a second"),
        ),
        (
            "figure-6",
            "Figure 6: probability of more than n consecutive drops; marks are simulated. By equation (10) RED's line hardly falls, as its p_d is 1 from k_h up",
            5.0,
            figure_6(of, measured),
        ),
        (
            "figure-7",
            "Figure 7: mean number of consecutive drops. Equation (11) has no end for RED, so there is no line of it",
            3.4,
            over_load(of, measured, "mean_run", "E(N)"),
        ),
        (
            "figure-8",
            "Figure 8: mean delay before service",
            3.4,
            over_load(of, measured, "delay_ms", "ms"),
        ),
    ]
    return [each for each in made if each[0] != "figure-2" or "exred" in of.scheme]


def notes(of: settings.Poisson) -> list[str]:
    return [
        "Backlog and limit count the packet in service, as K of M/M/1/K does; delay is the time before service. "
        f"{of.traffic.long_arrivals:,} arrivals a run at rho {', '.join(map(str, of.traffic.long_loads))}, "
        f"{of.traffic.arrivals:,} elsewhere, behind {of.traffic.warm_up:,} that are not counted.",
        "The average decays over idle time by (1-w)^(mu t); the paper's (7) prints mu/2 for the exponent, a misprint of mu over lambda.",
        "Equations (9) to (13) take the average for the backlog itself. ExRED's simulated figures lie near their lines all the same, with runs of drops a little shorter and "
        "at rho 0.9 a delay a little longer; RED's do not, where its curve "
        "jumps from max_p to 1: a slow average stays over k_h for many arrivals together, and runs of drops are long.",
    ]
