"""Makes default.pcapng: real TCP of the Linux kernel between two network namespaces, with mixed DSCPs.

Run by hand, never by the tests; needs root, iproute2 and /dev/net/tun, no packages:

    sudo python3 sim/captures/make_capture.py [OUT.pcapng]

Each namespace holds a TAP device. This program is the wire between the two: it delays, shapes, marks and drops, so the
kernels' TCP behaves as over a WAN, and it records each frame that leaves the sender, before the wire touches it.
TAP devices take no offloads, so no frame is longer than 1514 bytes and every checksum is complete.
"""

import ctypes
import fcntl
import heapq
import multiprocessing
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

SECONDS = 10.0
RATE = 8_000_000  # bits a second, each way
DELAY = 0.010  # seconds, each way
BUFFER = 24_000  # bytes that may wait for the wire
MARK = 8_000  # waiting bytes above which ECN-capable packets get CE
CLONE_NEWNET, TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x40000000, 0x400454CA, 2, 0x1000
SINK, SOURCE, TALK = 5001, 5002, 5003
SENDER, RECEIVER = 1, 2

AF = {f"AF{c}{d}": 8 * c + 2 * d for c in range(1, 5) for d in range(1, 4)}
DSCP = AF | {"EF": 46, "VA": 44, "CS1": 8, "default": 0}

# TCP upwards: DSCP, IP version, ECN asked for, segment size or 0 for the path's, and transfers as start, bytes, seconds
# over which the program writes them in 20 parts (0: all at once, as fast as TCP takes it).
BULK = [
    ("AF11", 4, True, 0, [(0.6, 130_000, 2.2), (5.2, 130_000, 0)]),
    ("AF12", 4, False, 536, [(0.4, 70_000, 2.4), (4.8, 70_000, 0.8)]),
    ("AF13", 6, True, 536, [(0.2, 40_000, 2.4), (4.5, 40_000, 1.2)]),
    ("AF21", 6, False, 0, [(1.2, 120_000, 2.0), (6.2, 100_000, 0)]),
    ("AF22", 4, False, 536, [(1.0, 70_000, 2.2), (5.8, 60_000, 0.8)]),
    ("AF23", 4, True, 536, [(0.8, 40_000, 2.4), (5.5, 40_000, 1.2)]),
    ("AF31", 4, False, 0, [(2.2, 80_000, 1.6), (6.8, 60_000, 0.4)]),
    ("AF32", 6, True, 536, [(2.0, 50_000, 1.8), (6.6, 40_000, 0.8)]),
    ("AF33", 4, False, 536, [(1.8, 30_000, 2.0), (6.4, 30_000, 1.2)]),
    ("AF41", 4, True, 0, [(3.0, 130_000, 1.8), (7.6, 100_000, 0)]),
    ("AF42", 6, True, 536, [(2.8, 70_000, 2.0), (7.3, 60_000, 0.8)]),
    ("AF43", 4, False, 536, [(2.6, 30_000, 2.2), (7.0, 30_000, 1.2)]),
    ("default", 4, False, 0, [(3.4, 110_000, 1.6), (8.3, 80_000, 0)]),
    ("default", 6, True, 536, [(3.7, 60_000, 1.6), (8.0, 50_000, 0.8)]),
    ("CS1", 4, False, 536, [(0.3, 50_000, 1.5), (4.2, 40_000, 0)]),
]
PARTS = 20
# Downloads, of which the capture holds the acknowledgements: DSCP, IP version, start, bytes.
DOWN = [("AF21", 4, 0.3, 700_000), ("default", 6, 2.0, 700_000), ("AF11", 4, 4.2, 700_000), ("AF41", 4, 6.5, 500_000)]
# UDP: DSCP, ECN bits, IP version, start, end, seconds between packets, payload bytes, packets each time.
STREAMS = [
    ("EF", 0, 4, 0.1, 9.8, 0.02, 200, 1),
    ("VA", 0, 6, 1.0, 9.0, 0.04, 160, 1),
    ("EF", 0, 4, 4.0, 4.9, 0.3, 200, 40),  # bursts beyond what EF may be
    ("AF31", 2, 4, 4.6, 5.0, 0.01, 500, 1),
    ("AF42", 1, 6, 8.8, 9.0, 0.01, 500, 1),  # ECT(1)
    ("AF41", 3, 4, 9.0, 9.3, 0.03, 500, 1),  # marked already
]


