"""The file of a lane with several egresses: what each egress gets, the sentence for every fault, and `check`."""

import dataclasses
import json

import pytest
from click.testing import CliRunner

from vermilion.commands.check import check
from vermilion.configuration import config, config_file, egresses, rules
from vermilion.profile import quantise
from vermilion.toolchain import build
from vermilion.values.fields import UserError

FILE = build.ROOT / "sim" / "configs" / "egresses" / "card-1x25g.toml"
TEXT = FILE.read_text()
BUILD = egresses.of_shape(build.shape("card-1x25g"))
FOUR = egresses.Build(cells=8192, egresses=4, inputs=4)


def loaded(tmp_path, text, build=BUILD):
    made = tmp_path / "lane.toml"
    made.write_text(text)
    return egresses.load(made, build)


def checked(*words) -> str:
    done = CliRunner().invoke(check, [str(FILE), *words], standalone_mode=False)
    if done.exception:
        raise done.exception
    return done.output


def test_an_egress_has_its_own_tables_or_the_common_ones():
    lane = egresses.load(FILE, BUILD)
    assert lane.names == ["host", "wire"] and lane.routes == [0, 1] and lane.given
    host, wire = lane.configs
    assert [q.name for q in host.queue] == ["calls", "rest"] and not host.marker
    assert [q.name for q in wire.queue] == ["calls", "bulk", "rest"] and wire.marker[0].queue == "bulk"
    assert host.port.rate == 20 * 10**9 and host.port.burst.value == 20_000
    assert wire.port.rate == 25 * 10**9 and wire.port.burst.value == 0
    assert [share.cells for share in lane.shares] == [(625, 0), (1250, 4687)]


def test_fields_of_the_port_fall_back_one_by_one(tmp_path):
    common = TEXT.replace('rate = "25Gbit"', 'rate = "25Gbit"\nburst = "9KB"').replace(', burst = "20KB"', "")
    ports = [each.port for each in loaded(tmp_path, common).configs]
    assert [(port.rate, port.burst.value) for port in ports] == [(20 * 10**9, 9000), (25 * 10**9, 9000)]


def test_an_egress_of_its_own_markers_keeps_the_common_queues(tmp_path):
    text = '[port]\nrate = "1Gbit"\n[[queue]]\nname = "a"\ndefault = true\n[[marker]]\nqueue = "a"\nkind = "nm"\n'
    text += '[[egress]]\nindex = 3\n[[egress.marker]]\nqueue = "a"\nkind = "leaf"\nrate = "1Mbit"\nburst = "2KB"\n'
    lane = loaded(tmp_path, text, FOUR)
    assert [[m.kind for m in each.marker] for each in lane.configs] == [["nm"]] * 3 + [["leaf"]]
    assert lane.routes == [0] * 4 and lane.names == [None] * 4


def test_tables_without_index_have_the_next_that_is_free(tmp_path):
    text = '[port]\nrate = "1Gbit"\n' + "".join(
        f'[[egress]]\nname = "{name}"\n{index}\n' for name, index in (("a", ""), ("b", "index = 1"), ("c", ""))
    )
    assert loaded(tmp_path, text, FOUR).names == ["a", "b", "c", None]


@pytest.mark.parametrize("name", ["default.toml", "markers.toml"])
def test_a_file_of_one_egress_means_what_it_did(name):
    path = build.ROOT / "sim" / "configs" / name
    one = config.parse(config.read_toml(path))
    lane = egresses.load(path, egresses.Build())
    assert lane.configs == [one] and not lane.given and config_file.load(path) == one
    assert quantise.lane(lane, 16) == quantise.hardware(one) and lane.whole(16) is lane.configs[0]
    every = egresses.load(path, FOUR)  # in a build with several, each has it
    assert [each.queue for each in every.configs] == [one.queue] * 4


