"""Traffic through the device: counted to the packet by its registers, its harness and a run alike, in the same clocks every time."""

import json
import random
import re
import socket
import tempfile
import time

import pytest

from support.captures import pcap
from support.devices import configure, registers_page, running
from support.frames import IP4, mixed
from support.headers import MACS
from support.run_counts import NAMES, counted, run_through
from vermilion.configuration import config
from vermilion.hardware import vfio_user
from vermilion.profile import quantise

pytestmark = pytest.mark.slow


def registers(client, queues):
    """Each queue's counters, read from the window after a snapshot: {(queue, colour): {name: [packets, bytes]}}."""
    page = registers_page()
    out = {}
    for queue in range(queues):
        client.write32(0x80, queue, posted=True)
        client.write32(0x88, 1, posted=True)
        while client.read32(0x44) >> 2 & 1:
            pass
        for name, register in NAMES.items():
            found = re.search(
                rf"^\| 0x(\w+) \+ 0x(\w+) i \| `window\.colour\[3\]\.{register}\.packets_low`", page, re.M
            )
            base, stride = int(found[1], 16), int(found[2], 16)
            for colour in range(3):
                at = base + stride * colour
                pair = [client.read32(at + 8 * i) | client.read32(at + 8 * i + 4) << 32 for i in range(2)]
                out.setdefault((queue, colour), {})[name] = pair
    return out


@pytest.mark.parametrize("options", [{}, {"rate": 2e9}], ids=["own-pace", "back-to-back"])
def test_a_capture_counts_as_in_a_run(tmp_path, device_program, program, words, options):
    capture = pcap(tmp_path / "in.pcap", mixed(3000))
    pace = ["--rate", int(options["rate"])] if options else []
    run = run_through(program, words, capture, tmp_path / "run.pcapng", *pace)
    with running(device_program, "--out", tmp_path / "device.pcapng") as device, device.client() as client:
        control = device.channel()
        configure(client, device_program, words)
        client.read32(0)
        control.ask("feed", capture=str(capture), **options)
        control.ask("idle")
        seen = control.ask("counters")
        assert seen["accounting"] == {"errors": 0, "first_error": ""} and seen["under_way"] == 0
        queues = len(run["queues"])
        assert counted(seen) | counted(run) == counted(seen), "the harness counts otherwise than the run"
        assert registers(client, queues) == counted(run), "the registers count otherwise than the run"
        total = sum(pair["arrived"][0] for pair in counted(run).values())
        assert total > 2900 and sum(pair["sent"][0] for pair in counted(run).values()) == seen["frames_out"]
        control.ask("stop")
        assert device.process.wait(10) == 0
    assert (tmp_path / "device.pcapng").read_bytes() == (tmp_path / "run.pcapng").read_bytes()


def story(program, words, capture):
    """Everything that a session sees, with its clocks."""
    told = []
    with running(program, "--paused") as device, device.client() as client:
        control = device.channel()
        configure(client, program, words)
        told.append(client.read32(0x44))
        fed = control.ask("feed", capture=str(capture), rate=1e9)
        told.append(control.ask("run", ns=fed["starts_ns"] - fed["now_ns"])["clocks"])
        for _ in range(20):
            told.append(control.ask("run", ns=200_000)["clocks"])
            client.write32(0x80, 0, posted=True)
            client.write32(0x88, 1, posted=True)
            while client.read32(0x44) >> 2 & 1:
                pass
            told.append([client.read32(0x1000 + 4 * n) for n in range(64)])
        told.append(control.ask("idle")["clocks"])
        told.append(counted(control.ask("counters")))
    return told


def test_two_sessions_take_the_same_clocks_with_accesses_amid_traffic(tmp_path, device_program, words):
    capture = pcap(tmp_path / "in.pcap", mixed(2000))
    first, second = story(device_program, words, capture), story(device_program, words, capture)
    assert first == second
    assert len({json.dumps(each) for each in first[3:-2:2]}) > 10, "nothing happened between the looks"


def test_the_lane_is_busy_as_long_as_packets_wait_for_a_shaper(tmp_path, device_program):
    """To the simulation such a lane is at rest: it leaps over the time until the shaper opens. The host's register is not about that."""
    slow, queue = {"rate": "64Kbit", "burst": "1514B"}, {"name": "all", "default": True}
    record = quantise.hardware(config.parse({"port": slow, "queue": [queue]}))
    words, capture = tmp_path / "words.json", tmp_path / "in.pcap"
    words.write_text(json.dumps(record))
    pcap(capture, [(0, MACS + b"\x08\0" + IP4 + bytes(1500 - len(IP4)), 1514)] * 4)
    with running(device_program, "--paused") as device, device.client() as client:
        control = device.channel()
        configure(client, device_program, words)
        client.read32(0)  # behind the posted writes
        control.ask("idle")
        assert client.read32(0x44) & 1 == 0
        control.ask("feed", capture=str(capture), rate=1e9)
        for _ in range(30):  # the last but one has been sent after 189 ms twice
            control.ask("run", ns=10_000_000)
            assert client.read32(0x44) & 1 == 1
        control.ask("idle")
        assert client.read32(0x44) & 1 == 0 and control.ask("counters")["frames_out"] == 4


