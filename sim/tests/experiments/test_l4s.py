"""L4S: settings, what the pair and its traffic are made of, and short runs whose figures are counted again from each packet."""

import json
import math
from html import unescape

import pytest
from click.testing import CliRunner

from vermilion.commands import cli
from vermilion.experiments import l4s, l4s_pages, network, runs, settings
from vermilion.profile import quantise
from vermilion.toolchain import build
from vermilion.values.fields import UserError

OF = l4s.load()
TEXT = l4s.FILE.read_text()
CASE = ("12", 20.0, "cubic", "dualpi2")
RATE = OF.rate["12"].bottleneck


def test_the_grid_has_every_rate_round_trip_and_variant():
    cases = l4s.cases(OF)
    assert [run.name for run in l4s.planned(OF, [1], 1)] == [l4s.name(case) for case in cases]
    assert len(set(cases)) == len(cases)
    assert {case[:2] for case in cases if case[2:] == ("cubic", "dualpi2")} == {
        (rate, rtt) for rate in ("4", "12", "40", "100") for rtt in (5.0, 10.0, 20.0, 50.0, 100.0)
    }
    assert {case[2:] for case in cases} == {
        *(("cubic", q) for q in ("dualpi2", "pie", "k1", "k4", "nostep", "bursts", "equal", "drop", "mark")),
        *(("cubic-ecn", "dualpi2"), ("newreno", "dualpi2"), ("udp", "drop"), ("udp", "mark")),
    }
    assert min(OF.seeds) > 1000 and OF.quick.seeds >= 2


def test_the_lane_has_the_settings_of_the_file():
    c, low = quantise.hardware(settings.lane(l4s.lane(OF, RATE, "dualpi2")))["queues"]
    assert c["dualpi2"]["on"] == low["dualpi2"]["on"] == 1 and low["quantum"] == 9 * c["quantum"]
    assert c["dualpi2"]["target"] == 15_000_000 // 64 and c["dualpi2"]["coupling"] == 2
    assert c["dualpi2"]["step"] == 2 * 1514 * 8 * network.SECOND // RATE // 64  # two full packets, over 1 ms
    fast = quantise.hardware(settings.lane(l4s.lane(OF, 10**8, "k4")))["queues"][0]["dualpi2"]
    assert fast["coupling"] == 4 and fast["step"] == 10**6 // 64
    assert len(quantise.hardware(settings.lane(l4s.lane(OF, RATE, "pie")))["queues"]) == 1


def test_long_round_trips_have_longer_runs():
    assert l4s.lasts(OF, ("100", 100.0, "cubic", "dualpi2"), 1) == (20, 40)
    assert l4s.lasts(OF, ("100", 5.0, "cubic", "dualpi2"), 2) == (3, 8)
    assert l4s.lasts(OF, ("100", 20.0, "udp", "drop"), 1) == (1.5, 4)


