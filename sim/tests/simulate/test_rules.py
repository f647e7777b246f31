"""`[[rule]]` and `--spread`: which DSCP each frame gets, against a statement by scapy's dissector; checksums; counts."""

import ipaddress
import json
import random
import re
import struct
import tomllib
from functools import cache

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import RawPcapNgReader

from support.captures import pcap
from support.engine_outputs import run as engine
from support.engine_outputs import same, write_words
from support.headers import ones_complement
from support.runs import vermilion
from vermilion.configuration import config, rules
from vermilion.profile import quantise
from vermilion.simulation import front
from vermilion.toolchain import build
from vermilion.values import units
from vermilion.values.fields import UserError

SEED = 24
ONE_QUEUE = {"port": {"rate": "100Gbit"}, "queue": [{"name": "all", "default": True}]}
FOUR = ["10.0.0.1", "10.0.1.2", "10.128.0.3", "192.168.7.9"]
SIX = ["2001:db8::1", "2001:db8:1::2", "fd00::3", "fe80::4"]
PORTS = [53, 80, 443, 5000, 5005, 5010, 65535, 0]
CODES = [0, 10, 18, 46]
VLANS = [0, 1, 10, 4094]
PROTOCOLS = {"tcp": 6, "udp": 17, "icmp": 1, "icmpv6": 58}


def frame(rng) -> bytes:
    """Any of what a capture has: tags or none, IPv4 and IPv6 with options and extension headers, fragments, no IP, cut short."""
    link = Ether(src=f"02:00:00:00:00:{rng.randrange(8):02x}", dst="02:00:00:00:01:00")
    tag = Dot1Q(vlan=rng.choice(VLANS), prio=rng.randrange(8))
    link = rng.choice([link, link, link / tag, link / Dot1AD(vlan=rng.choice(VLANS), prio=3) / tag])
    body = rng.choice([TCP, UDP])(sport=rng.choice(PORTS), dport=rng.choice(PORTS)) / Raw(
        rng.randbytes(rng.randrange(80))
    )
    body = rng.choice([body, body, body, body, ICMP() / Raw(b"ping")])
    tos = rng.choice(CODES) << 2 | rng.randrange(4)
    kind = rng.random()
    if kind < 0.5:
        ip = IP(src=rng.choice(FOUR), dst=rng.choice(FOUR), tos=tos, id=rng.randrange(2**16))
        ip.options = rng.choice([[], [], [], b"\1\1\1\1" * rng.randrange(1, 10)])
        ip.flags, ip.frag = rng.choice([("DF", 0), ("DF", 0), ("MF", 0), ("MF", 7), (0, 9)])
        whole = link / ip / body
    elif kind < 0.9:
        ip = IPv6(src=rng.choice(SIX), dst=rng.choice(SIX), tc=tos, fl=rng.randrange(2**20))
        for header in (IPv6ExtHdrHopByHop(), IPv6ExtHdrDestOpt()):
            ip = ip / header if rng.random() < 0.15 else ip
        cut = rng.choice([(0, 1), (0, 0), (5, 1)])
        ip = ip / IPv6ExtHdrFragment(offset=cut[0], m=cut[1], id=9) if rng.random() < 0.15 else ip
        whole = link / ip / body
    else:
        whole = rng.choice([link / ARP(), link / Raw(bytes(50))])
    made = bytearray(bytes(whole))
    if IP in whole and rng.random() < 0.4:  # a wrong checksum
        at = made.index(bytes(whole[IP])[:6]) + 10
        made[at : at + 2] = rng.randbytes(2)
    return bytes(made[: rng.randrange(13, len(made) + 1)] if rng.random() < 0.1 else made)