def test_the_record_of_the_lane():
    lane = egresses.load(FILE, BUILD)
    record = quantise.lane(lane, BUILD.queues)
    assert record["pool"] == {"size": 6250, "reserve": [625, 1250], "cap": [0, 4687]}
    assert record["routes"] == [0, 1] and record["queue_count"] == 32 and len(record["egresses"]) == 2
    names = {queue["index"]: queue["name"] for queue in record["queues"]}
    assert names == {0: "host/calls", 1: "host/rest", 16: "wire/calls", 17: "wire/bulk", 18: "wire/rest"}
    assert record["egresses"][1]["dscp"][10] == [17, 0] and record["egresses"][0]["dscp"][10] == [1, 0]
    assert quantise.egress(lane, 1)["pool"] == {"size": 6250, "reserve": [1250], "cap": [4687]}
    assert lane.whole(16).queue[3].name == "wire/bulk" and lane.whole(16).queue[3].index == 17


# What is put in place of what, and the sentence.
FAULTS = {
    "an index above all builds": ('name = "wire"', "index = 8", "egress number 2, index is 8; legal is 0 to 7"),
    "an index above the build's": (
        'name = "wire"',
        'name = "wire"\nindex = 2',
        'egress "wire" has index 2; this build has egresses 0 to 1',
    ),
    "a name twice": ('name = "wire"', 'name = "host"', 'egress "host" is there twice; each egress needs a name'),
    "a name that is a number": ('name = "wire"', 'name = "0"', 'name is "0"; legal are names that are no numbers'),
    "a route too high": (
        '["host", "wire"]',
        "[0, 2]",
        'routes[1] is 2; legal is 0 to 1, the egresses of this build, "host", "wire"',
    ),
    "a route below 0": ('["host", "wire"]', "[-1, 0]", "routes[0] is -1; legal is 0 to 1"),
    "a route to no name": ('["host", "wire"]', '["host", "wyre"]', 'routes[1] is "wyre"; legal is 0 to 1'),
    "a route that is true": (
        '["host", "wire"]',
        "[true, 0]",
        "routes[0] is true; legal is a list with the number or the name of an egress for each input",
    ),
    "too few routes": ('["host", "wire"]', "[0]", "routes has 1 entry; legal is 2, the inputs of this build"),
    "no list of routes": ('["host", "wire"]', "0", "routes is 0; legal is a list with the number or the name"),
    "reserves above the pool": (
        'reserve = "40KB"',
        'reserve = "380KB"',
        "pool.size is 400KB; legal is 459968B and more, the reserves of all egresses",
    ),
    "a cap below its reserve": (
        'cap = "300KB"',
        'cap = "79KB"',
        'egress "wire", pool.cap is 79KB; legal is 0 for none, or 80KB, the reserve, and more',
    ),
    "a cap above the buffer": (
        'cap = "300KB"',
        'cap = "1MB"',
        'egress "wire", pool.cap is 1MB; legal is 0 for none, or 64B to 524288B, the 8192 cells of this build',
    ),
    "a reserve of less than a cell": (
        'reserve = "40KB"',
        'reserve = "63B"',
        'egress "host", pool.reserve is "63B"; legal is 0 for none, or 64B to 67108864B',
    ),
    "a share of no pool": (
        '[pool]\nsize = "400KB"',
        "",
        'egress "host" has pool.reserve 40KB, but there is no pool; give [pool] a size, 64B to 67108864B',
    ),
    "a typo in an egress": ('cap = "300KB"', "capp = 1", 'egress "wire", pool.capp is no key of Vermilion\'s; did you'),
    "a typo in its queue": (
        'limit = "200KB"\nalpha = 0.5',
        "limitt = 1",
        'egress "wire", queue "bulk", limitt is no key of Vermilion\'s; did you mean "limit"?',
    ),
    "queues that are no list": (
        'pool = { reserve = "40KB" }',
        "queue = 1",
        'egress "host", queue is 1; legal is a list of tables, each headed [[egress.queue]]',
    ),
    "no rate": (
        '[port]\nrate = "25Gbit"',
        "",
        'egress "wire" has no port.rate; give it one, 64kbit to 200Gbit, or [port] one for all egresses',
    ),
    "a marker of another egress's queue": (
        'queue = "bulk"',
        'queue = "blk"',
        'egress "wire", the marker of "blk" has no queue; queues are "bulk", "calls", "rest"',
    ),
}


