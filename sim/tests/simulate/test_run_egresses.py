"""`vermilion run` with the file of a lane with several egresses: routes, queues, ports and the pool are those of the file."""

import csv
import random
import struct
import subprocess

import pytest

from support.captures import pcap
from support.runs import check, run, vermilion
from vermilion.configuration import egresses
from vermilion.profile import quantise
from vermilion.simulation import simulate
from vermilion.toolchain import build

pytestmark = pytest.mark.slow


def macs(inputs: int, number: int) -> bytes:
    """Addresses whose frames come in at this input (sim/harness/pace.h)."""
    for last in range(256):
        total = 0
        for byte in bytes(11) + bytes([last]):
            total = (total * 31 + byte) & 0xFFFFFFFF
        if (total >> 3) % inputs == number:
            return bytes(11) + bytes([last])
    raise AssertionError("no such addresses")


def frames(rng, inputs: int, count: int) -> list[tuple[int, bytes, int]]:
    """IPv4 frames at random inputs, faster than the ports send."""
    made = []
    for number in range(count):
        size, head = rng.randrange(60, 1500), rng.randrange(inputs)
        packet = struct.pack(">BBHIBBH8s", 0x45, rng.randrange(256), size - 14, 0, 64, 253, 0, rng.randbytes(8))
        data = (macs(inputs, head) + b"\x08\x00" + packet).ljust(size, b"\0")
        made.append((600 * number, data, head))
    return made


def queues(rng, table: str) -> str:
    """Two queues, one with a curve and ECN, each with a threshold in the pool."""
    low = rng.randrange(1, 10)
    text = (
        f'[[{table}]]\nname = "a"\ndscp = ["EF", "AF11", {", ".join(map(str, range(1, 9)))}]\necn = true\nalpha = 1\n'
    )
    text += f'green = {{ curve = "red", min = "{low}KB", max = "{low + rng.randrange(1, 20)}KB", p = 0.3 }}\n'
    text += f"priority = {rng.randrange(8)}\n" if rng.random() < 0.5 else f"quantum = {rng.randrange(300, 3000)}\n"
    return text + f'[[{table}]]\nname = "b"\ndefault = true\nalpha = {rng.choice((0.5, 2, 8))}\nrate = "100Mbit"\n'


def file(rng, shape: build.Preset) -> tuple[str, list[int]]:
    """A random file for a build, and its routes. Egress 0 has the common queues."""
    routes = [rng.randrange(shape.egresses) for _ in range(shape.inputs)]
    text = f"routes = {routes}\nseed = {rng.randrange(1, 2**32)}\n"
    text += f'[port]\nrate = "1Gbit"\n[pool]\nsize = {64 * rng.randrange(200, 500)}\n{queues(rng, "queue")}'
    for egress in range(1, shape.egresses):
        reserve = 64 * rng.randrange(0, 40)
        text += (
            f'[[egress]]\nindex = {egress}\nname = "e{egress}"\nport = {{ rate = "{rng.randrange(300, 2000)}Mbit" }}\n'
        )
        text += f"pool = {{ reserve = {reserve}, cap = {reserve + 64 * rng.randrange(20, 100)} }}\n"
        text += queues(rng, "egress.queue")
    return text, routes


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("preset", ["card-1x25g", "lab-egresses"])
def test_packets_go_where_the_file_says(tmp_path, preset, seed):
    """Every decision is the model's, the pool refuses packets, and the queues of an egress see the packets of the inputs that are routed to it."""
    print("seed", seed)
    rng, shape = random.Random(f"{preset} {seed}"), build.shape(preset)
    text, routes = file(rng, shape)
    config, trace = tmp_path / "lane.toml", tmp_path / "trace.csv"
    config.write_text(text)
    sent = frames(rng, shape.inputs, 400)
    capture = pcap(tmp_path / "in.pcap", [(time, data, len(data)) for time, data, _ in sent])
    stats = run(tmp_path, capture, "--config", config, "--preset", preset, "--trace", trace)
    check(stats)
    wanted = {egress: 0 for egress in range(shape.egresses)}
    for _, _, head in sent:
        wanted[routes[head]] += 1
    share, seen = shape.queues // shape.egresses, dict.fromkeys(wanted, 0)
    for queue in stats["queues"]:
        egress = queue["index"] // share
        arrived = sum(colour["arrived"]["packets"] for colour in queue["colours"])
        seen[egress] += arrived
        label = f"e{egress}" if egress else "0"
        assert not arrived or queue["name"] in (f"{label}/a", f"{label}/b")
    assert seen == wanted
    with trace.open() as lines:
        assert sum(line["pool_full"] == "1" for line in csv.DictReader(lines)) > 20


def test_the_model_alone_refuses_several_egresses(tmp_path):
    """The program itself, as it would take each packet for one of egress 0 otherwise."""
    shape, words = build.shape("card-1x25g"), tmp_path / "words.json"
    lane = egresses.load("sim/configs/egresses/card-1x25g.toml", egresses.of_shape(shape))
    record = quantise.lane(lane, shape.queues // shape.egresses)
    simulate.write_words(record | {"buffer_cells": shape.cells, "max_frame_bytes": shape.max_frame_bytes}, words)
    capture = pcap(tmp_path / "in.pcap", [(0, bytes(60), 60)])
    options = ["--in", capture, "--config-words", words, "--engine", "model", "--stats-json", tmp_path / "out.json"]
    ran = subprocess.run([build.model_program("card-1x25g"), *options], capture_output=True, text=True)
    assert ran.returncode == 2, ran
    assert "error --engine model runs lanes with one egress, this build has 2" in ran.stdout


def test_a_report_has_the_queues_of_all_egresses(tmp_path):
    page = tmp_path / "report.html"
    run(tmp_path, "--config", "sim/configs/egresses/card-1x25g.toml", "--preset", "card-1x25g", "--report", page)
    text = page.read_text()
    assert all(name in text for name in ("host/calls", "wire/bulk", "wire/port"))


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("--preset", "lab"), 'egress "wire" has index 1; this build has one egress, 0'),
        (
            ("--preset", "card-1x25g", "--engine", "model"),
            "--engine model runs lanes with one egress, card-1x25g has 2; take --engine rtl",
        ),
        (("--preset", "card-2x10g"), "routes has 2 entries; legal is 4, the inputs of this build"),
    ],
)
def test_refused(words, sentence):
    status, out, err = vermilion("run", "--config", "sim/configs/egresses/card-1x25g.toml", *words)
    assert status == 2 and sentence in err and not out
