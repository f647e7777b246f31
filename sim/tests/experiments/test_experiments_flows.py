"""`vermilion experiment` p1 and p3: TCP transfers in ns-3, losses by distance, the networks that are planned, and what their figures are made of."""

import pytest

from vermilion.experiments import ddred, network, pages, papers, rows, runs, settings, three_colour, verdicts
from vermilion.toolchain import build
from vermilion.values.fields import UserError

FILES = {name: (settings.FOLDER / f"{name}.toml").read_text() for name in ("p0-two", "p1", "p3")}
MB = 10**6


@pytest.fixture(scope="session")
def net():
    return network.program("model", build.quiet)


def ask(program, folder, asked):
    return runs.Runner(program, folder, 1).all([runs.Run("x", 1, asked, 1)])["x"][1]


def read(name):
    return settings.parse(FILES[name])


@pytest.mark.parametrize(
    "name, old, new, words",
    [
        ("p1", 'marker = [{ queue = "af", kind = "3cpm" }]', "", "edge has no marker; it needs one at least"),
        ("p3", 'ddred = "nearest"', 'dd = "nearest"', "scheme has no ddred"),
        ("p3", "least_bytes = 100_000", "least_bytes = 7_000_000", "bus has least_bytes 7000000 above most"),
        ("p3", "routers = 10", "routers = 40", "bus.routers is 40"),
        ("p3", "limit = 50, p = 0.1", "limit = 50, p = 1.1", "thresholds.small.p is 1.1"),
        ("p1", "rtt_ms = [128.0,", "rtt_ms = [19.0,", "network has rtt_ms 19; legal is 20 .twice delay_ms. and up"),
        ("p1", 'schemes = ["nm", "3cpm"]', 'schemes = ["nm", "4cpm"]', "has long.schemes .4cpm.; legal are nm, wpm"),
        ("p1", "[yellow] # max is 3 min\nmin = [6, 20, 70, 240]", "[yellow]\nmin = [6]", "yellow.min"),
        ("p0-two", 'second_rate = "1.2Mbit"', 'second_rate = "1.2"', "network.second_rate is .1.2., which is no whole"),
    ],
)
def test_settings_are_refused_with_a_sentence(tmp_path, name, old, new, words):
    assert old in FILES[name]
    path = tmp_path / "x.toml"
    path.write_text(FILES[name].replace(old, new, 1))
    with pytest.raises(UserError, match=f"x.toml: .*{words}") as refused:
        settings.load(path)
    assert "\n" not in str(refused.value)


# Transfers.


def transfers(*each, seconds=60, rate=10 * MB, delay_ms=20, **more):
    asked = [{"name": n, "from": "a", "to": "b", "bytes": sizes, "start_ns": times} for n, sizes, times in each]
    tcp = read("p1").tcp.model_dump()
    return {
        "seconds": seconds,
        "tcp": tcp,
        "links": [network.link("a", "b", rate, delay_ms)],
        "transfers": asked,
    } | more


@pytest.mark.slow
def test_a_transfer_takes_a_handshake_its_rounds_and_its_bytes(net, tmp_path):
    second = network.SECOND
    got = ask(net, tmp_path, transfers(("x", [100, 1460, 20 * 1460], [0, second, 2 * second])))["transfers"]["x"]
    one, full, twenty = (ns / network.MS for ns in got["took_ns"])
    wire = lambda payload: 8e3 * (payload + 42) / (10 * MB)  # ms: PPP, IP and TCP headers
    # SYN, SYN-ACK, data; those are 46 bytes with their option.
    assert abs(one - (60 + wire(4) * 2 + wire(100))) < 0.1
    assert abs(full - (60 + wire(4) * 2 + wire(1460))) < 0.1
    # 1, 2, 4, 8 and 5 of 20 segments: four rounds more.
    assert 60 + 4 * 40 < twenty < 60 + 4 * 40 + 10 * wire(1460)
    assert got["received_bytes"] == 100 + 21 * 1460


