"""`vermilion experiment`: settings and what they refuse, runs that are kept, the Poisson queue against its formulas, and the ns-3
queue disc against the model by itself."""

import json
import math
from bisect import bisect_left
from ctypes import byref, c_char_p, create_string_buffer

import pytest
from click.testing import CliRunner

from support.model_bindings import MARK, Arrival, Decision, Sent, library, u64
from vermilion.commands import cli
from vermilion.experiments import network, pages, papers, poisson, rows, runs, settings, verdicts
from vermilion.profile import quantise
from vermilion.toolchain import build
from vermilion.values.fields import UserError

FILES = {name: (settings.FOLDER / f"{name}.toml").read_text() for name in settings.names()}


@pytest.fixture(scope="session")
def queue():
    return poisson.program("model", build.quiet)


@pytest.fixture(scope="session")
def net():
    return network.program("model", build.quiet)


def ask(program, folder, asked):
    return runs.Runner(program, folder, 1).all([runs.Run("x", 1, asked, 1)])["x"][1]


# Settings.


@pytest.mark.parametrize("name", FILES)
def test_every_settings_file_is_complete(name):
    of = papers.load(settings.FOLDER / f"{name}.toml")
    work = papers.module(of)
    planned = work.planned(of, of.seeds[:3], 1)
    assert len({(run.name, run.seed) for run in planned}) == len(planned)
    assert len({json.dumps(run.asked, sort_keys=True) for run in planned}) == len(planned)
    # Quick runs have other seeds, and two at least, as an interval needs them. Seeds up to 1000 have been seen.
    assert not set(of.quick.chosen(None)) & set(of.seeds) and of.quick.seeds >= 2 and min(of.seeds) > 1000
    assert len(of.seeds) >= {"p1": 24, "p3": 24}.get(name, 8)
    lines = rows.lines(of.row)
    assert len({(line.of, line.value) for line in lines}) == len(lines)
    assert any(line.class_ == "must hold" for line in lines) and work.notes(of)


@pytest.mark.parametrize(
    "name, old, new, words",
    [
        ("p4", "warm_up = 20_000", "warm_up = -1", "traffic.warm_up is -1; input should be greater than or equal to 0"),
        ("p4", "warm_up = 20_000", "", "traffic.warm_up is missing"),
        ("p4", "warm_up", "warm_ups", "warm_ups is no key"),
        (
            "p4",
            'kind = "poisson"',
            'kind = "poison"',
            "kind is .*poison.*; legal are poisson, wred-rio, redp, ddred, 3cpm",
        ),
        ("p4", 'kind = "poisson"', 'kind = ["poisson"]', "kind is a list; legal are poisson"),
        ("p4", "1001, 1002,", "1001, 1001,", "has a seed twice"),
        ("p4", 'below = "red.{load}.mean_run"', 'below = ""', "row.6.below is"),
        ("p4", 'class = "must hold"', 'class = "gate"', "row.1.class is .gate."),
        ("p1", "later = [10,", "later = [6,", "long has 6 in min and in later; one may"),
        ("p4", "exact = 2.656e-6", "exact = 0\nwithin = 0.01", "has within and an exact of 0"),
        ("p2", 'rate = "1.7Mbit" }\nqueue', 'rate = "1.7Mbit" }\nqueues', "lane has no queue; it needs one at least"),
        ("p0", "drop02 = 0.02", "drop2 = 0.02", "scheme has no drop02"),
        ("p4", "within = 0.01", "within = 0.01\nhigh = 2.0", "has within and low, high; one may"),
        ("p4", "within = 0.01", "", 'has class "must hold" and nothing to judge by'),
        ("p4", 'value = "tail.{load}.loss"', 'value = "tail.{laod}.loss"', "names in braces what its each lacks"),
        ("p4", '"1.2" = 0.166667, ', "", "whose table has other entries"),
        (
            "p2",
            'curves = "partial", traffic = "bulk"',
            'curves = "part", traffic = "bulk"',
            "case.t9.curves .part.; legal",
        ),
        ("p2", 'schemes = ["wred"] }', 'schemes = ["dred"] }', "case.t11-30.schemes .dred.; legal are rio, wred"),
        ("p2", 'bottleneck = "1.7Mbit"', 'bottleneck = "1.7"', "network.bottleneck"),
        ("p0", "rtt_ms = [26.0, 28.0, 30.0, 32.0]", "rtt_ms = [26.0]", "network.rtt_ms"),
    ],
)
def test_settings_are_refused_with_a_sentence(tmp_path, name, old, new, words):
    assert old in FILES[name]
    path = tmp_path / "x.toml"
    path.write_text(FILES[name].replace(old, new, 1))
    with pytest.raises(UserError, match=f"x.toml: .*{words}") as refused:
        settings.load(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (
            ["p9"],
            "experiment p9: is no experiment; legal are list, all, p0, p0-two, p1, p2, p3, p4, schemes, ageing, bufferbloat, l4s, step",
        ),
        (["p4", "--seeds", "99"], "--seeds is 99; experiment p4 has 8"),
        (["p4", "--quick", "--publish"], "--publish takes every seed and whole runs"),
    ],
)
def test_the_command_refuses_with_a_sentence(arguments, words):
    done = CliRunner().invoke(cli.cli, ["experiment", *arguments])
    assert isinstance(done.exception, UserError) and words in str(done.exception)


