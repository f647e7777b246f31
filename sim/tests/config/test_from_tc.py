"""`vermilion from-tc`: what `tc qdisc add` asks for, as a configuration file; and the option lists of the kernel's own tests."""

import json
import tomllib

import pytest

from support.runs import vermilion
from vermilion.configuration import config, from_tc
from vermilion.oracle import linux
from vermilion.toolchain import build
from vermilion.values.fields import LEN_MAX, UserError


def queue(*commands, rate=10**10):
    """The queue of the file, read back."""
    text = from_tc.toml(from_tc.tables(commands, rate))
    return config.parse(tomllib.loads(text)).queue[0]


def test_codel_has_the_values_and_defaults_of_tc():
    plain = queue("tc qdisc add dev eth0 root codel")
    assert (plain.aqm, plain.limit_packets.value, plain.ecn) == ("codel", 1000, False)
    assert plain.target is plain.interval is plain.ce_threshold is None  # the lane's are Linux's: 5 ms, 100 ms, none
    full = queue(
        "tc qdisc add dev eth0 root handle 1: codel limit 1500 target 2ms interval 40000 ecn ce_threshold 500us"
    )
    assert (full.limit_packets.value, full.target, full.interval, full.ecn, full.ce_threshold) == (
        1500, 2_000_000, 40_000_000, True, 500_000,
    )  # fmt: skip
    assert queue("root codel ecn noecn").ecn is False


def test_pie_has_the_values_and_defaults_of_tc():
    """alpha and beta count in sixteenths; the lane's defaults are Linux's: 15 ms, 15 ms, 2 and 20 sixteenths."""
    plain = queue("tc qdisc add dev eth0 root pie")
    assert (plain.aqm, plain.limit_packets.value, plain.ecn, plain.bytemode) == ("pie", 1000, False, False)
    assert plain.target is plain.tupdate is plain.pie_alpha is plain.pie_beta is None
    full = queue("root pie limit 500 target 20ms tupdate 30ms alpha 4 beta 1 ecn bytemode no_dq_rate_estimator")
    assert (full.target, full.tupdate, full.pie_alpha, full.pie_beta) == (20_000_000, 30_000_000, 1 / 4, 1 / 16)
    assert full.ecn and full.bytemode and queue("root pie bytemode nobytemode").bytemode is False


def test_dualpi2_has_the_values_and_defaults_of_tc():
    """The quanta stand in the ratio of the weights: 10 % for C where nothing is said (man tc-dualpi2)."""
    pair = lambda *commands: config.parse(tomllib.loads(from_tc.toml(from_tc.tables(commands, 10**9)))).queue
    c, low = pair("tc qdisc add dev eth0 root dualpi2")
    assert (c.name, low.name, c.aqm, low.aqm) == ("all", "all-l4s", "dualpi2", "dualpi2")
    assert c.limit_packets.value == low.limit_packets.value == 10_000 and 9 * c.quantum.value == low.quantum.value
    assert not {"target", "tupdate", "coupling", "step_threshold", "l4s_mask", "overload"} & c.model_fields_set
    c, low = pair(
        "root dualpi2 limit 500 coupling_factor 3 step_thresh 2ms overflow any_ect classic_protection 75% target 20ms tupdate 32ms alpha 0.2 beta 4"
    )
    assert (c.limit_packets.value, c.coupling, c.step_threshold, c.overload) == (500, 3, 2_000_000, "mark")
    assert (c.l4s_mask, c.target, c.tupdate, c.dualpi2_alpha, c.dualpi2_beta) == (3, 20_000_000, 32_000_000, 0.2, 4)
    assert c.quantum.value == 3 * low.quantum.value


def test_fq_codel_has_the_values_and_defaults_of_tc():
    """1,024 flows, a limit of 10,240 packets and marks, where nothing is said (man tc-fq_codel)."""
    group = lambda *commands: config.parse(tomllib.loads(from_tc.toml(from_tc.tables(commands, 10**9))), 1024).queue
    plain = group("tc qdisc add dev eth0 root fq_codel")
    assert len(plain) == 1024 and {(q.fq, q.aqm, q.ecn, q.quantum.value, q.mtu.value) for q in plain} == {
        (1024, "codel", True, 1514, 64)
    }
    assert (
        plain[0].limit_packets.value == 10_240
        and not {"target", "interval", "ce_threshold"} & plain[0].model_fields_set
    )
    full = group(
        "root fq_codel limit 500 memory_limit 1M flows 16 target 4ms interval 80ms quantum 300 noecn ce_threshold 1ms ce_threshold_selector 0x1/0x3"
    )
    first, last = full[0], full[-1]
    assert (first.name, last.name, last.at, first.default, last.default) == ("all", "all.15", 15, True, False)
    assert (last.limit_packets.value, last.limit.value, last.quantum.value, last.ecn) == (500, 2**20, 300, False)
    assert (last.target, last.interval, last.ce_threshold) == (4_000_000, 80_000_000, 1_000_000)
    assert (last.ce_selector, last.ce_mask) == (1, 3)