def test_variants_of_a_seed_differ_in_one_thing():
    plain = l4s.scenario(OF, CASE, 7, 1)
    equal = l4s.scenario(OF, (*CASE[:3], "equal"), 7, 1)
    assert equal["links"][0]["delay_ns"] - plain["links"][0]["delay_ns"] == 7_500_000  # twice in a round trip: 15 ms
    bursts = l4s.scenario(OF, (*CASE[:3], "bursts"), 7, 1)
    assert plain["tcp"] | {"pacing": False} == bursts["tcp"] != plain["tcp"]
    assert equal["links"][1:] == bursts["links"][1:] == plain["links"][1:] and equal["bulk"] == plain["bulk"]


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("coupling = 2", "coupling = 256", "pair.coupling is 256; .*less than or equal to 255"),
        ("limit_packets = [430, 250]", "limit_packets = [430, 683]", "pair.limit_packets.2 is 683; .*less than or equal to 682"),
        ("few_rtt_ms = [5.0, 50.0]", "few_rtt_ms = [7.0]", "has network.few_rtt_ms 7; legal are those of network.rtt_ms, 5, 10"),
        ('rates = ["12", "40"]', 'rates = ["13"]', "has check.rates 13; legal are those of rate, 4, 12, 40, 100"),
        ("warm_up_s = 12", "warm_up_s = 40", "rate.12 has warm_up_s 40; legal is less than seconds, 40"),
        ('bottleneck = "100Mbit"', 'bottleneck = "600Mbit"', "has rate.100.bottleneck 600000000; legal is half of network.link"),
        ("scalable = 1.5", "scalable = 1", "overload.scalable is 1; .*greater than 1"),
        ('congestion = "ns3::TcpDctcp"', 'congestion = "dctcp"', "tcp.congestion is .*dctcp"),
        ("[classic.newreno]", "[classic.udp]", "has classic.udp; legal is any other name"),
        ("[pie]", "[pies]", "pies is no key"),
        ("share = 10.0", "", "targets.share is missing"),
    ],
)  # fmt: skip
def test_settings_are_refused_with_a_sentence(tmp_path, old, new, words):
    assert old in TEXT
    path = tmp_path / "x.toml"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(UserError, match=f"x.toml: .*{words}") as refused:
        l4s.load(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--seeds", "99"], f"--seeds is 99; experiment l4s has {len(OF.seeds)}, so legal is 1 to that"),
        (["--quick", "--publish"], "--publish takes every seed and whole runs"),
        (["--engine", "rtl"], "--engine rtl: does not serve experiment l4s yet; legal is model"),
    ],
)
def test_the_command_refuses_with_a_sentence(words, sentence):
    done = CliRunner().invoke(cli.cli, ["experiment", "l4s", *words])
    assert isinstance(done.exception, UserError) and sentence in str(done.exception)


# Short runs, with the times of every packet.


@pytest.fixture(scope="module")
def net():
    return l4s.program(build.quiet)


def short(case, seed=1, shorter=8):
    """A run of 5 s that counts from its beginning and lists every packet."""
    made = l4s.scenario(OF, case, seed, shorter) | {"count_from_ns": 0}
    made["links"][2]["lanes"][0]["sojourn"] = "every"
    return made


def ask(program, folder, scenario):
    return runs.Runner(program, folder, 1).all([runs.Run("x", 1, scenario, 1)])["x"][1]


def figures(case, result, shorter=8):
    """As of a run whose warm-up is 0."""
    at = OF.rate[case[0]].model_copy(update={"warm_up_s": 0.0})
    whole = OF.network.model_copy(update={"least_rounds": 0})
    return l4s.of_run(OF.model_copy(update={"rate": {case[0]: at}, "network": whole}), l4s.name(case), result, shorter)


@pytest.fixture(scope="module")
def got(net, tmp_path_factory):
    return ask(net, tmp_path_factory.mktemp("l4s"), short(CASE))


def of_source(result, node):
    """What the lane counted of a node, by colour, whatever the queue."""
    return result["lanes"]["bottleneck"]["sources"][node].values()


@pytest.mark.slow
def test_l_has_the_ect1_packets_and_no_other(got):
    """Counts by source know nothing of queues: the DCTCP sender's packets are those of L, but for a SYN, which has no ECT."""
    low, c = l4s.queues("dualpi2", got)
    assert low["ecn"][0] == low["ecn"][2] == low["ecn"][3] == 0 and low["ecn"][1] > 1000
    assert c["ecn"][1:] == [0, 0, 0] and c["ecn"][0] > 300
    assert sum(each["left"] for each in of_source(got, "s")) - low["left"] in (0, 1)
    assert sum(each["ce"] for each in of_source(got, "s")) == low["ce"] > 50
    assert sum(each["ce"] for each in of_source(got, "c")) == c["ce"] == 0
    lost = sum(each[what] for each in of_source(got, "c") for what in network.LOST)
    assert c["lost"] == lost > 0


