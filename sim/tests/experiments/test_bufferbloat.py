"""Bufferbloat: settings, what ours and ns-3's queues are made of, and short runs whose figures are counted again from each packet."""

import json
import math
from statistics import fmean

import pytest
from click.testing import CliRunner

from vermilion.commands import cli
from vermilion.experiments import bufferbloat, bufferbloat_pages, network, pages, rtl, runs, settings
from vermilion.profile import quantise
from vermilion.toolchain import build
from vermilion.values.fields import UserError

OF = bufferbloat.load()
TEXT = bufferbloat.FILE.read_text()
SHORTER = 5
CASE = ("10", 20.0, 10, "drop")
RATE = OF.rate["10"].bottleneck
EVERY = [(*CASE, *queue) for queue in bufferbloat.queues("model")]
WIRE_NS = lambda length: length * 8 * network.SECOND // RATE
SPARSE = OF.sparse.payload_bytes + bufferbloat.IP_UDP + bufferbloat.ETHERNET  # bytes of a frame


def test_every_case_has_every_queue_of_ours_and_of_ns3():
    planned = bufferbloat.planned(OF, OF.seeds, 1)
    assert len({(run.name, run.seed) for run in planned}) == len(planned) == 14 * 10 * len(OF.seeds)
    assert {run.name.split(".", 4)[4] for run in planned} == {
        f"{whose}.{queue}" for whose in ("ours", "ns3") for queue in ("tail", "red", "pie", "codel", "fq-codel")
    }
    assert len(bufferbloat.planned(OF, [1], 1, "rtl")) == 14 * 5
    assert len(OF.seeds) >= 4 and min(OF.seeds) > 1000 and OF.quick.seeds >= 2


def test_all_queues_of_a_seed_have_the_same_traffic():
    def traffic(each, seed):
        asked = bufferbloat.scenario(OF, each, seed, 1)
        for link in asked["links"]:
            link.pop("discs", None), link.pop("lanes", None)
        return asked

    for seed in OF.seeds:
        assert all(traffic(each, seed) == traffic(EVERY[0], seed) for each in EVERY)
    assert traffic(EVERY[0], 1)["bulk"] != traffic(EVERY[0], 2)["bulk"]


@pytest.mark.parametrize("ecn", ["drop", "mark"])
def test_ours_and_ns3s_queues_have_the_same_settings(ecn):
    lane = {
        q: quantise.hardware(settings.lane(bufferbloat.ours(OF, RATE, q, ecn)))["queues"][0] for q in bufferbloat.QUEUES
    }
    disc = {q: bufferbloat.theirs(OF, RATE, q, ecn)["attributes"] for q in bufferbloat.QUEUES}
    assert all(attributes["MaxSize"] == f"{OF.network.limit_packets}p" for attributes in disc.values())
    for queue, record in lane.items():
        assert record["pie"]["on"] == (queue == "pie") and record["codel"]["on"] == (queue in ("codel", "fq-codel"))
        assert bool(record["ecn"]) == (ecn == "mark" and queue != "tail")
        assert disc[queue].get("UseEcn") == {"tail": None}.get(queue, str(ecn == "mark").lower())
    curve = lane["red"]["colour"][0]["curve"][0]
    assert [curve["min"], curve["max"]] == [int(disc["red"][name]) for name in ("MinTh", "MaxTh")] == [8, 25]
    assert disc["pie"]["QueueDelayReference"] == "15.0ms" and disc["codel"]["Target"] == "5.0ms"


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("limit_packets = 600", "limit_packets = 683", "network.limit_packets is 683; .*less than or equal to 682"),
        ("ecn_flows = [10]", "ecn_flows = [7]", "has rate.10.ecn_flows 7; legal are those of network.flows, 1, 10, 50"),
        ("warm_up_s = 8", "warm_up_s = 30", "rate.10 has warm_up_s 30; legal is less than seconds, 30"),
        ('bottleneck = "100Mbit"', 'bottleneck = "600Mbit"', "has rate.100.bottleneck 600000000; legal is half of network.link"),
        ("payload_bytes = 172", "payload_bytes = 11", "sparse.payload_bytes is 11; .*greater than or equal to 18"),
        ("max_ms = 30.0", "max_ms = 10.0", "red has min_ms 10; legal is less than max_ms, 10"),
        ('congestion = "ns3::TcpCubic"', 'congestion = "cubic"', "tcp.congestion is .*cubic"),
        ("alpha = 0.125", "alpha = 3.5", "pie.alpha is 3.5; .*less than or equal to 3"),
        ("[codel]", "[codell]", "codell is no key"),
        ("interval_ms = 100.0", "", "codel.interval_ms is missing"),
    ],
)  # fmt: skip
def test_settings_are_refused_with_a_sentence(tmp_path, old, new, words):
    assert old in TEXT
    path = tmp_path / "x.toml"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(UserError, match=f"x.toml: .*{words}") as refused:
        bufferbloat.load(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--seeds", "99"], "--seeds is 99; experiment bufferbloat has 4, so legal is 1 to that"),
        (["--quick", "--publish"], "--publish takes every seed and whole runs"),
        (["--engine", "rtl", "--publish"], "--publish takes the engine model"),
    ],
)
def test_the_command_refuses_with_a_sentence(words, sentence):
    done = CliRunner().invoke(cli.cli, ["experiment", "bufferbloat", *words])
    assert isinstance(done.exception, UserError) and sentence in str(done.exception)


