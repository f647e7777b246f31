"""vermilionctl reports: the registers of an egress's reports, and their counts."""

import json

import pytest

from support.register_file import Lane, address
from support.tool_cards import Bench, ctl

SHAPE = {"queues": 64, "victims": 64, "egresses": 4}
FILE = """
[port]
rate = "1Gbit"
[[queue]]
name = "gold"
dscp = ["EF"]
[[queue]]
name = "rest"
default = true
[reports]
reasons     = ["early", "tail"]
every       = 5
per_second  = 1000
burst       = 3
destination = "02:11:22:33:44:55"
source      = "02:aa:bb:cc:dd:ee"
ethertype   = 0x9123
"""


@pytest.fixture
def bench(monkeypatch, state):
    return Bench(monkeypatch, **SHAPE)


def written(tmp_path, text):
    file = tmp_path / "config.toml"
    file.write_text(text)
    return file


def test_settings_and_reasons_are_written(bench, tmp_path):
    """Early is 2 and tail 4. The header is in network order, from the lowest byte of word 0 on."""
    bench.lane.words[address("report_events", 0)], bench.lane.words[address("report_events", 3)] = 1200, 7
    status, said = bench.ctl("--egress", "2", "reports", "--config", written(tmp_path, FILE), "--json")
    assert status == 0, said
    assert json.loads(said) == {"offered": 1200, "lost": 0, "limited": 0, "headless": 7}
    words = bench.lane.words
    assert [words[address(f"report_{name}")] for name in ("every", "interval", "burst")] == [5, 10**6, 2 * 10**6]
    header = b"".join(words[address("report_ethernet", i)].to_bytes(4, "little") for i in range(4))
    assert header == bytes.fromhex("02112233445502aabbccddee91230000")
    assert bench.lane.reported == {32 + queue: 1 << 2 | 1 << 4 for queue in range(16)}
    assert not bench.lane.faults


def test_queues_have_their_own_reasons_by_the_names_of_apply(bench, tmp_path):
    file = written(tmp_path, FILE + 'queues = { gold = ["marked"] }\n')
    status, said = bench.ctl("apply", file)
    assert status == 0 and "reports --config" in said, said
    assert not bench.lane.reported
    assert bench.ctl("reports", "--config", file)[0] == 0
    assert bench.lane.reported == {0: 1 << 1} | {queue: 1 << 2 | 1 << 4 for queue in range(1, 16)}


def test_off_selects_nothing_of_one_egress(bench):
    status, said = bench.ctl("--egress", "3", "reports", "--off")
    assert status == 0 and said.startswith("0 reports offered, 0 lost")
    assert bench.lane.reported == {48 + queue: 0 for queue in range(16)}


def test_counts_alone_write_nothing(bench):
    bench.lane.words[address("report_events", 1)] = 3
    assert bench.ctl("reports")[1].startswith("0 reports offered, 3 lost\n0 above the rate, 0 sent")
    assert not bench.bus.writes


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--off", "--config", "x.toml"), "--config and --off are both given"),
        (("--config", "{plain}"), "has no [reports]; give it one, or --off"),
    ],
)
def test_words_that_contradict_each_other_are_refused(bench, tmp_path, words, says):
    plain = written(tmp_path, FILE[: FILE.index("[reports]")])
    status, said = bench.ctl("reports", *(word.format(plain=plain) for word in words))
    assert status == 2 and says in said
    assert not bench.bus.writes


def test_a_build_without_reports_and_a_netdev_are_refused(bench, kernel):
    bench.lane = Lane(**SHAPE, reports=0)
    bench.fresh()
    assert bench.ctl("reports")[1].endswith("this build reports no drops and marks")
    status, said = ctl("netlink:vm0", "reports", "--off")
    assert status == 2 and said.endswith("has no command for reports; legal are pci: and unix:")