@pytest.mark.slow
def test_figures_are_what_the_packets_say(got):
    counted, seconds = figures(CASE, got), OF.rate["12"].seconds / 8
    for letter, queue in zip("lc", l4s.queues("dualpi2", got), strict=True):
        delays = sorted(to - since for since, to, _ in queue["sojourn"]["every"])
        assert len(delays) == queue["left"]
        for what, percent in (("median", 50), ("p95", 95), ("p99", 99)):
            rank = math.ceil(len(delays) * percent / 100) - 1
            assert counted[f"{letter}_{what}"] == delays[rank] / network.MS
        assert counted[f"{letter}_mean"] == pytest.approx(sum(delays) / len(delays) / network.MS)
        arrived = queue["left"] + queue["lost"]
        assert 0 <= sum(queue["ecn"]) - arrived < 60  # still queued
    for letter, node in zip("lc", "sc", strict=True):
        of_node = list(of_source(got, node))
        lost = sum(each[what] for each in of_node for what in network.LOST)
        came = sum(number for each in of_node for what, number in each.items() if what not in network.NOT_ARRIVALS)
        assert counted[f"{letter}_drops"] == pytest.approx(100 * lost / came, abs=0.01)
        assert counted[f"{letter}_marks"] == pytest.approx(100 * sum(each["ce"] for each in of_node) / came, abs=0.01)
    assert counted["c_drops"] > 0.1 and counted["l_marks"] > 3
    assert counted["scalable"] == 8e-6 * got["bulk"]["scalable"]["received_bytes"] / seconds
    assert counted["ratio"] == got["bulk"]["scalable"]["received_bytes"] / got["bulk"]["classic"]["received_bytes"]
    frames = [each for queue in l4s.queues("dualpi2", got) for each in queue["sojourn"]["every"]]
    assert counted["utilisation"] == pytest.approx(800 * sum(size for *_, size in frames) / seconds / RATE)
    assert 70 < counted["utilisation"] <= 100.1
    made = counted["l_gain"] / counted["c_gain"] / (2 * counted["coupled"]) * counted["trips"]
    assert made == pytest.approx(counted["ratio"])


@pytest.mark.slow
def test_l_is_served_at_once(got):
    """A frame that finds L empty waits for the frame on the wire and a turn of C. That is one full frame, or two when what is left of C's quantum of
    1,522 bytes has become another: once in 1514 / 8 turns."""
    wire = 1514 * 8 * network.SECOND / RATE
    before, waits = 0, []
    for came, left, _ in l4s.queues("dualpi2", got)[0]["sojourn"]["every"]:
        if came > before:
            waits.append(left - came)
        before = left
    assert max(waits) <= 3 * wire + 1000
    assert len(waits) > 1000 and sum(wait > 2 * wire + 1000 for wait in waits) < len(waits) / 150


@pytest.mark.slow
@pytest.mark.parametrize("overload", l4s.OVERLOADS)
def test_c_keeps_its_share_under_an_unresponsive_overload(net, tmp_path, overload):
    case = ("12", 20.0, "udp", overload)
    scenario = short(case, shorter=4) | {"count_from_ns": 2 * network.SECOND}
    result = ask(net, tmp_path, scenario)
    low, c = (sum(each["left_bytes"] for each in of_source(result, node)) for node in "sc")
    assert l4s.queues(overload, result)[0]["ecn"][1] > 1000 and l4s.queues(overload, result)[1]["ecn"][1] == 0
    share = l4s.of_run(OF, l4s.name(case), result, 4)["share"]
    assert share == pytest.approx(100 * c / (low + c)) and share > 9.9
    if overload == "mark":
        assert share < 10.5  # L has all the rest


@pytest.mark.slow
def test_classic_ecn_is_ect0_in_c_and_marked_there(net, tmp_path):
    result = ask(net, tmp_path, short(("12", 5.0, "cubic-ecn", "dualpi2")))
    c = l4s.queues("dualpi2", result)[1]
    assert c["ecn"][1] == 0 and c["ecn"][2] > 500 and c["ecn"][0] < c["ecn"][2] / 20
    assert c["ce"] > 3 and c["lost"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "nodes, words",
    [
        ({"z": {"congestion": "ns3::TcpDctcp"}}, "nodes has z, which is no end of a link"),
        ({"s": {"congestion": "ns3::TcpPrague"}}, "ns-3 has no congestion control ns3::TcpPrague"),
    ],
)
def test_the_program_refuses_a_node_with_a_sentence(net, tmp_path, nodes, words):
    with pytest.raises(build.BuildError, match=words):
        ask(net, tmp_path, short(CASE) | {"nodes": nodes})


# Pages.