@cache
def fields(data: bytes) -> dict:
    """What a rule can match, by scapy; a header that is not wholly there is not looked into."""
    number = 0
    for byte in data[:12]:
        number = (number * 31 + byte) % 2**32
    found = {"input": number >> 3}
    if len(data) < 14:
        return found
    seen, at, kind = Ether(data + bytes(60)), 14, int.from_bytes(data[12:14], "big")
    if kind in (0x8100, 0x88A8) and len(data) >= 16:
        outer = seen[Dot1AD if kind == 0x88A8 else Dot1Q]
        found |= {"vlan": outer.vlan, "pcp": outer.prio}
        at, kind = 18, outer.type
        if kind == 0x8100:
            at, kind = 22, outer.payload.type if len(data) >= 22 else None
        elif isinstance(outer, Dot1AD):
            return found
    rest = len(data) - at
    if kind == 0x0800 and rest >= 20 and rest >= 4 * (data[at] & 15):
        ip = IP(data[at:])
        found |= {"ip": 4, "at": at, "dscp": ip.tos >> 2, "source": ip.src, "destination": ip.dst, "protocol": ip.proto}
        first, body = ip.frag == 0, rest - 4 * ip.ihl
    elif kind == 0x86DD and rest >= 40:
        ip = IPv6(data[at:])
        found |= {"ip": 6, "at": at, "dscp": ip.tc >> 2, "source": ip.src, "destination": ip.dst}
        layer, number, body, first = ip.payload, ip.nh, rest - 40, True
        while (
            number in (0, 60, 44)
            and first
            and body >= (size := 8 * ((data[len(data) - body + 1] if number != 44 else 0) + 1))
        ):
            first = number != 44 or layer.offset == 0
            number, layer, body = layer.nh, layer.payload, body - size
        found["protocol"] = number
    else:
        return found
    if first and found["protocol"] in (6, 17) and body >= 4:
        start = len(data) - body
        found["source_port"], found["destination_port"] = struct.unpack(">HH", data[start : start + 4])
    return found


def random_rules(rng) -> list[dict]:
    """Rules as a file has them, most of which match some frames."""
    made = []
    for _ in range(rng.randrange(1, 12)):
        match, addresses = {}, rng.choice([FOUR, SIX])
        for name, values in {
            "vlan": VLANS,
            "pcp": range(8),
            "dscp": CODES,
            "protocol": [*PROTOCOLS, 6, 17, 44],
            "source_port": [*PORTS, "0-1023", "5000-5010"],
            "destination_port": [*PORTS, "53-443", "1024-65535"],
        }.items():
            match |= {name: rng.choice(values)} if rng.random() < 0.2 else {}
        for name in ("source", "destination"):
            if rng.random() < 0.25:
                most = 32 if addresses is FOUR else 128
                net = ipaddress.ip_network(f"{rng.choice(addresses)}/{rng.randrange(most + 1)}", strict=False)
                match[name] = str(net)
        if {"source_port", "destination_port"} & set(match) and match.get("protocol") not in ("tcp", "udp", 6, 17):
            match.pop("protocol", None)
        made.append({"match": match, "dscp": rng.randrange(64)})
    return made


def fits(match: dict, seen: dict) -> bool:
    for name, wanted in match.items():
        if name == "ingress":
            good = seen["input"] % 2 == wanted
        elif name not in seen:
            return False
        elif name in ("source", "destination"):
            good = ipaddress.ip_address(seen[name]) in ipaddress.ip_network(wanted)
        elif name.endswith("_port"):
            low, _, high = str(wanted).partition("-")
            good = int(low) <= seen[name] <= int(high or low)
        else:
            good = seen[name] == PROTOCOLS.get(wanted, wanted)
        if not good:
            return False
    return True


def stated(asked: list[dict], data: bytes) -> tuple[int | None, bytes, bool]:
    """The number of the first rule that matches, the frame that leaves, without an IPv4 checksum, and whether it is IP."""
    seen = fields(data)
    number = next((i for i, rule in enumerate(asked) if fits(rule["match"], seen)), None)
    made = bytearray(data)
    if "ip" in seen:
        code = seen["dscp"] if number is None else asked[number]["dscp"]
        word = int.from_bytes(data[seen["at"] : seen["at"] + 2], "big")
        word = word & 0xFF03 | code << 2 if seen["ip"] == 4 else word & 0xF03F | code << 6
        made[seen["at"] : seen["at"] + 2] = word.to_bytes(2, "big")
    return number, without_checksum(bytes(made), seen), "ip" in seen


def without_checksum(data: bytes, seen: dict) -> bytes:
    at = seen.get("at", 0) + 10
    return data[:at] + bytes(2) + data[at + 2 :] if seen.get("ip") == 4 else data