def made_up(whose):
    """A result of 22 s that count: 1,000 packets arrived, 50 were dropped, 20 marked; two flows, one with three times the other's bytes."""
    delays = {"packets": 930, "bytes": 11_000_000, "median_ns": 2e6, "p95_ns": 7e6, "p99_ns": 9e6, "mean_ns": 3e6}
    base = round(bufferbloat.base_ms(OF, 20.0) * network.MS)
    made = {
        "bulk": {
            name: {"counted_bytes": n, "received_bytes": 10 * n}
            for name, n in (("long1", 2_750_000), ("long2", 8_250_000))
        },
        "udp": {"sparse": {"sent": 9, "latency": delays | {"median_ns": base + 4e6, "p99_ns": base + 6e6}}},
    }
    if whose == "ns3":
        disc = {"arrived": 1000, "dropped": 50, "marked": 20, "sojourn": delays}
        return made | {"discs": {"bottleneck": disc}}
    counts = dict.fromkeys(("enqueue", "mark", *network.LOST, *network.NOT_ARRIVALS), 0)
    green = counts | {"enqueue": 960, "mark": 5, "early": 25, "tail": 10, "dropped": 15, "left": 930, "ce": 20}
    colours = {"green": green, "yellow": counts, "red": counts}
    return made | {"lanes": {"bottleneck": {"sources": {"all": colours}, "sojourn": delays}}}


@pytest.mark.parametrize("whose", bufferbloat.WHOSE)
def test_figures_of_a_result_are_those_by_hand(whose):
    seen = bufferbloat.of_run(OF, f"10.20.10.drop.{whose}.codel", made_up(whose), 1)
    wanted = {"goodput": 4.0, "utilisation": 40.0, "fairness": 0.8, "drops": 5.0, "marks": 2.0}
    wanted |= {"median": 2.0, "p95": 7.0, "p99": 9.0, "mean": 3.0, "sparse_median": 4.0, "sparse_p99": 6.0}
    assert set(seen) == set(wanted) == set(bufferbloat.FIGURES)
    assert all(math.isclose(seen[what], wanted[what], abs_tol=1e-5) for what in wanted), seen
    at = OF.rate["10"]
    for shorter in (1, 4):
        scenario = bufferbloat.scenario(OF, EVERY[0], 1, shorter)
        assert scenario["seconds"] * shorter == at.seconds == 30
        assert scenario["count_from_ns"] * shorter == at.warm_up_s * network.SECOND == 8 * network.SECOND


# Short runs, with the times of every packet.


@pytest.fixture(scope="module")
def net():
    return bufferbloat.program("model", build.quiet, rtl.PRESET)


def asked(each, seed=1, shorter=SHORTER):
    """The scenario of a run, which also lists every packet from its beginning."""
    made = bufferbloat.scenario(OF, each, seed, shorter) | {"count_from_ns": 0}
    for at in (*made["links"][-1].get("lanes", []), *made["links"][-1].get("discs", []), *made["udp"]):
        at["latency" if at in made["udp"] else "sojourn"] = "every"
    return made


def ask(program, folder, scenario):
    return runs.Runner(program, folder, 1).all([runs.Run("x", 1, scenario, 1)])["x"][1]


@pytest.fixture(scope="module")
def got(net, tmp_path_factory):
    """Results of 6 s at 10 Mbit/s, 20 ms, with 10 flows, by whose and queue."""
    plan = [runs.Run(bufferbloat.name(each), 1, asked(each), 1) for each in EVERY]
    results = runs.Runner(net, tmp_path_factory.mktemp("bloat"), 2).all(plan)
    return {tuple(name.split(".")[4:]): by_seed[1] for name, by_seed in results.items()}


def queue_of(result):
    return (result.get("discs") or result["lanes"])["bottleneck"]["sojourn"]