def made_up():
    """Every figure 5 in each seed, but DCTCP's rate three times the classic one's where the round trip is 5 ms, and C's share 20 %."""
    special = {"share": [20.0] * 3, "l_median": [0.4] * 3, "l_p99": [0.9] * 3}
    measured = {
        f"{l4s.name(case)}.{what}": special.get(what, [5.0, 5.0, 5.0]) for case in l4s.cases(OF) for what in l4s.FIGURES
    }
    for case in l4s.cases(OF):
        if case[1] == 5.0:
            measured[f"{l4s.name(case)}.scalable"] = [15.0, 15.0, 15.0]
    return measured


def test_targets_are_counted_by_case():
    measured = made_up()
    measured["40.20.udp.mark.share"] = [9.0, 9.0, 9.0]
    measured["12.20.cubic.drop.share"] = [0.0, 0.0, 0.0]
    measured["100.10.cubic.dualpi2.l_p99"] = [4.0, 4.0, 4.0]
    lines = l4s_pages.verdicts(OF, measured)
    assert [line[1:3] for line in lines[:3]] == [["16 of 20", "3 to 1"], ["4 of 8", "3 to 1"], ["4 of 8", "3 to 1"]]
    assert [line[1:3] for line in lines[3:5]] == [["10 of 10", "0.4 ms"], ["9 of 10", "4 ms"]]
    assert lines[4][3] == "100/10" and lines[5][1] == "36 of 36"
    assert lines[-2][1:] == ["3 of 4", "0 %", "12/20"]  # nothing got through
    udp = {line[0].split(",")[1].rsplit(" ", 1)[1]: line[1:] for line in lines if "udp in C" in line[0]}
    assert udp["drop"][:2] == ["4 of 4", "20 %"] and udp["mark"][:2] == ["3 of 4", "9 %"]


def test_the_report_shows_every_case(tmp_path):
    measured = made_up()
    made = {"title": OF.title, "engine": "model", "seeds": [1, 2, 3], "quick": "", "versions": {"ns3": "x"}}
    page = tmp_path / "x.html"
    l4s_pages.write(page, OF, made, measured)
    shown = unescape(page.read_text())
    assert shown.count("<svg") == 3 and all(l4s_pages.titled(OF, case) in shown for case in l4s.cases(OF))
    text = l4s_pages.page(OF, made, measured)
    assert text.count("3.00 (3.0-3.0)") > 4 and "0.40" in text


def test_what_rfc_9332_says_is_beside_ours():
    """The bound is 1 ms, or two full packets where they take longer; equation (10) is the round trips' ratio over 1.22."""
    measured = made_up()
    for case in l4s.cases(OF):
        measured[f"{l4s.name(case)}.trips"] = [2.0, 3.0, 1.66]
        measured[f"{l4s.name(case)}.l_mean"] = [0.3, 0.3, 0.3]
    measured["40.5.newreno.dualpi2.l_mean"] = [1.5, 1.5, 1.5]
    measured["40.5.cubic.pie.l_mean"] = [9.0, 9.0, 9.0]  # no pair
    delays, rates = (rows for *_, rows in l4s_pages.beside(OF, measured))
    assert [row[:3] for row in delays] == [
        ["4", "6.06", "0.30"], ["12", "2.02", "0.30"], ["40", "1.00", "1.50"], ["100", "1.00", "0.30"]
    ]  # fmt: skip
    assert [row[0] for row in rates] == [l4s_pages.brief(OF, case) for case in l4s.grid(OF, "newreno", "dualpi2")]
    assert all(row[2] == "1.82" and row[-1] == "2.22" for row in rates)


def test_the_published_page_is_that_of_the_settings():
    kept = json.loads((l4s_pages.PUBLISHED / "l4s.json").read_text())
    page = (l4s_pages.PUBLISHED / "l4s.md").read_text()
    assert kept["seeds"] == OF.seeds and not kept["quick"]
    assert list(kept["runs"]) == [l4s.name(case) for case in l4s.cases(OF)]
    measured = {f"{run}.{what}": told["seeds"] for run, each in kept["runs"].items() for what, told in each.items()}
    assert l4s_pages.page(OF, kept, measured) == page
    assert OF.shows and OF.reasons and OF.beside
    assert max(len(line) for line in page.splitlines() if line.startswith("|")) <= 80
