"""Rules in the record of a lane, and what plain comparisons say of its frames."""

import random
from collections import Counter

from support.drawn_rules import DrawnRules
from support.plain_rules import Rule, View, first
from support.rule_image import MARKER, MASKS, SIDE, WORDS, Image, Ranges


def record(rules, ranges: Ranges) -> dict:
    """The part of the hardware's record."""
    made = [Image(rule, ranges).words() for rule in rules]
    words = [
        {"value": [w[i] for i in range(WORDS)], "mask": [w[MASKS + i] for i in range(WORDS)]}
        | {"action": w[WORDS], "marker": w[MARKER]}
        for w in made
    ]
    filled = [[*each, *[(1, 0)] * (SIDE - len(each))] for each in ranges.of]  # (1, 0) holds no port
    return {"rules": words, "port_ranges": [list(ends) for side in filled for ends in side]}


def action(rng: random.Random, queues: int) -> dict:
    """Any of a rule's actions, or several."""
    if rng.random() < 0.15:
        return {"drop": True}
    made = {"queue": rng.randrange(queues), "colour": rng.randrange(4), "dscp": rng.randrange(64)}
    made |= {"marker": rng.randrange(queues)}
    return {name: value for name, value in made.items() if rng.random() < 0.5}


def drawn(rng: random.Random, count: int, queues: int):
    """Rules with actions, their ranges, and an endless source of frames of which many fit."""
    draws = DrawnRules(rng)
    rules = [draws.drawn() for _ in range(count)]
    for rule in rules:
        rule.action = action(rng, queues)
    return rules, draws.ranges, draws.source


def input_of(frame: bytes, inputs: int) -> int:
    """The input at which the harness lets a frame arrive (sim/harness/pace.h)."""
    total = 0
    for byte in frame[:12]:
        total = total * 31 + byte
    return (total % 2**32 >> 3) % inputs


def counted(rules, frames, inputs: int) -> tuple[list[dict[str, int]], int]:
    """Packets and bytes of each rule, and packets that fit none."""
    packets, sizes, unmatched = Counter(), Counter(), 0
    for frame in frames:
        number = first(rules, View(frame), input_of(frame, inputs))
        unmatched += number is None
        packets[number] += 1
        sizes[number] += len(frame)
    return [{"packets": packets[i], "bytes": sizes[i]} for i in range(len(rules))], unmatched


def edited(frame: bytes, dscp: int) -> bytes:
    """The frame with this DSCP, and with its IPv4 checksum as wrong as before: the ones' complement sum of the header stays."""
    view = View(frame)
    if not view.version:
        return frame
    at = next(at for at in (14, 18, 22) if frame[at - 2 : at] == (b"\x08\0" if view.version == 4 else b"\x86\xdd"))
    data, traffic = bytearray(frame), dscp << 2 | view.traffic & 3
    if view.version == 6:
        data[at] = 0x60 | traffic >> 4
        data[at + 1] = data[at + 1] & 15 | traffic << 4 & 0xF0
        return bytes(data)
    if traffic == view.traffic:
        return frame
    data[at + 1] = traffic
    old = int.from_bytes(frame[at + 10 : at + 12], "big")
    total = (old ^ 0xFFFF) + (view.traffic ^ 0xFFFF | 0xFF00) + traffic  # ~HC + ~m + m', of the words' low bytes
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    data[at + 10 : at + 12] = (total ^ 0xFFFF).to_bytes(2, "big")
    return bytes(data)


def plain(rule, numbers: dict[str, int]) -> Rule:
    """A `[[rule]]` of a file as a rule of plain comparisons; `numbers`: of the queues, by name."""
    given = rule.match.model_dump()
    network = rule.match.source or rule.match.destination
    action = {"drop": True} if rule.drop else {}
    action |= {name: numbers[getattr(rule, name)] for name in ("queue", "marker") if getattr(rule, name) is not None}
    action |= {} if rule.colour is None else {"colour": ("green", "yellow", "red").index(rule.colour)}
    action |= {} if rule.dscp is None else {"dscp": rule.dscp}
    return Rule(**given, version=network.version if network else None, action=action)


def of_file(given, numbers: dict[str, int]) -> dict:
    """The part of the record that the rules of a file give."""
    ranges = Ranges()
    return record([plain(rule, numbers) for rule in given], ranges) if given else {}