def test_the_list_names_every_experiment():
    done = CliRunner().invoke(cli.cli, ["experiment", "list"])
    assert done.exit_code == 0 and all(name in done.output for name in FILES)


# The Poisson queue.


def poisson_asked(scheme, load, count, seed):
    of = settings.parse(FILES["p4"])
    of = of.model_copy(
        update={"traffic": of.traffic.model_copy(update={"loads": [load], "arrivals": count, "long_loads": []})}
    )
    return next(run.asked for run in poisson.planned(of, [seed], 1) if run.name.startswith(scheme))


@pytest.mark.slow
@pytest.mark.parametrize(
    "rho, loss, delay, run", [(1.2, 1 / 6, 94.0, 2.2), (1.5, 1 / 3, 97.0, 2.5), (2.0, 0.5, 98.0, 3.0)]
)
def test_tail_drop_is_that_of_the_formulas(queue, tmp_path, rho, loss, delay, run):
    got = poisson.of_run(ask(queue, tmp_path, poisson_asked("tail", rho, 1_000_000, 5)))
    assert abs(got["loss"] / loss - 1) < 0.01 and abs(got["delay_ms"] / delay - 1) < 0.01
    assert abs(got["mean_run"] / run - 1) < 0.02
    for n in (1, 2, 3):
        assert abs(got[f"more_than_{n}"] / (rho / (1 + rho)) ** n - 1) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["tail", "red", "exred"])
def test_packets_of_the_poisson_queue_add_up(queue, tmp_path, scheme):
    asked = poisson_asked(scheme, 1.2, 200_000, 3) | {"warm_up": 0}
    got = ask(queue, tmp_path, asked)
    lost = got["early"] + got["forced"] + got["tail"]
    assert 0 <= got["arrived"] - lost - got["served"] <= 100 and got["arrived"] == 200_000
    assert abs(got["seconds"] * 1200 / 200_000 - 1) < 0.01
    assert got["run_sum"] <= lost <= got["run_sum"] + 100 and sum(got["runs"]) == got["run_count"]
    assert (got["tail"] > 0) == (scheme == "tail") and (got["early"] > 0) == (scheme != "tail")
    assert (got["forced"] > 0) == (scheme == "red")  # ExRED's average does not come near K


def test_the_analytic_curves_are_those_of_m_m_1_k_without_early_drops():
    of = settings.parse(FILES["p4"])
    for rho in (0.9, 1.2, 2.0):
        got = poisson.analytic(poisson.curve(of, "tail"), rho, 1000)
        k = 100
        loss = (1 - rho) * rho**k / (1 - rho ** (k + 1))
        inside = rho * (1 - (k + 1) * rho**k + k * rho ** (k + 1)) / ((1 - rho ** (k + 1)) * (1 - rho))
        delay = inside / ((1 - loss) * rho * 1000) - 1 / 1000
        assert math.isclose(got["loss"], loss, rel_tol=1e-9) and math.isclose(
            got["delay_ms"], 1e3 * delay, rel_tol=1e-9
        )
    assert "mean_run" not in poisson.analytic(poisson.curve(of, "red"), 1.2, 1000)


# The queue disc of ns-3.

TCP = settings.parse(FILES["p2"]).tcp.model_dump()
CORE = {
    "port": {"rate": "2Mbit"},
    "queue": [
        {
            "name": "af", "dscp": {"green": ["AF11"], "yellow": ["AF12"]}, "default": True, "spacing": "uniform", "limit": "40KB",
            "average": {"kind": "rio-c", "weight": 0.02, "idle_packet": "250B"},
            "green": {"curve": "red", "min": "8KB", "max": "30KB", "p": 0.1},
            "yellow": {"curve": "gentle", "min": "4KB", "max": "20KB", "p": 0.2},
        }
    ],
}  # fmt: skip