def error(data: bytes) -> int:
    """By how much an IPv4 checksum is wrong."""
    seen = fields(data)
    at = seen.get("at", 0)
    return ones_complement(data[at : at + 4 * (data[at] & 15)]) % 0xFFFF if seen.get("ip") == 4 else 0


def through(folder, program, frames: list[bytes], asked: config.Config, spread=None, *options):
    """A run of frames back to back at 1 Gbit/s."""
    capture = pcap(folder / "in.pcap", [(i, data, len(data)) for i, data in enumerate(frames)])
    if spread:
        file = folder / "front.json"
        file.write_text(json.dumps(front.words(asked, spread)))
        options = ("--front", file, *options)
    options = ("--rate", 10**9, *options)
    return engine(program, folder, write_words(folder / "words.json", asked), capture, *options)


def left(folder) -> list[bytes]:
    with RawPcapNgReader(str(folder / "out.pcapng")) as packets:
        return [data for data, _ in packets]


@pytest.mark.parametrize("seed", range(20))
def test_rules(tmp_path, seed):
    """Random rules and frames: first match, DSCP, all other bytes, checksum as right or wrong as before, and what is counted."""
    rng = random.Random(SEED + seed)
    asked, frames = random_rules(rng), [frame(rng) for _ in range(300)]
    made = config.parse(ONE_QUEUE | {"rule": asked})
    stats = through(tmp_path, build.model_program("lab"), frames, made, None, "--engine", "model").stats
    out = left(tmp_path)
    wanted = [stated(asked, data) for data in frames]
    assert [without_checksum(data, fields(data)) for data in out] == [data for _, data, _ in wanted]
    assert list(map(error, out)) == list(map(error, frames))
    for number, counts in enumerate(stats["rules"]):
        mine = [len(frames[i]) for i, (first, _, _) in enumerate(wanted) if first == number]
        assert counts == {"packets": len(mine), "bytes": sum(mine)}
    assert stats["unmatched"] == sum(number is None for number, _, _ in wanted)


def test_the_rules_of_the_test_reach_everything():
    """Over all seeds every field decides for and against a frame, and each kind of frame is there."""
    seen, every, yes, no = [], [], set(), set()
    for seed in range(20):
        rng = random.Random(SEED + seed)
        asked, frames = random_rules(rng), [frame(rng) for _ in range(300)]
        every += frames
        for data in frames:
            seen.append(fields(data))
            for rule in asked:
                for name, value in rule["match"].items():
                    (yes if fits({name: value}, seen[-1]) else no).add(name)
    assert yes == no == {"vlan", "pcp", "dscp", "protocol", "source", "destination", "source_port", "destination_port"}
    assert {data[12:14] for data in every} >= {b"\x81\0", b"\x88\xa8", b"\x08\0", b"\x86\xdd"}
    kinds = [(each.get("ip"), "vlan" in each, "source_port" in each) for each in seen]
    assert {(4, True, True), (4, False, False), (6, True, True), (6, False, False), (None, True, False)} <= set(kinds)


def test_checksum(tmp_path):
    """RFC 1624, section 4: the updated checksum is that of scapy to the bit, also where it becomes 0x0000 (or comes as 0x0000)."""
    headers = [IP(src="10.0.0.1", dst="10.0.0.2", tos=code << 2, proto=99) for code in (0, 46)]
    for ip in headers:
        ip.id, ip.len = 0, 21
        ip.id = IP(bytes(ip)).chksum
        assert IP(bytes(ip)).chksum == 0
    link = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    frames = [bytes(link / ip.copy() / Raw(b"x")) for ip in headers]
    for code in (0, 46):
        made = config.parse(ONE_QUEUE | {"rule": [{"dscp": code}]})
        through(tmp_path, build.model_program("lab"), frames, made, None, "--engine", "model")
        as_sent = [Ether(data) for data in frames]
        for each in as_sent:
            each[IP].tos, each[IP].chksum = code << 2, None
        assert left(tmp_path) == [bytes(each) for each in as_sent]