def address(version, host):
    return f"10.0.0.{host}" if version == 4 else f"fd00::{host}"


def enter_namespace(host):
    """A namespace of its own for this process, with one TAP device in it; returns the device's descriptor."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "no network namespace")
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", b"wire", IFF_TAP | IFF_NO_PI))
    Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("1")
    for line in (
        "link set lo up",
        "link set wire addrgenmode none",
        f"link set wire address 02:00:00:00:00:0{host} mtu 1500",
        f"address add {address(4, host)}/24 dev wire",
        f"address add {address(6, host)}/64 dev wire nodad",
        "link set wire up",
    ):
        subprocess.run(["ip", *line.split()], check=True)
    return tap


def at(began, when):
    time.sleep(max(0.0, began + when - time.monotonic()))


def open_socket(kind, version, dscp, ecn=0):
    made = socket.socket(socket.AF_INET if version == 4 else socket.AF_INET6, kind)
    tos = DSCP[dscp] << 2 | ecn
    made.setsockopt(*((socket.IPPROTO_IP, socket.IP_TOS) if version == 4 else (socket.IPPROTO_IPV6, 67)), tos)
    if kind == socket.SOCK_STREAM:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    return made


asking = threading.Lock()


def connect(made, version, port, ecn):
    """The kernel's ECN switch holds for a namespace; the first SYN leaves while this flow's choice stands."""
    with asking:
        Path("/proc/sys/net/ipv4/tcp_ecn").write_text("1" if ecn else "2")
        made.setblocking(False)
        made.connect_ex((address(version, RECEIVER), port))
    select.select([], [made], [], 5)
    made.setblocking(True)


def bulk(began, dscp, version, ecn, segment, transfers):
    made = open_socket(socket.SOCK_STREAM, version, dscp)
    if segment:
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment)
    at(began, transfers[0][0] - 0.1)
    connect(made, version, SINK, ecn)
    for when, length, spread in transfers:
        for part in range(PARTS):
            at(began, when + spread * part / PARTS)
            made.sendall(bytes(length // PARTS))
    made.close()


def download(began, dscp, version, when, length):
    made = open_socket(socket.SOCK_STREAM, version, dscp)
    at(began, when)
    connect(made, version, SOURCE, False)
    made.sendall(struct.pack(">I", length))
    while made.recv(65536):
        pass
    made.close()


def stream(began, dscp, ecn, version, start, end, gap, length, burst):
    made = open_socket(socket.SOCK_DGRAM, version, dscp, ecn)
    for turn in range(round((end - start) / gap)):
        at(began, start + turn * gap)
        for _ in range(burst):
            made.sendto(bytes(length), (address(version, RECEIVER), TALK))


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def odds(began):
    """Echo requests, and frames of a type for local experiments, which the kernel does not know."""
    four = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    six = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    raw.bind(("wire", 0))
    for turn in range(9):
        at(began, 0.5 + turn)
        head = struct.pack(">BBHHH", 8, 0, 0, 7, turn)
        echo = head[:2] + struct.pack(">H", checksum(head + bytes(56))) + head[4:] + bytes(56)
        four.sendto(echo, (address(4, RECEIVER), 0))
        six.sendto(struct.pack(">BBHHH", 128, 0, 0, 7, turn) + bytes(56), (address(6, RECEIVER), 0))
        raw.send(bytes.fromhex("02000000000202000000000188b5") + bytes(46))


def send(pipe):
    tap = enter_namespace(SENDER)
    socket.send_fds(pipe, [b"s"], [tap])
    pipe.recv(1)
    began = time.monotonic()
    work = [(bulk, a) for a in BULK] + [(download, a) for a in DOWN] + [(stream, a) for a in STREAMS] + [(odds, ())]
    for action, given in work:
        threading.Thread(target=action, args=(began, *given), daemon=True).start()
    pipe.recv(1)


def serve(made):
    with made:
        if made.getsockname()[1] == SOURCE:
            made.sendall(bytes(struct.unpack(">I", made.recv(4))[0]))
        else:
            while made.recv(65536):
                pass


def listen(port):
    server = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    while True:
        threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()


def receive(pipe):
    tap = enter_namespace(RECEIVER)
    talk = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    talk.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    talk.bind(("::", TALK))
    for port in (SINK, SOURCE):
        threading.Thread(target=listen, args=(port,), daemon=True).start()
    time.sleep(0.3)
    socket.send_fds(pipe, [b"r"], [tap])
    pipe.recv(1)
    pipe.recv(1)


def marked(frame):
    """The frame with CE, if it may carry it."""
    frame = bytearray(frame)
    if frame[12:14] == b"\x08\x00" and frame[15] & 3 in (1, 2):
        frame[15] |= 3
        frame[24:26] = b"\0\0"
        frame[24:26] = struct.pack(">H", checksum(bytes(frame[14 : 14 + 4 * (frame[14] & 15)])))
    elif frame[12:14] == b"\x86\xdd" and frame[15] >> 4 & 3 in (1, 2):
        frame[15] |= 0x30
    return bytes(frame)


def wire(taps, seconds, record):
    poll, free, waiting, number = select.poll(), [0.0, 0.0], [], 0
    for tap in taps:
        poll.register(tap, select.POLLIN)
    ends = time.monotonic() + seconds
    while (now := time.monotonic()) < ends:
        while waiting and waiting[0][0] <= now:
            _, _, tap, frame = heapq.heappop(waiting)
            os.write(tap, frame)
        pause = (waiting[0][0] - now) if waiting else 0.1
        for tap, _ in poll.poll(max(0, min(pause, 0.1)) * 1000):
            side = taps.index(tap)
            try:
                frame = os.read(tap, 65536)
            except BlockingIOError:
                continue
            now = time.monotonic()
            if side == 0:
                record(time.time_ns(), frame)
            backlog = max(0.0, free[side] - now) * RATE / 8
            if backlog + len(frame) > BUFFER:
                continue
            free[side] = max(now, free[side]) + len(frame) * 8 / RATE
            number += 1
            ready = marked(frame) if backlog > MARK else frame
            heapq.heappush(waiting, (free[side] + DELAY, number, taps[1 - side], ready))


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def save(path, packets):
    """pcapng, Ethernet, nanoseconds."""
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack("<HHI", 1, 0, 65535) + struct.pack("<HHB3x", 9, 1, 9) + bytes(4))
    for stamp, frame in packets:
        head = struct.pack("<IIIII", 0, stamp >> 32, stamp & 0xFFFFFFFF, len(frame), len(frame))
        out += block(6, head + frame)
    path.write_bytes(out)


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("default.pcapng")
    pipes, taps, packets = [], [], []
    for role in (send, receive):
        ours, theirs = socket.socketpair()
        multiprocessing.get_context("fork").Process(target=role, args=(theirs,), daemon=True).start()
        theirs.close()
        pipes.append(ours)
        taps.append(socket.recv_fds(ours, 1, 1)[1][0])
    for pipe in pipes:
        pipe.send(b"g")
    wire(taps, SECONDS, lambda stamp, frame: packets.append((stamp, frame)))
    for pipe in pipes:
        pipe.send(b"e")
    save(path, packets)
    print(f"{path}: {len(packets)} packets, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