@pytest.mark.slow
def test_transfers_on_many_connections_all_end_and_leave_no_end_point_behind(net, tmp_path):
    starts = [i * 20 * network.MS for i in range(1000)]
    got = ask(net, tmp_path, transfers(("x", [3000] * 1000, starts)))["transfers"]["x"]
    assert all(100 * network.MS < ns < 140 * network.MS for ns in got["took_ns"])
    assert got["received_bytes"] == 3 * MB


@pytest.mark.slow
def test_bytes_and_samples_of_a_transfer_that_never_ends(net, tmp_path):
    more = {"count_from_ns": 10 * network.SECOND, "sample_ns": network.SECOND}
    got = ask(net, tmp_path, transfers(("x", [10**12], [0]), seconds=20, **more))["transfers"]["x"]
    assert got["took_ns"] == [0] and len(got["samples"]) == 19  # the run ends at the twentieth
    assert got["samples"] == sorted(got["samples"])
    in_window = got["received_bytes"] * 8 / 10
    assert abs(in_window / (10 * MB * 1460 / 1502) - 1) < 0.01  # a window of 44 segments fills 10 Mbit/s x 40 ms
    assert abs(got["samples"][18] - got["samples"][9] - 0.9 * got["received_bytes"]) < 0.01 * got["received_bytes"]


# Losses by distance.


def crowd(scheme, seed):
    of = read("p3")
    few = {"transfers": 12, "within_s": 1.0, "most_bytes": MB, "least_bytes": MB}
    of = of.model_copy(update={"bus": of.bus.model_copy(update=few)})
    return ddred.many(of, "bus", "small", scheme, seed, 1)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["red", "ddred"])
def test_every_loss_has_its_distance(net, tmp_path, scheme):
    asked = crowd(scheme, 5)
    got = ask(net, tmp_path, asked)
    made = ddred.of_many(got)
    lost = sum(network.lost(lane, colour) for lane in got["lanes"].values() for colour in network.COLOURS)
    evicted = sum(
        each["evicted"] for lane in got["lanes"].values() for each in lane.get("sources", {}).get("all", {}).values()
    )
    assert made["late"] == 0 and made["lost"] == lost > 100
    assert (lost > evicted > lost / 4) if scheme == "ddred" else evicted == 0
    # A router's own workstation sends from one hop away, and a bus of ten has ten routers at most on a way.
    assert {int(hops) for lane in got["lanes"].values() for hops in lane.get("lost_distance", {})} <= set(range(1, 11))
    assert sum(each["received_bytes"] for each in got["transfers"].values()) == 12 * MB


@pytest.mark.slow
def test_distance_is_the_number_of_routers_on_the_way(net, tmp_path):
    """A bottleneck behind two routers: data has come through both."""
    of = read("p3")
    routers = ddred.Routers(of, "small", "red", 3)
    routers.join("r1", "hs", 1)
    routers.join("r1", "r2")
    routers.join("r2", "hd")
    slow = ddred.lane_tables(of, "small", "red") | {"port": {"rate": "2Mbit"}}
    routers.links[-1]["lanes"][0]["lane"] = network.lane("", "", slow, 77)["lane"]
    asked = {"seconds": 20, "tcp": of.tcp.model_dump(), "links": routers.links}
    asked["transfers"] = [{"name": "x", "from": "hs", "to": "hd", "bytes": [10**12], "start_ns": [0]}]
    lanes = ask(net, tmp_path, asked)["lanes"]
    assert set(lanes["r2-hd"]["lost_distance"]) == {"2"}
    assert all("lost_distance" not in lane for name, lane in lanes.items() if name != "r2-hd")


