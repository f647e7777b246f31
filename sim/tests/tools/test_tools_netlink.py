"""vermilionctl through the driver's netlink family, against a stand-in for the kernel: its messages are encoded and decoded by pyroute2 from the family's own description."""

import json
import random
import socket

import pytest

from support.netlink_stand_in import over_the_wire
from support.random_settings import random_file
from support.tool_cards import ctl
from vermilion.configuration import config, config_file
from vermilion.guests.netlink_relay import Line
from vermilion.hardware.driver_library import SOURCES, C
from vermilion.profile.settings import queue_settings
from vermilion.toolchain import build
from vermilionctl import counters, export, family, netlink, programming, registers, session, settings
from vermilionctl.errors import Busy, DeviceError, UserError

CONFIG = build.ROOT / "sim/configs/default.toml"
pytestmark = pytest.mark.skipif(
    not (SOURCES.parent / "netlink" / "vermilion.yaml").exists(), reason="the driver's netlink family is not there yet"
)
SEED = 5


def test_any_settings_pass_through_messages_unchanged():
    rng = random.Random(SEED)
    for _ in range(40):
        asked = config.parse(random_file(rng))
        markers = {m.queue: m for m in asked.marker}
        for queue in asked.queue:
            held = queue_settings(queue, markers.get(queue.name))
            again = netlink.to_settings(over_the_wire("queue", netlink.of_settings(held)))
            assert settings.as_dict(again) == settings.as_dict(held)


def test_every_setting_has_an_attribute():
    given = netlink.of_settings(settings.defaults())

    def names(fields, of):
        known = {each["name"]: each for each in family.attributes(of)}
        for name, value in fields.items():
            assert name in known, f"{of}.{name}"
            if isinstance(value, dict):
                names(value, known[name]["nested-attributes"])

    names(given, "queue")
    told = {each["name"] for each in family.attributes("queue")}
    assert told - set(given) <= {"pad", "ifindex", "queue", "defaults", "registers", "owner"}


def test_a_configuration_applied_reads_back_and_dumps_as_check_prints_it(kernel):
    status, said = ctl("netlink:lane0", "apply", CONFIG)
    assert (status, said) == (0, f"applied {CONFIG}: 6 queues, 0 markers\n")
    asked = config_file.load(CONFIG)
    wanted = registers.table(programming.of_config(asked, None))
    dumped = json.loads(ctl("netlink:lane0", "dump", "--json")[1])
    assert dumped["class"] == wanted["class"]
    seeds = {name for name in wanted["lane"] if "seed[" in name}  # which the kernel does not tell
    assert dumped["lane"] == {name: value for name, value in wanted["lane"].items() if name not in seeds}
    for queue in asked.queue:
        assert dumped[f"queue {queue.index}"] == wanted[f"queue {queue.index}"]
    whole = json.loads(ctl("netlink:lane0", "show", "--json")[1])
    assert whole["lanes"] == 1 and whole["capabilities"]["version"] == "1.2"
    assert whole["queues"]["1"]["settings"]["yellow.min"] == "10000"


def test_a_configuration_leaves_nothing_of_the_one_before(kernel):
    assert ctl("netlink:lane0", "apply", build.ROOT / "sim/configs/markers.toml")[0] == 0
    owned = {number for number, owner in kernel.owners.items() if owner}
    kernel.told.clear()
    assert ctl("netlink:lane0", "apply", CONFIG)[0] == 0
    kept = {queue.index for queue in config_file.load(CONFIG).queue}
    assert {fields["queue"] for name, fields in kernel.told if name == "queue-reset"} == owned - kept != set()
    assert {number for number, owner in kernel.owners.items() if owner} == kept


@pytest.mark.parametrize("what", ["the port", "the class table", "queue 2"])
def test_what_tc_has_is_found_before_the_first_message_is_sent(kernel, what):
    if what == "the port":
        kernel.lane["owner"] = netlink.OWNER_TC
    elif what == "the class table":
        kernel.classes_owner = netlink.OWNER_TC
    else:
        kernel.owners[2] = netlink.OWNER_TC
    kernel.told.clear()
    status, said = ctl("netlink:lane0", "apply", CONFIG)
    assert status == 2 and f"netlink:lane0: {what} belongs to tc" in said and "tc qdisc del dev lane0 root" in said
    assert {name for name, _ in kernel.told} <= {"lane-get", "queue-get", "class-get"}


def test_a_lane_that_is_not_shaped_is_shown_and_set(kernel):
    kernel.lane["rate"] = 0
    status, said = ctl("netlink:lane0", "show")
    assert status == 0 and "Port: not shaped" in said
    kernel.told.clear()
    assert ctl("netlink:lane0", "set", "0", "limit=50KB")[0] == 0
    assert [name for name, _ in kernel.told if name.endswith("-set")] == ["queue-set"]
    parts = json.loads(ctl("netlink:lane0", "dump", "--json")[1])
    assert parts["lane"]["port_cost"] == 0 and parts["queue 0"]["shadow_limit"] == 50_000