def udp(name, colour, payload, interval, start, source="h1"):
    return {
        "name": name, "from": source, "to": "h2", "dscp": network.DSCP[colour], "payload_bytes": payload,
        "interval_ns": interval, "start_ns": start, "on_ns": 40 * interval, "off_ns": 30 * interval,
    }  # fmt: skip


def frame(colour, payload):
    """As the queue disc shows it: Ethernet type, IPv4 with its length, DSCP and protocol; UDP."""
    ip = bytes([0x45, network.DSCP[colour] << 2]) + (28 + payload).to_bytes(2) + bytes(4) + bytes([64, 17]) + bytes(10)
    return bytes(12) + b"\x08\x00" + ip + bytes(8 + payload)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 77])
def test_the_queue_disc_decides_as_the_model_by_itself(net, tmp_path, seed):
    sources = [udp("a", "green", 700, 3_000_011, 1_000_003), udp("b", "yellow", 333, 1_100_003, 2_000_009)]
    core = network.lane("h1", "lane", CORE, seed, {"from": 0, "to": 10**12, "step": 1})
    asked = {"seconds": 20, "tcp": TCP, "links": [network.link("h1", "h2", 2_000_000, 1, core)], "udp": sources}
    got = ask(net, tmp_path, asked)["lanes"]["lane"]

    packets = []
    for source, colour in zip(sources, (0, 1), strict=False):
        number = 0
        while True:
            burst, within = divmod(number, 40)
            time = source["start_ns"] + burst * 70 * source["interval_ns"] + within * source["interval_ns"]
            if time >= 20 * 10**9:
                break
            packets.append((time, colour, frame(network.COLOURS[colour], source["payload_bytes"])))
            number += 1
    packets.sort()
    assert len({time for time, _, _ in packets}) == len(packets) > 5000

    lib, error = library(), create_string_buffer(400)
    config = lib.vm_config_read(json.dumps(core["lane"]).encode(), error, 400)
    assert config, error.value
    lane = lib.vm_lane_create(lib.vm_config_get(config))
    wanted, came, gone, counts, decision, seen, sent = [], [], [], {}, Decision(), Arrival(), Sent()
    for time, colour, data in packets:
        assert lib.vm_lane_arrive(lane, time, c_char_p(data), len(data), 0, byref(seen), byref(decision)) == 0
        wanted.append([time, colour, decision.avg / 65536])
        if decision.verdict <= MARK:
            came.append(time)
        key = (colour, decision.verdict)
        counts[key] = counts.get(key, 0) + 1
    lib.vm_lane_advance(lane, 20 * 10**9)
    left, room = [0, 0], create_string_buffer(2000)
    while lib.vm_lane_take(lane, byref(sent), room, 2000) == 1:
        left[sent.colour] += 1
        gone.append(sent.time)
    lib.vm_lane_destroy(lane)
    lib.vm_config_destroy(config)

    assert [row[:3] for row in got["trace"]] == wanted  # every decision's average, in order
    for time, *_, inside in got["trace"]:  # and how many packets it met; ns-3 has a packet out up to 1 us late
        assert inside - bisect_left(came, time) in range(-bisect_left(gone, time), 1 - bisect_left(gone, time - 1000))
    assert max(inside for *_, inside in got["trace"]) > 5
    for colour in (0, 1):
        ours = got["sources"]["h1"][network.COLOURS[colour]]
        for number, name in enumerate(("enqueue", "mark", "early", "forced", "tail", "nobuf", "bad", "policed")):
            assert ours[name] == counts.get((colour, number), 0), name
        assert abs(ours["left"] - left[colour]) <= 1  # one may leave in the last instant
    assert {verdict for _, verdict in counts} >= {0, 2} and got["most_waiting"] <= 2


def test_a_lane_that_is_stepped_by_its_own_next_sends_as_one_that_is_drained():
    lib, error = library(), create_string_buffer(400)
    config = lib.vm_config_read(json.dumps(network.lane("h1", "lane", CORE, 3)["lane"]).encode(), error, 400)
    departures, room, time = [], create_string_buffer(2000), u64()
    for stepped in (True, False):
        lane, sent, steps = lib.vm_lane_create(lib.vm_config_get(config)), Sent(), 0
        assert lib.vm_lane_next(lane, byref(time)) == 1  # it has not rested since its beginning
        for number in range(40):
            data = frame("green", 100 + number)
            args = (c_char_p(data), len(data), 0, None, byref(Decision()))
            assert lib.vm_lane_arrive(lane, 10_000 + 1000 * number, *args) == 0
        while stepped and lib.vm_lane_next(lane, byref(time)) == 1:
            before, steps = time.value, steps + 1
            lib.vm_lane_advance(lane, time)
            assert lib.vm_lane_next(lane, byref(time)) == 0 or time.value > before
        assert not stepped or 40 <= steps <= 120
        lib.vm_lane_drain(lane)
        out = []
        while lib.vm_lane_take(lane, byref(sent), room, 2000) == 1:
            out.append((sent.id, sent.time))
        departures.append(out)
        lib.vm_lane_destroy(lane)
    lib.vm_config_destroy(config)
    assert departures[0] == departures[1] and len(departures[0]) == 40


