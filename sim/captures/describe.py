"""Prints what a capture holds as Markdown tables: `.vermilion/venv/bin/python sim/captures/describe.py [CAPTURE]`."""

import sys
from collections import Counter
from pathlib import Path

from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.utils import RawPcapNgReader

AF = {8 * c + 2 * d: f"AF{c}{d}" for c in range(1, 5) for d in range(1, 4)}
NAMES = AF | {46: "EF", 44: "VA", 8: "CS1", 0: "default"}
ECN = ["not ECT", "ECT(1)", "ECT(0)", "CE"]


def raw(path):
    """(nanoseconds, length on the wire, bytes) of each packet."""
    with RawPcapNgReader(str(path)) as packets:
        for frame, about in packets:
            ticks = (about.tshigh << 32) + about.tslow
            yield ticks * 10**9 // int(about.tsresol), about.wirelen, frame


def read(path):
    """(nanoseconds, length on the wire, frame) of each packet."""
    return ((ns, length, Ether(frame)) for ns, length, frame in raw(path))


def traffic_class(frame):
    return frame[IP].tos if IP in frame else frame[IPv6].tc if IPv6 in frame else None


def protocol(frame):
    if IP not in frame and IPv6 not in frame:
        return "ARP" if ARP in frame else f"type 0x{frame.type:04x}"
    version = "IPv4" if IP in frame else "IPv6"
    kind = "TCP" if TCP in frame else "UDP" if UDP in frame else "ICMP"
    return f"{version} {kind}"


def table(title, counted, sizes):
    print(f"| {title} | Packets | Bytes |\n| --- | ---: | ---: |")
    for key in sorted(counted):
        print(f"| {key} | {counted[key]:,} | {sizes[key]:,} |")
    print()


def main():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("default.pcapng")
    packets = list(read(path))
    kinds = {
        "DSCP": lambda f, c: "(not IP)" if c is None else NAMES.get(c >> 2, f"{c >> 2}"),
        "ECN": lambda f, c: "(not IP)" if c is None else ECN[c & 3],
        "Protocol": lambda f, c: protocol(f),
    }
    total, span = sum(length for _, length, _ in packets), (packets[-1][0] - packets[0][0]) / 1e9
    print(f"{len(packets):,} packets, {total:,} bytes in {span:.2f} s, {path.stat().st_size:,} bytes on disk.\n")
    for title, name in kinds.items():
        counted, sizes = Counter(), Counter()
        for _, length, frame in packets:
            key = name(frame, traffic_class(frame))
            counted[key] += 1
            sizes[key] += length
        table(title, counted, sizes)


if __name__ == "__main__":
    main()