def spaced(text: str) -> str:
    """The example without the spaces that align its fields."""
    return "\n".join(" ".join(line.split("#")[0].split()) for line in text.splitlines())


def test_an_index_twice(tmp_path):
    text = '[port]\nrate = "1Gbit"\n[[egress]]\nname = "a"\nindex = 1\n[[egress]]\nindex = 1\n'
    with pytest.raises(UserError, match="egress number 2 has index 1, and another egress too; each needs its own"):
        loaded(tmp_path, text)


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(tmp_path, fault):
    old, new, sentence = FAULTS[fault]
    assert old in spaced(TEXT), old
    with pytest.raises(UserError) as error:
        loaded(tmp_path, spaced(TEXT).replace(old, new))
    assert sentence in str(error.value), str(error.value)


@pytest.mark.parametrize("key, near", [("route", "routes"), ("egres", "egress")])
def test_a_typo_in_a_key_at_the_top(tmp_path, key, near):
    with pytest.raises(UserError, match=f'{key} is no key of Vermilion\'s; did you mean "{near}"?'):
        loaded(tmp_path, f'{key} = []\n[port]\nrate = "1Gbit"\n', egresses.Build())


def test_a_command_of_one_egress_refuses_the_file():
    with pytest.raises(UserError, match='egress "wire" has index 1; this build has one egress, 0'):
        config_file.load(FILE)


def test_rules_by_queue_need_one_index_in_the_egresses_that_their_packets_reach(tmp_path):
    build = dataclasses.replace(BUILD, rules=64)
    calls, bulk = '[[rule]]\nqueue = "calls"\n', '[[rule]]\nmatch = { ingress = 1 }\nqueue = "bulk"\nmarker = "bulk"\n'
    lane = loaded(tmp_path, TEXT + calls + bulk, build)
    at = {queue.name: queue.at for queue in lane.configs[1].queue}
    assert lane.placed() == [rules.Placed(queue=at["calls"]), rules.Placed(at["bulk"], at["bulk"])]
    record = quantise.lane(lane, build.queues)
    assert [rule["action"] & 0xFFF for rule in record["rules"]] == [at["calls"], at["bulk"]]
    for text, sentence in (
        (
            bulk.replace("ingress = 1", "ingress = 0"),
            'rule number 1, queue is "bulk", which is not there; queues of egress "host" are',
        ),
        (
            '[[rule]]\nqueue = "rest"\n',
            'queue is "rest", which is number 1 of egress "host" and number 2 of egress "wire"',
        ),
        ('[[rule]]\nqueue = "none"\n', 'rule number 1, queue is "none", which is not there'),
        (calls * 65, r"\[\[rule\]\] is given 65 times; legal are up to 64"),
    ):
        with pytest.raises(UserError, match=sentence):
            loaded(tmp_path, TEXT + text, build)
    with pytest.raises(UserError, match="this build has no rules"):
        loaded(tmp_path, TEXT + calls)


@pytest.mark.parametrize("more", ["", "routes = [0]\n", '[[egress]]\nname = "wire"\n'])
def test_a_lane_with_one_egress_has_its_rules_however_the_file_says_it(tmp_path, more):
    text = '[port]\nrate = "1Gbit"\n[[rule]]\nmatch = { protocol = "udp" }\ndrop = true\n'
    lane = loaded(tmp_path, more + text if more.startswith("routes") else text + more, egresses.Build(rules=64))
    assert len(lane.rule) == len(lane.configs[0].rule) == len(lane.whole(16).rule) == 1
    assert [rule["action"] >> 27 & 1 for rule in quantise.lane(lane, 16)["rules"]] == [1]