def test_red_has_the_weight_that_tc_takes_for_the_burst():
    """`tc qdisc show` says `ewma 5` for the example of man tc-red, and so does its formula."""
    red = queue("tc qdisc add dev eth0 root red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn")
    assert red.average.weight == 2**-5 and red.average.idle_packet.value == 1000 and red.limit.value == 400_000
    assert (red.green.min.value, red.green.max.value, red.green.p, red.green.end.value) == (30000, 90000, 0.02, LEN_MAX)
    assert red.ecn and red.green == red.yellow == red.red
    bare = queue("root red limit 120000 avpkt 1000")  # max limit / 4, min max / 3, burst (2 min + max) / 3 avpkt
    assert (bare.green.min.value, bare.green.max.value, bare.green.end, bare.ecn) == (10000, 30000, None, False)
    hard = queue("root red limit 1M avpkt 1500 min 100K max 300K ecn harddrop")
    assert hard.green.end is None and hard.green.min.value == 102_400
    marks = queue("root red limit 1M avpkt 1500 min 100K max 300K ecn nodrop")
    assert marks.green.curve == "tail" and marks.green.ecn.max.value == 307_200


def test_a_tbf_gives_the_port():
    commands = ["tc qdisc add dev eth0 root handle 1: tbf rate 10mbit burst 10kb latency 70ms"]
    made = from_tc.tables([*commands, "tc qdisc add dev eth0 parent 1:1 handle 10: bfifo limit 20kb"])
    assert made["port"] == {"rate": "10Mbit", "burst": 10240} and made["queue"][0]["limit"] == 20480
    assert from_tc.tables(["root tbf rate 1500bps burst 2k limit 9k"])["port"]["rate"] == "12kbit"


def test_a_tbf_alone_gives_the_queues_limit():
    """tc's own sum: the bytes that the rate sends in the latency, and the burst."""
    assert queue("root tbf rate 8mbit burst 10kb limit 9k").limit.value == 9 * 1024
    assert queue("root tbf rate 8mbit burst 10kb latency 70ms").limit.value == 70_000 + 10_240