def figures(whose, queue, result):
    """As of a run whose warm-up is 0."""
    at = OF.rate["10"].model_copy(update={"warm_up_s": 0.0})
    of = OF.model_copy(update={"rate": {"10": at}})
    return bufferbloat.of_run(of, bufferbloat.name((*CASE, whose, queue)), result, SHORTER)


@pytest.mark.slow
def test_figures_are_those_counted_from_every_packet(got):
    for (whose, queue), result in got.items():
        seen, every = figures(whose, queue, result), queue_of(result)["every"]
        delays = sorted((left - came) / 1e6 for came, left, _ in every)
        for what, share in (("median", 0.5), ("p95", 0.95), ("p99", 0.99)):
            # At least that share is no longer, and fewer if it were any less.
            assert seen[what] in delays
            assert sum(x <= seen[what] for x in delays) >= share * len(delays) > sum(x < seen[what] for x in delays)
        assert math.isclose(seen["mean"], fmean(delays), rel_tol=1e-9)
        seconds = OF.rate["10"].seconds / SHORTER
        assert math.isclose(seen["utilisation"], 100 * sum(8 * n for *_, n in every) / seconds / RATE)
        full = sum(n == bufferbloat.MTU + bufferbloat.ETHERNET for *_, n in every)
        # What was delivered is what left, but for segments that were sent twice or are under way.
        assert 0.9 < seen["goodput"] * 1e6 * seconds / 8 / (full * OF.tcp.segment_bytes) <= 1
        arrived, dropped, _ = bufferbloat.counts(result)
        assert 0 <= arrived - dropped - len(every) <= OF.network.limit_packets and dropped > 0


@pytest.mark.slow
def test_both_kinds_of_queue_keep_the_wire_busy_at_the_same_pace(got):
    """A packet goes when the wire is free, neither sooner nor later; a lane's times are up to 1 us late."""
    for (whose, queue), result in got.items():
        burst = 4 * bufferbloat.FLOWS if queue == "fq-codel" else 0  # of the port: at least a cycle for each queue
        late = 1000 + burst if whose == "ours" else 0
        free, waited = 0, 0
        for came, left, length in queue_of(result)["every"]:
            assert left >= max(came, free) - late
            if queue not in ("codel", "fq-codel"):  # a packet that is dropped at departure is not in the list
                assert left <= max(came, free) + late + 1
            waited += left > came + late
            free = left + WIRE_NS(length)
        assert waited > 0.9 * len(queue_of(result)["every"]), (whose, queue)
        assert result.get("lanes", {}).get("bottleneck", {}).get("most_waiting", 1) == 1  # nothing waits in the device


@pytest.mark.slow
def test_no_queue_holds_more_than_its_limit(got):
    for key, result in got.items():
        every = queue_of(result)["every"]
        events = sorted([(came, 1) for came, *_ in every] + [(left, -1) for _, left, _ in every])
        most = held = 0
        for _, step in events:
            most = max(most, held := held + step)
        assert most <= OF.network.limit_packets + 1
        assert key[1] != "tail" or most > 0.99 * OF.network.limit_packets


@pytest.mark.slow
def test_tail_drop_of_ours_and_of_ns3_agree(got):
    ours, theirs = (figures(whose, "tail", got[whose, "tail"]) for whose in bufferbloat.WHOSE)
    assert ours["median"] > 300 and ours["drops"] > 0.1  # the queue is no wire
    assert math.isclose(ours["goodput"], theirs["goodput"], rel_tol=0.005)
    assert math.isclose(ours["median"], theirs["median"], rel_tol=0.01)


@pytest.mark.slow
def test_codel_of_ours_sends_the_packets_that_ns3s_sends(got):
    """Both are Linux's algorithm without draws: the same packets leave, each within 1 us, as long as no late drops come together."""
    ours, theirs = (queue_of(got[whose, "codel"])["every"] for whose in bufferbloat.WHOSE)
    assert bufferbloat.counts(got["ours", "codel"])[:2] == bufferbloat.counts(got["ns3", "codel"])[:2]
    assert len(ours) == len(theirs) > 4000
    for mine, other in zip(ours, theirs, strict=True):
        assert mine[2] == other[2] and abs(mine[0] - other[0]) <= 1000 and abs(mine[1] - other[1]) <= 1000


@pytest.mark.slow
@pytest.mark.parametrize("whose", bufferbloat.WHOSE)
def test_aqms_shorten_the_delay_and_keep_the_link_busy(got, whose):
    tail = figures(whose, "tail", got[whose, "tail"])
    for queue in bufferbloat.QUEUES[1:]:
        seen = figures(whose, queue, got[whose, queue])
        assert 1 < seen["median"] < tail["median"] / 8 and seen["utilisation"] > 80, (
            queue
        )  # the flows begin within 1 of 6 s
        assert seen["sparse_median"] < tail["sparse_median"] / 8