def test_set_tells_the_kernel_of_one_queue_alone(kernel):
    ctl("netlink:lane0", "apply", CONFIG)
    kernel.told.clear()
    assert ctl("netlink:lane0", "set", "1", "yellow.min=12KB", "spacing=wait")[0] == 0
    told = [fields for name, fields in kernel.told if name == "queue-set"]
    assert told == [{"ifindex": 3, "queue": 1, "yellow": {"min": 12_000}, "spacing": C.VM_SPACING_WAIT}]
    assert kernel.queues[1]["yellow"]["min"] == 12_000 and kernel.queues[1]["spacing"] == C.VM_SPACING_WAIT
    assert not [name for name, _ in kernel.told if name == "class-set"]
    kernel.told.clear()
    status, said = ctl("netlink:lane0", "set", "1", "yellow.min=60KB")
    assert status == 2 and "yellow.min is 60000; legal is 0 up to max" in said
    assert not [name for name, _ in kernel.told if name.endswith("-set")]


def test_an_egress_is_a_netdev_with_a_share_of_the_pool(kernel):
    kernel.lane |= {"egress": 1, "pool-bytes": 64000, "reserve-bytes": 0, "cap-bytes": 0, "option-ip4": 158}
    kernel.lane["capabilities"]["egresses"] = 4
    assert ctl("netlink:lane0", "apply", CONFIG)[0] == 0
    (told,) = [fields for name, fields in kernel.told if name == "lane-set"]
    assert set(told) == {"ifindex", "rate", "burst", "queues", "reserve-bytes", "cap-bytes"} and told["queues"] == 6
    kernel.told.clear()
    assert ctl("netlink:lane0", "set", "pool", "reserve=6400", "cap=12800") == (0, "")
    (told,) = [fields for name, fields in kernel.told if name.endswith("-set")]
    assert told == {"ifindex": 3, "reserve-bytes": 6400, "cap-bytes": 12800}
    shown = json.loads(ctl("netlink:lane0", "show", "--json")[1])
    assert shown["pool"] == {"reserve": 6400, "cap": 12800} and shown["capabilities"]["egress"] == 1
    status, said = ctl("netlink:lane0", "set", "pool", "size=64KB")
    assert status == 2 and said == "size is no field of the pool; legal is reserve and cap, and size with --egress 0"
    with pytest.raises(UserError, match="--egress is 1; legal with netlink is 0: each egress has a netdev of its own"):
        with session.opened("netlink:lane0", 0, 1):
            pass


def test_a_netdev_takes_its_egresss_part_of_a_file_of_all(kernel, tmp_path):
    kernel.lane |= {"egress": 1, "pool-bytes": 64000, "reserve-bytes": 0, "cap-bytes": 0}
    kernel.lane["capabilities"] |= {"egresses": 4, "cells": 4096}
    file, whole = (
        tmp_path / "whole.toml",
        '[pool]\nsize = "64KB"\n[port]\nrate = "1Gbit"\n[[queue]]\nname = "a"\ndefault = true\n',
    )
    whole += 'limit = "9KB"\n[[egress]]\nindex = 1\npool = { reserve = "640B" }\nport = { rate = "2Gbit" }\n'
    file.write_text(whole)
    assert ctl("netlink:lane0", "apply", file) == (0, f"applied egress 1 of {file}: 1 queues, 0 markers\n")
    (told,) = [fields for name, fields in kernel.told if name == "lane-set"]
    assert told["rate"] == 2 * 10**9 and told["reserve-bytes"] == 640 and "pool-bytes" not in told
    kernel.told.clear()
    file.write_text("routes = [1]\n" + whole)
    status, said = ctl("netlink:lane0", "apply", file)
    assert status == 2 and said.startswith(f"{file}: routes is given; the kernel's module does not set it")
    for wrong, sentence in (
        (whole.replace("index = 1", "index = 4"), "egress number 1 has index 4; this build has egresses 0 to 3"),
        (whole[:-9], "is not TOML: Unterminated string"),
    ):
        file.write_text(wrong)
        status, said = ctl("netlink:lane0", "apply", file)
        assert status == 2 and sentence in said, said
    assert not [name for name, _ in kernel.told if name.endswith("-set")]


def test_a_flush_names_its_queue_or_none(kernel, monkeypatch):
    assert ctl("netlink:lane0", "flush", "3") == (0, "0 packets discarded, 0 bytes\n")
    assert ctl("netlink:lane0", "flush")[0] == 0
    told = [fields for name, fields in kernel.told if name == "queue-flush"]
    assert told == [{"ifindex": 3, "queue": 3}, {"ifindex": 3}]
    failing(kernel, monkeypatch, 0, Busy("packets are still queued"))
    assert ctl("netlink:lane0", "flush") == (1, "packets are still queued")


