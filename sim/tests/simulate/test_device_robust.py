"""What a client can do wrong: it gets the protocol's error and the log a sentence, and the device goes on; a device that dies ends its client."""

import os
import random
import signal
import struct
import subprocess
import threading
import time

import pytest

from support.devices import running
from support.pci_config import enable
from vermilion.hardware import vfio_user
from vermilion.hardware.vfio_user import ACCESS, BAR0, BAR2, ERROR, HEADER, NO_REPLY, REPLY

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("VERMILION_SEED", random.SystemRandom().randrange(2**32)))


def descriptors(process) -> int:
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def start(program, *words):
    return subprocess.run([str(word) for word in (program, *words)], capture_output=True, text=True, timeout=30)


def payload(rng, command):
    """Something like the command's payload: right, or with fields at the edges of what is legal, or noise."""
    edge = lambda bits: rng.choice([0, 1, 2, 3, 4, 7, 8, 16, 24, 32, 4096, 1 << 14, 1 << 24, (1 << bits) - 1, (1 << bits) // 2, rng.getrandbits(bits)])  # fmt: skip
    shapes = {
        1: lambda: struct.pack("<HH", rng.choice([0, 0, 1, 65535]), edge(16) & 0xFFFF) + rng.choice([b"", b"{}\0", b"{", b"[]\0", b'{"capabilities":1}\0', b"[" * 5000 + b"\0"]),
        2: lambda: struct.pack("<IIQQQ", edge(32), edge(32), edge(64), edge(64), edge(64)),
        3: lambda: struct.pack("<IIQQ", edge(32), edge(32), edge(64), edge(64)),
        4: lambda: struct.pack("<IIII", *(edge(32) for _ in range(4))),
        5: lambda: struct.pack("<IIIIQQ", *(edge(32) for _ in range(4)), edge(64), edge(64)),
        7: lambda: struct.pack("<IIII", *(edge(32) for _ in range(4))),
        8: lambda: struct.pack("<IIIII", *(edge(32) for _ in range(5))) + rng.randbytes(rng.randrange(9)),
        9: lambda: ACCESS.pack(edge(64), rng.choice([0, 2, 7, edge(32)]), edge(32)),
        10: lambda: ACCESS.pack(edge(64), rng.choice([0, 2, 7, edge(32)]), edge(32)) + rng.randbytes(rng.randrange(12)),
    }  # fmt: skip
    body = shapes.get(command, lambda: rng.randbytes(rng.randrange(40)))()
    return body[: rng.randrange(len(body) + 1)] if rng.random() < 0.2 else body


def test_thousands_of_malformed_messages_are_answered(device):
    print("seed", SEED)
    rng = random.Random(SEED)
    spare, full = os.memfd_create("spare"), os.eventfd(0)
    os.ftruncate(spare, 1 << 16)
    pipes = os.pipe()
    unread, alone = os.pipe()  # a write end whose reader has gone
    os.close(unread)
    with device.client(timeout=20) as client:
        errors, before = 0, descriptors(device.process)
        for number in range(6000):
            command = rng.choice([*range(1, 19), 9, 10, 8, 2, rng.getrandbits(16)])
            flags = rng.choice([0, 0, 0, 0, 0, NO_REPLY, REPLY, rng.getrandbits(32)])
            body = payload(rng, command)
            fds = [
                rng.choice([spare, full, pipes[1], pipes[0], alone, 0])
                for _ in range(rng.choice([0, 0, 0, 1, 2, 9, 30]))
            ]
            name = number & 0xFFFF
            client.send(HEADER.pack(name, command, HEADER.size + len(body), flags, rng.getrandbits(32)) + body, fds)
            if flags & NO_REPLY:
                continue
            (echoed, answered, size, got, error), _ = client.receive()
            assert (echoed, answered) == (name, command) and got & ~ERROR == REPLY, f"seed {SEED}, message {number}"
            assert bool(got & ERROR) == bool(error)
            assert size == HEADER.size or not error, "an error brings no payload"
            errors += bool(error)
        assert errors > 2000 and client.read32(0) == 0x564D0001
        client.unwire()
        client.dma_unmap(0, 0, flags=2)
        assert descriptors(device.process) == before, "descriptors were kept that nobody asked for"
    assert device.process.wait(10) == 0, device.log()[-3:]
    assert len(device.log()) >= errors and all(line.startswith("vermilion-device: ") for line in device.log())
    for each in (spare, full, alone, *pipes):
        os.close(each)


def test_an_interrupt_into_a_pipe_without_a_reader_is_lost_and_no_more(device, client):
    for vector, kept in enumerate((0, 1)):
        pipe = os.pipe()
        client.wire([pipe[1]], start=vector)
        os.close(pipe[1 - kept])
        enable(client)
        for _ in range(3):
            client.write32(0x2000, vector, BAR2)
        assert client.read32(0) == 0x564D0001 and client.read32(0x1000, BAR2) == 0, "neither gone nor pending"
        os.close(pipe[kept])
    assert client.read32(0x2004, BAR2) == 6
    client.close()
    assert device.process.wait(10) == 0 and not device.socket.exists()


@pytest.mark.parametrize("size", [0, 1, 15, (1 << 20) + 33, 0xFFFFFFFF])
def test_a_size_that_cannot_be_ends_the_connection_with_an_error(device_program, size):
    with running(device_program, "--keep") as device:
        with device.client() as client:
            client.send(HEADER.pack(7, 9, size, 0, 0))
            header, _ = client.receive()
            assert header[0] == 7 and header[3] == REPLY | ERROR and header[4]
            with pytest.raises(vfio_user.Gone):
                client.read32(0)
        assert len(device.log()) == 1 and str(size) in device.log()[0]
        with device.client() as client:
            assert client.read32(0) == 0x564D0001


def test_a_message_in_pieces_is_put_together_and_one_that_stays_short_waited_for_in_vain(device):
    with device.client(timeout=20) as client:
        whole = HEADER.pack(9, 9, HEADER.size + ACCESS.size, 0, 0) + ACCESS.pack(0, BAR0, 4)
        for at in range(len(whole)):
            client.send(whole[at : at + 1])
            time.sleep(0.001)
        _, body = client.receive()
        assert body[ACCESS.size :] == bytes.fromhex("01004d56")
        client.send(whole * 50)  # and many at once
        assert {client.receive()[1] for _ in range(50)} == {body}
        client.send(whole[:20])
        assert device.channel().ask("counters")["ok"], "one client's half message stops the others"
        with pytest.raises(vfio_user.Gone):
            client.receive()
    assert device.process.wait(10) == 0 and len(device.log()) == 1


def test_commands_before_the_version_and_another_version_are_refused(device_program):
    with running(device_program, "--keep") as device:
        raw = vfio_user.Client.__new__(vfio_user.Client)
        raw.next_id, raw.socket = 0, vfio_user.socket.socket(vfio_user.socket.AF_UNIX)
        raw.socket.settimeout(5)
        raw.socket.connect(str(device.socket))
        for command, body in (
            (4, struct.pack("<IIII", 16, 0, 0, 0)),
            (9, ACCESS.pack(0, 0, 4)),
            (13, b""),
            (1, b"\1\0\0\0"),
        ):
            with pytest.raises(vfio_user.Refused):
                raw.command(command, body)
        assert raw.command(1, b"\0\0\0\0")[:4] == b"\0\0\0\0"
        with pytest.raises(vfio_user.Refused):
            raw.command(1, b"\0\0\0\0")
        raw.close()


def test_a_second_client_is_turned_away(device, client):
    with pytest.raises(vfio_user.Gone):
        device.client()
    assert client.read32(0) == 0x564D0001


def test_a_client_that_takes_no_replies_is_let_go(device):
    client = device.client(timeout=30)
    request = HEADER.pack(1, 9, HEADER.size + ACCESS.size, 0, 0) + ACCESS.pack(0, 7, 4096)
    with pytest.raises(vfio_user.Gone):
        for _ in range(20_000):
            client.send(request)
    client.close()
    assert device.process.wait(20) == 0


def test_a_killed_device_ends_its_client_within_seconds(device):
    client = device.client()
    threading.Timer(0.3, lambda: os.kill(device.process.pid, signal.SIGKILL)).start()
    began = time.monotonic()
    with pytest.raises(vfio_user.Gone):
        while time.monotonic() - began < 20:
            client.read32(0x10)
    assert time.monotonic() - began < 5
    client.close()


def test_a_device_that_is_stopped_ends_its_client_within_seconds(device):
    client = device.client(timeout=2)
    os.kill(device.process.pid, signal.SIGSTOP)
    began = time.monotonic()
    with pytest.raises(vfio_user.Gone, match="does not answer"):
        client.read32(0)
    assert time.monotonic() - began < 5
    client.close()


def test_sockets_of_others_stay(device_program, tmp_path):
    with running(device_program) as device:
        for path, match in (
            (device.socket, "another program listens"),
            (tmp_path, "is no socket"),
            ("x" * 200, "legal are 1 to 107"),
            (tmp_path / "no" / "where", "No such file"),
        ):
            done = start(device_program, "--socket", path)
            assert done.returncode == 2 and match in done.stderr and done.stderr.count("\n") == 1, done.stderr
        client = device.client()
        assert client.read32(0) == 0x564D0001
        os.kill(device.process.pid, signal.SIGKILL)
        device.process.wait()
        assert device.socket.exists()
        done = start(device_program, "--socket", device.socket, "--wait", 1)
        assert done.returncode == 4, "what a dead program left is replaced"


def test_options_that_make_no_sense_are_refused(device_program, tmp_path):
    for options, match in (
        ((), "--socket is missing"),
        (("--socket", "s", "--speed", 2), "--capture"),
        (("--socket", "s", "--capture", "c", "--rate", 1e6, "--speed", 2), "one sets the pace"),
        (("--socket", "s", "--paused", "--real-time"), "one sets lane time"),
        (("--socket", "s", "--wait", -1), "--wait is -1"),
        (("--socket",), "value is missing"),
        (("--sockets", "s"), "no such option"),
        (("--socket", tmp_path / "s", "--config-words", tmp_path / "none"), "cannot be read"),
        (("--socket", tmp_path / "s", "--frames-from", "udp:localhost:1"), "no place for frames"),
        (("--socket", tmp_path / "s", "--frames-to", tmp_path / "none"), "nobody takes frames"),
        (("--socket", tmp_path / "s", "--capture", tmp_path / "none"), "none"),
    ):
        done = start(device_program, *options)
        assert done.returncode == 2 and match in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_regions_of_memory_are_not_without_number(device, client):
    made = 0
    with pytest.raises(vfio_user.Refused):
        while made < 5000:
            client.dma_map(made << 12, 4096)
            made += 1
    assert made == client.capabilities["max_dma_maps"]
    assert client.read32(0) == 0x564D0001
