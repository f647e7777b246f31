"""vermilionctl on the simulated device: every configuration of the project applied and dumped, counters to the packet, the exporter, and faults."""

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
import urllib.request
from collections import Counter

import pytest

from support.captures import pcap
from support.devices import running
from support.frames import mixed
from support.run_counts import counted, run_through
from support.tool_cards import ctl, left_by
from vermilion.configuration import config, config_file
from vermilion.experiments import settings as experiments
from vermilion.experiments.papers import module
from vermilion.profile import quantise
from vermilion.toolchain import build
from vermilionctl import bus as buses
from vermilionctl import card, counters, programming, record, registers, session

pytestmark = pytest.mark.slow

CONFIG = build.ROOT / "sim/configs/default.toml"


@pytest.fixture(scope="module")
def served(device_program):
    """A device that stays when a tool has gone."""
    with running(device_program, "--keep") as device:
        yield device, f"unix:{device.socket}"


def environment():
    """That of the moment: the test's folder for records is in it."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def command(*words_, module_="vermilionctl"):
    done = subprocess.run(
        [sys.executable, "-m", module_, *map(str, words_)], env=environment(), capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def experiment_lanes(monkeypatch):
    """The lanes of every experiment's every run, once each."""
    found = {}

    def lane(raw):
        found.setdefault(json.dumps(raw, sort_keys=True), raw)
        return config.parse(raw)

    monkeypatch.setattr(experiments, "lane", lane)
    for name in experiments.names():
        of = experiments.load(experiments.FOLDER / f"{name}.toml")
        module(of).planned(of, of.seeds[:1], 1)
    monkeypatch.undo()
    return [config.parse(raw) for raw in found.values()]


def every_configuration(monkeypatch):
    """Files with a port, wherever they lie, and the lanes of the experiments; several egresses: test_tools_egresses."""
    tables = {path: tomllib.loads(path.read_text()) for path in build.files("sim", "*.toml")}
    files = [path for path, found in tables.items() if "port" in found and "egress" not in found]
    assert len(files) >= 2
    return [config_file.load(path) for path in files] + experiment_lanes(monkeypatch)


def test_every_configuration_of_the_project_applied_and_dumped_is_what_check_prints(
    served,
    device_program,
    tmp_path,
    monkeypatch,
):
    device, where = served
    every = every_configuration(monkeypatch)
    monkeypatch.setenv("VERMILION_STATE", str(tmp_path))
    written, write = [], buses.SocketBus.write
    monkeypatch.setattr(
        buses.SocketBus, "write", lambda bus, at, word: written.append((at, word)) or write(bus, at, word)
    )
    for asked in every:
        written.clear()
        with record.locked(where, 0), card.lane(where) as lane:
            session.Registers(where, lane).write(programming.of_config(asked, None), True)
        status, printed = ctl(where, "dump")
        assert status == 0
        assert printed.splitlines() == registers.lines(registers.table(programming.of_config(asked, None)))
        place = tmp_path / "words"
        place.write_text(json.dumps(quantise.hardware(asked)))
        listed = subprocess.run([device_program, "--list-writes", place], capture_output=True, text=True, check=True)
        harness = left_by([tuple(int(word, 0) for word in line.split()) for line in listed.stdout.splitlines()])
        tools = left_by(written)
        used = {queue.index for queue in asked.queue}
        assert tools.committed.keys() == used
        assert tools.committed == {queue: harness.committed[queue] for queue in used}, "the harness programs otherwise"
        assert tools.classes == harness.classes and len(tools.classes) == 65
    print(f"{len(every)} configurations")


def test_the_commands_say_the_same_by_diff(served, tmp_path):
    _, where = served
    for path in sorted((build.ROOT / "sim/configs").glob("*.toml")):
        status, said, _ = command("apply", path, "--device", where, module_="vermilion")
        assert status == 0 and said.startswith(f"applied {path}: ")
        status, checked, _ = command("check", path, "--registers", module_="vermilion")
        assert (status, command("--device", where, "dump")[1]) == (0, checked) and len(checked.splitlines()) > 600
    assert command("ctl", "--device", where, "dump", module_="vermilion") == (0, checked, "")


def totals(read):
    out = {}
    for queue in read["queues"]:
        for number, colour in enumerate(("green", "yellow", "red")):
            part = queue["colours"][colour]
            assert part["flushed"]["packets"] == 0
            out[queue["index"], number] = {
                {"ce_chosen": "marked"}.get(event, event): [part[event]["packets"], part[event]["bytes"]]
                for event in counters.EVENTS
                if event != "flushed"
            }
    return out