@pytest.mark.slow
def test_colours_that_a_marker_writes_are_read_by_the_next_lane(net, tmp_path):
    edge = {
        "port": {"rate": "100Gbit"},
        "queue": [{"name": "af", "default": True, "remark": {"green": "AF11", "yellow": "AF12"}}],
        "marker": [{"queue": "af", "kind": "leaf", "rate": "0.5Mbit", "burst": "4KB", "out": "yellow"}],
    }
    links = [
        network.link("h1", "e", 10_000_000, 1, network.lane("h1", "edge", edge, 1)),
        network.link("e", "h2", 2_000_000, 1, network.lane("e", "core", CORE, 2)),
    ]
    # The UDP source alone sends 1.48 Mbit/s without a pause, so the bucket of 0.5 Mbit/s never overflows, whatever TCP does.
    steady = udp("a", "red", 700, 4_000_000, 0) | {"on_ns": 0, "off_ns": 0}
    asked = {"seconds": 30, "tcp": TCP, "links": links, "udp": [steady]}
    asked["bulk"] = [{"name": "bulk", "from": "h1", "to": "h2", "start_ns": 0}]
    got = ask(net, tmp_path, asked)
    edge_, core = got["lanes"]["edge"], got["lanes"]["core"]
    for colour in ("green", "yellow"):
        assert abs(edge_["sources"]["h1"][colour]["left"] - network.arrived(core, colour)) <= 2
        assert network.arrived(core, colour) > 100
    green_bytes = edge_["sources"]["h1"]["green"]["left_bytes"]
    tokens = 30 * 500_000 // 8
    assert (
        tokens - 1514 <= green_bytes <= tokens + 4096
    )  # less a frame that found too few, and the full bucket of the start
    assert network.lost(core, "yellow") > 0 and got["bulk"]["bulk"]["received_bytes"] > 500_000


@pytest.mark.slow
def test_quick_runs_of_the_networks_give_every_figure_that_a_row_asks_for(net, tmp_path):
    for name, shorter in (("p2", 400), ("p0", 20)):
        of = settings.parse(FILES[name])
        work = papers.module(of)
        results = runs.Runner(net, tmp_path, 2).all(work.planned(of, [1], shorter))
        figures = work.figures(of, results, shorter)
        for run, by_seed in results.items():  # a sweep asks for those of one run at a time
            own = {n: x for n, x in work.figures(of, {run: by_seed}, shorter).items() if n.startswith(f"{run}.") and x}
            assert own and all(figures[n] == x for n, x in own.items())
        judged = [verdicts.judge(line, figures, judging=False) for line in rows.lines(of.row)]
        made = {"name": name, "engine": "model", "seeds": [1], "quick": "short", "versions": net.versions}
        page = tmp_path / f"{name}.html"
        pages.write(page, of, made, judged, work.pictures(of, figures, results), work.notes(of))
        assert page.read_text().count("<svg") == len(work.pictures(of, figures, results))


def test_lanes_have_the_bytes_of_their_configurations():
    of = settings.parse(FILES["p2"])
    record = quantise.hardware(settings.lane(papers.module(of).lane_tables(of, "t2", "rio")))["queues"][0]
    green, yellow = (colour["curve"][0] for colour in record["colour"][:2])
    assert (green["min"], green["max"], yellow["min"], yellow["max"]) == (25600, 51200, 10240, 25600)
    assert green["slope1"] == 2**26 and yellow["slope1"] == 2**28 and record["masks"] == [1, 3, 7]


def test_the_published_page_has_every_published_row():
    folder = pages.PUBLISHED / "papers"
    page = (pages.PUBLISHED / "papers.md").read_text()
    for path in folder.glob("*.json"):
        made = json.loads(path.read_text())
        assert made["text"] in page and not made["quick"]
        of = settings.parse(FILES[made["name"]])
        assert made["seeds"] == of.seeds and len(made["rows"]) == len(rows.lines(of.row))