QUEUES = {
    "port": {"rate": "1Gbit"},
    "queue": [
        {"name": "voice", "dscp": ["EF", "VA"]},
        {"name": "data", "dscp": {"green": [20, 18], "yellow": [3], "red": ["AF23"]}},
        {"name": "rest", "default": True, "dscp": {"yellow": [1]}},
        {"name": "nobody"},
    ],
}


def test_queues_of_rules_are_numbers_and_groups_begin_with_their_first(tmp_path):
    """A rule's queue and marker are the file's queues by name."""
    police = {"queue": "voice", "kind": "trtcm", "cir": "1Mbit", "cbs": 2000, "pir": "1Mbit", "pbs": 2000}
    tables = QUEUES["queue"] + [{"name": "flows", "aqm": "codel", "fq": 4, "dscp": [9]}]
    asked = [
        {"queue": "rest", "colour": "red"},
        {"queue": "flows", "dscp": 9},
        {"marker": "voice"},
        {"drop": True, "match": {"ecn": 3}},
    ]
    made = config.parse({"port": {"rate": "1Gbit"}, "queue": tables, "marker": [police], "rule": asked})
    record = quantise.hardware(made)
    at = {queue.name: queue.at for queue in reversed(made.queue)}
    actions = [(rule["action"], rule["marker"]) for rule in record["rules"]]
    on = 1 << 31
    assert actions == [
        (on | 1 << 24 | at["rest"] | 1 << 25 | 2 << 12, 0),
        (on | 1 << 24 | at["flows"] | 1 << 26 | 9 << 16, 0),
        (on, on | at["voice"]),
        (on | 1 << 27, 0),
    ]
    assert at["flows"] % 4 == 0


def test_ranges_are_shared_and_the_ninth_is_refused():
    """Single ports and aligned ranges of a power of two take none."""
    rules_ = [{"match": {"source_port": f"{10 * n}-{10 * n + 4}"}, "dscp": 1} for n in range(1, 9)] * 3
    rules_ += [{"match": {"source_port": port}, "dscp": 1} for port in (80, "64-127", "0-65535", "65534-65535")]
    record = quantise.hardware(config.parse(ONE_QUEUE | {"rule": rules_}))
    assert record["port_ranges"] == [[10 * n, 10 * n + 4] for n in range(1, 9)] + [[1, 0]] * 8
    assert [rule["mask"][8] for rule in record["rules"][24:]] == [0xFFFF0000, 0xFFC00000, 0, 0xFFFE0000]
    ninth = [*rules_, {"match": {"source_port": "5-7"}, "dscp": 1}]
    with pytest.raises(
        UserError, match="rule number 29, source_port needs the ninth range; legal are 8 of source_port"
    ):
        quantise.hardware(config.parse(ONE_QUEUE | {"rule": ninth}))


def flow_code(data: bytes, codes: list[int]) -> int | None:
    """The statement of --spread: FNV-1a over the 5-tuple as it is on the wire."""
    seen = fields(data)
    if "ip" not in seen:
        return None
    text = ipaddress.ip_address(seen["source"]).packed + ipaddress.ip_address(seen["destination"]).packed
    text += struct.pack(">BHH", seen["protocol"], seen.get("source_port", 0), seen.get("destination_port", 0))
    number = 0xCBF29CE484222325
    for byte in text:
        number = (number ^ byte) * 0x100000001B3 % 2**64
    return codes[(number ^ number >> 32) % len(codes)]


def test_spread(tmp_path):
    """Each flow has one DSCP, of a queue's green; the stated hash says which; queues get about as many flows."""
    rng, codes = random.Random(SEED), [46, 20, 0]
    asked = config.parse(QUEUES)
    assert front.spread_codes(asked) == codes
    frames = [frame(rng) for _ in range(3000)]
    stats = through(tmp_path, build.model_program("lab"), frames, asked, "flows", "--engine", "model").stats
    wanted = {code: 0 for code in codes}
    for data in frames:
        code = flow_code(data, codes)
        if code is not None:
            wanted[code] += 1
    queues = stats["queues"]
    got = {code: packets for queue in queues for code, packets in queue["dscps"]}
    assert got == wanted and min(got.values()) > 600
    not_ip = len(frames) - sum(wanted.values())
    assert stats["spread"]["not_ip"] == not_ip == queues[2]["not_ip"]
    assert stats["spread"]["matched"] == len(frames)