def test_an_applied_configuration_counts_as_a_run_of_it_and_stats_tell_it_to_the_packet(
    tmp_path,
    device_program,
    program,
    words,
):
    capture = pcap(tmp_path / "in.pcap", mixed(2000))
    run = run_through(program, words, capture, tmp_path / "run.pcapng", "--rate", 2_000_000_000)
    with running(device_program, "--keep", "--out", tmp_path / "device.pcapng") as device:
        where, control = f"unix:{device.socket}", device.channel()
        assert ctl(where, "apply", CONFIG)[0] == 0
        control.ask("feed", capture=str(capture), rate=2e9)
        control.ask("idle")
        seen = counted(control.ask("counters"))
        read = json.loads(ctl(where, "stats", "--json")[1])
        assert totals(read) == counted(run) == {key: seen[key] for key in counted(run)}
        assert sum(part["arrived"][0] for part in totals(read).values()) > 1900
        for queue in read["queues"]:
            sent = sum(queue["colours"][colour]["sent"]["packets"] for colour in queue["colours"])
            assert sum(queue["latency_log2_ns"]) == sent and queue["backlog"] == {"packets": 0, "bytes": 0}
        one = json.loads(ctl(where, "stats", "af1", "--json")[1])["queues"]
        assert [queue["name"] for queue in one] == ["af1"]
        status, printed = ctl(where, "stats")
        shown = f"{totals(read)[1, 0]['arrived'][0]:,}"
        assert status == 0 and re.search(rf"af1 +green +{shown} ", printed)
        looks = ctl(where, "watch", "--json", "--every", 0.05, "--count", 3)[1].splitlines()
        assert len(looks) == 3 and totals(json.loads(looks[2])) == totals(read)
        scraped = scrape(where)
        check_exporter(scraped, read)
        check_dashboard(scraped)
        check_page(scraped)
        assert ctl(where, "stats", "--clear")[0] == 0
        assert not any(
            map(any, (part["arrived"] for part in totals(json.loads(ctl(where, "stats", "--json")[1])).values()))
        )
        control.ask("stop")
        device.process.wait(10)
    assert (tmp_path / "device.pcapng").read_bytes() == (tmp_path / "run.pcapng").read_bytes()