@pytest.mark.parametrize(
    "commands, says",
    [
        (["root pie alpha 33"], 'tc pie: alpha is "33"; legal are whole numbers from 0 to 32'),
        (["root pie target 5s"], 'target 5s with aqm = "pie"; legal is 1024ns to 4s'),
        (["root pie dq_rate_estimator"], "tc pie: has dq_rate_estimator; a lane measures delays with timestamps"),
        (["root dualpi2 step_thresh 20p"], 'tc dualpi2: step_thresh is "20p"; legal is a time'),
        (["root dualpi2 overflow drop_on_overload"], "tc dualpi2: has both overflow and drop_on_overload; legal is one"),
        (["root dualpi2 classic_protection ²"], 'classic_protection is "²"; legal is 3 to 97'),
        (["root dualpi2 drop_enqueue"], "tc dualpi2: has drop_enqueue; a lane drops packets as they leave"),
        (["root dualpi2 max_rtt 100ms"], "tc dualpi2: has max_rtt; give target, tupdate, alpha and beta"),
        (["root dualpi2 classic_protection 1"], 'tc dualpi2: classic_protection is "1"; legal is 3 to 97'),
        (["root dualpi2 coupling_factor 0"], "coupling is 0; legal is 1 to 255"),
        (["root fq_pie flows 1024"], "tc fq_pie: no lane has this AQM yet"),
        (["root fq_codel flows 48"], "has fq 48; legal is 2 to 1024, a power of two"),
        (["root fq_codel flows 2048"], "fq is 2048; legal"),
        (["root fq_codel drop_batch 64"], "tc fq_codel: has drop_batch; a lane drops what arrives for a full queue"),
        (["root fq_codel ce_threshold_selector 1"], 'tc fq_codel: ce_threshold_selector is "1"; legal is a value and a mask'),
        (["root fq_codel ce_threshold_selector 0x1/256"], "legal is a value and a mask from 0 to 255"),
        (["root fq_codel ce_threshold_selector 0x1/0x3"], "has ce_mask 3 but no ce_threshold"),
        (["root netem delay 1ms"], 'tc: "netem" is no qdisc that a lane has; legal are codel, fq_codel, pie, dualpi2, red, pfifo, bfifo, tbf'),
        (["root codel flows 3"], 'tc codel: has "flows"; legal are limit, target, interval, ce_threshold, ecn, noecn'),
        (["root codel target"], "tc codel: target has no value"),
        (["root codel target soon"], 'tc codel: target is "soon"; legal are times'),
        (["root codel limit -3"], 'tc codel: limit is "-3"; legal are whole numbers'),
        (["root codel target 0"], 'target is "0ns"; legal are times from 1024ns to 60s'),
        (["root red limit 1M"], "tc red: has no avpkt; tc needs limit and avpkt"),
        (["root red limit 1M avpkt 1500 adaptive"], "tc red: has adaptive"),
        (["root red limit 1M avpkt 1500 nodrop"], "tc red: has nodrop without ecn"),
        (["root red limit 1M avpkt 1500 min 3k max 2k"], "tc red: has min 3072, max 2048, limit 1048576"),
        (["root red limit 1M avpkt 1000 min 90000 max 200000 burst 20"], "burst 20 is too small for min 90000"),
        (["root red limit 1M avpkt 1500 probability 2"], 'tc red: probability is "2"; legal is 0 to 1'),
        (["root tbf rate 1mbit burst 2k"], "tc tbf: has both limit and latency, or neither"),
        (["root tbf rate 1mbit burst 2k limit 9k latency 9ms"], "tc tbf: has both limit and latency, or neither"),
        (["root tbf rate 1mbit limit 9k"], "tc tbf: has no rate or no burst; tc needs both"),
        (["root red limit 1M avpkt 1500 burst " + "1" * 400], "legal are whole numbers from 0 to 4294967295"),
        (["root bfifo limit " + "1" * 5000], "legal are bytes"),
        (["root tbf rate 1mbit burst 2k", "root codel"], "tc codel: is at root; legal is the root, or below a tbf"),
        (["root codel", "root red limit 1M avpkt 1500"], "has 2 qdiscs; legal is one, or a tbf"),
        (["parent 1: tbf rate 1mbit burst 2k"], "tc tbf: is below 1:; legal is the root"),
        (["root tbf rate 1mbit burst 2k peakrate 2mbit mtu 1540"], "tc tbf: has peakrate"),
        (["tc qdisc add dev eth0"], "names no qdisc"),
        (["root codel 'limit"], "tc: No closing quotation"),
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_refused_with_a_sentence(commands, says):
    with pytest.raises(UserError) as refused:
        queue(*commands)
    assert says in str(refused.value)


def test_the_command_prints_a_file_that_check_takes(tmp_path):
    status, out, err = vermilion("from-tc", "tc qdisc add dev eth0 root codel ecn", "--rate", "10Gbit")
    assert status == 0 and not err
    (tmp_path / "c.toml").write_text(out)
    assert vermilion("check", tmp_path / "c.toml")[0] == 0
    status, out, err = vermilion("from-tc", "tc qdisc add dev eth0 root codel")
    assert (status, out) == (2, "") and "has no rate; give --rate" in err


# What tc accepts and a lane does not, by a word of the command.
NOT_HERE = {
    "adaptive": "has adaptive",
    "qevent": 'has "qevent"',
    "ce_threshold 4294967296": "",
    "pfifo_fast": "is no qdisc",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["codel", "red", "fifo"])
def test_the_option_lists_of_the_kernels_own_tests(kind):
    """Each command of tc-testing that adds this qdisc is taken, with the values that `tc` shows, or refused for a reason that is named here."""
    cases = json.loads((linux.sources(build.quiet) / linux.TC_TESTS / f"{kind}.json").read_text())
    taken = 0
    for case in cases:
        command = case["cmdUnderTest"].replace("$TC", "tc").replace("$DUMMY", "eth0").replace("$DEV1", "eth0")
        if " add " not in command or str(case["expExitCode"]) != "0":
            continue
        print(command)
        reason = next((text for word, text in NOT_HERE.items() if word in command), None)
        if reason is not None:
            with pytest.raises(UserError) as refused:
                queue(command)
            assert reason in str(refused.value)
            continue
        made, shown = queue(command), case["matchPattern"]
        taken += 1
        if kind == "codel":
            words = shown.split()
            assert f"{made.limit_packets.value}p" in words, shown
            for name, standard in (("target", 5_000_000), ("interval", 100_000_000)):
                value = words[words.index(name) + 1]
                assert from_tc.time("codel", name, value) == (getattr(made, name) or standard), shown
            assert ("ecn" in words) == made.ecn
    assert taken >= 2, f"{taken} of {len(cases)}"