def test_the_marker_of_a_rule_is_needed_in_each_egress_that_its_packets_reach(tmp_path):
    marker = '[[egress.marker]]\nqueue = "a"\nkind = "trtcm"\ncir = "1Mbit"\ncbs = 2000\npir = "1Mbit"\npbs = 2000\n'
    text = 'routes = [0, 1]\n[port]\nrate = "1Gbit"\n[[queue]]\nname = "a"\ndefault = true\n[[rule]]\nmarker = "a"\n'
    build = egresses.Build(8, egresses=2, inputs=2, rules=64)
    both = text + 2 * ("[[egress]]\n" + marker)
    assert loaded(tmp_path, both, build).placed() == [rules.Placed(marker=0)]
    with pytest.raises(UserError, match='marker is "a", a queue that has no marker in egress 1; give it a'):
        loaded(tmp_path, text + "[[egress]]\n" + marker + "[[egress]]\n", build)


def test_check_shows_every_egress_in_80_columns():
    shown = checked()
    assert max(map(len, shown.splitlines())) <= 80
    assert "Egresses; pool 400KB, 6,250 cells" in shown
    assert "Egress 0, host\n" in shown and "Egress 1, wire\n" in shown
    row = next(line for line in shown.splitlines() if line.startswith(" 1        wire"))
    assert row.split() == ["1", "wire", "1", "25Gbit", "3", "1,250", "cells", "4,687", "cells"]
    one = checked("--egress", "1")
    assert "Egress 1, wire" in one and "Egress 0, host" not in one


def test_check_tells_bursts_that_several_egresses_change():
    """4 ns (64 + 2 egresses of 3 queues in use) for the wire; the host has asked for more."""
    line = next(line for line in checked("--egress", "1").splitlines() if "burst, ns" in line)
    assert line.split() == ["port", "burst,", "ns", "0", "280", "0"]
    assert "port    burst" not in checked("--egress", "0")


def test_curves_of_an_egress(tmp_path):
    assert [q.name for q in egresses.load_one(FILE, 1).queue] == ["calls", "bulk", "rest"]
    with pytest.raises(UserError, match="--egress is 2; legal is 0 to 1, the egresses of"):
        egresses.load_one(FILE, 2)


def test_check_names_an_egress_that_is_like_another():
    shown = checked("--egresses", "4")
    assert "Egress 3: port, queues and markers of egress 2" in shown


def test_check_writes_the_record(tmp_path):
    lane, place = egresses.load(FILE, egresses.Build(egresses=2)), tmp_path / "record.json"
    checked("--json", str(place))
    assert json.loads(place.read_text()) == json.loads(json.dumps(quantise.lane(lane, 16)))
    checked("--json", str(place), "--egress", "1")
    assert json.loads(place.read_text()) == json.loads(json.dumps(quantise.egress(lane, 1)))


def test_check_prints_registers():
    lines = checked("--registers").splitlines()
    assert [line for line in lines if line.startswith("egress")] == ["egress 0", "egress 1"]
    held = {line.split()[1]: line.split()[2] for line in lines if line.startswith("lane")}
    assert held["routes[0]"] == "0x00000010" and held["pool_reserve[1]"] == "0x000004e2"
    assert held["pool_cap[1]"] == "0x0000124f" and "pool_cap[0]" not in held
    assert not any(
        "routes" in line or "pool_size" in line for line in checked("--registers", "--egress", "1").splitlines()
    )


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("--egresses", "1"), 'egress "wire" has index 1; this build has one egress, 0'),
        (("--egress", "2"), "--egress is 2; legal is 0 to 1, the egresses of the build"),
    ],
)
def test_check_refuses(words, sentence):
    with pytest.raises(UserError) as error:
        checked(*words)
    assert sentence in str(error.value)