@pytest.mark.slow
def test_the_sparse_flow_waits_as_its_packets_wait_in_the_queue(got):
    """From sender to receiver: the way to the queue, the time in it, and the way from it, which are the same for all packets."""
    for key, result in got.items():
        waits = {came: left for came, left, length in queue_of(result)["every"] if length == SPARSE}
        latency = result["udp"]["sparse"]["latency"]["every"]
        base = round(bufferbloat.base_ms(OF, CASE[1]) * network.MS)
        assert len(latency) > 100
        to_queue = base // 2
        for sent, received, _ in latency:
            came = min(waits, key=lambda time: abs(time - sent - to_queue))
            assert abs(came - sent - to_queue) <= 2000  # one packet of a long flow may be sent before it on the link
            assert abs(received - waits[came] - to_queue) <= 1000, key


@pytest.mark.slow
@pytest.mark.parametrize("whose", bufferbloat.WHOSE)
def test_an_empty_network_has_the_base_delay(net, tmp_path, whose):
    each = (*CASE, whose, "pie")
    result = ask(net, tmp_path, asked(each, shorter=10) | {"bulk": []})
    latency = result["udp"]["sparse"]["latency"]
    base = bufferbloat.base_ms(OF, CASE[1]) * network.MS
    assert all(0 <= received - sent - base <= 1000 for sent, received, _ in latency["every"])
    assert latency["packets"] > 90


@pytest.mark.slow
@pytest.mark.parametrize("whose", bufferbloat.WHOSE)
def test_the_warm_up_does_not_count(net, tmp_path, got, whose):
    whole = got[whose, "pie"]
    part = ask(net, tmp_path, asked((*CASE, whose, "pie")) | {"count_from_ns": 3 * network.SECOND})
    every, later = (queue_of(result)["every"] for result in (whole, part))
    assert later == [each for each in every if each[1] >= 3 * network.SECOND] and 0 < len(later) < len(every)
    latency = part["udp"]["sparse"]["latency"]["every"]
    assert latency and all(received >= 3 * network.SECOND for _, received, _ in latency)
    counted = lambda result, what: [flow[what] for flow in result["bulk"].values()]
    assert counted(part, "received_bytes") == counted(whole, "received_bytes") == counted(whole, "counted_bytes")
    assert 0 < sum(counted(part, "counted_bytes")) < sum(counted(part, "received_bytes"))
    assert 0 < bufferbloat.counts(part)[0] < bufferbloat.counts(whole)[0]


@pytest.mark.slow
def test_red_of_ns3_learns_that_its_queue_is_empty(net, tmp_path):
    """Bursts at twice the rate with long pauses. Without the pauses in its average, RED would drop from the first packet of each burst."""
    first = {}
    for whose in bufferbloat.WHOSE:
        scenario = asked((*CASE, whose, "red")) | {"bulk": [], "seconds": 14}
        burst = {"payload_bytes": 1472, "interval_ns": 600_000, "on_ns": 600_000_000, "off_ns": 3 * network.SECOND}
        scenario["udp"] = [scenario["udp"][0] | burst]
        every = ask(net, tmp_path, scenario)["udp"]["sparse"]["latency"]["every"]
        began = scenario["udp"][0]["start_ns"]
        times = [(sent - began) % (burst["on_ns"] + burst["off_ns"]) for sent, *_ in every]
        # Of each burst's first 40 packets: how many came through.
        first[whose] = sum(time < 40 * burst["interval_ns"] for time in times)
    assert first["ours"] == first["ns3"] == 4 * 40