def test_time_stands_while_nothing_is_asked(device, client):
    control = device.channel()
    before = control.ask("counters")["clocks"]
    time.sleep(0.3)
    assert control.ask("counters")["clocks"] == before
    client.read32(0)
    assert before < control.ask("counters")["clocks"] < before + 50


def test_what_a_write_begins_is_done_without_further_accesses(device, client):
    for address in (0x84, 0x88):
        client.write32(address, 1)
        assert client.read32(0x44) & 0xE == 0
    client.write32(0x40, 2)
    assert client.read32(0x44) & 0xE == 0


def test_a_reset_amid_traffic_leaves_a_lane_that_counts_right(tmp_path, device_program, words):
    capture = pcap(tmp_path / "in.pcap", mixed(2000))
    with running(device_program, "--paused") as device, device.client() as client:
        control = device.channel()
        configure(client, device_program, words)
        fed = control.ask("feed", capture=str(capture), rate=5e9)
        control.ask("run", ns=fed["starts_ns"] - fed["now_ns"] + 200_000)
        assert 0 < control.ask("counters")["frames_in"] < 2000
        client.reset()
        configure(client, device_program, words)
        client.read32(0)
        control.ask("idle")
        seen = control.ask("counters")
        assert seen["accounting"] == {"errors": 0, "first_error": ""} and seen["under_way"] == 0
        assert registers(client, 16) == counted(seen)
        assert 100 < seen["frames_out"] < 2000


def test_frames_come_and_go_by_sockets(tmp_path, device_program, words):
    frames = [data for _, data, _ in mixed(60)]
    with tempfile.TemporaryDirectory() as name, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sink:
        sink.settimeout(10)
        sink.bind(f"{name}/out")
        places = ("--frames-from", f"{name}/in", "--frames-to", f"{name}/out", "--config-words", words)
        with running(device_program, *places) as device, device.client() as client:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as source:
                source.connect(f"{name}/in")
                for frame in frames:
                    source.send(frame)
                    if len(frame) < 9000:
                        assert sink.recv(65536)[:12] == frame[:12]
                    else:
                        assert len(sink.recv(65536)) == len(frame)
                source.send(b"")
            control = device.channel()
            control.ask("idle")
            seen = control.ask("counters")
            assert (seen["frames_in"], seen["frames_out"]) == (len(frames), len(frames)) and seen["odd_frames"] == 1
            assert registers(client, 16) == counted(seen)


def test_frames_of_the_socket_keep_the_pace_that_is_asked(device_program):
    with tempfile.TemporaryDirectory() as name, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as source:
        options = ("--frames-from", f"{name}/in", "--rate", 8_000_000, "--paused")
        with running(device_program, *options) as device:
            source.connect(f"{name}/in")
            for _ in range(10):
                source.send(MACS + b"\x08\x06" + bytes(986))
            control = device.channel()
            began = control.ask("counters")["now_ns"]
            assert control.ask("idle")["now_ns"] - began == pytest.approx(9 * 10**6, rel=0.05)
            assert control.ask("counters")["frames_in"] == 10


def test_what_the_control_channel_cannot_do_is_refused(tmp_path, device):
    control, capture = device.channel(), pcap(tmp_path / "in.pcap", mixed(50))
    control.ask("pause")
    control.ask("feed", capture=str(capture))
    for word, fields, match in (
        ("feed", {"capture": str(capture)}, "being fed already"),
        ("fed", {}, "no such command"),
        ("run", {}, "ns is missing"),
        ("run", {"ns": -1}, "legal is 0 to"),
        ("interrupt", {"vector": 4}, "legal is 0 to 3"),
        ("dma", {"address": 0, "bytes": 1}, "not mapped"),
    ):
        with pytest.raises(vfio_user.Refused, match=match):
            control.ask(word, **fields)
    control.ask("idle")
    for fields, match in (
        ({}, "capture is missing"),
        ({"capture": str(tmp_path / "none")}, "none"),
        ({"capture": str(tmp_path)}, "no regular file"),
        ({"capture": str(capture), "rate": 1}, "legal is"),
        ({"capture": str(capture), "rate": 1e6, "speed": 1}, "one sets the pace"),
        ({"capture": str(capture), "at_ns": 0}, "already"),
    ):
        with pytest.raises(vfio_user.Refused, match=match):
            control.ask("feed", **fields)
    rng = random.Random(3)
    for line in ("", "{", "[]", '{"do": 1}', '{"do": null}', "\0" * 100, *("[" * n for n in (10, 60_000))):
        control.lines.write(line + "\n")
        control.lines.flush()
        assert not json.loads(control.lines.readline())["ok"]
    other = device.channel()
    other.socket.send(rng.randbytes(70_000).replace(b"\n", b"") + b"x" * 70_000)
    assert control.ask("counters")["ok"]