def test_the_flower_has_its_loops_and_every_port_of_a_router_a_lane():
    of = read("p3")
    routers = ddred.Routers(of, "large", "ddred", 1)
    hosts = ddred.flower(of, routers)
    assert len(hosts) == 40 and len(routers.links) == 5 * 9 + 40
    lanes = [lane for link in routers.links for lane in link["lanes"]]
    assert (
        len(lanes)
        == 2 * 5 * 9 + 40
        == len({lane["name"] for lane in lanes})
        == len({lane["lane"]["seed"] for lane in lanes})
    )
    assert all(lane["lane"]["queues"][0]["victim"] == 1 for lane in lanes)
    assert sum("centre" in link["ends"] for link in routers.links) == 10


def test_both_schemes_have_the_same_transfers():
    of = read("p3")
    red, nearest = (ddred.many(of, "flower", "small", scheme, 4, 1) for scheme in ("red", "ddred"))
    assert red["transfers"] == nearest["transfers"] != ddred.many(of, "flower", "small", "red", 5, 1)["transfers"]


# 3CPM.


def test_every_marker_gets_the_same_flows():
    of = read("p1")
    plan = [run for run in three_colour.planned(of, [3], 10) if run.name.startswith("web.")]
    assert len(plan) == 16 and all(run.asked["transfers"] == plan[0].asked["transfers"] for run in plan)
    flows = [size for each in plan[0].asked["transfers"] for size in each["bytes"]]
    assert flows.count(three_colour.ENDLESS) == 1 and abs(len(flows) / (21 * 55) - 1) < 0.1
    assert three_colour.transfers(of, "web", 4, 10) != plan[0].asked["transfers"]


def test_a_frontier_is_the_least_delay_at_a_goodput():
    points = [(1.0, 10.0), (2.0, 20.0), (3.0, 60.0), (2.5, 5.0)]
    assert three_colour.delay_at(points, 1.5) == 15
    assert three_colour.delay_at(points, 2.5) == 5  # the line comes back
    assert three_colour.delay_at(points, 3.0) == 60


def test_figure_4_is_judged_by_the_thresholds_that_were_fixed_before_any_run():
    """A bend that only the thresholds of `later` show does not make the claim hold."""
    of = read("p1")
    assert of.long.min == of.yellow.min and of.long.later
    good, bad = [(1, 10), (2, 11), (3, 12), (4, 13)], [(1, 20), (2, 21), (3, 22), (4, 23)]
    out = {}
    for least in three_colour.thresholds(of, "long"):
        by_first = dict(zip(of.long.min, range(4), strict=False))
        for scheme in ("nm", "3cpm"):
            # NM's delay is lower at the first thresholds, and far higher at those that came later.
            goodput, delay = (good if scheme == "nm" else bad)[by_first[least]] if least in by_first else (2.5, 5.0)
            out[f"long.{scheme}.{least}.goodput"] = [goodput]
            out[f"long.{scheme}.{least}.delay"] = [delay + 500 if least in of.long.later and scheme == "nm" else delay]
    three_colour.frontiers(of, out, 1, of.long.min, "frontier")
    three_colour.frontiers(of, out, 1, three_colour.thresholds(of, "long"), "frontier_later")
    lines = {line.value: line for line in rows.lines(of.row)}
    assert lines["long.3cpm.frontier"].class_ == "must hold"
    assert lines["long.3cpm.frontier_later"].class_ == "informational"
    assert out["long.3cpm.frontier"] > out["long.nm.frontier"]
    assert out["long.3cpm.frontier_later"] < out["long.nm.frontier_later"]


@pytest.mark.slow
def test_quick_runs_of_the_networks_give_every_figure_that_a_row_asks_for(net, tmp_path):
    for name, shorter in (("p0-two", 20), ("p1", 100), ("p3", 100)):
        of = read(name)
        work = papers.module(of)
        if name == "p3":
            bus = of.bus.model_copy(update={"most_bytes": 200_000})
            of = of.model_copy(update={"bus": bus, "two": of.two.model_copy(update={"latency_ms": [1, 20, 50, 100]})})
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