def scrape(where):
    process = subprocess.Popen(
        [sys.executable, "-m", "vermilionctl", "--device", where, "export", "--listen", "127.0.0.1:0"],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url = process.stdout.readline().split()[1]
        return urllib.request.urlopen(url, timeout=30).read().decode()
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 143


def samples(text):
    from prometheus_client.parser import text_string_to_metric_families

    return [sample for family in text_string_to_metric_families(text) for sample in family.samples]


def check_exporter(text, read):
    """Each count of `stats` is a sample, the histogram's last bucket is what was sent."""
    found, sent = {}, Counter()
    for sample in samples(text):
        if sample.name in ("vermilion_queue_packets_total", "vermilion_queue_bytes_total"):
            part = sample.labels
            found[int(part["queue"]), part["colour"], part["event"], sample.name.split("_")[2]] = sample.value
        if sample.name == "vermilion_queue_latency_seconds_bucket" and sample.labels["le"] == "+Inf":
            sent[int(sample.labels["queue"])] = sample.value
    for queue in read["queues"]:
        for colour, part in queue["colours"].items():
            for event in counters.EVENTS:
                for unit in ("packets", "bytes"):
                    assert found.pop((queue["index"], colour, event, unit)) == part[event][unit]
        assert sent[queue["index"]] == sum(part["sent"]["packets"] for part in queue["colours"].values())
    assert not found and [s.value for s in samples(text) if s.name == "vermilion_up"] == [1]
    assert all(re.fullmatch(r"vermilion_[a-z0-9_]+", s.name) for s in samples(text))


def check_page(text):
    """docs/tools.md names every metric of the exporter, and no other."""
    page = (build.ROOT / "docs/tools.md").read_text()
    named = set(re.findall(r"`(vermilion_\w+)`", page.partition("## Prometheus")[2].partition("\n## ")[0]))
    kinds = re.findall(
        r"^# TYPE (\w+) (\w+)$", text, re.M
    )  # a metric may have no sample, as upsets where nothing is protected
    given = {name + "_bucket" * (kind == "histogram") for name, kind in kinds}
    assert named == given, named ^ given


def check_dashboard(text):
    """Every expression of the dashboard asks for metrics and labels that the exporter gives."""
    board = json.loads((build.ROOT / "sw_driver/tools/grafana/vermilion.json").read_text())
    given = {}
    for sample in samples(text):
        given.setdefault(sample.name, set()).update(sample.labels, {"instance", "job"})
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked += [f'{name}{{{label}=""}}' for name, label in re.findall(r"label_values\((\w+), (\w+)\)", json.dumps(board))]
    assert len(asked) > 12
    events = {sample.labels["event"] for sample in samples(text) if sample.name == "vermilion_queue_packets_total"}
    for expression in asked:
        used = re.findall(r"(vermilion_\w+)\{([^}]*)\}", expression)
        assert used and len(used) == expression.count("vermilion_"), expression
        for name, inside in used:
            assert name in given, name
            assert set(re.findall(r"(\w+)=", inside)) <= given[name], expression
        for group in re.findall(r"by \(([^)]*)\)", expression):
            assert set(re.split(r",\s*", group)) <= set.union(*(given[name] for name, _ in used)), expression
        for pattern in re.findall(r'event=~?"([^"]*)"', expression):
            assert set(pattern.split("|")) <= events


def test_a_device_that_is_killed_amid_an_access_is_told_in_one_sentence(device_program, monkeypatch):
    with running(device_program, "--keep") as device:
        where, accesses = f"unix:{device.socket}", []
        write = buses.SocketBus.write

        def last(bus, at, word):
            accesses.append(at)
            if len(accesses) == 300:
                device.process.kill()
                device.process.wait()
            write(bus, at, word)

        monkeypatch.setattr(buses.SocketBus, "write", last)
        status, said = ctl(where, "apply", CONFIG)
        assert status == 1 and said.startswith(f"{where}: the card is gone: the device ") and "\n" not in said
        assert len(accesses) < 500
        status, _, told = command("--device", where, "stats")
        assert status == 2 and re.fullmatch(rf"vermilionctl: {where}: nobody listens there; .*\n", told)


def test_an_exporter_outlives_its_card_and_says_that_it_is_down(device_program):
    with running(device_program, "--keep") as device:
        where = f"unix:{device.socket}"
        exporter = subprocess.Popen(
            [sys.executable, "-m", "vermilionctl", "--device", where, "export", "--listen", "127.0.0.1:0"],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            url = exporter.stdout.readline().split()[1]
            up = lambda: [
                s.value
                for s in samples(urllib.request.urlopen(url, timeout=30).read().decode())
                if s.name == "vermilion_up"
            ]
            assert up() == [1]
            device.process.kill()
            device.process.wait()
            assert up() == [0] and up() == [0]
        finally:
            exporter.send_signal(signal.SIGTERM)
            exporter.wait(10)
        assert exporter.stderr.read().count("nobody listens there") == 1


def test_others_at_the_same_card(served, monkeypatch):
    device, where = served
    assert ctl(where, "apply", CONFIG)[0] == 0
    with device.client() as other:
        monkeypatch.setattr(buses, "PATIENCE_S", 1)
        status, said = ctl(where, "stats")
        assert status == 1 and "a device serves one client at a time" in said
        other.write32(registers.at("shadow_limit"), 77)
    status, said = ctl(where, "dump")
    assert status == 1 and "register shadow_limit, of queue 5 does not hold" in said
    assert ctl(where, "apply", CONFIG)[0] == 0 and ctl(where, "dump")[0] == 0
    with device.client() as other:
        other.reset()
    status, said = ctl(where, "show")
    assert status == 1 and "the card was reset, or somebody else has written to it" in said
    assert json.loads(ctl(where, "stats", "--json")[1])["queues"][15]["index"] == 15


def test_a_socket_of_something_else_and_bad_addresses_are_refused(served, monkeypatch):
    device, where = served
    monkeypatch.setattr(buses, "PATIENCE_S", 0.5)
    status, said = ctl(f"unix:{device.control}", "stats")
    assert status == 1 and "the device does not answer" in said
    for bad in ("", "unix", "unix:", "tcp:1", "pci:", "pci:zz"):
        status, said = ctl(bad or "x", "stats")
        assert status == 2 and ("legal are pci:0000:03:00.0, unix:SOCKET" in said or "no such PCI function" in said)
    assert ctl(where, "--lane", 1, "stats") == (2, f"--lane is 1; {where} has lanes 0 to 0")
    status, _, told = command("stats")
    assert status == 2 and "--device is missing" in told


def test_a_flush_discards_what_a_pause_holds(tmp_path, device_program, words):
    """What the pause holds is gone, but for what had been chosen; what comes behind it is sent."""
    capture = pcap(tmp_path / "in.pcap", mixed(300))
    pause, flush = registers.at("pause"), registers.at("flush")
    with running(device_program, "--keep", "--paused", "--config-words", words) as device:
        where, control = f"unix:{device.socket}", device.channel()
        assert ctl(where, "pause") == (0, "")
        control.ask("feed", capture=str(capture), rate=5e9)
        while control.ask("counters")["frames_in"] < 300:
            control.ask("run", ns=100_000)
        control.ask("run", ns=100_000)
        held = control.ask("counters")["under_way"]
        status, said = ctl(where, "flush", "--json")
        told, seen = json.loads(said), control.ask("counters")
        assert status == 0 and held > 50
        assert held - 6 <= told["packets"] == seen["flushed"] == held - seen["under_way"]
        with device.client() as client:
            assert client.read32(pause) == 1 and client.read32(flush) == 0
        assert json.loads(ctl(where, "show", "--build", "--json")[1])["paused"] and ctl(where, "resume") == (0, "")
        control.ask("feed", capture=str(capture), rate=5e9)
        control.ask("idle")
        seen = control.ask("counters")
        assert seen["accounting"] == {"errors": 0, "first_error": ""} and seen["under_way"] == 0
        assert seen["flushed"] == told["packets"] and seen["frames_out"] > 100