def test_page():
    """The rules of docs/configuration/rules.md are legal beside the queues of the shipped configuration."""
    page = (build.ROOT / "docs/configuration/rules.md").read_text()
    text = re.search(r"^```toml\n(.*?)^```", page, re.M | re.S)[1]
    raw = tomllib.loads((build.ROOT / "sim/configs/default.toml").read_text()) | tomllib.loads(text)
    made = config.parse(raw)
    assert [rules.does(rule) for rule in made.rule] == ["ef", "af1, yellow, AF12", "CS1"]
    assert [rules.text(rule.match) for rule in made.rule] == [
        "protocol 17, destination_port 3478-3481",
        "source 10.1.0.0/16, protocol 6",
        "every frame",
    ]
    assert all(f"`{name}`" in page for model in (rules.Rule, rules.Match) for name in model.model_fields)
    assert all(name in page for name in rules.PROTOCOLS)


@pytest.mark.slow
def test_both_engines(program, tmp_path):
    """Rules with inputs, and segments, give the same in the RTL of two inputs as in the model; each frame goes by its input's rule."""
    rng = random.Random(SEED)
    asked = [{"match": {"ingress": 1, "protocol": "tcp"}, "dscp": "AF21"}, {"match": {"ingress": 0}, "dscp": "EF"}]
    made = config.parse(ONE_QUEUE | {"rule": asked})
    frames = [frame(rng) for _ in range(300)]
    frames += [bytes(Ether(src=f"02:00:00:00:00:{i:02x}") / IP() / TCP(flags="A") / Raw(bytes(4000))) for i in range(8)]
    options = ("--split", 0)
    done = {
        name: through(tmp_path, build.simulator("nic100g-rules"), frames, made, None, "--engine", name, *options)
        for name in ("rtl", "model")
    }
    same(done["rtl"], done["model"])
    done["rtl"].check()
    for name in ("rules", "unmatched", "split"):
        assert done["rtl"].stats[name] == done["model"].stats[name]
    assert (done["rtl"].stats["split"]["frames"], done["rtl"].stats["split"]["segments"]) == (8, 24)
    counts = [0, 0]
    for data in frames:
        number = next((i for i, rule in enumerate(asked) if fits(rule["match"], fields(data))), None)
        if number is not None:
            counts[number] += -(-4000 // 1460) if len(data) > 4000 else 1
    assert [rule["packets"] for rule in done["rtl"].stats["rules"]] == counts and min(counts) > 20


def test_printed(tmp_path):
    """A run shows a table of its rules in 80 columns, and how many frames none took; the names are the file's."""
    file = tmp_path / "c.toml"
    file.write_text(
        '[port]\nrate = "1Gbit"\n[[queue]]\nname = "a"\ndscp = ["AF21"]\n'
        '[[rule]]\nname = "[b] mail"\nmatch = { protocol = "tcp", destination_port = 25 }\nqueue = "a"\n'
        '[[rule]]\nmatch = { vlan = 7 }\ndscp = "EF"\n[[rule]]\nmatch = { source = "10.0.0.0/8" }\ndscp = "CS1"\n'
    )
    mail, other = Ether() / IP(src="1.1.1.1") / TCP(dport=25), Ether() / IP(src="1.1.1.1") / UDP()
    frames = [bytes(mail)] * 3 + [bytes(Ether() / Dot1Q(vlan=7) / ARP())] * 2 + [bytes(other)]
    capture = pcap(tmp_path / "in.pcap", [(i, data, len(data)) for i, data in enumerate(frames)])
    status, out, err = vermilion("run", capture, "--config", file, "--engine", "model")
    assert status == 0, err
    rows = [line.split() for line in out.splitlines()]
    assert ["1", "[b]", "mail", "a", "3", "162"] in rows and ["2", "EF", "2", "92"] in rows and ["3", "CS1"] in rows
    assert "1 packets matched no rule" in out
    status, out, _ = vermilion("check", file)
    assert "protocol 6, destination_port 25" in out and units.dscp_name(18) in out