@pytest.mark.slow
def test_with_ecn_packets_are_marked_instead_of_dropped(net, tmp_path):
    for whose in bufferbloat.WHOSE:
        for queue in ("red", "pie", "codel"):
            seen = {}
            for ecn in ("drop", "mark"):
                result = ask(
                    net,
                    tmp_path,
                    asked(("10", 100.0, 10, ecn, whose, queue), shorter=3) | {"count_from_ns": 5 * network.SECOND},
                )
                arrived, dropped, marked = bufferbloat.counts(result)
                seen[ecn] = dropped / arrived, marked / arrived
            assert seen["drop"][1] == 0 and seen["mark"][1] > 0.005, (whose, queue)
            assert seen["mark"][0] < seen["drop"][0] / 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "change, words",
    [
        ({"kind": "ns3::PiQueueDisc"}, "ns-3 has no queue disc ns3::PiQueueDisc"),
        ({"kind": "ns3::TcpCubic"}, "ns-3 has no queue disc ns3::TcpCubic"),
        ({"attributes": {"Targets": "5ms"}}, "ns3::PieQueueDisc has no attribute Targets"),
        ({"attributes": {"MarkEcnThreshold": "7"}}, "ns3::PieQueueDisc refuses MarkEcnThreshold = 7"),
        ({"sojourn": "some"}, "sojourn is summary, every or marks"),
    ],
)
def test_the_program_refuses_a_disc_with_a_sentence(net, tmp_path, change, words):
    scenario = bufferbloat.scenario(OF, (*CASE, "ns3", "pie"), 1, SHORTER)
    scenario["links"][-1]["discs"][0] |= change
    with pytest.raises(build.BuildError, match=words):
        ask(net, tmp_path, scenario)


@pytest.mark.slow
def test_the_rtl_decides_as_the_model(tmp_path, monkeypatch, capsys):
    """Through the command, with all five queues, for which the RTL has three builds."""
    network_ = OF.network.model_copy(update={"rtt_ms": [20.0], "flows": [10]})
    at = OF.rate["10"].model_copy(update={"ecn_flows": []})
    of = OF.model_copy(
        update={"rate": {"10": at}, "network": network_, "quick": OF.quick.model_copy(update={"shorter": 20})}
    )
    monkeypatch.setattr(bufferbloat, "load", lambda: of)
    bufferbloat_pages.conduct("rtl", 1, True, 1, False, tmp_path)
    assert "same verdicts as the model: 5 of 5 runs" in capsys.readouterr().out
    model, rtl = (
        [json.loads(path.read_text()) for path in (tmp_path / "bufferbloat" / name / "runs").glob("*.json")]
        for name in ("model", "rtl")
    )
    assert len(model) == len(rtl) == 5 and all(run["versions"]["engine"] == "rtl" for run in rtl)
    assert all(bufferbloat.counts(run["results"])[0] > 500 for run in rtl)


# Pages.


def test_the_report_shows_every_case_and_what_differs(tmp_path):
    """Tables and figures from made-up figures: ours is 1 above ns-3's in PIE's mean alone."""
    of = OF.model_copy(
        update={"rate": {"10": OF.rate["10"]}, "network": OF.network.model_copy(update={"rtt_ms": [20.0]})}
    )
    measured = {}
    for case in bufferbloat.cases(of):
        for whose, queue in bufferbloat.queues("model"):
            for what in bufferbloat.FIGURES:
                more = (whose, queue, what) == ("ours", "pie", "mean")
                measured[f"{bufferbloat.name((*case, whose, queue))}.{what}"] = [5.0 + more, 9.0 + more, 6.0 + more]
    rows = bufferbloat_pages.compared(of, measured)
    assert {(row["queue"], row["figure"]) for row in rows if bufferbloat_pages.apart(row)} == {("pie", "mean")}
    assert bufferbloat_pages.counted(of, rows)[2] == ["pie", *["4 of 4"] * 3, "0 of 4", *["4 of 4"] * 2]
    assert len(bufferbloat_pages.apart_rows(rows)) == 4
    made = {"title": of.title, "engine": "model", "seeds": [1, 2, 3], "quick": "", "versions": {"ns3": "x"}}
    page = tmp_path / "x.html"
    bufferbloat_pages.write(page, of, made, measured)
    assert page.read_text().count("<svg") == len(bufferbloat_pages.DRAWN) + 1
    text = bufferbloat_pages.page(of, made, measured)
    assert all(text.count(f"| {bufferbloat_pages.brief(case)} |") >= 6 for case in bufferbloat.cases(of))


def test_the_published_page_is_that_of_the_settings():
    kept = json.loads(record := (bufferbloat_pages.PUBLISHED / "bufferbloat.json").read_text())
    page = (bufferbloat_pages.PUBLISHED / "bufferbloat.md").read_text()
    assert kept["seeds"] == OF.seeds and not kept["quick"]
    assert list(kept["runs"]) == [
        bufferbloat.name((*case, *queue)) for case in bufferbloat.cases(OF) for queue in bufferbloat.queues("model")
    ]
    measured = {f"{run}.{what}": told["seeds"] for run, each in kept["runs"].items() for what, told in each.items()}
    assert bufferbloat_pages.page(OF, kept, measured) == page
    made = {name: kept[name] for name in list(kept)[:-2]}  # the last two are made of the figures
    assert bufferbloat_pages.record(OF, made, pages.as_recorded(measured)) == record
    assert OF.shows and OF.differences