def failing(kernel, monkeypatch, at, error):
    """The kernel takes `at` messages that change something, and fails the next one."""
    answer, changes = kernel.answer, []

    def fails(name, fields, dump):
        if not name.endswith("-get"):
            changes.append(name)
            if len(changes) > at:
                raise error
        return answer(name, fields, dump)

    monkeypatch.setattr(kernel, "answer", fails)
    return changes


@pytest.mark.parametrize("error", [UserError("refused"), Busy("is being reset"), DeviceError("no memory")])
@pytest.mark.parametrize("at", [0, 1, 3, 7])
def test_a_failure_behind_the_first_message_is_never_the_callers_fault(kernel, monkeypatch, error, at):
    changes = failing(kernel, monkeypatch, at, error)
    status, said = ctl("netlink:lane0", "apply", CONFIG)
    assert len(changes) == at + 1 and str(error) in said
    assert status == (2 if at == 0 and isinstance(error, UserError) else 1)
    assert ("what came before was written" in said) == (at > 0 and not str(error) == "no memory")


@pytest.mark.parametrize("owner, status", [(netlink.OWNER_TC, 2), (0, 1)])
def test_busy_is_the_callers_fault_where_tc_has_the_queue_and_the_cards_where_it_is_reset(
    kernel, monkeypatch, owner, status
):
    kernel.owners[0] = owner
    failing(kernel, monkeypatch, 0, Busy("busy"))
    assert ctl("netlink:lane0", "set", "0", "limit=50KB") == (status, "busy")


@pytest.mark.parametrize("code, kind", [(1, UserError), (22, UserError), (34, UserError), (95, UserError), (5, DeviceError), (12, DeviceError), (16, Busy), (19, DeviceError), (105, DeviceError), (110, DeviceError)])  # fmt: skip
def test_an_errno_of_the_kernels_says_whose_fault_it_is(monkeypatch, code, kind):
    from pyroute2.netlink.exceptions import NetlinkError
    from pyroute2.netlink.generic import GenericNetlinkSocket

    def fails(*_words, **_names):
        raise NetlinkError(code, "a sentence")

    monkeypatch.setattr(netlink, "reach", lambda name: (3, {}))
    monkeypatch.setattr(GenericNetlinkSocket, "bind", lambda *_words: None)
    monkeypatch.setattr(GenericNetlinkSocket, "prid", 16, raising=False)
    monkeypatch.setattr(GenericNetlinkSocket, "nlm_request", fails)
    with pytest.raises(kind, match="netlink:lane0: a sentence") as caught:
        with netlink.opened("lane0"):
            pass
    assert caught.type is kind


def test_what_the_family_does_not_tell_is_not_exported(kernel):
    with session.opened("netlink:lane0") as lane:
        found = counters.read(lane)
        assert "refreshes_skipped" not in found
        told = {sample.name for family in export.families(found, lane.has(), 0) for sample in family.samples}
        assert "vermilion_queue_packets_total" in told and "vermilion_refreshes_skipped_total" not in told
        names = {f.name for f in export.families(found | {"refreshes_skipped": 3}, lane.has(), 0)}
    assert "vermilion_refreshes_skipped" in names


def test_counters_come_whole(kernel):
    queue = json.loads(ctl("netlink:lane0", "stats", "3", "--json")[1])
    (one,) = queue["queues"]
    for i, event in enumerate(counters.EVENTS):
        assert one["colours"]["green"][event] == {"packets": 2**33 + i, "bytes": 100 * i}
    assert one["colours"]["green"]["average"] == 1.5 and one["latency_log2_ns"] == list(range(32))
    assert one["time_ns"] == 2**47 and one["backlog"] == {"packets": 0, "bytes": 9} and one["lost_distance"][63] == 63
    assert queue["lost"] == [{"packets": 2**40, "bytes": 7}]


def test_a_socket_that_fails_is_told_in_a_sentence(monkeypatch):
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    theirs.close()
    line = Line(fileno=mine.detach())
    monkeypatch.setattr(netlink, "reach", lambda name: (3, {"use_socket": line}))
    assert ctl("netlink:lane0", "show") == (1, "netlink:lane0: Connection refused")


def test_interfaces_and_kernels_without_it_are_told(monkeypatch):
    with pytest.raises(UserError, match="there is no such interface"):
        with session.opened("netlink:no-such-if"):
            pass
    loopback = socket.if_indextoname(1)
    with pytest.raises(UserError, match="the kernel's module vermilion is not loaded"):
        with session.opened(f"netlink:{loopback}"):
            pass
